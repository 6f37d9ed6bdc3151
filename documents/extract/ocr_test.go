package extract

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/tiff"

	"github.com/palaver-chat/palaver/testkit/must"
)

// ocr returns the installed tesseract, which scripts/tesseract installs.
func ocr(t *testing.T) *OCR {
	t.Helper()
	o, _, err := FindOCR(t.Context(), "eng")
	if err != nil {
		t.Fatal(err)
	}
	if o == nil && os.Getenv("CI") != "" {
		t.Fatal("tesseract is missing: scripts/tesseract installs it")
	}
	if o == nil {
		t.Skip("needs tesseract (Debian: apt-get install tesseract-ocr)")
	}
	return o
}

// sheetOf returns a page with lines of text. After a tab the next column begins.
func sheetOf(t *testing.T, lines ...string) *image.Gray {
	t.Helper()
	face := must.Have(opentype.NewFace(must.Have(opentype.Parse(goregular.TTF))(t), &opentype.FaceOptions{Size: 30, DPI: 72}))(t)
	page := image.NewGray(image.Rect(0, 0, 1240, 1754))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	for i, l := range lines {
		for k, part := range strings.Split(l, "\t") {
			d := font.Drawer{Dst: page, Src: image.Black, Face: face, Dot: fixed.P([]int{100, 640, 900}[k], 150+60*i)}
			d.DrawString(part)
		}
	}
	return page
}

var letter = []string{"Dear Ms Okafor,", "the monthly rent is 1,180 euros from March.", "The deposit is three months of rent."}

func pictureOf(t *testing.T, page image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, page)
	case "jpeg":
		err = jpeg.Encode(&b, page, nil)
	case "gif":
		err = gif.Encode(&b, page, nil)
	case "tiff":
		err = tiff.Encode(&b, page, &tiff.Options{Compression: tiff.Deflate})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// scannedPDF returns a PDF whose pages are pictures.
func scannedPDF(t *testing.T, pages ...*image.Gray) []byte {
	t.Helper()
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	var kids []string
	for _, p := range pages {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		must.Have(w.Write(p.Pix))(t)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		n := len(objects)
		objects = append(objects,
			stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode", p.Rect.Dx(), p.Rect.Dy()), b.String()),
			stream("", "q 595 0 0 842 0 0 cm /X Do Q"),
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /XObject << /X %d 0 R >> >> >>", n+2, n+1))
		kids = append(kids, fmt.Sprintf("%d 0 R", n+3))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages))
	return pdfOf("", objects...)
}

// readWith returns what a document has after OCR has read its pages.
func readWith(t *testing.T, o *OCR, format string, raw []byte) (Content, error) {
	t.Helper()
	c, err := All().Content(t.Context(), format, raw)
	if len(c.Unread) == 0 {
		t.Fatalf("no page is unread before: %v", err)
	}
	scans := map[int]string{}
	for _, page := range c.Unread {
		scans[page] = must.Have(o.Scan(t.Context(), format, raw, page))(t)
	}
	return All().ContentWith(t.Context(), format, raw, scans)
}

func TestPicturesAreReadAsScannedPages(t *testing.T) {
	o := ocr(t)
	want := strings.Join(letter, "\n")
	page := sheetOf(t, letter...)
	screenshot := image.NewRGBA(image.Rect(0, 0, 420, 595)) // small letters, on transparent paper
	scaleDown(screenshot, page)
	for name, tc := range map[string]struct {
		format string
		raw    []byte
	}{
		"png":                {"png", pictureOf(t, page, "png")},
		"jpeg":               {"jpeg", pictureOf(t, page, "jpeg")},
		"gif":                {"gif", pictureOf(t, page, "gif")},
		"tiff":               {"tiff", pictureOf(t, page, "tiff")},
		"a turned photo":     {"jpeg", withOrientation(pictureOf(t, upright(page, 8), "jpeg"), 6)},
		"a page upside down": {"pdf", scannedPDF(t, upright(sheetOf(t, slices.Repeat(letter, 7)...), 3))},
		"pdf":                {"pdf", scannedPDF(t, page)},
	} {
		t.Run(name, func(t *testing.T) {
			if format, ok := All().Detect("scan", "", tc.raw); !ok || format != tc.format {
				t.Errorf("detected as %q", format)
			}
			c, err := readWith(t, o, tc.format, tc.raw)
			if err != nil || !strings.HasPrefix(strings.ReplaceAll(c.Text, "\n\n", "\n"), want) || c.PageCount != 1 || len(c.Unread) > 0 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
	if c, err := readWith(t, o, "png", pictureOf(t, screenshot, "png")); err != nil || !strings.Contains(c.Text, "1,180 euros") {
		t.Errorf("a small screenshot: %+v, %v", c, err)
	}
}

func TestRowsOfAScannedTableStayRows(t *testing.T) {
	o := ocr(t)
	page := sheetOf(t, "INVOICE 2026-014", "Okafor Ltd, 4 Elm Street", "", "Article\tQuantity\tPrice", "Delivery of ten pumps\t10\t3,000.00", "Transport and insurance\t1\t240.00",
		"Packing\t10\t35.50", "", "Total\t\t3,275.50 EUR", "", "Please pay within thirty days to the account below. Thank you for", "your order. The goods stay ours until they are paid.")
	c, err := readWith(t, o, "png", pictureOf(t, page, "png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"Article | Quantity | Price\n", "Delivery of ten pumps | 10 | 3,000.00\n", "Transport and insurance | 1 | 240.00\n", "Packing | 10 | 35.50\n", "\nTotal"} {
		if !strings.Contains(c.Text, row) {
			t.Errorf("%q is not in %q", row, c.Text)
		}
	}
}

func scaleDown(dst draw.Image, src *image.Gray) {
	b := dst.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			sum, n := 0, 0
			for sy := y * src.Rect.Dy() / b.Dy(); sy <= (y+1)*src.Rect.Dy()/b.Dy()-1; sy++ {
				for sx := x * src.Rect.Dx() / b.Dx(); sx <= (x+1)*src.Rect.Dx()/b.Dx()-1; sx++ {
					sum += int(src.GrayAt(sx, sy).Y)
					n++
				}
			}
			dst.Set(x, y, color.NRGBA{A: uint8(255 - sum/max(n, 1))})
		}
	}
}

// withOrientation returns a JPEG with an Exif part that says how it is turned.
func withOrientation(raw []byte, orientation byte) []byte {
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
	part := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return slices.Concat(raw[:2], part, raw[2:])
}

func TestPagesOfAPDFKeepTheirPlacesAmongScannedOnes(t *testing.T) {
	o := ocr(t)
	blank := sheetOf(t)
	noise := sheetOf(t)
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i * 31 >> 3)
	}
	c, err := readWith(t, o, "pdf", scannedPDF(t, sheetOf(t, letter...), blank, noise, sheetOf(t, "Signed by", "Ines Wolf on 4 May 2026.")))
	if err != nil {
		t.Fatal(err)
	}
	if c.PageCount != 4 || !slices.Equal(c.Unread, []int{3}) {
		t.Errorf("%d pages, unread %v: an empty page is read, a page of noise is not", c.PageCount, c.Unread)
	}
	if len(c.Pages) != 2 || c.Pages[1].Page != 4 || !strings.HasPrefix(string([]rune(c.Text)[c.Pages[1].Start:]), "Signed by") {
		t.Errorf("%+v of %q", c.Pages, c.Text)
	}
}

func TestPagesOfATIFFAreRead(t *testing.T) {
	o := ocr(t)
	first, second := pictureOf(t, sheetOf(t, letter...), "tiff"), pictureOf(t, sheetOf(t, "The second page has the signature."), "tiff")
	c, err := readWith(t, o, "tiff", joinTIFF(first, second))
	if err != nil || c.PageCount != 2 || len(c.Unread) > 0 || !strings.Contains(c.Text, "The second page has the signature.") {
		t.Errorf("%+v, %v", c, err)
	}
}

// joinTIFF appends the page of b to a. Both were written by x/image/tiff: little endian, with
// the list of properties at the end.
func joinTIFF(a, b []byte) []byte {
	order, pages := tiffPages(a)
	_, more := tiffPages(b)
	out := append(slices.Clone(a), b...)
	shift := uint32(len(a))
	end := pages[0] + 2 + uint32(len(tiffEntries(a, order, pages[0])))
	order.PutUint32(out[end:], more[0]+shift)
	entries := tiffEntries(out, order, more[0]+shift)
	for e := range slices.Chunk(entries, entryBytes) {
		kind, count := order.Uint16(e[2:]), order.Uint32(e[4:])
		size := map[uint16]uint32{1: 1, 3: 2, 4: 4, 5: 8}[kind] * count
		if size > 4 || order.Uint16(e) == 273 { // a place, or where the pixels are
			order.PutUint32(e[8:], order.Uint32(e[8:])+shift)
		}
	}
	return out
}

func TestWithoutOCRAPictureIsAPageThatWasNotRead(t *testing.T) {
	c, err := All().Content(t.Context(), "png", pictureOf(t, sheetOf(t, letter...), "png"))
	if !errors.Is(err, errPictureText) || c.PageCount != 1 || !slices.Equal(c.Unread, []int{1}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestHostilePicturesAreUnreadPages(t *testing.T) {
	o := ocr(t)
	whole := pictureOf(t, sheetOf(t, letter...), "png")
	loop := pictureOf(t, sheetOf(t), "tiff")
	order, pages := tiffPages(loop)
	order.PutUint32(loop[pages[0]+2+uint32(len(tiffEntries(loop, order, pages[0]))):], pages[0])
	for name, raw := range map[string][]byte{
		"cut":                         whole[:len(whole)/2],
		"the header only":             whole[:8],
		"pages in a circle":           loop,
		"a page list behind the file": []byte("II*\x00\xff\xff\xff\xff"),
		"too many pixels":             slices.Concat(whole[:16], []byte{0, 0, 0x70, 0, 0, 0, 0x70, 0}, whole[24:]),
	} {
		format, ok := All().Detect("scan", "", raw)
		if !ok {
			t.Fatal(name)
		}
		c, err := All().Content(t.Context(), format, raw)
		var unreadable *Unreadable
		if !errors.As(err, &unreadable) || c.PageCount > 1 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if text, err := o.Scan(t.Context(), format, raw, 1); err != nil || strings.TrimSpace(text) != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestLanguagesOfOCR(t *testing.T) {
	many := strings.Fields("afr ara deu eng fra ita osd rus spa")
	for name, tc := range map[string]struct {
		installed          []string
		wanted             string
		languages, missing []string
	}{
		"the installed ones":      {[]string{"deu", "osd", "eng"}, "", []string{"eng", "deu"}, nil},
		"at most four":            {many, "", []string{"eng", "deu", "fra", "spa"}, nil},
		"a rare one":              {[]string{"afr", "osd"}, "", []string{"afr"}, nil},
		"by setting":              {many, "ara, fra", []string{"ara", "fra"}, nil},
		"in tesseract's notation": {many, "rus+eng", []string{"rus", "eng"}, nil},
		"one is missing":          {many, "eng,tha", []string{"eng"}, []string{"tha"}},
		"all are missing":         {many, "tha", []string{"eng", "deu", "fra", "spa"}, []string{"tha"}},
	} {
		languages, missing := chooseLanguages(tc.installed, tc.wanted)
		if !reflect.DeepEqual(languages, tc.languages) || !reflect.DeepEqual(missing, tc.missing) {
			t.Errorf("%s: %v, %v", name, languages, missing)
		}
	}
}

func TestWordsOfAScanHaveTheirPlaces(t *testing.T) {
	o := ocr(t)
	lines := slices.Repeat(letter, 7) // enough that tesseract sees which way up the page is
	page := sheetOf(t, lines...)
	face := must.Have(opentype.NewFace(must.Have(opentype.Parse(goregular.TTF))(t), &opentype.FaceOptions{Size: 30, DPI: 72}))(t)
	before := func(s string) int { return boxParts * (100 + font.MeasureString(face, s).Round()) / page.Rect.Dx() }
	down := func(pixels int) int { return boxParts * pixels / page.Rect.Dy() }
	want := [4]int{before("the monthly rent is "), down(210 - 22), before("the monthly rent is 1,180"), down(210 + 5)}
	turned := [4]int{boxParts - want[2], boxParts - want[3], boxParts - want[0], boxParts - want[1]}
	for name, tc := range map[string]struct {
		format string
		raw    []byte
		want   [4]int
	}{
		"of a picture":            {"png", pictureOf(t, page, "png"), want},
		"of a turned photo":       {"jpeg", withOrientation(pictureOf(t, upright(page, 8), "jpeg"), 6), want},
		"of a PDF":                {"pdf", scannedPDF(t, page), want},
		"of a page upside down":   {"pdf", scannedPDF(t, upright(page, 3)), turned},
		"of a page that is large": {"tiff", pictureOf(t, page, "tiff"), want},
	} {
		words := ScanWords(must.Have(o.Scan(t.Context(), tc.format, tc.raw, 1))(t))
		i := slices.IndexFunc(words, func(w ScanWord) bool { return w.Text == "1,180" })
		if i < 0 {
			t.Errorf("%s: no such word in %v", name, words)
			continue
		}
		for side, at := range words[i].Box {
			if off := at - tc.want[side]; off < -60 || off > 60 {
				t.Errorf("%s: box %v, want about %v", name, words[i].Box, tc.want)
				break
			}
		}
	}
	if words := ScanWords("a text without places"); words != nil {
		t.Errorf("%v", words)
	}
}

func FuzzRecognised(f *testing.F) {
	f.Add("1\t1\t0\t0\t0\t0\t0\t0\t900\t1200\t-1\t\n4\t1\t1\t1\t1\t0\t9\t9\t99\t30\t-1\t\n5\t1\t1\t1\t1\t1\t9\t9\t99\t30\t96\tlamp\n")
	f.Add("5\t1\t1\t1\t1\t1\t-9\t99999999999999999999\t99\t30\tNaN\t\f[\n")
	f.Fuzz(func(t *testing.T, tsv string) {
		scan := recognised(tsv)
		text := scanText(scan)
		for _, w := range ScanWords(scan) {
			if !strings.Contains(strings.ReplaceAll(text, string(lineEndHyphen), "-\n"), strings.ToValidUTF8(w.Text, "\ufffd")) && utf8.ValidString(tsv) {
				t.Errorf("%q is not in %q", w.Text, text)
			}
			for _, at := range w.Box {
				if at < 0 || at > boxParts {
					t.Errorf("box %v", w.Box)
				}
			}
		}
	})
}

func TestRecognisedTextKeepsRowsAndDropsDirt(t *testing.T) {
	word := func(block, line, left, width int, confidence, text string) string {
		return fmt.Sprintf("5\t1\t%d\t1\t%d\t1\t%d\t100\t%d\t30\t%s\t%s\n", block, line, left, width, confidence, text)
	}
	line := func(block, line int) string {
		return fmt.Sprintf("4\t1\t%d\t1\t%d\t0\t0\t100\t900\t30\t-1\t\n", block, line)
	}
	for name, tc := range map[string]struct{ tsv, want string }{
		"lines":       {line(1, 1) + word(1, 1, 0, 90, "96", "The") + word(1, 1, 100, 90, "95", "rent") + line(1, 2) + word(1, 2, 0, 90, "96", "rises."), "The rent\nrises."},
		"paragraphs":  {line(1, 1) + word(1, 1, 0, 90, "96", "One.") + line(2, 1) + word(2, 1, 0, 90, "96", "Two."), "One.\n\nTwo."},
		"columns":     {line(1, 1) + word(1, 1, 0, 90, "96", "Pumps") + word(1, 1, 500, 90, "95", "3,000.00"), "Pumps | 3,000.00"},
		"dirt":        {line(1, 1) + word(1, 1, 0, 90, "20", "~;a") + line(1, 2) + word(1, 2, 0, 90, "96", "Receipt"), "Receipt"},
		"only dirt":   {line(1, 1) + word(1, 1, 0, 90, "20", "eRl") + word(1, 1, 100, 90, "40", "mnrtq"), ""},
		"mostly dirt": {line(1, 1) + word(1, 1, 0, 90, "20", "eRlmnrtqwx") + line(1, 2) + word(1, 2, 0, 90, "90", "at"), ""},
		"nothing":     {"", ""},
	} {
		if got := recognised("level\tpage_num\n" + tc.tsv); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A process that outlives its parent would otherwise read for ever.
func TestTesseractHasItsOwnLimits(t *testing.T) {
	o := ocr(t)
	slow := *o
	slow.program = must.Have(exec.LookPath("false"))(t)
	if text, err := slow.Scan(t.Context(), "png", pictureOf(t, sheetOf(t, letter...), "png"), 1); err != nil || text != "" {
		t.Errorf("a program that fails: %q, %v", text, err)
	}
}
