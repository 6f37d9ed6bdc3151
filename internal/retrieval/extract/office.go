package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"
)

// Limits of an Office file, which is a zip archive of XML parts.
const (
	maxParts    = 10_000
	maxUnpacked = 256 << 20 // bytes of all parts together
	maxPart     = 16 << 20  // bytes of a part that is read into memory as a whole
	maxCells    = 5_000_000 // of all sheets together, empty ones before the last included
	officeTime  = time.Minute
)

// officeSlots bounds how many Office files are read at the same time.
var officeSlots = make(chan struct{}, 2)

// officeFile completes a type for Office files. An archive is of this type if its list of
// parts has a media type that begins with "application/vnd." and one of parts.
func officeFile(t Type, parts []string, read func(context.Context, *archive) (string, error)) Type {
	t.Binary = true
	t.Is = func(raw []byte, named string) bool {
		return named == t.Name && isOLE(raw) || isArchiveOf(raw, parts)
	}
	t.content = func(ctx context.Context, raw []byte) (c Content, err error) {
		text, err := readOffice(ctx, raw, func(ctx context.Context, a *archive) (string, error) {
			c.Title = coreTitle(a)
			return read(ctx, a)
		})
		c.Text = clean(text)
		return c, err
	}
	return t
}

// isOLE recognises the OLE container, which Office files have that are protected by a
// password or in the format from before 2007.
func isOLE(raw []byte) bool { return bytes.HasPrefix(raw, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) }

func isArchiveOf(raw []byte, parts []string) bool {
	if !bytes.HasPrefix(raw, []byte("PK")) {
		return false
	}
	a, err := openArchive(raw)
	if err != nil {
		return false
	}
	types, err := a.open("[Content_Types].xml")
	if err != nil {
		return false
	}
	defer types.Close()
	list, _ := io.ReadAll(io.LimitReader(types, 1<<20))
	return slices.ContainsFunc(parts, func(p string) bool { return bytes.Contains(list, []byte(`"application/vnd.`+p)) })
}

// readOffice reads an Office file within the limits of time and size. If a library panics
// on a malformed file, the file counts as damaged.
func readOffice(parent context.Context, raw []byte, read func(context.Context, *archive) (string, error)) (text string, err error) {
	if isOLE(raw) {
		return "", errOldOffice
	}
	select {
	case officeSlots <- struct{}{}:
		defer func() { <-officeSlots }()
	case <-parent.Done():
		return "", parent.Err()
	}
	ctx, cancel := context.WithTimeout(parent, officeTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			slog.WarnContext(parent, "reading an Office file panicked", "panic", fmt.Sprint(p))
			text, err = "", errDamagedFile
		}
	}()
	a, err := openArchive(raw)
	if err == nil {
		err = a.check()
	}
	if err == nil {
		text, err = read(ctx, a)
	}
	var unreadable *Unreadable
	switch {
	case err == nil:
		return text, nil
	case parent.Err() != nil:
		return "", parent.Err()
	case ctx.Err() != nil:
		return "", errTooSlow
	case errors.As(err, &unreadable):
		return "", unreadable
	}
	return "", errDamagedFile
}

// coreTitle returns the title in an Office file's metadata; "" if it is missing or damaged.
func coreTitle(a *archive) string {
	var core struct {
		Title string `xml:"title"`
	}
	if err := a.decode("docProps/core.xml", &core); err != nil {
		return ""
	}
	return core.Title
}

// archive is an Office file as a zip archive.
type archive struct {
	raw   []byte
	parts map[string]*zip.File // by lower-case name: producers differ in the case
	files []*zip.File
}

// openArchive reads the directory of an archive. It first counts the entries, because a
// directory with millions of them would fill the memory.
func openArchive(raw []byte) (*archive, error) {
	if bytes.Count(raw, []byte("PK\x01\x02")) > maxParts {
		return nil, errTooLarge
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, errDamagedFile
	}
	a := &archive{raw: raw, files: z.File, parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		a.parts[partName(f.Name)] = f
	}
	return a, nil
}

// check limits the total size that the directory declares. A part that is longer than
// declared (a zip bomb) fails in archive/zip while it is read.
func (a *archive) check() error {
	left := uint64(maxUnpacked)
	for _, f := range a.files {
		if f.UncompressedSize64 > left {
			return errTooLarge
		}
		left -= f.UncompressedSize64
	}
	return nil
}

func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")), "/"))
}

func (a *archive) has(name string) bool { return a.parts[partName(name)] != nil }

func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[partName(name)]
	if f == nil {
		return nil, errDamagedFile
	}
	return f.Open()
}

// decode decodes a small part as a whole.
func (a *archive) decode(name string, into any) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return xml.NewDecoder(io.LimitReader(r, maxPart)).Decode(into)
}

// relation is a link from one part to another.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	Mode   string `xml:"TargetMode,attr"`
}

// relations lists the parts that a part refers to, with full names. Part "" stands for the
// archive itself. The list is nil if the part has no relations.
func (a *archive) relations(part string) ([]relation, error) {
	dir, base := path.Split(part)
	name := dir + "_rels/" + base + ".rels"
	if !a.has(name) {
		return nil, nil
	}
	var doc struct {
		Relations []relation `xml:"Relationship"`
	}
	if err := a.decode(name, &doc); err != nil {
		return nil, err
	}
	var out []relation
	for _, r := range doc.Relations {
		if r.Mode == "External" {
			continue
		}
		if !strings.HasPrefix(r.Target, "/") {
			r.Target = dir + r.Target
		}
		r.Target = partName(r.Target)
		out = append(out, r)
	}
	return out, nil
}

// related returns the first existing part that a part refers to with a relation type that
// ends in typeEnd; "" when there is none.
func (a *archive) related(part, typeEnd string) (string, error) {
	all, err := a.relations(part)
	for _, r := range all {
		if strings.HasSuffix(r.Type, "/"+typeEnd) && a.has(r.Target) {
			return r.Target, err
		}
	}
	return "", err
}

// mainPart returns the name of the part with the document itself.
func (a *archive) mainPart() (string, error) {
	name, err := a.related("", "officeDocument")
	if err == nil && name == "" {
		err = errDamagedFile
	}
	return name, err
}
