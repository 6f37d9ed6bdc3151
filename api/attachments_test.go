package api

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Pictures of one pixel.
var (
	tinyPNG  = onePixel(png.Encode)
	tinyJPEG = onePixel(func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
	tinyGIF  = onePixel(func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) })
	tinyWebP = mustDecode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
)

func onePixel(encode func(io.Writer, image.Image) error) []byte {
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func mustDecode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// sized is the pixel with a header that claims to be larger.
func sized(width, height uint32) []byte {
	b := bytes.Clone(tinyPNG)
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// upload sends a form of one part.
func (c *client) upload(status int, field, name string, data []byte) map[string]any {
	c.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile(field, name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return c.call(status, "POST", "/api/attachments", b.String(), "Content-Type", form.FormDataContentType())
}

// Rule C12.
func TestPictureIsServedWithTheTypeOfItsBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for mime, data := range map[string][]byte{"image/png": tinyPNG, "image/jpeg": tinyJPEG, "image/webp": tinyWebP} {
		got := c.upload(201, "file", "../page.html", data)
		id, _ := got["id"].(string)
		require.True(t, got["url"] == chat.AttachmentURL(id) && len(got) == 2, "%v", got)
		res := c.send("GET", chat.AttachmentURL(id), nil)
		body, err := io.ReadAll(res.Body)
		assert.True(t, err == nil && res.StatusCode == 200 && bytes.Equal(body, data), "%s: %d %d bytes, %v", mime, res.StatusCode, len(body), err)
		for name, want := range map[string]string{"Content-Type": mime, "X-Content-Type-Options": "nosniff",
			"Cache-Control": "private, max-age=31536000, immutable", "Content-Disposition": "inline"} {
			assert.EqualValues(t, want, res.Header.Get(name), "%v %v", mime, name)
		}
		assert.EqualValues(t, 404, b.client().send("GET", chat.AttachmentURL(id), nil).StatusCode, "somebody else sees it")
	}
	for _, nothing := range []string{uuid.NewString(), "x", "ä", strings.Repeat("x", 200)} {
		c.call(404, "GET", "/api/attachments/"+nothing, nil)
	}
}

func TestFilesThatAreNoPicturesAreRefused(t *testing.T) {
	t.Parallel()
	c := setup(t).client()
	for name, data := range map[string][]byte{
		"a text": []byte("Not a picture at all."), "a page": []byte("<html><script>alert(1)</script>"), "a GIF": tinyGIF,
		"an SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "a PNG cut short": tinyPNG[:20], "no pixels": sized(0, 1),
	} {
		assert.EqualValues(t, chat.CodeUnsupported, errorCode(c.upload(415, "file", "picture.png", data)), name)
	}
	for name, data := range map[string][]byte{
		"wide": sized(16_385, 1), "high": sized(1, 1<<31-1), "many pixels": sized(16_000, 16_000),
		"many bytes": append(bytes.Clone(tinyPNG), make([]byte, maxPicture)...),
		"more bytes": append(bytes.Clone(tinyPNG), make([]byte, maxPicture+2*formOverhead)...),
	} {
		assert.EqualValues(t, chat.CodeTooLarge, errorCode(c.upload(413, "file", "picture.png", data)), name)
	}
	for what, body := range map[string]map[string]any{
		"file": c.upload(400, "picture", "picture.png", tinyPNG), "body": c.call(400, "POST", "/api/attachments", "--x\r\nnonsense", "Content-Type", "multipart/form-data; boundary=x"),
	} {
		assert.EqualValues(t, what, field(body), "%s: %v", what, body)
	}
	assert.EqualValues(t, "file", field(c.upload(400, "file", "picture.png", nil)))
	c.call(415, "POST", "/api/attachments", `{}`)
}

// Rule C13.
func TestMessageMayOnlyUsePicturesOfItsOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	picture := func() any { return c.upload(201, "file", "x.png", tinyPNG)["id"] }
	one, two := picture(), picture()
	turnID := c.ask(map[string]any{"thread_id": someThread, "attachments": []any{one, two, one}}).until("response")["turn_id"].(string)
	turn, err := b.store.Turn(t.Context(), c.id(), turnID)
	require.True(t, err == nil && len(turn.Content.Attachments) == 2, "%v %v", turn.Content.Attachments, err)
	if number, _, err := b.store.UnusedAttachments(t.Context(), c.id()); err != nil || number != 0 {
		t.Errorf("%d unused, %v", number, err)
	}
	for _, bad := range []any{[]any{uuid.NewString()}, []any{one, "no such"}, []any{"1", "2", "3", "4", "5", "6", "7", "8", "9"}} {
		assert.EqualValues(t, "attachments", field(c.call(400, "POST", "/api/chat", map[string]any{"message": "x", "attachments": bad})), bad)
	}
	assert.EqualValues(t, "attachments", field(b.client().call(400, "POST", "/api/chat", map[string]any{"message": "x", "attachments": []any{one}})), "somebody else's")
	c.call(204, "DELETE", "/api/conversations/"+someThread, nil)
	c.call(404, "GET", chat.AttachmentURL(one.(string)), nil)
}

func TestUnusedPicturesAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	for range 64 {
		c.upload(201, "file", "x.png", tinyPNG)
	}
	assert.EqualValues(t, chat.CodeRateLimited, errorCode(c.upload(429, "file", "x.png", tinyPNG)))
	b.client().upload(201, "file", "x.png", tinyPNG)
}
