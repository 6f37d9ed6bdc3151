package extract

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// pdfOf writes a PDF of the given objects, numbered from 1; the first is the
// catalog. trailer is added to the trailer's dictionary.
func pdfOf(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

// pdf returns a PDF with one page per element of pages, each with its lines of text.
func pdf(trailer string, pages ...[]string) []byte {
	return pdfOf(trailer, pdfObjects(pages)...)
}

// pdfWithTitle returns a PDF with one line and a title in its metadata. title is in PDF's
// own notation of strings.
func pdfWithTitle(title, line string) []byte {
	objects := append(pdfObjects([][]string{{line}}), "<< /Title "+title+" >>")
	return pdfOf(fmt.Sprintf("/Info %d 0 R", len(objects)), objects...)
}

func pdfObjects(pages [][]string) []string {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	var kids []string
	for _, lines := range pages {
		var c strings.Builder
		c.WriteString("BT /F1 11 Tf 14 TL 50 780 Td\n")
		for _, l := range lines {
			fmt.Fprintf(&c, "(%s) Tj T*\n", strings.NewReplacer("(", `\(`, ")", `\)`).Replace(l))
		}
		c.WriteString("ET")
		objects = append(objects, stream("", c.String()))
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", len(objects)))
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	return objects
}

func reason(t *testing.T, raw []byte) string {
	t.Helper()
	text, err := All().Text(t.Context(), "pdf", raw)
	var u *Unreadable
	if !errors.As(err, &u) {
		t.Fatalf("text %.40q, error %v, want Unreadable", text, err)
	}
	return u.Reason
}

func TestPDFTextInReadingOrderWithoutRunningHeads(t *testing.T) {
	var pages [][]string
	for i := range 4 {
		pages = append(pages, []string{
			"Larkfield Bank Handbook",
			fmt.Sprintf("%d.1 Rules of chapter %d", i+1, i+1),
			"Employees of this chapter hold their papers in order and give",
			fmt.Sprintf("them back on day %d.", 10+i),
			fmt.Sprintf("%s greet each other in the morning and the", []string{"Cooks", "Bakers", "Drivers", "Clerks"}[i]),
			fmt.Sprintf("Page %d of 4", i+1),
		})
	}
	got, err := All().Text(t.Context(), "pdf", pdf("", pages...))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.1 Rules of chapter 1\nEmployees of this chapter hold their papers in order and give\nthem back on day 10.", "4.1 Rules of chapter 4", "Bakers greet"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Count(got, "Larkfield Bank Handbook") != 1 || !strings.HasPrefix(got, "Larkfield Bank Handbook") {
		t.Errorf("the header is not only on its first page: %q", got)
	}
	for _, bad := range []string{"Page 2", "\r", "\f", "\x00"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %q", bad, got)
		}
	}
}

func TestPDFPagesBeginAtTheirText(t *testing.T) {
	for name, tc := range map[string]struct {
		pages [][]string
		want  map[int]string // page and how its text begins
	}{
		"one page":               {[][]string{{"The only page has this line."}}, map[int]string{1: "The only page"}},
		"three pages":            {[][]string{{"The first page."}, {"Second page."}, {"Third page."}}, map[int]string{1: "The first", 2: "Second", 3: "Third"}},
		"a page without text":    {[][]string{{"First page with words."}, nil, {"Third page with words."}}, map[int]string{1: "First", 3: "Third"}},
		"no text at the start":   {[][]string{nil, {"Second page with many words."}}, map[int]string{2: "Second"}},
		"a sentence over an end": {[][]string{{"A sentence that runs on and"}, {"ends on the next page."}}, map[int]string{1: "A sentence", 2: "ends on"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := All().Content(t.Context(), "pdf", pdf("", tc.pages...))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(c.Text, pageBreak) {
				t.Errorf("a page break is in %q", c.Text)
			}
			got := map[int]string{}
			for _, p := range c.Pages {
				rest := string([]rune(c.Text)[p.Start:])
				got[p.Page] = rest[:min(len(rest), len(tc.want[p.Page]))]
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("pages %v, want %v, in %q", c.Pages, tc.want, c.Text)
			}
		})
	}
}

// scanned returns a PDF with pages that are a picture each.
func scanned(pages int, texts ...[]string) []byte {
	objects := pdfObjects(texts)
	kids := strings.TrimSuffix(strings.TrimPrefix(objects[1], "<< /Type /Pages /Kids ["), fmt.Sprintf("] /Count %d >>", len(texts)))
	objects = append(objects, stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x"))
	image := len(objects)
	objects = append(objects, stream("", "q 595 0 0 842 0 0 cm /X Do Q"))
	for range pages {
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /XObject << /X %d 0 R >> >> >>", image+1, image))
		kids += fmt.Sprintf(" %d 0 R", len(objects))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, pages+len(texts))
	return pdfOf("", objects...)
}

func TestPagesThatArePicturesAreCounted(t *testing.T) {
	c, err := All().Content(t.Context(), "pdf", scanned(3, []string{"The first page has a line of text."}, []string{"The second page, too."}))
	if err != nil {
		t.Fatal(err)
	}
	if c.PageCount != 5 || !slices.Equal(c.Unread, []int{3, 4, 5}) {
		t.Errorf("%d pages, unread %v", c.PageCount, c.Unread)
	}
}

func TestPagesWithOnlyDigitsAreNotScanned(t *testing.T) {
	text, err := All().Text(t.Context(), "pdf", pdf("", []string{"1"}, []string{"2"}, []string{"3"}))
	if err != nil || text != "1\n\n2\n\n3" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestPDFsThatWereReadWrongly reads files whose text was lost or changed once.
func TestPDFsThatWereReadWrongly(t *testing.T) {
	for file, want := range map[string]struct{ has, not []string }{
		"payslips.pdf":         {has: []string{"Payslip 01/2026", "Ines Wolf, personnel number 4471", "Net pay 2137.50\nTransferred on 21.01.2026", "Payslip 02/2026", "Net pay 2174.50", "Payslip 03/2026", "Net pay 2211.50"}},
		"Kapitel.pdf":          {has: []string{"Kapitel 1\n", "Kapitel 2\n", "Kapitel 4\n"}, not: []string{"1 / 4", "4 / 4"}},
		"header only once.pdf": {has: []string{"Customer number 88123", "Valid until 31 August 2027", "sheet 3\nParagraph 3.1"}},
		"hyph2.pdf":            {has: []string{"Krankenversicherung", "Haupt- und Nebenkostenanteil", "E-Mail-Adresse", "Nord-Süd-Gefälle", "18-25 pay half", "well-known", "cooperation"}},
		"footnotes.pdf":        {has: []string{"120³ euros", "500 m².", "10⁶ units and 4.5 percent¹ of sales", "¹ Without tax.", "³ Reduced fee"}},
		"pdf table empty.pdf":  {has: []string{"Plan | Setup fee | Monthly fee | Exit fee\nBasic |  | 20\nTeam | 100 |  | 55\nFirm |  |  | 9"}},
		"form2.pdf":            {has: []string{"Name of the applicant\nInes Wolf", "Electric car", "Zone\nB"}},
		"chrome.pdf":           {has: []string{"500 m² and the fee is 120³ euros", "Office files are official", "10⁶ units", "Plan | Setup fee | Monthly fee | Exit fee\nBasic |  | 20\nTeam | 100 |  | 55\nFirm |  |  | 9", "ثلاثون", "☒ Non-smoker", "4. Keep dogs on a lead."}},
	} {
		t.Run(file, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := All().Text(t.Context(), "pdf", raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want.has {
				if !strings.Contains(got, w) {
					t.Errorf("%q is not in %q", w, got)
				}
			}
			for _, w := range want.not {
				if strings.Contains(got, w) {
					t.Errorf("%q is in %q", w, got)
				}
			}
		})
	}
}

// pageOf returns a PDF with one page that is drawn with the given operators. F1 is Helvetica.
func pageOf(content string, annotations ...string) []byte {
	objects := pdfObjects([][]string{nil})
	objects[3] = stream("", content)
	objects[4] = strings.TrimSuffix(objects[4], ">>") + "/Annots [" + strings.Join(annotations, " ") + "] >>"
	return pdfOf("", objects...)
}

func TestPDFLayout(t *testing.T) {
	at := func(x, y, size float64, s string) string {
		return fmt.Sprintf("BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", size, x, y, s)
	}
	var columns, table strings.Builder
	left := []string{"The harbour office is open from", "eight to five, and it is closed", "on days on which the town has", "a public holiday of its own."}
	right := []string{"Boats that are longer than ten", "metres need a permit, which the", "office gives to members who ask", "for it in the month before."}
	for i := range left {
		columns.WriteString(at(50, 700-float64(14*i), 10, left[i]) + at(320, 700-float64(14*i), 10, right[i]))
	}
	for i, r := range [][2]string{{"Berth", "Price of a year"}, {"Small, on the north pier", "120.00"}, {"Large, on the north pier", "240.00"}, {"Guests", "by the day"}} {
		table.WriteString(at(50, 700-float64(14*i), 10, r[0]) + at(320, 700-float64(14*i), 10, r[1]))
	}
	places := func(s string) string { // each letter has a place of the same width
		var b strings.Builder
		for i, r := range s {
			b.WriteString(at(50+9*float64(i), 700, 12, string(r)))
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		raw  []byte
		want string
	}{
		"letters in places":          {pageOf(places("NOTICE PERIOD I")), "NOTICE PERIOD I"},
		"words as wide as letters":   {pageOf(at(50, 700, 17, "out and to be")), "out and to be"},
		"a word after an exponent":   {pageOf(at(50, 700, 12, "R") + at(58.7, 704, 8, "n") + at(67, 700, 12, "is a space")), "Rn is a space"},
		"a word before an exponent":  {pageOf(at(50, 700, 12, "See") + at(75, 704, 8, "3") + at(83, 700, 12, "and the note")), "See ³ and the note"},
		"text drawn twice":           {pageOf(at(50, 700, 12, "Rent is due") + at(50.4, 699.7, 12, "Rent is due")), "Rent is due"},
		"letters that are doubled":   {pageOf(at(50, 700, 12, "aabb willful 1100")), "aabb willful 1100"},
		"columns line by line":       {pageOf(columns.String()), strings.Join(append(left, right...), "\n")},
		"a table of two columns":     {pageOf(table.String()), "Berth | Price of a year\nSmall, on the north pier | 120.00\nLarge, on the north pier | 240.00\nGuests | by the day"},
		"a low subscript":            {pageOf(at(50, 700, 10, "H") + at(57.2, 695, 8, "2") + at(61.7, 700, 10, "O is water")), "H₂O is water"},
		"a subscript":                {pageOf(at(50, 700, 12, "H") + at(58.7, 697, 7, "2") + at(62.6, 700, 12, "O is water")), "H₂O is water"},
		"a fraction":                 {pageOf(at(50, 700, 12, "Add 1") + at(79, 704, 7, "3") + at(83, 700, 7, "/") + at(85, 697, 7, "4") + at(90, 700, 12, "cups")), "Add 1 3/4 cups"},
		"letters that are set apart": {pageOf("BT /F1 12 Tf 3 Tc 50 700 Td (NOTICE PERIOD) Tj ET"), "NOTICE PERIOD"},
		"signs that are drawn later": {pageOf(at(50, 700, 12, "cos 30") + at(110, 700, 12, "i sin 30") + at(95, 700, 12, "+")), "cos 30 + i sin 30"},
		"a size below zero":          {pageOf("BT /F1 -12 Tf -1 0 0 -1 50 700 Tm (Rent is due) Tj 1 0 0 1 50 650 Tm 0 Tc ET\n" + at(50, 686, 12, "on Monday.")), "Rent is due\non Monday."},
		"a row of equal numbers":     {pageOf(at(50, 700, 10, "3") + at(150, 700, 10, "3") + at(250, 700, 10, "3") + at(350, 700, 10, "3") + at(50, 686, 10, "854.9") + at(150, 686, 10, "839.3") + at(250, 686, 10, "837.5") + at(350, 686, 10, "851.5")), "3 | 3 | 3 | 3\n854.9 | 839.3 | 837.5 | 851.5"},
		"a comment":                  {pageOf(at(50, 700, 12, "The rent is due."), "<< /Type /Annot /Subtype /Text /Rect [300 690 320 710] /Contents (Since when?) /T (Ann) >>"), "The rent is due.\n[Comment by Ann: Since when?]"},
		"a typed note":               {pageOf(at(50, 700, 12, "Name:"), "<< /Type /Annot /Subtype /FreeText /Rect [100 695 220 715] /Contents (Ines Wolf) /DA (/F1 12 Tf) >>"), "Name: Ines Wolf"},
		"a hidden comment":           {pageOf(at(50, 700, 12, "The rent is due."), "<< /Type /Annot /Subtype /Text /F 2 /Rect [300 690 320 710] /Contents (Since when?) >>"), "The rent is due."},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := All().Text(t.Context(), "pdf", tc.raw)
			if err != nil || got != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestLineOfAHyphenOnlyIsAHyphen(t *testing.T) {
	at := func(r rune, left, base float32) glyph {
		return glyph{r: r, left: left, right: left + 6, base: base, size: 10}
	}
	for _, glyphs := range [][]glyph{{at(lineEndHyphen, 50, 700)}, {at(lineEndHyphen, 50, 700), at('3', 50, 400)}} {
		if got := pageText(pageLines(glyphs)); !strings.HasPrefix(got, "-") {
			t.Errorf("%q", got)
		}
	}
}

// Some fonts give another sign the number with which pdfium marks a hyphen at the end of a line.
func TestHyphenWithinALineEndsNone(t *testing.T) {
	var glyphs []glyph
	for i, r := range []rune{'a', 2, 'b', ' ', 'c', 2} {
		glyphs = append(glyphs, glyph{r: r, left: float32(50 + 6*i), right: float32(56 + 6*i), base: 700, size: 10})
	}
	glyphs = append(glyphs, glyph{r: 'd', left: 50, right: 56, base: 688, size: 10})
	if got := newHyphens(nil).resolve(pageText(pageLines(glyphs))); got != "a-b c-d" {
		t.Errorf("%q", got)
	}
}

func TestSpacesOfThePageThatAreNoneInTheText(t *testing.T) {
	row := func(s string) (out []glyph) {
		for i, r := range []rune(s) {
			out = append(out, glyph{r: r, left: float32(10 * i), right: float32(10*i + 10), size: 10})
		}
		return out
	}
	for text, want := range map[string]string{
		"全 世 界 ， 联 合": "全世界，联合",
		"是 否":         "是 否",
		"全世 界 联 合":    "全世 界 联 合",
		"ค ำแปล":      "คำแปล",
		"A ก ข":       "A ก ข",
	} {
		if got := cellText(row(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFormThatOnlyAdobeShowsIsReadFromItsDescription(t *testing.T) {
	const packet = `<xdp><template><subform><draw><value><text>Application for a berth</text></value></draw>
		<draw><value><exData contentType="text/html"><body><p>Fill in all fields.</p><p>Sign it.</p></body></exData></value></draw>
		<field name="a"><caption><value><text>Surname</text></value></caption><items><text>Yes</text></items><event><script>hide()</script></event></field>
		<draw presence="hidden"><value><text>For the office only</text></value></draw></subform></template>
		<datasets><data><form><Surname>Okafor</Surname></form></data></datasets></xdp>`
	objects := append(pdfObjects([][]string{{"Please wait..."}}), stream("", packet))
	objects[0] = fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /NeedsRendering true /AcroForm << /Fields [] /XFA %d 0 R >> >>", len(objects))
	got, err := All().Text(t.Context(), "pdf", pdfOf("", objects...))
	if want := "Application for a berth\nFill in all fields.\nSign it.\nSurname\nSurname: Okafor\n\nPlease wait..."; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestOnlyPageNumbersAndRepeatedLinesAreLeftOut(t *testing.T) {
	for name, tc := range map[string]struct {
		line func(page int) string
		kept int // pages of 4 that keep the line
	}{
		"a number":            {func(p int) string { return fmt.Sprint(p) }, 0},
		"a number in dashes":  {func(p int) string { return fmt.Sprintf("- %d -", p+6) }, 0},
		"of all":              {func(p int) string { return fmt.Sprintf("%d / 4", p) }, 0},
		"of all, in words":    {func(p int) string { return fmt.Sprintf("Seite %d von 4", p) }, 0},
		"a month":             {func(p int) string { return fmt.Sprintf("Payslip %02d/2026", p) }, 4},
		"a German chapter":    {func(p int) string { return fmt.Sprintf("Kapitel %d", p) }, 4},
		"a Spanish article":   {func(p int) string { return fmt.Sprintf("Artículo %d", p) }, 4},
		"a lesson":            {func(p int) string { return fmt.Sprintf("Lesson %d", p) }, 4},
		"a date":              {func(p int) string { return fmt.Sprintf("Issued on %02d.05.2026", p) }, 4},
		"an amount":           {func(int) string { return "Balance carried forward 9,365.08 EUR" }, 4},
		"numbers with steps":  {func(p int) string { return fmt.Sprint(10 * p) }, 4},
		"a name":              {func(int) string { return "Larkfield Bank" }, 1},
		"a name with a place": {func(int) string { return "Customer number 88123" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var pages []string
			for p := 1; p <= 4; p++ {
				pages = append(pages, fmt.Sprintf("%s\nA line of page %d.\nAnother one, with words.\nA third one.\nThe last words of %d.", tc.line(p), p, p))
			}
			text, _ := joinPages(pages)
			got := 0
			for p := 1; p <= 4; p++ {
				if strings.Contains("\n"+text, "\n"+tc.line(p)+"\nA line of page "+fmt.Sprint(p)) {
					got++
				}
			}
			if got != tc.kept {
				t.Errorf("%d pages have it, want %d: %q", got, tc.kept, text)
			}
		})
	}
}

func TestPagesCountCharacters(t *testing.T) {
	text, pages := joinPages([]string{"Größe.", " \n", "日本。"})
	want := []chat.PageStart{{Page: 1, Start: 0}, {Page: 3, Start: 8}}
	if text != "Größe.\n\n日本。" || !slices.Equal(pages, want) {
		t.Errorf("%q, %v", text, pages)
	}
}

func TestPlainTextHasNoPages(t *testing.T) {
	c, err := All().Content(t.Context(), "txt", []byte("One.\fTwo."))
	if err != nil || c.Text != "One.\nTwo." || c.Pages != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestUnreadablePDFsHaveAReason(t *testing.T) {
	good := pdf("", []string{"A page with a line of text on it."})
	locked := "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] " +
		"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <" + strings.Repeat("a1", 32) + "> /U <" + strings.Repeat("b2", 32) + "> >>"
	for name, tc := range map[string]struct {
		raw  []byte
		want *Unreadable
	}{
		"encrypted":        {pdf(locked, []string{"A page with a line of text on it."}), errEncrypted},
		"without text":     {pdf("", nil, nil), errNoText},
		"pictures":         {scanned(2), errScanned},
		"an XFA form":      {pdfOf("", append([]string{"<< /Type /Catalog /Pages 2 0 R /NeedsRendering true /AcroForm << /Fields [] /XFA () >> >>"}, pdfObjects([][]string{{"Please wait..."}})[1:]...)...), errAdobeForm},
		"shifted letters":  {pdf("", []string{"Wkh zduudqw| odvwv iru wzr |hduv diwhu wkh gholyhu| ri wkh skrqh.", "Wkh vxssolhu uhsdluv lw zlwkrxw fkdujh, diwhu wkdw shulrg qrwklqj lv sdlg."}), errGarbled},
		"a short page":     {pdf("", []string{"Wkh zduudqw| odvwv wkuhh |hduv dqg fryhuv wkh edwwhu|", "Wkh ex|hu pxvw nhhs wkh lqyrlfh iru wkh zkroh shulrg"}), errGarbled},
		"garbage":          {[]byte("%PDF-1.7\n" + strings.Repeat("\x93\x01garbage", 200)), errDamaged},
		"header only":      {[]byte("%PDF-1.7\n"), errDamaged},
		"cut at the start": {good[:60], errDamaged},
		"empty":            {nil, errEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reason(t, tc.raw); got != tc.want.Reason {
				t.Errorf("reason %q, want %q", got, tc.want.Reason)
			}
		})
	}
}

// bomb returns a small PDF whose only page draws a form that draws two forms, and so on. It
// has 2^levels pieces of text.
func bomb(levels int) []byte {
	const first = 5
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X %d 0 R >> >> >>", first),
		stream("", "/X Do"),
	}
	for i := range levels {
		objects = append(objects, stream(fmt.Sprintf(
			"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /X %d 0 R >> >>", first+i+1), "/X Do /X Do"))
	}
	objects = append(objects, stream("/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>",
		"BT /F1 11 Tf 50 700 Td (word) Tj ET"))
	return pdfOf("", objects...)
}

// bombTime is shorter than any machine needs for bomb(28). That PDF runs out of the
// reader's memory only after some seconds.
const bombTime = 200 * time.Millisecond

func TestPDFThatTakesTooLongTimesOut(t *testing.T) {
	before := readTime
	t.Cleanup(func() { readTime = before })
	readTime = bombTime
	if got := reason(t, bomb(28)); got != errTooLong.Reason {
		t.Errorf("reason %q", got)
	}
}

func TestCancelledContextEndsTheReader(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), bombTime)
	defer cancel()
	_, err := All().Text(ctx, "pdf", bomb(28))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	var u *Unreadable
	if errors.As(err, &u) {
		t.Error("the caller's own deadline is blamed on the document")
	}
}

func TestReaderDoesNotInheritTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	for _, v := range pdfReader.env() {
		if strings.Contains(v, "secret") {
			t.Errorf("the reader is given %q", v)
		}
	}
}

func TestCompiledReaderIsCached(t *testing.T) {
	before := CacheDir
	t.Cleanup(func() { CacheDir = before })
	CacheDir = t.TempDir()
	if _, err := All().Text(t.Context(), "pdf", pdf("", []string{"Some words."})); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(CacheDir)
	if err != nil || len(kept) == 0 {
		t.Errorf("%d files kept, %v", len(kept), err)
	}
}

// Reading ends with text or a reason for any bytes.
func FuzzPDF(f *testing.F) {
	good := pdf("", []string{"Some words on a page.", "And a second line."})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bytes.ReplaceAll(good, []byte("/Length"), []byte("/Lenght")))
	f.Add(bytes.ReplaceAll(good, []byte("/Count 1"), []byte("/Count 99999")))
	f.Add([]byte("%PDF-1.4\ntrailer << /Root 1 0 R >>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := All().Text(t.Context(), "pdf", raw)
		var u *Unreadable
		if err != nil && !errors.As(err, &u) {
			t.Fatal(err)
		}
		checkText(t, text)
	})
}

func TestPDFReaderStartsWhenItsCacheCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	cache := cacheIn(dir)
	if cache == nil {
		t.Fatal("no cache")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	inst, err := newPDFium(cache)
	if err != nil {
		t.Fatal(err)
	}
	_ = inst.Close()
}

func TestOnlyADocumentThatTheReaderCannotReadIsCalledDamaged(t *testing.T) {
	for code, want := range map[int]error{
		exitDamaged: errDamaged, exitEncrypted: errEncrypted, exitTooLong: errTooLong,
		2:  errDamaged, // a panic
		-1: errDamaged, // killed
	} {
		if got := pdfReader.error(t.Context(), code, "why"); !errors.Is(got, want) {
			t.Errorf("%d: %v", code, got)
		}
	}
	var unreadable *Unreadable
	if err := pdfReader.error(t.Context(), exitFailed, "start pdfium: no memory\n"); errors.As(err, &unreadable) || err.Error() != "run the reader: start pdfium: no memory" {
		t.Errorf("a reader that could not start is reported as %v", err)
	}
}

func TestCharactersBeyond16BitsAreWhole(t *testing.T) {
	cmap := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <D835DC49> endbfchar endcmap end"
	objects := pdfObjects([][]string{{"A is a voltage"}})
	objects = append(objects, stream("", cmap))
	objects[2] = fmt.Sprintf("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode %d 0 R >>", len(objects))
	got, err := All().Text(t.Context(), "pdf", pdfOf("", objects...))
	if err != nil || got != "𝑉 is a voltage" {
		t.Errorf("%q, %v", got, err)
	}
}

// In fonts of symbols, programs for Windows give characters private places of Unicode.
func TestCharactersOfSymbolFontsAreTheirSigns(t *testing.T) {
	cmap := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange 5 beginbfchar <78> <0078> <41> <F061> <2B> <F02B> <62> <F0FC> <63> <F8EB> endbfchar endcmap end"
	for font, want := range map[string]string{"Symbol": "xα+⎫⎛", "ABCDEF+Wingdings-Regular": "x\uf061\uf02b✓⎛", "Unknown": "x\uf061\uf02b\uf0fc⎛"} {
		objects := pdfObjects([][]string{{"xA+bc"}})
		objects = append(objects, stream("", cmap))
		objects[2] = fmt.Sprintf("<< /Type /Font /Subtype /Type1 /BaseFont /%s /ToUnicode %d 0 R >>", font, len(objects))
		got, err := All().Text(t.Context(), "pdf", pdfOf("", objects...))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", font, got, err, want)
		}
	}
}

func TestWordsOfLettersOfSeveralScriptsAreNoise(t *testing.T) {
	for text, want := range map[string]bool{
		"ଋҨǥƹ ୡȥဎഁୡࣧҨဌʾဎಱ ೌ܆ȥ ਮΝ੧ͱʸ͢ฏʤҨ":                                                        true,
		"Das μ-Verfahren: Δx, αβ, 5 µm und kΩ bei Müller und Łódź":                              false,
		"契約書のPDFをA社とB社がExcelで送る。ใบเสร็จ VAT":                                                    false,
		"7KH UHQW LV GXH RQ WKH ILUVW GD\\ RI HDFK PRQWK DQG LV SDLG E\\ WKH WHQDQW LQ DGYDQFH": true,
		"THE RENT IS DUE ON THE FIRST DAY OF EACH MONTH AND IS PAID BY THE TENANT IN ADVANCE":   false,
		"DIE MIETE IST AM ERSTEN TAG DES MONATS FÄLLIG; HRDLICKA UND HARDER ZAHLEN SIE DREI":    false,
		"Договор аренды и lease agreement, ειδοποίηση":                                          false,
	} {
		if got := isGarbled(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The lines of columns are not on the same height, and the gaps between the columns are narrow:
// without the places of the characters, a line of one column goes on in the next.
func TestColumnsThatAreDrawnAcrossAreReadOneAfterTheOther(t *testing.T) {
	columns := [3][]string{
		{"The harbour office is open", "from eight to five, and it", "is closed on days on which", "the town has a holiday of", "its own. Boats wait at the", "pier in the meantime."},
		{"Boats that are longer than", "ten metres need a permit", "which the office gives to", "members who have asked for", "it in the month before and", "have paid for the year."},
		{"Guests pay by the day when", "they come, and get a part", "of the price back if they", "leave before noon. Nothing", "is due for boats that are", "towed in after a storm."},
	}
	rows := [3][]string{
		{"Small boats", "Large boats", "Guests", "Members", "Permits", "Storage"},
		{"north pier", "south pier", "by the day", "by the year", "on request", "in the hall"},
		{"120.00 a year", "240.00 a year", "12.00 a day", "90.00 a year", "free of charge", "35.00 a month"},
	}
	draw := func(columns [3][]string, heights [3]float64) []byte {
		var b strings.Builder
		for i := range columns[0] {
			for c := range columns {
				fmt.Fprintf(&b, "BT /F1 10 Tf 1 0 0 1 %d %g Tm (%s) Tj ET\n", 50+140*c, 700+heights[c]-float64(12*i), columns[c][i])
			}
		}
		return pageOf(b.String())
	}
	got, err := All().Text(t.Context(), "pdf", draw(columns, [3]float64{0, 4, -3}))
	if want := strings.Join(slices.Concat(columns[0], columns[1], columns[2]), "\n"); err != nil || got != want {
		t.Errorf("columns: %q, %v, want %q", got, err, want)
	}
	got, err = All().Text(t.Context(), "pdf", draw(rows, [3]float64{}))
	if err != nil || !strings.Contains(got, "Small boats | north pier | 120.00 a year\nLarge boats | south pier") {
		t.Errorf("a table: %q, %v", got, err)
	}
}

func TestTextsThatButtonsAndStampsDrawAreRead(t *testing.T) {
	draw := func(text string) string {
		return stream("/Type /XObject /Subtype /Form /BBox [0 0 200 40] /Resources << /Font << /F1 3 0 R >> >>", text)
	}
	const button = "<< /Type /Annot /Subtype /Widget /FT /Btn /Ff 65536 /T (b) /Rect [300 690 500 730] /AP << /N 7 0 R >> %s >>"
	const stamp = "<< /Type /Annot /Subtype /Stamp /Rect [50 600 250 640] /AP << /N 8 0 R >> >>"
	pdf := func(flags string) []byte {
		objects := pdfObjects([][]string{{"Application for a berth"}})
		objects[0] = "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>"
		objects[4] = strings.TrimSuffix(objects[4], ">>") + "/Annots [6 0 R " + stamp + "] >>"
		return pdfOf("", append(objects, fmt.Sprintf(button, flags),
			draw("BT /F1 10 Tf 14 TL 5 25 Td (Click here if you) Tj T* (owe the fee.) Tj ET"),
			draw("BT /F1 20 Tf 5 12 Td (APPROVED) Tj ET"))...)
	}
	for flags, want := range map[string]string{
		"":     "Application for a berth\nClick here if you\nowe the fee.\nAPPROVED",
		"/F 2": "Application for a berth\nAPPROVED", // hidden
	} {
		if got, err := All().Text(t.Context(), "pdf", pdf(flags)); err != nil || got != want {
			t.Errorf("with flags %q: %q, %v, want %q", flags, got, err, want)
		}
	}
}

// Fonts of TeX have ligatures whose characters some programs write as arrows or not at all.
func TestLigaturesOfTeXAreLetters(t *testing.T) {
	objects := pdfObjects([][]string{{"x"}})
	objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
	objects[3] = stream("", `BT /F1 10 Tf 50 700 Td (The e\001orts and a di\014erent o\001-season. Press \001 now.) Tj ET`)
	raw := pdfOf("", append(objects, stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange "+
		"1 beginbfrange <20> <7e> <0020> endbfrange 2 beginbfchar <01> <21b5> <0c> <000b> endbfchar endcmap end end"))...)
	got, err := All().Text(t.Context(), "pdf", raw)
	if want := "The efforts and a different off-season. Press ↵ now."; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// A word that is cut at the end of a page is on the page on which it begins, whatever stands below it.
func TestWordsThatAreCutAtTheEndOfAPageAreWhole(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{
		{"Der Beitrag zur Kranken-", "versicherung steigt.", "Der Beitrag zur Krankenversicherung\nsteigt."},
		{"Der Beitrag zur Kranken-", "versicherung, wie er steigt.", "Der Beitrag zur Krankenversicherung,\nwie er steigt."},
		{"It is a cost-effective way. It is cost-", "effective to rent.", "It is a cost-effective way. It is cost-effective\nto rent."},
		{"Das betrifft Haupt-", "und Nebenkosten.", "Das betrifft Haupt-\nund Nebenkosten."},
		{"Bitte senden Sie eine E-", "Mail an uns.", "Bitte senden Sie eine E-Mail\nan uns."},
		{"From the years 2019-", "2021 on.", "From the years 2019-\n\n2021 on."},
	} {
		pages := [][]string{{"Erste Seite.", tc.before, "", "", "", "1"}, {tc.after, "", "", "", "2"}, {"Dritte Seite.", "", "", "", "3"}}
		for _, footer := range []bool{true, false} {
			if !footer {
				pages = [][]string{{"Erste Seite.", tc.before}, {tc.after}, {"Dritte Seite."}}
			}
			got, err := All().Content(t.Context(), "pdf", pdf("", pages...))
			if want := "Erste Seite.\n" + tc.want + "\n\nDritte Seite."; err != nil || got.Text != want {
				t.Errorf("footer %v: %q, %v, want %q", footer, got.Text, err, want)
			}
			if len(got.Pages) != 3 {
				t.Errorf("pages %v of %q", got.Pages, got.Text)
			}
		}
	}
}

// TeX draws the mark before its letter, or after it.
func TestMarksOverALetterAreJoinedWithIt(t *testing.T) {
	var drawn, want []string
	for content, text := range map[string]string{
		`[(Herr M) -111 (\250) 444 (u) (ller)] TJ`:                                 "Herr Müller",
		`[(of ) -167 ] TJ 2 Ts (\250) Tj 0 Ts [500 (U) (ber)] TJ`:                  "of Über",
		`[(Fran) -83 (\270) 416 (c) (ois est )] TJ (l) Tj [-83 (\270) 416 (A)] TJ`: "François est l¸A",
		`[(\307a Fran) (c) 416 (\270) -83 (ois)] TJ`:                               "Ça François",
		`[(caf) -111 (\264) 444 (e) ( cr) -111 (\210) 444 (e) (pe)] TJ`:            "café crêpe",
		`[(na) 27 (\250) 305 (\007) (ve, ma) -111 (\230) 444 (n) (ana)] TJ`:        "naïve, mañana",
		`[(S) -111 (\001) 444 (e) -83 (\001) 416 (s) ( A) 500 (\002) -167 (r)] TJ`: "Sěš År",
		`[(L) -56 (\005) 389 (o) ( \006) 444 -111 (e)] TJ`:                         "Lő ę",
		`[(The sign ) (\264) (a, 20 \260C, a^b, ~e)] TJ`:                           "The sign ´a, 20 °C, a^b, ~e",
	} {
		drawn, want = append(drawn, fmt.Sprintf("BT /F1 11 Tf 50 %d Td %s ET", 700-16*len(want), content)), append(want, text)
	}
	objects := pdfObjects([][]string{nil})
	objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /caron /ring /breve /dotaccent /hungarumlaut /ogonek /dotlessi] >> >>"
	objects[3] = stream("", strings.Join(drawn, "\n"))
	got, err := All().Text(t.Context(), "pdf", pdfOf("", objects...))
	require.NoError(t, err)
	require.Equal(t, strings.Join(want, "\n"), got)
}

// A page that is turned, as those with wide tables are, is read as people see it.
func TestRowsOfTurnedPagesStayRows(t *testing.T) {
	for name, matrix := range map[string]string{"left": "0 1 -1 0 %g %g", "right": "0 -1 1 0 %g %g"} {
		var b strings.Builder
		for i, row := range [][]string{{"Berth", "Fee"}, {"North", "120"}, {"South", "95"}, {"West", "110"}} {
			for c, cell := range row {
				x, y := 100+150*float64(c), 14*float64(i)
				place := map[string][2]float64{"left": {300 + y, x}, "right": {300 - y, 700 - x}}[name]
				fmt.Fprintf(&b, "BT /F1 10 Tf "+matrix+" Tm (%s) Tj ET\n", place[0], place[1], cell)
			}
		}
		objects := pdfObjects([][]string{{""}})
		objects[3] = stream("", b.String())
		text, err := All().Text(t.Context(), "pdf", pdfOf("", objects...))
		if want := "Berth | Fee\nNorth | 120\nSouth | 95\nWest | 110"; err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// drawnTable draws a table whose cells may have several lines: cell by cell, or from the top of the page. at is 0
// for cells at the top of their rows, and 1 for those at the bottom.
func drawnTable(rows [][]string, columns []float64, at float64, byLine bool) []byte {
	type part struct {
		x, y float64
		text string
	}
	var parts []part
	y := 700.0
	for _, cells := range rows {
		most := 1
		for _, c := range cells {
			most = max(most, 1+strings.Count(c, "\n"))
		}
		for i, c := range cells {
			lines := strings.Split(c, "\n")
			for k, l := range lines {
				parts = append(parts, part{columns[i], y - 12*(float64(k)+at*float64(most-len(lines))), l})
			}
		}
		y -= 12*float64(most) + 8
	}
	if byLine {
		slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.y, a.y) })
	}
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "BT /F1 10 Tf %g %g Td (%s) Tj ET\n", p.x, p.y, p.text)
	}
	return pageOf(b.String())
}

func TestRowsOfCellsWithSeveralLinesStayRows(t *testing.T) {
	tables := map[string]struct {
		rows    [][]string
		columns []float64
		want    string
	}{
		"in the middle": {[][]string{{"Berth", "Description", "Price"}, {"North", "Large berth for boats of up\nto ten metres", "120.00"}, {"South", "Small berth", "80.00"}, {"West", "Berth on the pier that has\nno water in winter and is\nclosed then", "20.00"}, {"East", "Guests only", "9.00"}}, []float64{50, 150, 400},
			"Berth | Description | Price\nNorth | Large berth for boats of up to ten metres | 120.00\nSouth | Small berth | 80.00\nWest | Berth on the pier that has no water in winter and is closed then | 20.00\nEast | Guests only | 9.00"},
		"in the first": {[][]string{{"Description", "Price", "Unit"}, {"Large berth for boats of up\nto ten metres", "120.00", "day"}, {"Small berth", "80.00", "day"}, {"Berth on the pier that has\nno water in winter and is\nclosed then", "20.00", "day"}}, []float64{50, 300, 400},
			"Description | Price | Unit\nLarge berth for boats of up to ten metres | 120.00 | day\nSmall berth | 80.00 | day\nBerth on the pier that has no water in winter and is closed then | 20.00 | day"},
		"in several": {[][]string{{"Name of\nthe berth", "Who may\nuse it"}, {"North", "Boats of up to\nten metres"}, {"South of\nthe pier", "Guests"}, {"West", "Nobody"}}, []float64{50, 300},
			"Name of the berth | Who may use it\nNorth | Boats of up to ten metres\nSouth of the pier | Guests\nWest | Nobody"},
	}
	for name, tc := range tables {
		for _, at := range []float64{0, 0.5, 1} {
			for _, byLine := range []bool{false, true} {
				if byLine && name == "in several" { // a page that is drawn from the top has no more than the distances
					continue
				}
				got, err := All().Text(t.Context(), "pdf", drawnTable(tc.rows, tc.columns, at, byLine))
				if err != nil || got != tc.want {
					t.Errorf("%s, at %g, line by line %v: %q, %v, want %q", name, at, byLine, got, err, tc.want)
				}
			}
		}
	}
}

// Rows that stand close, with empty cells or labels between them, are not joined.
func TestRowsAreNotTakenForLinesOfACell(t *testing.T) {
	var b strings.Builder
	for i, cells := range [][]string{{"Berth", "Price", "State"}, {"North", "120.00", "free"}, {"South"}, {"West", "20.00", "taken"}, {"Guests"}, {"East", "", "free"}, {"Pier", "9.00", "free"}} {
		for c, text := range cells {
			if text != "" {
				fmt.Fprintf(&b, "BT /F1 10 Tf %d %d Td (%s) Tj ET\n", 50+150*c, 700-13*i, text)
			}
		}
	}
	got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
	if want := "Berth | Price | State\nNorth | 120.00 | free\nSouth\nWest | 20.00 | taken\nGuests\nEast |  | free\nPier | 9.00 | free"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// digitsWidth is the width of digits and points in Helvetica of 10 points.
func digitsWidth(s string) float64 { return 5.56*float64(len(s)) - 2.78*float64(strings.Count(s, ".")) }

// The last rows have cells with no wider gap between them than between words. The
// line about boats runs over columns that are empty there.
func TestRowsWithNarrowGapsAreCutAtTheColumnsOfTheOthers(t *testing.T) {
	var b strings.Builder
	right := []float64{230, 262, 294, 326}
	rows := [][]string{{"North", "12", "7", "3", "22"}, {"South", "9", "8", "10", "27"}, {"West", "1", "2", "3", "6"}, {"East", "4", "5", "6", "15"}, {"Guests", "11", "20", "30", "61"}, {"Total", "12345", "12342", "22352", "47039"}}
	for i, row := range rows {
		fmt.Fprintf(&b, "BT /F1 10 Tf 50 %d Td (%s) Tj ET\n", 680-13*i, row[0])
		for c, text := range row[1:] {
			fmt.Fprintf(&b, "BT /F1 10 Tf %g %d Td (%s) Tj ET\n", right[c]-digitsWidth(text), 680-13*i, text)
		}
	}
	fmt.Fprintf(&b, "BT /F1 10 Tf 50 602 Td (Only boats of up to ten metres use the) Tj ET BT /F1 10 Tf %g 602 Td (5) Tj ET\n", right[3]-digitsWidth("5"))
	got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
	want := ""
	for _, row := range rows {
		want += strings.Join(row, " | ") + "\n"
	}
	if want += "Only boats of up to ten metres use the"; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// "No." looks like the number of a list, and "Share of" has a wide gap: both are names of columns, wider than their numbers.
func TestNamesOfColumnsOnTwoLinesBelongToTheirTable(t *testing.T) {
	var b strings.Builder
	at := func(x float64, y int, text string) { fmt.Fprintf(&b, "BT /F1 10 Tf %g %d Td (%s) Tj ET\n", x, y, text) }
	lefts := []float64{50, 237, 306, 376, 445}
	for _, name := range []struct {
		x    float64
		text string
	}{{237, "No."}, {306, "Percent"}, {376, "Mean dues"}, {445, "Share"}, {490, "of"}} {
		at(name.x, 708, name.text)
	}
	at(445, 697, "all berths")
	rows := [][]string{{"Pier one", "344", "75.2", "12196", "17.4"}, {"Pier two", "53", "11.6", "23518", "22.5"}, {"Dry dock", "61", "13.2", "9187", "22.5"}, {"Total", "458", "100.0", "13153", "18.7"}}
	want := ""
	for i, row := range rows {
		for c, text := range row {
			at(lefts[c], 680-12*i, text)
		}
		want += strings.Join(row, " | ") + "\n"
	}
	got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
	if err != nil || !strings.HasPrefix(got, "| No. | Percent | Mean dues | Share all berths") || !strings.HasSuffix(got, strings.TrimSuffix(want, "\n")) || strings.Contains(got, "\n\n") {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// The second number of the second row begins where the long first one ends, and so do those of the header.
func TestTightRowsBelongToTheTableAroundThem(t *testing.T) {
	var b strings.Builder
	rows := [][3]string{{"202520252025202520", "2026", "2027202720"}, {"1111", "12", "120.00"}, {"123456789012345678", "1500", "140.00"}, {"222", "8", "80.00"}, {"3333", "9", "90.00"}, {"44", "6", "60.00"}}
	var want []string
	for i, row := range rows {
		for c, text := range row {
			x := 50.0
			if c > 0 {
				x = []float64{175, 235}[c-1] - digitsWidth(text)
			}
			fmt.Fprintf(&b, "BT /F1 10 Tf %g %d Td (%s) Tj ET\n", x, 700-13*i, text)
		}
		want = append(want, strings.Join(row[:], " | "))
	}
	got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
	if err != nil || got != strings.Join(want, "\n") {
		t.Errorf("%q, %v, want %q", got, err, strings.Join(want, "\n"))
	}
}

// The label of the third row has two lines; its numbers stand between them.
func TestTablesThatAreDrawnColumnByColumnHaveRows(t *testing.T) {
	var b strings.Builder
	at := func(x float64, y int, text string) { fmt.Fprintf(&b, "BT /F1 10 Tf %g %d Td (%s) Tj ET\n", x, y, text) }
	at(50, 714, "Pier")
	at(200, 714, "2024")
	at(260, 714, "2025")
	for _, l := range []struct {
		y    int
		text string
	}{{700, "North"}, {686, "South"}, {672, "West, with the"}, {660, "dry dock"}, {646, "East"}, {632, "Guests"}, {618, "Total"}} {
		at(50, l.y, l.text)
	}
	for c, column := range [][]string{{"12", "9", "31", "4", "11", "67"}, {"1", "2", "3", "4", "5", "15"}} {
		for i, y := range []int{700, 686, 666, 646, 632, 618} {
			at([]float64{200, 260}[c], y, column[i])
		}
	}
	got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
	want := "Pier | 2024 | 2025\nNorth | 12 | 1\nSouth | 9 | 2\n"
	if err != nil || !strings.HasPrefix(got, want) || !strings.Contains(got, "| 31 | 3\n") || !strings.HasSuffix(got, "\nEast | 4 | 4\nGuests | 11 | 5\nTotal | 67 | 15") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNumbersOfLinesAreNoColumn(t *testing.T) {
	var b strings.Builder
	for i, line := range []string{"The harbour office is open", "from eight to five, and it is", "closed on days on which the", "town has a public holiday", "of its own."} {
		fmt.Fprintf(&b, "BT /F1 10 Tf 50 %d Td (%s) Tj ET\n", 700-13*i, line)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "BT /F1 10 Tf 300 %d Td (%d) Tj ET\n", 700-13*i, i+1)
	}
	if got, err := All().Text(t.Context(), "pdf", pageOf(b.String())); err != nil || strings.Contains(got, tableBar) {
		t.Errorf("%q, %v", got, err)
	}
}

// No row has a wide gap between some of the columns. The spaces within thousands and after the marks of lists are no gaps.
func TestColumnsWithoutWideGapsAreCutWhereTheirGapsAreFree(t *testing.T) {
	for _, c := range []struct {
		name string
		rows [][]string
		at   []float64 // the right edges of numbers; with a minus, the left ones
	}{
		{"numbers a little apart", [][]string{{"Ada", "1144", "193.5", "1234"}, {"Bea", "39385", "181.2", "11"}, {"Cleo", "6930", "177.4", "205"}, {"Dan", "102", "7.8", "4"}, {"Eve", "77", "66.5", "81"}}, []float64{-50, 160, 196, 227}},
		{"label after a number", [][]string{{"1st", "3500", "2nd", "12"}, {"3rd", "4500", "4th", "130"}, {"5th", "1200", "6th", "1500"}, {"7th", "2900", "8th", "7"}}, []float64{-50, 160, -170, 300}},
		{"thousands", [][]string{{"Ada", "1 234 567", "11"}, {"Bea", "2 345 678", "120"}, {"Cleo", "3 456 789", "13"}, {"Dan", "4 567 891", "14"}, {"Eve", "5 678 912", "15"}}, []float64{-50, 200, 300}},
		{"marks of lists", [][]string{{"Ada", "1. Yes", "a. No"}, {"Bea", "1. No", "a. Yes"}, {"Cleo", "1. Yes", "a. No"}, {"Dan", "1. No", "a. Yes"}}, []float64{-50, -150, -300}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			var want []string
			for i, row := range c.rows {
				for k, text := range row {
					x := -c.at[k]
					if x < 0 {
						x = c.at[k] - digitsWidth(text)
					}
					fmt.Fprintf(&b, "BT /F1 10 Tf %g %d Td (%s) Tj ET\n", x, 700-13*i, text)
				}
				want = append(want, strings.Join(row, " | "))
			}
			got, err := All().Text(t.Context(), "pdf", pageOf(b.String()))
			if err != nil || got != strings.Join(want, "\n") {
				t.Errorf("%q, %v, want %q", got, err, strings.Join(want, "\n"))
			}
		})
	}
}

// japaneseFont maps the letters of a font to Japanese ones.
const japaneseFont = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange " +
	"2 beginbfrange <30> <39> <0030> <41> <5a> <4e00> endbfrange endcmap end end"

// The columns are drawn from the left, and the year in the second one comes last.
func TestVerticalLinesAreReadFromRightToLeft(t *testing.T) {
	var b strings.Builder
	b.WriteString("BT /F1 12 Tf 50 780 Td (XYZ) Tj ET\n")
	for i, column := range []string{"GHIJKL", "DEF12", "ABC"} {
		for row, r := range column {
			if r < 'A' { // two figures beside each other
				fmt.Fprintf(&b, "BT /F1 8 Tf 1 0 0 1 %d 661 Tm (%c) Tj ET\n", 100+30*i+4*(row-3), r)
			} else {
				fmt.Fprintf(&b, "BT /F1 12 Tf 1 0 0 1 %d %d Tm (%c) Tj ET\n", 100+30*i, 700-13*row, r)
			}
		}
	}
	b.WriteString("BT /F1 12 Tf 0 -1 1 0 131 655 Tm (2026) Tj ET\n")
	objects := pdfObjects([][]string{{"x"}})
	objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
	objects[3] = stream("", b.String())
	text, err := All().Text(t.Context(), "pdf", pdfOf("", append(objects, stream("", japaneseFont))...))
	if want := "丗丘丙\n一丁丂\n七丄丅12 2026\n丆万丈三上下"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

// The font is not in the file, and its vertical text has no size.
func TestPageWhoseTextIsNotReadIsNoise(t *testing.T) {
	var b strings.Builder
	b.WriteString("BT /F1 12 Tf 50 780 Td (Official gazette, page 7, of 4 May 2026) Tj ET\n")
	for i := range 120 {
		fmt.Fprintf(&b, "BT /F2 12 Tf 1 0 0 1 %d %d Tm <%04x> Tj ET\n", 300-20*(i/20), 700-13*(i%20), 1200+i)
	}
	objects := pdfObjects([][]string{{"x"}})
	objects[3] = stream("", b.String())
	objects[4] = strings.Replace(objects[4], "/F1 3 0 R", "/F1 3 0 R /F2 6 0 R", 1)
	raw := pdfOf("", append(objects, "<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light-Identity-V /Encoding /Identity-V /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 "+
		"/BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 /FontDescriptor << /Type /FontDescriptor /FontName /Ryumin-Light "+
		"/Flags 6 /Ascent 723 /Descent -241 /CapHeight 709 /StemV 69 /ItalicAngle 0 /FontBBox [-170 -331 1024 903] >> >>] >>")...)
	if got := reason(t, raw); got != errGarbled.Reason {
		t.Errorf("reason %q", got)
	}
	if c, _ := All().Content(t.Context(), "pdf", raw); !slices.Equal(c.Lost, []int{1}) {
		t.Errorf("lost pages %v", c.Lost)
	}
}

// Scanners and archives print lines on the edges of scanned pages.
func TestScannedPageWithALineOnItsEdgeIsAPicture(t *testing.T) {
	page := func(stamp string) Content {
		objects := pdfObjects([][]string{{"The first page has a line of text."}, nil})
		objects = append(objects, stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "x"))
		objects[5] = stream("", "q 595 0 0 842 0 0 cm /X Do Q BT /F1 10 Tf "+stamp+" Td (Confidential, Harrow versus Elm, HARROW-0001234, page 2 of 120) Tj ET")
		objects[6] = strings.Replace(objects[6], "/Resources <<", "/Resources << /XObject << /X 8 0 R >>", 1)
		c, err := All().Content(t.Context(), "pdf", pdfOf("", objects...))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := page("50 30"); !slices.Equal(c.Unread, []int{2}) {
		t.Errorf("a line at the edge: unread %v", c.Unread)
	}
	if c := page("50 500"); c.Unread != nil || !strings.Contains(c.Text, "HARROW-0001234") {
		t.Errorf("a line on a picture: %q, unread %v", c.Text, c.Unread)
	}
}

// pdfium does not end every line of a text that is written from right to left.
func TestLinesFromRightToLeftAreNotJoined(t *testing.T) {
	var glyphs []glyph
	for line, text := range []string{"שלום עולם", "היום חם"} {
		for i, r := range []rune(text) {
			right := 300 - 8*float32(i)
			glyphs = append(glyphs, glyph{r: r, left: right - 8, right: right, base: 700 - 14*float32(line), size: 12})
		}
	}
	if got := pageText(pageLines(glyphs)); got != "שלום עולם\nהיום חם" {
		t.Errorf("%q", got)
	}
}

// hebrewFont maps the capitals of a font to Hebrew letters.
const hebrewFont = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange " +
	"3 beginbfrange <20> <3f> <0020> <41> <5a> <05d0> <61> <7a> <0061> endbfrange endcmap end end"

func TestTablesFromRightToLeftKeepTheirCells(t *testing.T) {
	visual := func(s string) string { // its words as they stand on the page
		words := strings.Fields(s)
		slices.Reverse(words)
		for i, w := range words {
			if w[0] >= 'A' && w[0] <= 'Z' {
				letters := []byte(w)
				slices.Reverse(letters)
				words[i] = string(letters)
			}
		}
		return strings.Join(words, " ")
	}
	columns := []float64{550, 400, 200} // where the cells end
	for _, fromRight := range []bool{true, false} {
		var b strings.Builder
		for i, cells := range [][]string{{"ABC", "DEFG", "HIJ"}, {"KLM NOP", "QRS 25 TUV", "120.00"}, {"AAB", "", "80.00"}, {"", "9", "9.00"}, {"XYZ", "word AB", ""}} {
			draw := ""
			for c, text := range cells {
				if text = visual(text); text != "" {
					one := fmt.Sprintf("BT /F1 10 Tf %g %d Td (%s) Tj ET\n", columns[c]-6*float64(len(text)), 700-20*i, text)
					if draw += one; fromRight {
						continue
					}
					draw = one + strings.TrimSuffix(draw, one)
				}
			}
			b.WriteString(draw)
		}
		objects := pdfObjects([][]string{{"x"}})
		objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>"
		objects[3] = stream("", b.String())
		got, err := All().Text(t.Context(), "pdf", pdfOf("", append(objects, stream("", hebrewFont))...))
		if want := "אבג | דהוז | חטי\nךכל םמן | נסע 25 ףפץ | 120.00\nאאב |  | 80.00\n | 9 | 9.00\nקרש | word אב"; err != nil || got != want {
			t.Errorf("from the right %v: %q, %v, want %q", fromRight, got, err, want)
		}
	}
}
