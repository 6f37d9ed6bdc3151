// Package pictures checks the type and size of a picture by its bytes. Pictures come
// from uploads and from external tools.
package pictures

import (
	"bytes"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"
)

// Limits of one picture.
const (
	MaxBytes  = 10 << 20
	maxSide   = 16_384
	maxPixels = 64 << 20
)

// Errors of Type.
var (
	ErrSize  = errors.New("larger than 10 MB")
	ErrSides = errors.New("more pixels than allowed")
	ErrKind  = errors.New("neither JPEG nor PNG nor WebP")
)

var types = map[string]string{"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}

// Type returns the MIME type of a picture. It looks at the bytes, not at a file name or an
// HTTP header, and decodes the image header only, so that a small file cannot expand into
// gigabytes.
func Type(raw []byte) (string, error) {
	if len(raw) > MaxBytes {
		return "", ErrSize
	}
	header, format, err := image.DecodeConfig(bytes.NewReader(raw))
	kind, known := types[format]
	switch {
	case err != nil || !known:
		return "", ErrKind
	case header.Width < 1 || header.Height < 1:
		return "", ErrKind
	case header.Width > maxSide || header.Height > maxSide || header.Width*header.Height > maxPixels:
		return "", ErrSides
	}
	return kind, nil
}
