package extract

import (
	"bytes"
	"mime"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

var byExtension = map[string]string{
	".txt": TXT, ".text": TXT,
	".md": MD, ".markdown": MD,
	".html": HTML, ".htm": HTML, ".xhtml": HTML,
	".pdf": PDF,
}

var byMediaType = map[string]string{
	"text/plain":            TXT,
	"text/markdown":         MD,
	"text/x-markdown":       MD,
	"text/html":             HTML,
	"application/xhtml+xml": HTML,
	"application/pdf":       PDF,
	"application/x-pdf":     PDF,
}

// Detect returns the source type of an upload: by its file name, else by the media
// type that the client declared, corrected by its content (a PDF or a web page named
// .txt). Not ok when the content is none of the four, whatever the name says.
func Detect(filename, declaredType string, raw []byte) (sourceType string, ok bool) {
	media, _, _ := mime.ParseMediaType(declaredType) // empty when it cannot be parsed
	named, known := byExtension[strings.ToLower(filepath.Ext(filename))]
	if !known {
		named, known = byMediaType[media]
	}
	if !known && filepath.Ext(filename) == "" && (media == "" || media == "application/octet-stream") {
		named, known = TXT, true
	}
	if isPDF(raw, named == PDF) {
		return PDF, true
	}
	switch {
	case !known, named == PDF:
		return "", false
	case len(raw) > 0 && !isText(raw):
		return "", false
	case named == TXT && isPage(raw):
		return HTML, true
	}
	return named, true
}

// isPDF looks for the header, which readers accept within the first 1,024 bytes
// of a file that claims to be one.
func isPDF(raw []byte, claimed bool) bool {
	head := raw[:min(len(raw), 1024)]
	if claimed {
		return bytes.Contains(head, []byte("%PDF-"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("%PDF-"))
}

func isText(raw []byte) bool {
	if bytes.Contains(raw[:min(len(raw), 1024)], []byte("%PDF-")) {
		return utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 // a text about PDF
	}
	for m := mimetype.Detect(raw); m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return utf16Order(raw) != nil
}

func isPage(raw []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(raw[:min(len(raw), 1024)], "\ufeff \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}
