// Package pictures tells what a picture is by its bytes, wherever it comes from:
// an upload, or a tool of somebody else's.
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

// What is wrong with a picture.
var (
	ErrSize  = errors.New("larger than 10 MB")
	ErrSides = errors.New("more pixels than allowed")
	ErrKind  = errors.New("neither JPEG nor PNG nor WebP")
)

var types = map[string]string{"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}

// Type is the MIME type that the bytes say, whatever others call them. Only the
// header is decoded, so a picture that unfolds into gigabytes costs nothing.
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
