package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/pictures"
	"github.com/palaver-chat/palaver/tools"
)

// gallery stores pictures in memory.
type gallery struct {
	mu   sync.Mutex
	kept map[string]chat.Attachment
	data map[string][]byte
	errs []error // returned by the next puts
}

func (g *gallery) PutAttachment(_ context.Context, a chat.Attachment, data []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.errs) > 0 {
		err := g.errs[0]
		g.errs = g.errs[1:]
		return err
	}
	if g.kept == nil {
		g.kept, g.data = map[string]chat.Attachment{}, map[string][]byte{}
	}
	g.kept[a.ID], g.data[a.ID] = a, data
	return nil
}

func (g *gallery) AttachmentsByID(context.Context, string, []string) ([]chat.Attachment, error) {
	return nil, errors.New("not asked for")
}

// drawn returns a small picture in one format. Pictures with different side differ.
func drawn(t *testing.T, side int, encode func(io.Writer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, encode(&b, image.NewGray(image.Rect(0, 0, side, side))))
	return b.Bytes()
}

func asJPEG(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }
func asGIF(w io.Writer, i image.Image) error  { return gif.Encode(w, i, nil) }

func shows(mime string, data ...[]byte) *sdk.CallToolResult {
	out := &sdk.CallToolResult{}
	for _, d := range data {
		out.Content = append(out.Content, &sdk.ImageContent{MIMEType: mime, Data: d})
	}
	return out
}

func reading(g *gallery, callID string) *reader {
	return &reader{pictures: g, call: tools.Call{Owner: "ann", ThreadID: "th", ID: callID}, log: slog.New(slog.DiscardHandler)}
}

func TestPicturesOfAResultAreStoredAndShown(t *testing.T) {
	t.Parallel()
	g := &gallery{}
	s := newServer()
	small := drawn(t, 2, png.Encode)
	s.AddTool(object("draw"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "Here it is:"}, &sdk.ImageContent{MIMEType: "image/png", Data: small}, &sdk.TextContent{Text: "Nice."}}}, nil
	})
	r := setup(t, func(o *Options) { o.Pictures = g }, Server{Name: "s", Transport: HTTP, URL: serve(t, s, nil, nil).URL})
	r.up("s")
	result := r.run("s__draw", `{}`)
	require.Len(t, result.Attachments, 1)
	id := result.Attachments[0]
	require.Regexp(t, `^Here it is:\n\[image, image/png, \d+ bytes, shown to the person\]\n!\[picture\]\(`+chat.AttachmentURL(id)+`\)\nNice\.$`, result.Content)
	require.Equal(t, chat.Attachment{ID: id, Owner: "somebody", ThreadID: "thread", MIME: "image/png", Bytes: len(small)}, g.kept[id])
	require.Equal(t, small, g.data[id])
}

func TestPictureHasTheTypeOfItsBytes(t *testing.T) {
	t.Parallel()
	var wide bytes.Buffer
	require.NoError(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, 20_000, 1))))
	for name, c := range map[string]struct {
		mime string
		data []byte
		kept string // type of the stored picture; empty: the result only mentions it
	}{
		"PNG":                   {"image/png", drawn(t, 2, png.Encode), "image/png"},
		"JPEG under an alias":   {"image/jpg", drawn(t, 2, asJPEG), "image/jpeg"},
		"PNG called a page":     {"text/html", drawn(t, 2, png.Encode), "image/png"},
		"page called a PNG":     {"image/png", []byte("<html><script>alert(1)</script>"), ""},
		"SVG":                   {"image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), ""},
		"SVG called a PNG":      {"image/png", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), ""},
		"GIF":                   {"image/gif", drawn(t, 2, asGIF), ""},
		"PNG cut short":         {"image/png", drawn(t, 2, png.Encode)[:20], ""},
		"nothing":               {"image/png", nil, ""},
		"too many pixels a row": {"image/png", wide.Bytes(), ""},
		"too many bytes":        {"image/png", append(drawn(t, 2, png.Encode), make([]byte, pictures.MaxBytes)...), ""},
	} {
		g := &gallery{}
		got := reading(g, "c1").read(t.Context(), shows(c.mime, c.data))
		if c.kept == "" {
			require.Empty(t, g.kept, name)
			require.Empty(t, got.Attachments, name)
			require.NotContains(t, got.Content, "](", name)
			require.Contains(t, got.Content, "not shown]", name)
			continue
		}
		require.Len(t, got.Attachments, 1, name)
		require.Equal(t, c.kept, g.kept[got.Attachments[0]].MIME, name)
		require.Contains(t, got.Content, c.kept, name)
	}
}

func TestPicturesOfAResultAreLimited(t *testing.T) {
	t.Parallel()
	small := drawn(t, 2, png.Encode)
	many := make([][]byte, chat.MaxAttachments+3)
	for i := range many {
		many[i] = small
	}
	g := &gallery{}
	got := reading(g, "c1").read(t.Context(), shows("image/png", many...))
	require.Len(t, got.Attachments, chat.MaxAttachments)
	require.Len(t, g.kept, chat.MaxAttachments, "each picture has its own id")
	require.Equal(t, 3, strings.Count(got.Content, "not shown]"))

	half := append(bytes.Clone(small), make([]byte, pictures.MaxBytes*2/3)...)
	got = reading(&gallery{}, "c1").read(t.Context(), shows("image/png", half, half, small))
	require.Len(t, got.Attachments, 2, "the second big one is too much for one result")
}

func TestRetriedCallStoresTheSamePictureOnce(t *testing.T) {
	t.Parallel()
	g := &gallery{}
	one, other := drawn(t, 2, png.Encode), drawn(t, 3, png.Encode)
	first := reading(g, "c1").read(t.Context(), shows("image/png", one)).Attachments
	require.Equal(t, first, reading(g, "c1").read(t.Context(), shows("image/png", one)).Attachments)
	require.NotEqual(t, first, reading(g, "c1").read(t.Context(), shows("image/png", other)).Attachments, "a screenshot may have changed")
	require.NotEqual(t, first, reading(g, "c2").read(t.Context(), shows("image/png", one)).Attachments)
}

func TestPictureThatCannotBeStoredIsMentioned(t *testing.T) {
	t.Parallel()
	small := drawn(t, 2, png.Encode)
	unavailable := &gallery{errs: []error{db.ErrUnavailable}}
	require.Len(t, reading(unavailable, "c1").read(t.Context(), shows("image/png", small)).Attachments, 1, "storing is retried until the database is available")

	gone := &gallery{errs: []error{db.ErrNotFound}} // the conversation was deleted meanwhile
	got := reading(gone, "c1").read(t.Context(), shows("image/png", small))
	require.False(t, got.IsError, "the tool has run")
	require.Contains(t, got.Content, "[image, image/png, ")
	require.Contains(t, got.Content, "not shown]")

	failed := shows("image/png", small)
	failed.IsError = true
	got = reading(&gallery{}, "c1").read(t.Context(), failed)
	require.Empty(t, got.Attachments, "the page shows no pictures of a tool that failed")
	require.True(t, got.IsError)
}

func TestInvalidBase64IsNotAPicture(t *testing.T) {
	t.Parallel()
	const result = `{"content":[{"type":"image","mimeType":"image/png","data":"%%% no base64"}]}`
	g := &gallery{}
	s := newServer()
	s.AddTool(object("work"), nothing)
	web := serve(t, s, nil, func(w http.ResponseWriter, r *http.Request) bool {
		raw, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		var in struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err != nil || json.Unmarshal(raw, &in) != nil || in.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(in.ID)+`,"result":`+result+`}`)
		return true
	})
	plain := rpcServer(t, func(http.ResponseWriter, *http.Request, string) string { return `"result":` + result })
	r := setup(t, func(o *Options) { o.Pictures = g },
		Server{Name: "h", Transport: HTTP, URL: web.URL}, Server{Name: "r", Transport: RPC, URL: plain.URL})
	seen := map[string]bool{}
	r.until("both up", func(s state) bool { seen[s.server] = seen[s.server] || s.err == nil; return seen["h"] && seen["r"] })

	for _, name := range []string{"h__work", "r__work"} {
		require.Equal(t, failure(`[content of type "image", which cannot be read]`), r.run(name, `{}`), name)
	}
	require.Empty(t, g.kept)
}
