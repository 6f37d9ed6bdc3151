package imports

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/drivetest"
)

const id = "1AbC-dEf_GhIjKlMnOpQrStUvWxYz"

// driveImporter imports from a test Drive, up to 1,000 bytes.
func driveImporter(t *testing.T, f drivetest.File) (*Importer, *drivetest.Server) {
	t.Helper()
	server := drivetest.New(t)
	server.Put(id, f)
	source, err := NewDrive(t.Context(), DriveAccess{APIKey: drivetest.Key, BaseURL: server.URL})
	require.NoError(t, err)
	return &Importer{Sources: []Source{source.Source()}, Types: extract.All(), MaxBytes: 1000}, server
}

func get(ctx context.Context, i *Importer, address string) (Remote, Document, error) {
	link, err := links.Parse(address)
	if err != nil {
		return Remote{}, Document{}, err
	}
	r, err := i.Look(ctx, "ann", link)
	if err != nil {
		return Remote{}, Document{}, err
	}
	d, err := i.Fetch(ctx, "ann", r)
	return r, d, err
}

func driveLink(key string) string {
	address := "https://drive.google.com/file/d/" + id + "/view"
	if key != "" {
		address += "?resourcekey=" + key
	}
	return address
}

var textFile = drivetest.File{Name: "Rules 2026.txt", MIME: "text/plain", Content: []byte("Capital is 8.5 percent.")}

func TestFileIsDownloadedAfterItsMetadata(t *testing.T) {
	i, server := driveImporter(t, textFile)
	r, d, err := get(t.Context(), i, driveLink(""))
	require.NoError(t, err)
	require.Equal(t, chat.SourceDrive, r.Source)
	require.Equal(t, id, r.ExternalID)
	require.Equal(t, driveLink(""), r.URL)
	require.Equal(t, Document{Title: "Rules 2026", Name: "Rules 2026.txt", Format: "txt", Version: sumOf(textFile.Content) + r.Version, Raw: textFile.Content}, d)
	require.Equal(t, []string{"metadata " + id, "download " + id}, server.Calls())
}

func TestGoogleDocumentsAreExported(t *testing.T) {
	for kind, want := range map[string]struct{ as, format string }{
		"document":     {"text/markdown", "md"},
		"spreadsheet":  {"text/csv", "csv"},
		"presentation": {"text/plain", "txt"},
	} {
		t.Run(kind, func(t *testing.T) {
			i, server := driveImporter(t, drivetest.File{Name: "Plan v1.2", MIME: googleApps + kind, Content: []byte("a,b\n1,2")})
			r, d, err := get(t.Context(), i, driveLink(""))
			require.NoError(t, err)
			require.Equal(t, want.format, d.Format)
			require.Equal(t, "Plan v1.2", d.Title)
			require.NotEmpty(t, r.Version)
			require.Equal(t, "export "+id+" "+want.as, server.Calls()[1])
		})
	}
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// A document of Google's editors has no checksum; opening it may change its time.
func TestTheSameBytesAreTheSameVersionWhateverTheSourceSays(t *testing.T) {
	fetch := func(raw, version string) string {
		i := &Importer{Types: extract.All(), MaxBytes: 1 << 20, Sources: Sources{{Type: chat.SourceDrive,
			Look: func(context.Context, string, links.Link) (Remote, error) {
				return Remote{Name: "a.txt", Version: version}, nil
			},
			Fetch: func(_ context.Context, _ string, r Remote, _ int64) (Content, error) {
				return Content{Name: r.Name, Version: r.Version, Raw: []byte(raw)}, nil
			}}}}
		r, err := i.Look(t.Context(), "", links.Link{Source: chat.SourceDrive})
		require.NoError(t, err)
		d, err := i.Fetch(t.Context(), "", r)
		require.NoError(t, err)
		require.True(t, version == "" || SameVersion(d.Version, r.Version), "an unchanged document is not downloaded again")
		return d.Version
	}
	stored := fetch("text", "2026-01-01")
	require.True(t, SameVersion(stored, fetch("text", "2026-02-02")))
	require.True(t, SameVersion(stored, fetch("text", "")))
	require.False(t, SameVersion(stored, fetch("other", "2026-02-02")))
}

func TestVersionChangesWithTheFile(t *testing.T) {
	for name, f := range map[string]drivetest.File{
		"file":   textFile,
		"export": {Name: "a", MIME: googleApps + "document", Content: []byte("text")},
	} {
		t.Run(name, func(t *testing.T) {
			i, server := driveImporter(t, f)
			version := func() string {
				r, _, err := get(t.Context(), i, driveLink(""))
				require.NoError(t, err)
				return r.Version
			}
			first := version()
			require.Equal(t, first, version())
			f.Content, f.Modified = []byte("other"), time.Now()
			server.Put(id, f)
			require.NotEqual(t, first, version())
		})
	}
}

func TestResourceKeyAndShortcutLeadToTheFile(t *testing.T) {
	f := textFile
	f.ResourceKey = "0-key"
	i, server := driveImporter(t, f)
	_, _, err := get(t.Context(), i, driveLink(""))
	require.Equal(t, NotShared, code(t, err))
	_, _, err = get(t.Context(), i, driveLink("0-key"))
	require.NoError(t, err)

	server.Put("target-0123456789", textFile)
	server.Put(id, drivetest.File{Name: "short", MIME: shortcutType, Target: "target-0123456789"})
	r, d, err := get(t.Context(), i, driveLink(""))
	require.NoError(t, err)
	require.Equal(t, "target-0123456789", r.ExternalID, "a shortcut and its target are the same file")
	require.Equal(t, "Rules 2026", d.Title)
}

func code(t *testing.T, err error) Code {
	t.Helper()
	var failed *Error
	require.ErrorAs(t, err, &failed)
	return failed.Code
}

func TestDriveFailuresHaveTheirSentences(t *testing.T) {
	const (
		notShared = "I couldn't access that file. Please make sure it's shared with 'Anyone with the link' and try again."
		limited   = "Google Drive is temporarily limiting requests. Please try again in a few minutes."
		network   = "I had trouble downloading that file. Please check your internet connection and try again."
	)
	large := int64(3<<20 + 1)
	for name, c := range map[string]struct {
		file     drivetest.File
		code     Code
		sentence string
		calls    int
	}{
		"unauthorized":      {drivetest.File{Fault: drivetest.Unauthorized}, NotShared, notShared, 1},
		"not shared":        {drivetest.File{Fault: drivetest.NotShared}, NotShared, notShared, 1},
		"not found":         {drivetest.File{Fault: drivetest.NotFound}, NotShared, notShared, 1},
		"in the bin":        {drivetest.File{Trashed: true}, NotShared, notShared, 1},
		"locked":            {drivetest.File{Locked: true}, NotShared, notShared, 1},
		"login page":        {drivetest.File{Fault: drivetest.LoginPage}, NotShared, notShared, 2},
		"rate limit 403":    {drivetest.File{Fault: drivetest.RateLimit403}, RateLimited, limited, 1},
		"rate limit 429":    {drivetest.File{Fault: drivetest.RateLimit429}, RateLimited, limited, 1},
		"server error":      {drivetest.File{Fault: drivetest.ServerError}, Network, network, 1},
		"cut":               {drivetest.File{Fault: drivetest.Cut}, Network, network, 2},
		"wrong length":      {drivetest.File{Fault: drivetest.WrongLength}, Network, network, 2},
		"damaged":           {drivetest.File{Fault: drivetest.Damaged}, Network, network, 2},
		"too large":         {drivetest.File{Size: large}, TooLarge, "That file is too large to import (3.1MB). The maximum file size is 0.1MB.", 1},
		"larger than said":  {drivetest.File{Fault: drivetest.Endless}, TooLarge, "That file is too large to import (more than 0.1MB). The maximum file size is 0.1MB.", 2},
		"export too large":  {drivetest.File{MIME: googleApps + "document", Fault: drivetest.ExportLimit}, TooLarge, "That file is too large to import (more than 10MB). The maximum file size is 10MB.", 2},
		"a form":            {drivetest.File{MIME: googleApps + "form"}, Unsupported, "I can't read that kind of file. Google Docs, Sheets and Slides, and uploaded files can be imported.", 1},
		"a film":            {drivetest.File{MIME: "video/mp4", Content: []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00")}, Unsupported, "I can't read that kind of file. Text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV, E-mail, Outlook, RTF, OpenDocument text, OpenDocument spreadsheet, OpenDocument presentation, PNG, JPEG, TIFF, WebP and GIF files can be imported.", 2},
		"key is not usable": {drivetest.File{Fault: drivetest.BadKey}, NotConfigured, "Importing from Google Drive is not set up on this server. Please upload the file instead.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.file.Name = "a.bin"
			if c.file.MIME == "" {
				c.file.Name, c.file.MIME = "a.txt", "text/plain"
			}
			if c.file.Content == nil {
				c.file.Content = []byte("some text")
			}
			i, server := driveImporter(t, c.file)
			_, _, err := get(t.Context(), i, driveLink(""))
			require.Equal(t, c.code, code(t, err), "%v", err)
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, c.sentence, failed.Message().Text)
			require.Len(t, server.Calls(), c.calls, "a file that is refused by its metadata is not downloaded")
			require.NotContains(t, err.Error(), drivetest.Key)
			require.NotContains(t, err.Error(), "http")
		})
	}
}

func TestRateLimitSaysWhenToTryAgain(t *testing.T) {
	f := textFile
	f.Fault = drivetest.RateLimit429
	i, _ := driveImporter(t, f)
	_, _, err := get(t.Context(), i, driveLink(""))
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, drivetest.RetryAfter*time.Second, failed.RetryAfter)
	require.True(t, failed.Retryable())
}

func TestSlowDownloadTimesOutAndACancelledOneEnds(t *testing.T) {
	f := textFile
	f.Fault = drivetest.Slow
	i, _ := driveImporter(t, f)
	i.FetchTimeout = 10 * time.Millisecond
	_, _, err := get(t.Context(), i, driveLink(""))
	require.Equal(t, Timeout, code(t, err))

	i.FetchTimeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	r, err := i.Look(ctx, "ann", links.Link{Source: chat.SourceDrive, ExternalID: id})
	require.NoError(t, err)
	cancel()
	_, err = i.Fetch(ctx, "ann", r)
	require.ErrorIs(t, err, context.Canceled)
}

func TestServerThatCannotBeReachedIsANetworkError(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	source, err := NewDrive(t.Context(), DriveAccess{APIKey: drivetest.Key, BaseURL: server.URL})
	require.NoError(t, err)
	i := &Importer{Sources: []Source{source.Source()}, MaxBytes: 1}
	_, _, err = get(t.Context(), i, driveLink(""))
	require.Equal(t, Network, code(t, err))
	require.NotContains(t, err.Error(), id)
	_, _, err = get(t.Context(), i, "https://example.com/a.pdf")
	require.Equal(t, NotConfigured, code(t, err))
}

func TestServiceAccountSendsItsTokenAndNoKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"of-the-account","token_type":"Bearer","expires_in":3600}`)
	}))
	t.Cleanup(tokens.Close)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@b.example", "private_key_id": "1", "token_uri": tokens.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	server := drivetest.New(t)
	server.Put(id, textFile)
	source, err := NewDrive(t.Context(), DriveAccess{ServiceAccount: string(account), BaseURL: server.URL})
	require.NoError(t, err)
	_, d, err := get(t.Context(), &Importer{Sources: []Source{source.Source()}, Types: extract.All(), MaxBytes: 1000}, driveLink(""))
	require.NoError(t, err)
	require.Equal(t, "Rules 2026", d.Title)
}

func TestDriveRefusesMalformedSettings(t *testing.T) {
	_, err := NewDrive(t.Context(), DriveAccess{APIKey: "k", BaseURL: "drive.example"})
	require.ErrorContains(t, err, "GOOGLE_DRIVE_BASE_URL")
	_, err = NewDrive(t.Context(), DriveAccess{APIKey: "k", ServiceAccount: "{}"})
	require.ErrorContains(t, err, "GOOGLE_SERVICE_ACCOUNT")
}

func TestTitlesAreOneCleanLine(t *testing.T) {
	for name, want := range map[string]string{
		"Rules.pdf":                "Rules",
		"Plan v1.2":                "Plan v1.2",
		"../../etc/passwd":         "-..-etc-passwd",
		`C:\temp\a.docx`:           "C:-temp-a",
		"a\x00b\r\nc\u202egnp.txt": "ab cgnp",
		strings.Repeat("ü", 4000):  strings.Repeat("ü", 300),
		".pdf":                     "pdf",
		" ":                        "report",
		"":                         "report",
		"\xff.txt":                 "\ufffd",
	} {
		got := title(name, "https://example.com/a/report.pdf?x=1", extract.All())
		require.Equal(t, want, got, "%.40q", name)
		require.LessOrEqual(t, utf8.RuneCountInString(got), maxTitle)
	}
	require.Equal(t, "example.com", title("", "https://example.com/", extract.All()))
}

func TestTypeOfAFileWithAVeryLongNameIsFound(t *testing.T) {
	i, _ := driveImporter(t, drivetest.File{Name: strings.Repeat("a/", 2000) + ".md", MIME: "application/octet-stream", Content: []byte("# Text")})
	_, d, err := get(t.Context(), i, driveLink(""))
	require.NoError(t, err)
	require.Equal(t, "md", d.Format)
}

// pageImporter imports from a test server over https, up to 1,000 bytes.
func pageImporter(t *testing.T, handler http.HandlerFunc, allowed ...netip.Prefix) (*Importer, string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	source := NewPages(guard.New(allowed))
	transport := guard.New(allowed).Transport()
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	source.client.Transport = transport
	return &Importer{Sources: []Source{source.Source()}, Types: extract.All(), MaxBytes: 1000}, server.URL
}

var loopback = netip.MustParsePrefix("127.0.0.0/8")

func TestPagesAndFilesAreImportedWithTheirNames(t *testing.T) {
	for name, c := range map[string]struct {
		path, media, disposition, body string
		title, format                  string
	}{
		"page":             {"/a", "text/html; charset=utf-8", "", "<html><head><title> Capital\n rules</title></head><p>Text", "Capital rules", "html"},
		"page of a file":   {"/a", "text/html", "", "<title>The file x.pdf</title><p>Text", "The file x", "html"},
		"page in Latin-1":  {"/a", "text/html; charset=iso-8859-1", "", "<title>Caf\xe9</title><p>Text", "Café", "html"},
		"page, no title":   {"/docs/intro", "text/html", "", "<p>Text", "intro", "html"},
		"markdown":         {"/docs/read-me.md", "text/plain", "", "# Text", "read-me", "md"},
		"named by header":  {"/download?id=1", "text/csv", `attachment; filename="Ratios.csv"`, "a,b", "Ratios", "csv"},
		"known by content": {"/x", "application/octet-stream", "", "just text", "x", "txt"},
	} {
		t.Run(name, func(t *testing.T) {
			i, address := pageImporter(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				if c.disposition != "" {
					w.Header().Set("Content-Disposition", c.disposition)
				}
				fmt.Fprint(w, c.body)
			}, loopback)
			r, d, err := get(t.Context(), i, address+c.path)
			require.NoError(t, err)
			require.Equal(t, address+c.path, r.URL)
			require.Equal(t, c.title, d.Title)
			require.Equal(t, c.format, d.Format)
			require.Len(t, d.Version, 64)
		})
	}
}

func TestPageThatSaysThatItHasNotChangedIsNotDownloadedAgain(t *testing.T) {
	old := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for name, c := range map[string]struct {
		first, second http.Header
		body          string // of the second answer
		known, same   bool   // before the download, and after it
	}{
		"same etag":        {http.Header{"Etag": {`"a b"`}}, http.Header{"Etag": {`"a b"`}}, "Text", true, true},
		"another etag":     {http.Header{"Etag": {`"a"`}}, http.Header{"Etag": {`"b"`}}, "New", false, false},
		"a restarted site": {http.Header{"Etag": {`"a"`}}, http.Header{"Etag": {`"b"`}}, "Text", false, true},
		"same time":        {http.Header{"Last-Modified": {old}}, http.Header{"Last-Modified": {old}}, "Text", true, true},
		"changed just now": {http.Header{"Last-Modified": {time.Now().UTC().Format(http.TimeFormat)}}, nil, "New", false, false},
		"nothing is said":  {nil, nil, "New", false, false},
		"a hostile etag":   {http.Header{"Etag": {strings.Repeat("x", 5000)}}, http.Header{"Etag": {strings.Repeat("x", 5000)}}, "New", false, false},
		"etag disappeared": {http.Header{"Etag": {`"a"`}}, nil, "Text", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			headers, body := c.first, "Text"
			i, address := pageImporter(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				maps.Copy(w.Header(), headers)
				fmt.Fprint(w, body)
			}, loopback)
			_, stored, err := get(t.Context(), i, address)
			require.NoError(t, err)
			headers, body = c.second, c.body
			r, again, err := get(t.Context(), i, address)
			require.NoError(t, err)
			require.Equal(t, c.known, SameVersion(stored.Version, r.Version))
			require.Equal(t, c.same, SameVersion(stored.Version, again.Version))
		})
	}
	require.False(t, SameVersion("", ""))
}

func TestPagesAreReachedAtPublicAddressesOnly(t *testing.T) {
	asked := false
	i, address := pageImporter(t, func(http.ResponseWriter, *http.Request) { asked = true })
	_, _, err := get(t.Context(), i, address)
	require.Equal(t, NotPublic, code(t, err))
	require.False(t, asked)
	for _, internal := range []string{"https://169.254.169.254/latest/meta-data", "https://[::1]/", "https://10.0.0.1/"} {
		_, _, err := get(t.Context(), i, internal)
		require.Equal(t, NotPublic, code(t, err), internal)
	}
}

func TestRedirectsAreCheckedLikeAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		to   string
		want Code
	}{
		"to an internal address": {"https://10.0.0.1/", NotPublic},
		"to plain http":          {"http://127.0.0.1/", NotShared},
		"to itself for ever":     {"/", NotShared},
	} {
		t.Run(name, func(t *testing.T) {
			i, address := pageImporter(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, c.to, http.StatusFound) }, loopback)
			_, _, err := get(t.Context(), i, address)
			require.Equal(t, c.want, code(t, err), "%v", err)
		})
	}
}

func TestPageFailuresHaveTheirCodes(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   Code
	}{
		"not found":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, NotShared},
		"sign in":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, NotShared},
		"rate limit":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, RateLimited},
		"server error": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, Network},
		"empty":        {func(http.ResponseWriter, *http.Request) {}, Unsupported},
		"said to be large": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5000")
			if r.Method == http.MethodGet {
				fmt.Fprint(w, strings.Repeat("a", 5000))
			}
		}, TooLarge},
		"is large": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				fmt.Fprint(w, strings.Repeat("a", 100))
				_ = http.NewResponseController(w).Flush()
			}
		}, TooLarge},
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "500")
			if r.Method == http.MethodGet {
				fmt.Fprint(w, "a")
			}
		}, Network},
	} {
		t.Run(name, func(t *testing.T) {
			i, address := pageImporter(t, c.answer, loopback)
			_, _, err := get(t.Context(), i, address+"/secret-path")
			require.Equal(t, c.want, code(t, err), "%v", err)
			require.NotContains(t, err.Error(), "secret-path")
		})
	}
}

func TestRetryAfterIsReadWithinLimits(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "30": 30 * time.Second, "99999999": maxRetryAfter,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Thu, 01 Jan 2026 00:00:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("a/b\\c\x00.pdf", "https://example.com/%2f..")
	f.Fuzz(func(t *testing.T, name, address string) {
		got := title(name, address, extract.All())
		if got == "" || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxTitle || strings.ContainsAny(got, "/\\\x00\n\r") {
			t.Fatalf("%q", got)
		}
	})
}

func FuzzPageTitle(f *testing.F) {
	f.Add([]byte("<title>a</title>"), "text/html; charset=utf-16")
	f.Fuzz(func(_ *testing.T, raw []byte, mediaType string) { pageTitle(raw, mediaType) })
}

// tokens are Credentials: access tokens by owner. An empty token cannot be refreshed.
type tokens map[string]string

var errRefresh = errors.New("the token could not be refreshed")

func (t tokens) Token(_ context.Context, owner string) (string, bool, error) {
	token, ok := t[owner]
	if ok && token == "" {
		return "", false, errRefresh
	}
	return token, ok, nil
}

func TestPersonsOwnAccessIsTriedBeforeThatOfTheDeployment(t *testing.T) {
	server := drivetest.New(t)
	private := textFile
	private.Readers = []string{"anns-token"}
	server.Put("private-0123456789", private)
	server.Put(id, drivetest.File{Name: "a.txt", MIME: "text/plain", Content: []byte("public"), Readers: []string{"nobody's"}, Public: true})
	at := func(id string) links.Link { return links.Link{Source: chat.SourceDrive, ExternalID: id} }

	both, err := NewDrive(t.Context(), DriveAccess{APIKey: drivetest.Key, BaseURL: server.URL, Own: tokens{"ann": "anns-token"}})
	require.NoError(t, err)
	i := &Importer{Sources: []Source{both.Source()}, Types: extract.All(), MaxBytes: 1000}
	r, err := i.Look(t.Context(), "ann", at("private-0123456789"))
	require.NoError(t, err)
	_, err = i.Fetch(t.Context(), "ann", r)
	require.NoError(t, err)
	_, err = i.Look(t.Context(), "bob", at("private-0123456789"))
	require.Equal(t, NotShared, code(t, err))
	_, err = i.Look(t.Context(), "ann", at(id))
	require.NoError(t, err, "what Ann's account may not read, the deployment can")

	own, err := NewDrive(t.Context(), DriveAccess{BaseURL: server.URL, Own: tokens{"ann": "anns-token"}})
	require.NoError(t, err)
	i.Sources = []Source{own.Source()}
	_, err = i.Look(t.Context(), "ann", at("private-0123456789"))
	require.NoError(t, err)
	_, err = i.Look(t.Context(), "bob", at(id))
	require.Equal(t, NotConfigured, code(t, err))
}

func TestFailedRefreshFallsBackToTheDeploymentsAccess(t *testing.T) {
	server := drivetest.New(t)
	private := textFile
	private.Readers = []string{"anns-token"}
	server.Put("private-0123456789", private)
	server.Put(id, drivetest.File{Name: "a.txt", MIME: "text/plain", Content: []byte("public"), Public: true})
	at := func(id string) links.Link { return links.Link{Source: chat.SourceDrive, ExternalID: id} }

	both, err := NewDrive(t.Context(), DriveAccess{APIKey: drivetest.Key, BaseURL: server.URL, Own: tokens{"ann": ""}})
	require.NoError(t, err)
	i := &Importer{Sources: []Source{both.Source()}, Types: extract.All(), MaxBytes: 1000}
	r, err := i.Look(t.Context(), "ann", at(id))
	require.NoError(t, err)
	_, err = i.Fetch(t.Context(), "ann", r)
	require.NoError(t, err)
	_, err = i.Look(t.Context(), "ann", at("private-0123456789"))
	require.ErrorIs(t, err, errRefresh, "Ann's account may be able to read it: not NotShared")

	own, err := NewDrive(t.Context(), DriveAccess{BaseURL: server.URL, Own: tokens{"ann": ""}})
	require.NoError(t, err)
	i.Sources = []Source{own.Source()}
	_, err = i.Look(t.Context(), "ann", at(id))
	require.ErrorIs(t, err, errRefresh)
}
