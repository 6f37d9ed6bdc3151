package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Type declares a type of document that can be read. To add one, add a file that
// declares it, and name it in All.
type Type struct {
	Name       string   // chat.Document.Format
	Label      string   // for people
	Extensions []string // of file names, with the dot
	MediaTypes []string // that clients declare
	Binary     bool     // an upload is of this type only if Is recognises it
	// Is recognises the type by an upload's content. named is the name of the type that
	// the file's name or its media type says, or "". If Is is nil, that name alone decides.
	Is func(raw []byte, named string) bool
	// Read returns the text, which need not be clean yet. Its error is *Unreadable, or one
	// for which a retry may succeed.
	Read func(ctx context.Context, raw []byte) (string, error)
	// content replaces Read for files that also have a title or pages.
	content func(ctx context.Context, raw []byte) (Content, error)
	// scanned replaces content for files whose pages may be pictures: pages are the texts that
	// OCR has read, by number. With an error it returns the pages that could not be read, too.
	scanned func(ctx context.Context, raw []byte, pages map[int]string) (Content, error)
	// archive is what content does in the reader's process, for Office files.
	archive readArchive
	// titled means that people write the title in the metadata: it comes before any heading.
	titled bool
	// untitled means that the first heading is not the title of the whole document.
	untitled bool
}

// Types are the types of documents that a process can read.
type Types []Type

// All lists the types that this program can read.
func All() Types {
	return append(Types{plainText, markdown, webPage, pdfFile, wordFile, sheetsFile, slidesFile, csvFile, mailFile, outlookFile, richText, openText, openSheets, openSlides}, pictureFiles...)
}

var typeName = lazyregexp.New(`^[a-z][a-z0-9_-]{0,19}$`)

// validate returns an error that says why the type cannot be used, or nil.
func (x Type) validate() error {
	switch {
	case !typeName.MatchString(x.Name):
		return errors.New("the name needs 1 to 20 of a-z, 0-9, _ and -, and begins with a letter")
	case x.Label == "":
		return errors.New("the label is missing")
	case x.Read == nil:
		return errors.New("no function reads it")
	case x.Binary && x.Is == nil:
		return errors.New("a binary type needs Is")
	case len(x.Extensions) == 0:
		return errors.New("an extension is needed")
	}
	for _, extension := range x.Extensions {
		if len(extension) < 2 || extension[0] != '.' || extension != strings.ToLower(extension) {
			return fmt.Errorf("the extension %q needs a dot and small letters", extension)
		}
	}
	return nil
}

// Binary reports whether a format is binary: only the content of a file shows that it has
// this format, and its text may be longer than the file.
func (t Types) Binary(format string) bool {
	return slices.ContainsFunc(t, func(x Type) bool { return x.Name == format && x.Binary })
}

// Accept returns an error if further types cannot be added: one is declared wrongly, or its
// name, an extension or a media type is taken.
func (t Types) Accept(further ...Type) error {
	all := slices.Clone(t)
	for _, x := range further {
		if err := x.validate(); err != nil {
			return fmt.Errorf("document type %q: %w", x.Name, err)
		}
		for _, other := range all {
			if x.Name == other.Name || intersect(x.Extensions, other.Extensions) || intersect(x.MediaTypes, other.MediaTypes) {
				return fmt.Errorf("document type %q: the type %q has its name, an extension or a media type", x.Name, other.Name)
			}
		}
		all = append(all, x)
	}
	return nil
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// Labels lists the types' labels.
func (t Types) Labels() []string {
	var labels []string
	for _, x := range t {
		labels = append(labels, x.Label)
	}
	return labels
}

// Text returns the text of raw, whose type is sourceType. The text is valid UTF-8 without
// control characters, lines end in "\n", and headings of HTML become Markdown headings. The
// error is *Unreadable if raw has no readable text; after any other error (a context that
// ended, a process that could not start) a retry may succeed. A PDF or an Office file is
// read for at most a minute, in a child process: this same program, started once more.
func (t Types) Text(ctx context.Context, sourceType string, raw []byte) (string, error) {
	c, err := t.Content(ctx, sourceType, raw)
	return c.Text, err
}

// Content is what Types reads from a document.
type Content struct {
	Text  string
	Title string           // the document's own title; empty if it has no useful one
	Names []string         // what the document calls itself, besides the title, best first
	Pages []chat.PageStart // where its pages begin; empty if its type has no pages
	// PageCount is how many pages the file has; 0 if its type has no pages. Unread are
	// those, from 1, that are pictures or noise, so that their text is not in Text, and Lost
	// are those of them that cannot be drawn either, so that OCR reads nothing on them.
	PageCount int
	Unread    []int
	Lost      []int
}

// Content returns what Text returns, with the title and the pages. With an error it has
// PageCount, Unread and Lost, if they are known.
func (t Types) Content(ctx context.Context, sourceType string, raw []byte) (Content, error) {
	return t.ContentWith(ctx, sourceType, raw, nil)
}

// ContentWith is Content with the texts of pages that OCR.Scan has returned, by number, in
// place of those that could not be read.
func (t Types) ContentWith(ctx context.Context, sourceType string, raw []byte, pages map[int]string) (Content, error) {
	if len(raw) == 0 {
		return Content{}, errEmpty
	}
	i := slices.IndexFunc(t, func(x Type) bool { return x.Name == sourceType })
	if i < 0 {
		return Content{}, fmt.Errorf("unknown source type %q", sourceType)
	}
	c, err := t[i].contentOf(ctx, raw, pages)
	if err != nil {
		return Content{PageCount: c.PageCount, Unread: c.Unread, Lost: c.Lost}, err
	}
	meta := c.Title
	c.Title = documentTitle(t[i], meta, c.Text)
	c.Names = ownNames(meta, c.Names, c.Text)
	switch {
	case len(c.Text) > MaxText:
		return Content{}, errTooLarge
	case strings.IndexFunc(c.Text, language.IsAlphanumeric) < 0:
		return Content{PageCount: c.PageCount}, errNoText
	}
	return c, nil
}

func (x Type) contentOf(ctx context.Context, raw []byte, pages map[int]string) (Content, error) {
	switch {
	case x.scanned != nil:
		return x.scanned(ctx, raw, pages)
	case x.content != nil:
		return x.content(ctx, raw)
	}
	text, err := x.Read(ctx, raw)
	return Content{Text: clean(text)}, err
}

// Detect returns the source type of an upload: by its file name, else by the media type
// that the client declared, corrected by its content (a PDF or a web page named .txt).
// ok is false when the content is of none of the types, whatever the name says.
func (t Types) Detect(filename, declaredType string, raw []byte) (sourceType string, ok bool) {
	named, known := t.named(filename, declaredType)
	for _, x := range t {
		if x.Is != nil && x.Is(raw, named.Name) {
			return x.Name, true
		}
	}
	if !known || named.Binary || len(raw) > 0 && !isText(raw) {
		return "", false
	}
	return named.Name, true
}

// named returns the type that a file's name or its media type says. A file without an
// extension and without a media type is plain text.
func (t Types) named(filename, declaredType string) (_ Type, known bool) {
	extension := strings.ToLower(filepath.Ext(filename))
	media, _, _ := mime.ParseMediaType(declaredType) // empty when it cannot be parsed
	for _, has := range []func(Type) bool{
		func(x Type) bool { return slices.Contains(x.Extensions, extension) },
		func(x Type) bool { return slices.Contains(x.MediaTypes, media) },
	} {
		if i := slices.IndexFunc(t, has); i >= 0 {
			return t[i], true
		}
	}
	if extension == "" && (media == "" || media == "application/octet-stream") {
		return plainText, true
	}
	return Type{}, false
}

// isText reports whether raw may be text in some encoding, known or not.
func isText(raw []byte) bool {
	if bytes.Contains(raw[:min(len(raw), 1024)], []byte("%PDF-")) {
		return utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 // a text about PDF
	}
	return controls(raw)*100 <= len(raw) || wideEncoding(raw) != nil
}
