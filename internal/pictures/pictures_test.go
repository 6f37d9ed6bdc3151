package pictures_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/pictures"
)

// sized returns a PNG with this size in its header, but without pixels.
func sized(t *testing.T, width, height uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	raw := b.Bytes()
	binary.BigEndian.PutUint32(raw[16:], width)
	binary.BigEndian.PutUint32(raw[20:], height)
	binary.BigEndian.PutUint32(raw[29:], crc32.ChecksumIEEE(raw[12:29])) // of the header
	return raw
}

func TestTypeIsDetectedFromTheBytes(t *testing.T) {
	t.Parallel()
	kind, err := pictures.Type(sized(t, 16_384, 4096))
	require.NoError(t, err)
	require.Equal(t, "image/png", kind)
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":        {nil, pictures.ErrKind},
		"a text":         {[]byte("Not a picture at all."), pictures.ErrKind},
		"an SVG":         {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), pictures.ErrKind},
		"a header only":  {[]byte("\x89PNG\r\n\x1a\n"), pictures.ErrKind},
		"no pixels":      {sized(t, 0, 1), pictures.ErrKind},
		"a long side":    {sized(t, 16_385, 1), pictures.ErrSides},
		"a bomb":         {sized(t, 16_384, 16_384), pictures.ErrSides},
		"too many bytes": {append(sized(t, 1, 1), make([]byte, pictures.MaxBytes)...), pictures.ErrSize},
	} {
		_, err := pictures.Type(c.raw)
		require.ErrorIs(t, err, c.want, name)
	}
}
