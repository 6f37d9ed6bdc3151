package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// OCR reads pages that are pictures with the program tesseract. Linux and macOS only.
type OCR struct {
	program   string
	languages string // as tesseract's option -l has them
	turns     bool   // it can recognise that a page lies on its side
}

const (
	// MaxScans is how many pages of a document OCR reads. The others count as unread.
	MaxScans = 500
	// scanTime is the timeout of one page.
	scanTime     = 2 * time.Minute
	maxLanguages = 4 // by default; each one takes time for every page
	orientation  = "osd"
)

// usualLanguages is the order in which languages are chosen by default.
var usualLanguages = strings.Fields("eng deu fra spa ita por nld pol rus ukr tur ces swe dan nor fin ron hun ell ara heb chi_sim chi_tra jpn kor hin tha vie ind")

// scanReader reads one page. Tesseract has needed up to 600 MB for a page of 30 million pixels.
var scanReader = reader{mode: readScan, memory: 3 << 29, time: scanTime, damaged: errScanned, tooLong: errScanned, encrypted: errEncrypted, needsDir: true}

// FindOCR looks for tesseract on PATH; nil if it is not there. wanted are its languages,
// joined by + or commas; "" takes the installed ones, at most four. missing are those that are
// not installed.
func FindOCR(ctx context.Context, wanted string) (_ *OCR, missing []string, _ error) {
	program, err := exec.LookPath("tesseract")
	if err != nil || runtime.GOOS == "windows" {
		return nil, nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(limited, program, "--list-langs").CombinedOutput()
	if err != nil {
		return nil, nil, fmt.Errorf("%s --list-langs: %w", program, err)
	}
	installed := strings.Split(strings.TrimSpace(string(out)), "\n")[1:]
	languages, missing := chooseLanguages(installed, wanted)
	if len(languages) == 0 {
		return nil, missing, errors.New("no language of tesseract is installed")
	}
	return &OCR{program, strings.Join(languages, "+"), slices.Contains(installed, orientation)}, missing, nil
}

// Languages returns what tesseract reads, joined by +.
func (o *OCR) Languages() string { return o.languages }

func chooseLanguages(installed []string, wanted string) (languages, missing []string) {
	installed = slices.DeleteFunc(slices.Clone(installed), func(l string) bool { return l == orientation })
	for _, l := range strings.FieldsFunc(wanted, func(r rune) bool { return r == '+' || r == ',' || r == ' ' }) {
		if slices.Contains(installed, l) {
			languages = append(languages, l)
		} else {
			missing = append(missing, l)
		}
	}
	if len(languages) > 0 {
		return languages, missing
	}
	rank := func(l string) int {
		if i := slices.Index(usualLanguages, l); i >= 0 {
			return i
		}
		return len(usualLanguages)
	}
	slices.SortStableFunc(installed, func(a, b string) int { return rank(a) - rank(b) })
	return installed[:min(len(installed), maxLanguages)], missing
}

// Scan returns the text of a page, from 1, of raw, whose type is sourceType: a picture, or a
// PDF. ScanWords has the words of what it returns. It is "" if the page cannot be read. After
// an error a retry may succeed.
func (o *OCR) Scan(ctx context.Context, sourceType string, raw []byte, page int) (string, error) {
	args := []string{o.program, scanFile, "stdout", "--dpi", strconv.Itoa(scanDPI), "-l", o.languages, "--psm", "3", "tsv"}
	if o.turns {
		args[len(args)-2] = "1"
	}
	out, err := scanReader.runScan(ctx, raw, scanCommand{sourceType, page, args})
	var unreadable *Unreadable
	switch {
	case errors.As(err, &unreadable):
		slog.InfoContext(ctx, "a scanned page cannot be read", "page", page, "type", sourceType, "reason", unreadable.Reason)
		return "", nil
	case err != nil:
		return "", err
	case string(out) == blankPage:
		return blankPage, nil
	}
	return recognised(string(out)), nil
}

// cutWord matches a word that is cut at the end of a line.
var cutWord = lazyregexp.New(`(\pL)[-\x{2010}]\n(\pL)`)

// scanText returns a text of OCR.Scan as the text of a page, for joinPages.
func scanText(s string) string {
	s, _, _ = strings.Cut(s, pageBreak)
	return cutWord.ReplaceAllString(s, "${1}"+string(lineEndHyphen)+"${2}")
}

func (r reader) runScan(ctx context.Context, raw []byte, c scanCommand) ([]byte, error) {
	command, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	r.further = []string{readerScanVar + "=" + string(command)}
	return r.run(ctx, raw)
}

// PagePicture returns a page of a picture, from 1, as PNG in shades of gray. The error is
// *Unreadable if it has no such page; after any other error a retry may succeed.
func PagePicture(ctx context.Context, sourceType string, raw []byte, page int) ([]byte, error) {
	r := scanReader
	r.mode, r.time = readDraw, readTime
	return r.runScan(ctx, raw, scanCommand{Type: sourceType, Page: page})
}

// blankPage is the text of a page with nothing on it, which needs no OCR. It is white space,
// so that the page counts as read and adds nothing to the text.
const blankPage = "\n"

// ScanWord is a word that OCR has read, and its box on the page: left, top, right and bottom
// in parts of boxParts of the page's width and height.
type ScanWord struct {
	Text string `json:"text"`
	Box  [4]int `json:"box"`
}

const boxParts = 10_000

// ScanWords returns the words of a text of OCR.Scan, in its order.
func ScanWords(scan string) []ScanWord {
	_, list, _ := strings.Cut(scan, pageBreak)
	var words []ScanWord
	if json.Unmarshal([]byte(list), &words) != nil {
		return nil
	}
	return words
}

// scanWord is a word that tesseract has found.
type scanWord struct {
	text                     string
	left, top, right, bottom int
	confidence               float64
}

// on returns the word with its box on a page of the given size.
func (w scanWord) on(width, height int) ScanWord {
	part := func(at, of int) int { return min(max(at, 0), of) * boxParts / of }
	return ScanWord{w.text, [4]int{part(w.left, width), part(w.top, height), part(w.right, width), part(w.bottom, height)}}
}

// scanLine is a line of them, and what it is part of.
type scanLine struct {
	block, paragraph string
	height           int
	words            []scanWord
}

const (
	// sure is the confidence in percent from which a line is text and not dirt or a drawing.
	sure = 55
	// columnGap is how wide a gap between two columns of a table is, in heights of the line.
	columnGap = 2.5
)

// recognised makes a text of tesseract's table of words (its output format TSV), with the
// words' boxes after a pageBreak. It is "" if most of what stands on the page could not be
// recognised.
func recognised(tsv string) string {
	var lines []scanLine
	pageWidth, pageHeight := 0, 0
	for row := range strings.SplitSeq(tsv, "\n") {
		f := strings.Split(row, "\t")
		if len(f) < 12 {
			continue
		}
		left, _ := strconv.Atoi(f[6])
		top, _ := strconv.Atoi(f[7])
		width, _ := strconv.Atoi(f[8])
		height, _ := strconv.Atoi(f[9])
		switch f[0] {
		case "1":
			pageWidth, pageHeight = width, height
		case "4":
			lines = append(lines, scanLine{block: f[2], paragraph: f[3], height: height})
		case "5":
			confidence, err := strconv.ParseFloat(f[10], 64)
			if text := strings.TrimSpace(withoutBreaks(f[11])); err == nil && text != "" && len(lines) > 0 {
				l := &lines[len(lines)-1]
				l.words = append(l.words, scanWord{text, left, top, left + width, top + height, confidence})
			}
		}
	}
	var b strings.Builder
	var last *scanLine
	good, all := 0, 0
	var words []ScanWord
	for i := range lines {
		l := &lines[i]
		text, confidence, letters := l.read()
		if all += letters; confidence < sure {
			continue
		}
		good += letters
		switch {
		case last == nil:
		case last.block != l.block || last.paragraph != l.paragraph:
			b.WriteString("\n\n")
		default:
			b.WriteString("\n")
		}
		b.WriteString(text)
		last = l
		if pageWidth > 0 && pageHeight > 0 {
			for _, w := range l.words {
				words = append(words, w.on(pageWidth, pageHeight))
			}
		}
	}
	if 2*good < all || isGarbled(b.String()) {
		return ""
	}
	if list, err := json.Marshal(words); err == nil && len(words) > 0 {
		b.WriteString(pageBreak)
		b.Write(list)
	}
	return b.String()
}

// read returns the text of a line, with bars between the columns of a table, the average
// confidence of its letters, and their number.
func (l scanLine) read() (text string, confidence float64, letters int) {
	var b strings.Builder
	sum := 0.0
	for i, w := range l.words {
		switch {
		case i == 0:
		case float64(w.left-l.words[i-1].right) > columnGap*float64(l.height):
			b.WriteString(tableBar)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		n := countLetters(w.text)
		sum += w.confidence * float64(n)
		letters += n
	}
	if letters > 0 {
		confidence = sum / float64(letters)
	}
	return b.String(), confidence, letters
}
