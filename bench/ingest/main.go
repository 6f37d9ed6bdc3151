// Command ingest measures the memory that uploads need. For each format it starts a
// server, sends large files of several people at once, waits until all are processed or
// the time limit is reached, and prints the server's peak memory (Linux only). Files
// that need more memory than INGEST_MEMORY_MB are processed one after another, so the
// server reaches its peak long before the last file.
//
//	go run ./bench/ingest -server bin/palaver-standalone
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/testkit/stack"
)

const jwtSecret = "a secret that only this bench has"

// makers create a document of about size bytes, by format.
var makers = map[string]func(size int) ([]byte, error){"txt": plain, "pdf": pdf, "docx": docx, "xlsx": xlsx, "pptx": pptx}

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	formats := flag.String("formats", "txt,pdf,docx,xlsx,pptx", "formats to send")
	files := flag.Int("files", 10, "files at once, each of another person")
	size := flag.Int("mb", 48, "size of a file in MB")
	limit := flag.Duration("for", 3*time.Minute, "how long to wait, for each format, until the files are processed")
	flag.Parse()
	fmt.Println("| format | files | MB each | sent in | processed in | ready | idle MB | most MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
	for format := range strings.SplitSeq(*formats, ",") {
		if err := measure(*server, format, *files, *size, *limit); err != nil {
			log.Fatal(err)
		}
	}
}

func measure(server, format string, files, mb int, limit time.Duration) error {
	maker, known := makers[format]
	if !known {
		return fmt.Errorf("-formats: %q is not supported", format)
	}
	content, err := maker(mb << 20)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	url, p, end, err := start(ctx, server)
	if err != nil {
		return err
	}
	defer end()
	idle, err := stack.PeakMemory(p.Pid())
	if err != nil {
		return err
	}
	began := time.Now()
	ids := make([]string, files)
	var all errgroup.Group
	for i := range files {
		all.Go(func() (err error) {
			ids[i], err = upload(ctx, url, i, format, content)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	sent, ready := time.Since(began), 0
	waiting, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for i, id := range ids {
		ok, err := processed(waiting, url, i, id)
		if err != nil && waiting.Err() == nil {
			return err
		}
		if ok {
			ready++
		}
	}
	most, err := stack.PeakMemory(p.Pid())
	fmt.Printf("| %s | %d | %d | %.0f s | %.0f s | %d | %d | %d |\n", format, files, len(content)>>20, sent.Seconds(), time.Since(began).Seconds(), ready, idle>>20, most>>20)
	return err
}

func start(ctx context.Context, server string) (url string, p *stack.Program, end func(), err error) {
	dir, err := os.MkdirTemp("", "palaver-ingest-")
	if err != nil {
		return "", nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	p, err = stack.Run(dir, []string{"PORT=" + port, "TEMPORAL_PORT=0", "TEMPORAL_UI_PORT=0", "PALAVER_DATA_DIR=" + dir,
		"LOG_LEVEL=error", "CHAT_MODEL_PROVIDER=offline", "SUPABASE_JWT_SECRET=" + jwtSecret}, server)
	if err != nil {
		return "", nil, nil, err
	}
	end = func() {
		p.Stop()
		_ = os.RemoveAll(dir)
	}
	url = "http://127.0.0.1:" + port
	if err := p.Answers(ctx, url+"/readyz"); err != nil {
		end()
		return "", nil, nil, err
	}
	return url, p, end, nil
}

// call sends a request as a person and decodes the response into out if its status is
// below 300.
func call(ctx context.Context, person int, method, url, contentType string, body io.Reader, out any) (int, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": fmt.Sprint("person-", person), "exp": time.Now().Add(2 * time.Hour).Unix()}).SignedString([]byte(jwtSecret))
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.NewDecoder(res.Body).Decode(out)
}

// upload sends a file and returns the document's id. It retries after a 429 or 503.
func upload(ctx context.Context, url string, person int, format string, content []byte) (string, error) {
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	w, err := m.CreateFormFile("file", "large."+format)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return "", err
	}
	for {
		var doc struct{ ID string }
		status, err := call(ctx, person, "POST", url+"/api/documents", m.FormDataContentType(), bytes.NewReader(body.Bytes()), &doc)
		switch {
		case err != nil:
			return "", err
		case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
			time.Sleep(time.Second)
		case status != http.StatusAccepted:
			return "", fmt.Errorf("upload: status %d", status)
		default:
			return doc.ID, nil
		}
	}
}

// processed waits until a document is ready or failed.
func processed(ctx context.Context, url string, person int, id string) (ready bool, _ error) {
	for {
		var doc struct{ Status string }
		if _, err := call(context.WithoutCancel(ctx), person, "GET", url+"/api/documents/"+id, "", nil, &doc); err != nil {
			return false, err
		}
		if doc.Status == "ready" || doc.Status == "failed" {
			return doc.Status == "ready", nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done(): // the time limit; measure still counts the other files
			return false, ctx.Err()
		}
	}
}

// words returns size bytes of random sentences, one per line.
func words(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		for range 12 {
			fmt.Fprintf(&b, "w%s ", strconv.FormatUint(r.Uint64N(60_000), 36))
		}
		b.WriteString("end.\n")
	}
	return b.Bytes()[:size]
}

func plain(size int) ([]byte, error) { return words(size), nil }

// part is a file of an Office archive.
type part struct{ name, content string }

// office returns an uncompressed Office file, so that its text is about as long as the
// file. main is the path of the main part, and kind is that part's media type.
func office(main, kind string, parts ...part) ([]byte, error) {
	const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	types := `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/` + main + `" ContentType="` + kind + `"/>`
	for _, p := range parts {
		if strings.HasPrefix(p.name, "ppt/slides/slide") {
			types += `<Override PartName="/` + p.name + `" ContentType="application/vnd.openxmlformats-officedocument.presentationml.slide+xml"/>`
		}
	}
	parts = append(parts, part{"[Content_Types].xml", types + `</Types>`},
		part{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="` + relations + `officeDocument" Target="` + main + `"/></Relationships>`})
	for _, p := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, p.content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// relationsTo returns the XML of a part's relations r1, r2… to other parts of one kind.
func relationsTo(kind string, targets ...string) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i, t := range targets {
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`, i+1, kind, t)
	}
	return b.String() + `</Relationships>`
}

func docx(size int) ([]byte, error) {
	var text strings.Builder
	text.WriteString(`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
	for line := range bytes.Lines(words(size * 3 / 5)) {
		fmt.Fprintf(&text, "<w:p><w:r><w:t>%s</w:t></w:r></w:p>", bytes.TrimSpace(line))
	}
	text.WriteString(`</w:body></w:document>`)
	return office("word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
		part{"word/document.xml", text.String()})
}

// xlsx returns a workbook of one sheet with a word in each cell.
func xlsx(size int) ([]byte, error) {
	var sheet strings.Builder
	sheet.WriteString(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	row := 0
	for line := range bytes.Lines(words(size / 10)) {
		row++
		fmt.Fprintf(&sheet, `<row r="%d">`, row)
		for i, word := range bytes.Fields(line) {
			fmt.Fprintf(&sheet, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+i, row, word)
		}
		sheet.WriteString(`</row>`)
	}
	sheet.WriteString(`</sheetData></worksheet>`)
	return office("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
		part{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Words" sheetId="1" r:id="r1"/></sheets></workbook>`},
		part{"xl/_rels/workbook.xml.rels", relationsTo("worksheet", "worksheets/sheet1.xml")},
		part{"xl/worksheets/sheet1.xml", sheet.String()})
}

// pptx returns a presentation whose slides have a hundred lines each.
func pptx(size int) ([]byte, error) {
	const lines = 100
	var parts []part
	var list strings.Builder
	var targets []string
	text := bytes.Split(words(size*3/5), []byte("\n"))
	for from := 0; from < len(text); from += lines {
		n := len(targets) + 1
		var slide strings.Builder
		slide.WriteString(`<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree><p:sp><p:txBody>`)
		for _, line := range text[from:min(from+lines, len(text))] {
			fmt.Fprintf(&slide, "<a:p><a:r><a:t>%s</a:t></a:r></a:p>", line)
		}
		slide.WriteString(`</p:txBody></p:sp></p:spTree></p:cSld></p:sld>`)
		targets = append(targets, fmt.Sprintf("slides/slide%d.xml", n))
		parts = append(parts, part{fmt.Sprintf("ppt/slides/slide%d.xml", n), slide.String()})
		fmt.Fprintf(&list, `<p:sldId id="%d" r:id="r%d"/>`, 255+n, n)
		if len(parts) == maxSlides { // Palaver rejects an archive with more parts
			break
		}
	}
	parts = append(parts,
		part{"ppt/presentation.xml", `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><p:sldIdLst>` + list.String() + `</p:sldIdLst></p:presentation>`},
		part{"ppt/_rels/presentation.xml.rels", relationsTo("slide", targets...)})
	return office("ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml", parts...)
}

const maxSlides = 9_000

// pdf returns a PDF file whose pages have uncompressed text.
func pdf(size int) ([]byte, error) {
	const lines = 50
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	out.WriteString("%PDF-1.4\n")
	text := bytes.Split(words(size*4/5), []byte("\n"))
	pages := (len(text) + lines - 1) / lines
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.String())
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for i := range pages {
		var stream bytes.Buffer
		stream.WriteString("BT /F1 8 Tf 10 TL 20 780 Td\n")
		for _, line := range text[i*lines : min(len(text), (i+1)*lines)] {
			fmt.Fprintf(&stream, "(%s) Tj T*\n", line)
		}
		stream.WriteString("ET")
		object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 5+2*i)
		object("<</Length %d>>stream\n%s\nendstream", stream.Len(), stream.String())
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", len(offsets)+1, xref)
	return out.Bytes(), nil
}
