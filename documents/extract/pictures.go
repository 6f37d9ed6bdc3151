package extract

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"slices"

	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// pictureFiles are the types whose files are scanned pages.
var pictureFiles = Types{
	pictureFile("png", "PNG", []string{".png"}, "\x89PNG\r\n\x1a\n"),
	pictureFile("jpeg", "JPEG", []string{".jpeg", ".jpg"}, "\xff\xd8\xff"),
	pictureFile("tiff", "TIFF", []string{".tiff", ".tif"}, littleTIFF, bigTIFF),
	pictureFile("webp", "WebP", []string{".webp"}, "RIFF"),
	pictureFile("gif", "GIF", []string{".gif"}, "GIF87a", "GIF89a"),
}

const maxPicturePixels = 120_000_000

var errPicture = errors.New("the picture cannot be decoded")

func pictureFile(name, label string, extensions []string, begins ...string) Type {
	return Type{
		Name:       name,
		Label:      label,
		Extensions: extensions,
		MediaTypes: []string{"image/" + name},
		Binary:     true,
		Is: func(raw []byte, _ string) bool {
			return slices.ContainsFunc(begins, func(b string) bool { return bytes.HasPrefix(raw, []byte(b)) }) &&
				(name != "webp" || len(raw) > 12 && string(raw[8:12]) == "WEBP")
		},
		scanned: readPicture,
	}
}

// readPicture returns what OCR has read on the pages of a picture: one, or as many as a TIFF has.
func readPicture(_ context.Context, raw []byte, scans map[int]string) (Content, error) {
	count := 1
	if order, pages := tiffPages(raw); order != nil {
		count = len(pages)
	}
	if count == 0 {
		return Content{}, errDamagedFile
	}
	c := Content{PageCount: count}
	texts := make([]string, count)
	for i := range texts {
		if texts[i] = scanText(scans[i+1]); texts[i] == "" {
			c.Unread = append(c.Unread, i+1)
		}
	}
	c.Text, c.Pages = joinPages(texts)
	if len(c.Unread) == count {
		return c, errPictureText
	}
	return c, nil
}

const (
	littleTIFF = "II*\x00"
	bigTIFF    = "MM\x00*"

	maxTIFFPages   = 10_000
	tagOrientation = 0x0112
	entryBytes     = 12 // of an entry of a page's list of properties
)

// tiffPages returns where the lists of properties of a TIFF's pages begin, and its byte
// order; nil if raw is no TIFF.
func tiffPages(raw []byte) (order binary.ByteOrder, pages []uint32) {
	switch {
	case len(raw) < 8:
		return nil, nil
	case string(raw[:4]) == littleTIFF:
		order = binary.LittleEndian
	case string(raw[:4]) == bigTIFF:
		order = binary.BigEndian
	default:
		return nil, nil
	}
	seen := map[uint32]bool{}
	for at := order.Uint32(raw[4:]); at != 0 && !seen[at] && len(pages) < maxTIFFPages; {
		entries := tiffEntries(raw, order, at)
		end := uint64(at) + 2 + uint64(len(entries))
		if entries == nil || end+4 > uint64(len(raw)) {
			break
		}
		seen[at] = true
		pages = append(pages, at)
		at = order.Uint32(raw[end:])
	}
	return order, pages
}

// tiffEntries returns the list of properties that begins at a place; nil if it is not
// complete.
func tiffEntries(raw []byte, order binary.ByteOrder, at uint32) []byte {
	from := uint64(at) + 2
	if from > uint64(len(raw)) {
		return nil
	}
	to := from + entryBytes*uint64(order.Uint16(raw[at:]))
	if to > uint64(len(raw)) {
		return nil
	}
	return raw[from:to]
}

// tiffPage returns a TIFF whose first page is the given one. Other pictures have one page.
func tiffPage(raw []byte, number int) ([]byte, error) {
	order, pages := tiffPages(raw)
	switch {
	case order == nil && number == 1:
		return raw, nil
	case number < 1 || number > len(pages):
		return nil, errPicture
	}
	raw = bytes.Clone(raw)
	order.PutUint32(raw[4:], pages[number-1])
	return raw, nil
}

// orientationOf returns how the first page of a TIFF or a JPEG is turned, as Exif counts it: 1
// is upright.
func orientationOf(raw []byte) int {
	order, pages := tiffPages(raw)
	if order == nil {
		if raw = exifOf(raw); raw == nil {
			return 1
		}
		order, pages = tiffPages(raw)
	}
	if len(pages) == 0 {
		return 1
	}
	entries := tiffEntries(raw, order, pages[0])
	for e := range slices.Chunk(entries, entryBytes) {
		if order.Uint16(e) == tagOrientation {
			return int(order.Uint16(e[8:]))
		}
	}
	return 1
}

// exifOf returns the Exif data of a JPEG, which are a TIFF without a picture; nil if it has
// none.
func exifOf(raw []byte) []byte {
	const begins = "Exif\x00\x00"
	if !bytes.HasPrefix(raw, []byte("\xff\xd8")) {
		return nil
	}
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff && raw[at+1] != 0xda; { // the picture's data
		size := int(binary.BigEndian.Uint16(raw[at+2:]))
		part := raw[at+4 : min(max(at+2+size, at+4), len(raw))]
		if raw[at+1] == 0xe1 && bytes.HasPrefix(part, []byte(begins)) {
			return part[len(begins):]
		}
		at += 2 + max(size, 2)
	}
	return nil
}

// upright turns a picture whose orientation is given as Exif counts it.
func upright(g *image.Gray, orientation int) *image.Gray {
	if orientation < 2 || orientation > 8 {
		return g
	}
	w, h := g.Rect.Dx(), g.Rect.Dy()
	turned := image.NewGray(image.Rect(0, 0, w, h))
	if orientation > 4 {
		turned = image.NewGray(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			var a, b int
			switch orientation {
			case 2:
				a, b = w-1-x, y
			case 3:
				a, b = w-1-x, h-1-y
			case 4:
				a, b = x, h-1-y
			case 5:
				a, b = y, x
			case 6:
				a, b = h-1-y, x
			case 7:
				a, b = h-1-y, w-1-x
			case 8:
				a, b = y, w-1-x
			}
			turned.Pix[b*turned.Stride+a] = g.Pix[y*g.Stride+x]
		}
	}
	return turned
}
