package extract

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	utf16 "golang.org/x/text/encoding/unicode"
)

// Limits of an Office file, which is a zip archive of XML parts.
const (
	maxParts    = 10_000
	maxUnpacked = 256 << 20 // bytes of all parts together
	maxPart     = 16 << 20  // bytes of a part that is read into memory as a whole
	maxCells    = 5_000_000 // of all sheets together, empty ones before the last included
)

// officeReader reads Office files. They are compressed, and their parts can refer to the
// same text any number of times, so a small file may expand without end. Files at the limits
// above have needed up to 700 MiB.
var officeReader = reader{memory: 768 << 20, damaged: errDamagedFile, tooLong: errTooSlow, encrypted: errOldOffice, needsDir: true}

// readArchive returns the text of an archive. Its error is *Unreadable, or another one if the
// file is damaged.
type readArchive func(*archive) (string, error)

// officeFile completes a type for Office files. An archive is of this type if its list of
// parts has a media type that begins with "application/vnd." and one of parts.
func officeFile(t Type, parts []string, read readArchive) Type {
	t.Binary = true
	t.archive = read
	t.Is = func(raw []byte, named string) bool {
		return named == t.Name && isOLE(raw) || isArchiveOf(raw, parts)
	}
	r := officeReader
	r.mode = t.Name
	t.content = func(ctx context.Context, raw []byte) (Content, error) {
		if isOLE(raw) {
			return Content{}, errOldOffice
		}
		out, err := r.run(ctx, raw)
		if err != nil {
			return Content{}, err
		}
		title, text, _ := strings.Cut(string(out), pageBreak)
		return Content{Title: title, Text: text}, nil
	}
	return t
}

// officeMain is the process that reads an Office file.
func officeMain(read readArchive) (int, error) {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return exitFailed, err
	}
	c, err := readOffice(raw, read)
	switch {
	case errors.Is(err, errTooLarge):
		return exitTooLarge, nil
	case errors.Is(err, errOldOffice):
		return exitEncrypted, nil
	case err != nil:
		return exitDamaged, nil
	}
	for _, s := range []string{withoutBreaks(c.Title), pageBreak, c.Text} {
		if _, err := io.WriteString(os.Stdout, s); err != nil {
			return exitFailed, err
		}
	}
	return 0, nil
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

// readOffice reads an Office file within the limits of sizes. The text is clean. An error
// that is not *Unreadable means that the file is damaged.
func readOffice(raw []byte, read readArchive) (Content, error) {
	a, err := openArchive(raw)
	if err != nil {
		return Content{}, err
	}
	if err := a.check(); err != nil {
		return Content{}, err
	}
	text, err := read(a)
	return Content{Title: coreTitle(a), Text: clean(text)}, err
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
	inner bool // the archive is a part of another one
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
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(r)
	if !isUTF16(in) {
		return part{in, r}, nil
	}
	in = bufio.NewReader(utf16.UTF16(utf16.LittleEndian, utf16.UseBOM).NewDecoder().Reader(in))
	if head, _ := in.Peek(len("<?xml")); string(head) == "<?xml" {
		_, err = in.ReadString('>') // it names the encoding
	}
	return part{in, r}, err
}

// part is a part of an archive that is open.
type part struct {
	io.Reader
	io.Closer
}

func isUTF16(in *bufio.Reader) bool {
	head, _ := in.Peek(2)
	return string(head) == "\xff\xfe" || string(head) == "\xfe\xff"
}

// inUTF8 returns the archive with its XML parts in UTF-8.
func (a *archive) inUTF8() ([]byte, error) {
	changed := map[*zip.File]bool{}
	for _, f := range a.files {
		if !isXML(f) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		changed[f] = isUTF16(bufio.NewReaderSize(r, 16))
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(changed)), true) {
		return a.raw, nil
	}
	return a.onlyXML(changed)
}

func isXML(f *zip.File) bool {
	name := partName(f.Name)
	return strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".rels")
}

// onlyXML returns the archive without its pictures and the like, and with the changed parts in UTF-8.
func (a *archive) onlyXML(changed map[*zip.File]bool) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range a.files {
		if !isXML(f) {
			continue
		}
		if !changed[f] {
			if err := w.Copy(f); err != nil {
				return nil, err
			}
			continue
		}
		to, err := w.Create(f.Name)
		if err != nil {
			return nil, err
		}
		r, err := a.open(f.Name)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(to, io.LimitReader(r, maxUnpacked))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
