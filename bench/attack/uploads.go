package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// bombSize is the unpacked size of a bomb's part, in bytes.
const bombSize = 512 << 20

// zipped has the main part of each Office format, which is a zip file.
var zipped = map[string]string{"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}

// mainTypes are the ends of the media types of the main parts.
var mainTypes = map[string]string{
	"word/document.xml":    "wordprocessingml.document.main+xml",
	"xl/workbook.xml":      "spreadsheetml.sheet.main+xml",
	"ppt/presentation.xml": "presentationml.presentation.main+xml",
}

// begin writes the two files that make a zip file an Office file.
func begin(z *zip.Writer, part string) error {
	for name, content := range map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/` + part +
			`" ContentType="application/vnd.openxmlformats-officedocument.` + mainTypes[part] + `"/></Types>`,
		"_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="` + part + `"/></Relationships>`,
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bomb returns an Office file whose part unpacks to bombSize bytes.
func bomb(part string) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	if err := begin(z, part); err != nil {
		return nil, err
	}
	w, err := z.Create(part)
	if err != nil {
		return nil, err
	}
	zeros := bytes.Repeat([]byte("<a>x</a>"), 1<<17)
	for range bombSize / len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), z.Close()
}

// laughs returns an Office file whose part has XML entities that expand exponentially
// ("billion laughs").
func laughs(part string) ([]byte, error) {
	var xml strings.Builder
	xml.WriteString(`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "marzipan"><!ENTITY f SYSTEM "file:///etc/passwd">`)
	for i := range 20 {
		fmt.Fprintf(&xml, `<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	xml.WriteString(`]><x>&a20;&f;</x>`)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	if err := begin(z, part); err != nil {
		return nil, err
	}
	w, err := z.Create(part)
	if err == nil {
		_, err = io.WriteString(w, xml.String())
	}
	if err != nil {
		return nil, err
	}
	return out.Bytes(), z.Close()
}

// file is a file that an attacker uploads.
type file struct {
	name string
	data []byte
}

func bombs() (files []file, _ error) {
	for ending, part := range zipped {
		for name, make := range map[string]func(string) ([]byte, error){"bomb": bomb, "laughs": laughs} {
			data, err := make(part)
			if err != nil {
				return nil, err
			}
			files = append(files, file{name + "." + ending, data})
			if name == "bomb" {
				files = append(files, file{"cut." + ending, data[:len(data)/2]})
			}
		}
	}
	return append(files,
		file{"deep.html", bytes.Repeat([]byte("<div>"), 1<<20)},
		file{"broken.pdf", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("1 0 obj<</Length 9999999999>>stream\n"), 10_000)...)},
		file{"quotes.csv", bytes.Repeat([]byte(`"`), 4<<20)},
	), nil
}

// upload sends a file as a browser does. It does not escape the name.
func (p *person) upload(ctx context.Context, path string, f file) (*http.Response, error) {
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="file"; filename="`+f.name+`"`)
	h.Set("Content-Type", "application/octet-stream")
	w, err := m.CreatePart(h)
	if err == nil {
		_, err = w.Write(f.data)
	}
	if err != nil {
		return nil, err
	}
	if err := m.Close(); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", p.t.url+path, &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", m.FormDataContentType())
	return p.Do(req)
}

// bombUploads sends files that expand when they are read, and broken ones. None may be
// expanded, and the server must respond and stay below maxMemory.
func (t *target) bombUploads(ctx context.Context) (tries, got int, _ error) {
	p, err := t.person()
	if err != nil {
		return 0, 0, err
	}
	files, err := bombs()
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		tries++
		res, err := p.upload(ctx, "/api/documents", f)
		if err != nil {
			return tries, got, fmt.Errorf("%s: %w", f.name, err)
		}
		var doc struct{ ID string }
		err = json.NewDecoder(res.Body).Decode(&doc)
		_ = res.Body.Close()
		if res.StatusCode >= 500 || err != nil {
			got++
			continue
		}
		if doc.ID == "" {
			continue // rejected
		}
		through, err := p.readBomb(ctx, doc.ID)
		if err != nil {
			return tries, got, fmt.Errorf("%s: %w", f.name, err)
		}
		if through {
			got++
		}
	}
	tries++
	if most, err := stack.PeakMemory(t.pid); err != nil || most > maxMemory {
		got++
	}
	return tries, got, nil
}

// maxMemory is a little more than the memory that docs/limits.md states for the largest
// uploads, in bytes.
const maxMemory = 1400 << 20

// readBomb waits until a document is processed and reports whether its entities were
// expanded.
func (p *person) readBomb(ctx context.Context, id string) (bool, error) {
	for ctx.Err() == nil {
		_, raw, err := p.send(ctx, "GET", "/api/documents/"+id, "", nil)
		if err != nil {
			return false, err
		}
		var doc struct{ Status string }
		if err := json.Unmarshal([]byte(raw), &doc); err != nil {
			return false, err
		}
		if doc.Status == "processing" {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		_, text, err := p.send(ctx, "GET", "/api/documents/"+id+"/text", "", nil)
		return strings.Contains(text, "root:") || strings.Count(text, "marzipan") > 100, err
	}
	return false, ctx.Err()
}

// names are hostile file names.
var names = []string{
	`../../../../../../tmp/palaver-attack.txt`, `..\\..\\palaver.txt`, `/etc/passwd.txt`, `a%0d%0aSet-Cookie: evil=1.txt`,
	`<img src=x onerror=alert(1)>.txt`, `a` + "\u202e" + `fdp.txt`, strings.Repeat("n", 4000) + ".txt", `.txt`, `CON.txt`, `x.txt;.html`,
}

// hostileNames uploads files under names that mean something to a file system, a header
// or a page, and checks that the responses are harmless.
func (t *target) hostileNames(ctx context.Context) (tries, got int, _ error) {
	p, err := t.person()
	if err != nil {
		return 0, 0, err
	}
	for _, name := range names {
		tries++
		res, err := p.upload(ctx, "/api/documents", file{name, []byte("<script>alert(1)</script> text")})
		if err != nil {
			return tries, got, err
		}
		var doc struct{ ID, Title string }
		err = json.NewDecoder(res.Body).Decode(&doc)
		_ = res.Body.Close()
		if err != nil || res.StatusCode >= 500 || strings.Contains(res.Header.Get("Set-Cookie"), "evil") || strings.ContainsAny(doc.Title, "\r\n\u202e") {
			got++
			continue
		}
		if doc.ID == "" {
			continue
		}
		for _, path := range []string{"/api/documents/" + doc.ID, "/api/documents/" + doc.ID + "/text"} {
			tries++
			if inert, err := p.inert(ctx, path); err != nil {
				return tries, got, err
			} else if !inert {
				got++
			}
		}
	}
	svg := file{"x.png", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)}
	res, err := p.upload(ctx, "/api/attachments", svg)
	if err != nil {
		return tries, got, err
	}
	_ = res.Body.Close()
	tries++
	if res.StatusCode < 400 || res.StatusCode >= 500 {
		got++
	}
	return tries, got, nil
}

// inert reports whether a browser shows the response at path without running scripts.
func (p *person) inert(ctx context.Context, path string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", p.t.url+path, nil)
	if err != nil {
		return false, err
	}
	res, err := p.Do(req)
	if err != nil {
		return false, err
	}
	_ = res.Body.Close()
	kind := res.Header.Get("Content-Type")
	return res.Header.Get("X-Content-Type-Options") == "nosniff" && res.Header.Get("Content-Security-Policy") != "" &&
		(strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/plain")), nil
}
