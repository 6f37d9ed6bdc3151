package fullstack

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

const harbour = "The harbour master closes the lighthouse at 22 hours."

// site is an HTTPS server whose certificate a process of the tests trusts.
type site struct {
	*httptest.Server
	certificate string // path

	mu    sync.Mutex
	pages map[string]page
	asked []string
}

type page struct{ media, etag, location, body string }

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: map[string]page{}, certificate: filepath.Join(t.TempDir(), "site.pem")}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	require.NoError(t, os.WriteFile(s.certificate, raw, 0o600))
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p, ok := s.pages[r.URL.Path]
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
	case p.location != "":
		http.Redirect(w, r, p.location, http.StatusFound)
	default:
		w.Header().Set("Content-Type", p.media)
		if p.etag != "" {
			w.Header().Set("ETag", p.etag)
		}
		fmt.Fprint(w, p.body)
	}
}

func (s *site) put(path string, p page) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = p
	return s.URL + path
}

// count returns how often a call such as "GET /a" was made.
func (s *site) count(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a == call {
			n++
		}
	}
	return n
}

// withSite starts a process that may read pages of the site.
func withSite(t *testing.T, s *site, more ...stacktest.Option) *stacktest.Process {
	t.Helper()
	return stacktest.StartProcess(t, append([]stacktest.Option{stacktest.Env("SSL_CERT_FILE=" + s.certificate), stacktest.Flag("allow-private-addresses", "127.0.0.0/8")}, more...)...)
}

// A message that asks to read a public page is answered from it, in every format.
func TestPublicPagesAndFilesAreReadWhenAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := withSite(t, s)
	for format, f := range map[string]page{
		"html": {media: "text/html; charset=utf-8", body: "<title>Rules of the html harbour</title><script>alert(1)</script><nav>Menu</nav><p>" + harbour + "</p>"},
		"txt":  {media: "text/plain", body: harbour},
		"md":   {media: "text/markdown", body: "# Rules\n\n" + harbour},
		"csv":  {media: "text/csv", body: "rule;since\n" + harbour + ";2026\n"},
		"pdf":  {media: "application/pdf", body: onePage(harbour)},
		"docx": {media: "application/octet-stream", body: zipped(t, "[Content_Types].xml", listOfParts("wordprocessingml.document.main"),
			"_rels/.rels", relationTo("r1", "officeDocument", "word/document.xml"),
			"word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>`+harbour+`</w:t></w:r></w:p></w:body></w:document>`)},
		"xlsx": {media: "application/octet-stream", body: zipped(t,
			"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
			"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="`+relations+`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
			"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="`+relations+`"><sheets><sheet name="Rules" sheetId="1" r:id="r1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="`+relations+`/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
			"xl/worksheets/sheet1.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>`+harbour+`</t></is></c></row></sheetData></worksheet>`)},
	} {
		t.Run(format, func(t *testing.T) {
			c := newTalk(t, func() string { return p.URL }, p.NewUser())
			link := s.put("/harbour-rules."+format, f)
			end := last(c.ask("Please read "+link+" When does the harbour master close the lighthouse?", nil))
			require.Equal(t, "response", end.Type, "%+v", end)
			require.Contains(t, end.Response, "22 hours")
			row := c.imports()[0]
			require.Equal(t, "link", row.SourceType)
			require.Equal(t, []string{row.DocumentID}, docsOf(end)[:1])
			name := "harbour-rules"
			if format == "html" {
				name = "Rules of the html harbour"
			}
			require.Equal(t, name, end.Citations[0].Title)
			var d struct {
				Format    string
				SourceURL string `json:"source_url"`
			}
			c.do(http.StatusOK, http.MethodGet, "/api/documents/"+row.DocumentID, nil, &d)
			require.Equal(t, format, d.Format)
			require.Equal(t, link, d.SourceURL)
			require.Regexp(t, name+`(\.`+format+`)? \(link, `, last(c.ask("What have I imported?", nil)).Response)
		})
	}
}

// Rules M4, M5.
func TestPageIsReadAgainOnlyWhenItHasChanged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := withSite(t, s)
	c := newTalk(t, func() string { return p.URL }, p.NewUser())
	link := s.put("/rules.txt", page{media: "text/plain", etag: `"1"`, body: harbour})
	require.Equal(t, "I've imported 'rules.txt' into your knowledge base. You can now ask me questions about it.", last(c.ask("read "+link, nil)).Response)
	require.Equal(t, alreadyThere, last(c.ask("read "+link, nil)).Response)
	require.Equal(t, 1, s.count("GET /rules.txt"), "its ETag is the same")
	s.put("/rules.txt", page{media: "text/plain", etag: `"2"`, body: strings.ReplaceAll(harbour, "22", "23")})
	require.Contains(t, last(c.ask("read "+link, nil)).Response, "It replaces the old one.")
	require.Len(t, c.imported(), 1)
	require.Contains(t, last(c.ask("When does the harbour master close the lighthouse?", nil)).Response, "23 hours")
}

// Rule M6.
func TestLinksAreImportedOnlyWhenTheMessageAsksForIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := withSite(t, s)
	c := newTalk(t, func() string { return p.URL }, p.NewUser())
	link := s.put("/a", page{media: "text/plain", body: harbour})
	require.Equal(t, "response", last(c.ask("My site is "+link+", thanks", object{"agent": "assistant"})).Type)
	require.Empty(t, s.asked)
	require.Empty(t, c.imports())
}

// A site that may be read must not redirect to an address that may not.
func TestPageThatRedirectsToAPrivateAddressIsNotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := withSite(t, s)
	c := newTalk(t, func() string { return p.URL }, p.NewUser())
	for _, inside := range []string{"https://169.254.169.254/latest/meta-data/", "https://0.0.0.0/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a9fe:a9fe]/",
		"https://192.168.0.1/", "https://[::1]/", "https://[fd00::1]/", "https://2130706434.1/", "https://100.64.0.1/"} {
		require.Contains(t, []string{"I can only read pages at public addresses.", networkTrouble},
			last(c.ask("read "+s.put("/out", page{location: inside}), nil)).Response, inside)
	}
	require.NotContains(t, last(c.ask("read "+s.put("/plain", page{location: strings.Replace(s.URL, "https", "http", 1)}), nil)).Response, "I've imported")
	require.Empty(t, c.imported())
}

// onePage returns a PDF with one line.
func onePage(line string) string {
	var out bytes.Buffer
	var offsets []int
	out.WriteString("%PDF-1.4\n")
	content := "BT /F1 12 Tf 20 700 Td (" + line + ") Tj ET"
	for n, object := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content)} {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", n+1, object)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", len(offsets)+1, xref)
	return out.String()
}
