package extract

import (
	"bytes"
	"context"
	"strings"
)

var pdfFile = Type{
	Name:       "pdf",
	Label:      "PDF",
	Extensions: []string{".pdf"},
	MediaTypes: []string{"application/pdf", "application/x-pdf"},
	Binary:     true,
	Is:         isPDF,
	scanned:    readPDF,
}

// isPDF looks for the header, which readers accept within the first 1,024 bytes
// of a file that claims to be one.
func isPDF(raw []byte, named string) bool {
	head := raw[:min(len(raw), 1024)]
	if named == "pdf" {
		return bytes.Contains(head, []byte("%PDF-"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("%PDF-"))
}

// CacheDir is the folder that keeps the compiled PDF reader between runs (14 MB, saves
// 1.6 s of processor time per document). If it is empty, the user's cache directory is
// used; without one, nothing is cached. Set it before the first call of Text.
var CacheDir string

// pdfReader reads PDFs. The reader is native code compiled from WebAssembly. To stop it
// within this process would need checks that make it seven times slower, and while it runs
// the garbage collector cannot stop the world. A PDF of 48 MB with 41 MB of text needs more
// than 1 GiB and less than 1.25 GiB.
var pdfReader = reader{mode: "pdf", memory: 3 << 29, damaged: errDamaged, tooLong: errTooLong, encrypted: errEncrypted}

func readPDF(ctx context.Context, raw []byte, scans map[int]string) (Content, error) {
	out, err := pdfReader.run(ctx, raw)
	if err != nil {
		return Content{}, err
	}
	title, pages, _ := strings.Cut(string(out), pageBreak)
	c := Content{Title: title}
	texts := strings.Split(pages, pageBreak)
	garbled := 0
	for i, t := range texts {
		t, isPicture := strings.CutPrefix(t, pictureMark)
		t, isLost := strings.CutPrefix(t, lostMark)
		noise := isGarbled(t)
		if noise {
			t = ""
		}
		texts[i] = t
		switch read := scans[i+1]; {
		case isLost:
			c.Unread, c.Lost = append(c.Unread, i+1), append(c.Lost, i+1)
			garbled++
		case !isPicture && !noise:
		case read != "":
			texts[i] = scanText(read)
		default:
			c.Unread = append(c.Unread, i+1)
			if noise {
				garbled++
			}
		}
	}
	c.PageCount = len(texts)
	c.Text, c.Pages = joinPages(texts)
	if letters := countLetters(c.Text); garbled > 0 && (letters <= stampLetters || garbled == c.PageCount) {
		return c, errGarbled
	} else if len(c.Unread) > 0 && (letters == 0 || len(c.Unread) == c.PageCount) {
		return c, errScanned
	}
	return c, nil
}
