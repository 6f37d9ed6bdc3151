package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/pictures"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

func do(t *testing.T, tool Tool, owner, arguments string) Result {
	t.Helper()
	require.Empty(t, Misfit(tool.Schema, json.RawMessage(arguments)))
	r, err := tool.Run(t.Context(), Call{Owner: owner, ThreadID: "th", TurnID: "t1", ID: "c1", Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	return r
}

func TestOwnToolsHaveNamesAndSchemasThatModelsAccept(t *testing.T) {
	own := List{ReadResult(nil), GenerateImage(nil, nil, true)}
	require.Len(t, NewBox(slog.New(slog.DiscardHandler), own).Tools(t.Context(), "ann", chat.AgentInfo{}), len(own))
	for _, tool := range own {
		require.NotEmpty(t, tool.Description)
		require.Equal(t, tool.SideEffects, tool.Approval != Never, "a tool with side effects must ask: %s", tool.Name)
	}
}

type turnTexts map[string]string

func (t turnTexts) Texts(_ context.Context, owner, turnID string) (map[string]string, error) {
	if owner != "ann" || turnID != "t1" {
		return map[string]string{}, nil
	}
	return t, nil
}

func TestLongResultIsReadToItsEndInParts(t *testing.T) {
	var whole strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&whole, "é%04d", i)
	}
	texts := turnTexts{chat.ResultKey("c7"): whole.String()}
	head, complete := Head("c7", whole.String())
	require.False(t, complete)
	require.Contains(t, head, `Call read_result with call "c7" and offset 16000`)
	read := []rune(head)[:MaxRead]
	tool := ReadResult(texts)
	for offset := MaxRead; ; {
		r := do(t, tool, "ann", fmt.Sprintf(`{"call":"c7","offset":%d}`, offset))
		require.False(t, r.IsError)
		_, whole := Head("c8", r.Content)
		require.True(t, whole, "a part is not truncated again")
		text, note, more := strings.Cut(r.Content, "\n[")
		read = append(read, []rune(text)...)
		if !more {
			break
		}
		_, err := fmt.Sscanf(note[strings.Index(note, "offset"):], "offset %d", &offset)
		require.NoError(t, err)
	}
	require.Equal(t, whole.String(), string(read))

	short, complete := Head("c7", "short")
	require.True(t, complete)
	require.Equal(t, "short", short)
	require.Equal(t, "The result ends before that.", do(t, tool, "ann", `{"call":"c7","offset":9999999}`).Content)
	require.True(t, do(t, tool, "ann", `{"call":"c1","offset":0}`).IsError)
	require.True(t, do(t, tool, "bob", `{"call":"c7","offset":0}`).IsError)
}

// gallery keeps pictures in memory.
type gallery struct {
	kept map[string][]byte
	at   map[string]chat.Attachment
	errs []error // returned by the next puts
}

func (g *gallery) PutAttachment(_ context.Context, a chat.Attachment, data []byte) error {
	if len(g.errs) > 0 {
		err := g.errs[0]
		g.errs = g.errs[1:]
		return err
	}
	if g.kept == nil {
		g.kept, g.at = map[string][]byte{}, map[string]chat.Attachment{}
	}
	g.kept[a.ID], g.at[a.ID] = data, a
	return nil
}

func (g *gallery) AttachmentsByID(_ context.Context, owner string, ids []string) (out []chat.Attachment, _ error) {
	for _, id := range ids {
		if a, ok := g.at[id]; ok && a.Owner == owner {
			out = append(out, a)
		}
	}
	return out, nil
}

type painter struct {
	data              []byte // nil: a small PNG
	calls             int
	prompt, size, key string
	err               error
}

func (p *painter) Paint(_ context.Context, prompt, size, key string) (llm.Image, chat.Usage, error) {
	p.calls++
	p.prompt, p.size, p.key = prompt, size, key
	data := p.data
	if data == nil {
		data = llmtest.Picture(prompt)
	}
	return llm.Image{MIME: "image/jpeg", Data: data}, chat.Usage{CostUSD: 0.04, Calls: 1}, p.err
}

func TestGenerateImageStoresThePictureAndReturnsItsURL(t *testing.T) {
	p, g := &painter{}, &gallery{}
	r := do(t, GenerateImage(p, g, false), "ann", `{"prompt":"a [cat](x) at night","size":"1536x1024"}`)
	id := PictureID("c1")
	require.Equal(t, []string{id}, r.Attachments)
	require.Contains(t, r.Content, "![a catx at night](/api/attachments/"+id+")")
	require.Equal(t, 0.04, r.Usage.CostUSD)
	require.Equal(t, []string{"a [cat](x) at night", "1536x1024", "c1"}, []string{p.prompt, p.size, p.key}, "the call is the idempotency key")
	require.Equal(t, chat.Attachment{ID: id, Owner: "ann", ThreadID: "th", MIME: "image/png", Bytes: len(g.kept[id])}, g.at[id], "the bytes say the type, not the provider")

	again := do(t, GenerateImage(p, g, false), "ann", `{"prompt":"a cat"}`)
	require.Equal(t, []string{id}, again.Attachments)
	require.Equal(t, 1, p.calls, "a stored picture is not generated and paid for again")
}

func TestGenerateImageReportsAProvidersRefusal(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&llm.Error{Code: chat.CodeModelRejected, Status: 400, Hint: messages.HintRequest.With(messages.Params{"setting": "IMAGE_MODEL_NAME"}), ForOperators: true, Err: errors.New("SECRET")}, "The provider refused to draw this."},
		{llm.ErrNoImages, "No image model is configured on this server."},
	} {
		r := do(t, GenerateImage(&painter{err: c.err}, &gallery{}, false), "ann", `{"prompt":"a cat"}`)
		require.Equal(t, c.want, r.Content)
		require.True(t, r.IsError)
	}
	cut := &llm.Error{Code: chat.CodeModelUnavailable, Err: errors.New("line cut")}
	_, err := GenerateImage(&painter{err: cut}, &gallery{}, false).Run(t.Context(), Call{Arguments: json.RawMessage(`{"prompt":"a cat"}`)})
	require.ErrorIs(t, err, cut, "the outcome is unknown")
}

func TestGenerateImageStoresNothingButAPictureWithinTheLimits(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":     {},
		"a page":    []byte("<html><script>alert(1)</script></html>"),
		"too large": append(llmtest.Picture("a cat"), make([]byte, pictures.MaxBytes)...),
	} {
		g := &gallery{}
		r := do(t, GenerateImage(&painter{data: data}, g, false), "ann", `{"prompt":"a cat"}`)
		require.True(t, r.IsError, name)
		require.Equal(t, "The provider sent no usable picture.", r.Content, name)
		require.Equal(t, 0.04, r.Usage.CostUSD, "the call was paid for")
		require.Empty(t, g.kept, name)
	}
}

func TestPaidPictureIsStoredAfterADatabaseOutage(t *testing.T) {
	g := &gallery{errs: []error{db.ErrUnavailable}}
	require.Len(t, do(t, GenerateImage(&painter{}, g, false), "ann", `{"prompt":"a cat"}`).Attachments, 1)
	g = &gallery{errs: []error{errors.New("disk full")}}
	_, err := GenerateImage(&painter{}, g, false).Run(t.Context(), Call{ID: "c1", Arguments: json.RawMessage(`{"prompt":"a cat"}`)})
	require.Error(t, err)
}

func TestPlaceholderOfTheOfflineEngineSaysThatItIsOne(t *testing.T) {
	g := &gallery{}
	r := do(t, GenerateImage(offline.New(), g, true), "ann", `{"prompt":"a cat","size":"1024x1536"}`)
	require.Contains(t, r.Content, "only a placeholder")
	picture, err := png.Decode(bytes.NewReader(g.kept[r.Attachments[0]]))
	require.NoError(t, err)
	require.Greater(t, picture.Bounds().Dy(), picture.Bounds().Dx())
}
