package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	xdraw "golang.org/x/image/draw"
)

// A process with readScan draws one page as a picture in shades of gray and then becomes
// tesseract, which reads that picture: its limits of memory and time stay, and whoever ends
// the process ends tesseract.
const (
	readScan      = "scan"
	readDraw      = "draw"                // only draws a page
	readerScanVar = "PALAVER_READER_SCAN" // a scanCommand
	scanFile      = "page.pgm"
	scanDPI       = 300
	maxScanPixels = 30_000_000 // A3 at 300 dpi has 17 million
	maxSide       = 30_000
	smallScan     = 2000 // pixels; letters of smaller pictures are enlarged
)

type scanCommand struct {
	Type    string
	Page    int
	Command []string // of tesseract; without it the process writes the picture as PNG
}

func scanMain() (int, error) {
	var c scanCommand
	if err := json.Unmarshal([]byte(os.Getenv(readerScanVar)), &c); err != nil {
		return exitFailed, err
	}
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return exitFailed, err
	}
	var page *image.Gray
	if c.Type == pdfFile.Name {
		page, err = drawPDF(raw, c.Page)
	} else {
		page, err = drawPicture(raw, c.Page)
	}
	switch {
	case errors.Is(err, errPDFium), errors.Is(err, errPicture):
		return exitDamaged, nil
	case err != nil:
		return exitFailed, err
	case len(c.Command) == 0:
		if err := png.Encode(os.Stdout, page); err != nil {
			return exitFailed, err
		}
		return 0, nil
	case isBlank(page):
		if _, err := io.WriteString(os.Stdout, blankPage); err != nil {
			return exitFailed, err
		}
		return 0, nil
	}
	folder := os.TempDir()
	if err := writeGray(filepath.Join(folder, scanFile), page); err != nil {
		return exitFailed, err
	}
	if err := os.Chdir(folder); err != nil {
		return exitFailed, err
	}
	limitTime(scanTime)
	env := []string{"OMP_THREAD_LIMIT=1", "LC_ALL=C"}
	if data := os.Getenv(tessdataVar); data != "" {
		env = append(env, tessdataVar+"="+data)
	}
	return exitFailed, syscall.Exec(c.Command[0], c.Command, env)
}

const tessdataVar = "TESSDATA_PREFIX" // where tesseract's languages are

// drawPDF draws a page of a PDF, from 1, with its annotations.
func drawPDF(raw []byte, number int) (*image.Gray, error) {
	inst, err := newPDFium(cacheIn(os.Getenv(readerCacheVar)))
	if err != nil {
		return nil, err
	}
	n, err := newNative(inst)
	if err != nil {
		return nil, err
	}
	doc, _, err := n.open(raw)
	if err != nil || doc == 0 {
		return nil, errPDFium
	}
	page, err := n.call("FPDF_LoadPage", doc, uint64(number-1))
	if err != nil || page == 0 {
		return nil, errPDFium
	}
	return n.draw(page)
}

const (
	bitmapGray      = 1 // pdfium's format of one byte a pixel
	drawAnnotations = 1
	pointsPerInch   = 72
	white           = 0xFFFFFFFF
	maxPageSide     = 14_400 // of a side of a page, PDF's own limit
)

func (n *native) draw(page uint64) (*image.Gray, error) {
	w, h := float64(n.float("FPDF_GetPageWidthF", page)), float64(n.float("FPDF_GetPageHeightF", page))
	if !(w > 0 && h > 0 && w <= maxPageSide && h <= maxPageSide) {
		return nil, errPDFium
	}
	scale := min(float64(scanDPI)/pointsPerInch, math.Sqrt(maxScanPixels/(w*h)))
	width, height := max(int(w*scale), 1), max(int(h*scale), 1)
	bitmap, err := n.call("FPDFBitmap_CreateEx", uint64(width), uint64(height), bitmapGray, 0, 0)
	if err != nil || bitmap == 0 {
		return nil, errPDFium
	}
	if _, err := n.call("FPDFBitmap_FillRect", bitmap, 0, 0, uint64(width), uint64(height), white); err != nil {
		return nil, errPDFium
	}
	if _, err := n.call("FPDF_RenderPageBitmap", bitmap, page, 0, 0, uint64(width), uint64(height), 0, drawAnnotations); err != nil {
		return nil, errPDFium
	}
	at, stride := n.number("FPDFBitmap_GetBuffer", bitmap), n.number("FPDFBitmap_GetStride", bitmap)
	pixels, ok := n.module.Memory().Read(uint32(at), uint32(stride*height))
	if !ok {
		return nil, errPDFium
	}
	return &image.Gray{Pix: pixels, Stride: stride, Rect: image.Rect(0, 0, width, height)}, nil
}

// drawPicture decodes a page of a picture, from 1, upright and on white, in a size that
// tesseract reads well.
func drawPicture(raw []byte, number int) (*image.Gray, error) {
	raw, err := tiffPage(raw, number)
	if err != nil {
		return nil, err
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || header.Width < 1 || header.Height < 1 || header.Width > maxSide || header.Height > maxSide || header.Width*header.Height > maxPicturePixels {
		return nil, errPicture
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, errPicture
	}
	b := img.Bounds()
	w, h := float64(b.Dx()), float64(b.Dy())
	scale := min(max(smallScan/max(w, h), 1), 3, math.Sqrt(maxScanPixels/(w*h)))
	gray := image.NewGray(image.Rect(0, 0, max(int(w*scale), 1), max(int(h*scale), 1)))
	draw.Draw(gray, gray.Rect, image.White, image.Point{}, draw.Src)
	if scale == 1 {
		draw.Draw(gray, gray.Rect, img, b.Min, draw.Over)
	} else {
		xdraw.CatmullRom.Scale(gray, gray.Rect, img, b, draw.Over, nil)
	}
	return upright(gray, orientationOf(raw)), nil
}

// isBlank reports whether a page has nothing on it but specks.
func isBlank(page *image.Gray) bool {
	const dark, specks = 60, 20_000 // a letter of 10 points has about 150 pixels; a page 8 million
	var counts [256]int
	b := page.Rect
	for y := range b.Dy() {
		for _, v := range page.Pix[y*page.Stride : y*page.Stride+b.Dx()] {
			counts[v]++
		}
	}
	paper := 0 // the most frequent shade
	for v, n := range counts {
		if n > counts[paper] {
			paper = v
		}
	}
	drawn := 0
	for v, n := range counts {
		if max(v-paper, paper-v) > dark {
			drawn += n
		}
	}
	return drawn*specks < b.Dx()*b.Dy()
}

// writeGray writes a picture as PGM.
func writeGray(path string, page *image.Gray) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	b := page.Rect
	_, err = fmt.Fprintf(f, "P5\n%d %d\n255\n", b.Dx(), b.Dy())
	for y := range b.Dy() {
		if err == nil {
			_, err = f.Write(page.Pix[y*page.Stride : y*page.Stride+b.Dx()])
		}
	}
	return errors.Join(err, f.Close())
}
