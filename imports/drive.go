package imports

import (
	"cmp"
	"context"
	"crypto/md5" // the checksum that Drive sends; it detects damage, not attacks
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/links"
)

// DriveURL is the address of Google Drive's API.
const DriveURL = "https://www.googleapis.com/drive/v3/"

// Drive imports files of Google Drive: those that the person's own account may read, those
// that are shared with anyone who has the link, and those that a service account may read.
type Drive struct {
	files *drive.FilesService
	own   Credentials // nil: people cannot connect accounts
	// shared is true if the deployment has its own access.
	shared bool
}

// DriveAccess is how Google Drive is reached. Without any of the three kinds of access
// every import is refused with NotConfigured.
type DriveAccess struct {
	APIKey         string
	ServiceAccount string      // JSON of a service account's key; with it, APIKey is not used
	Own            Credentials // the access of people; tried before that of the deployment; can be nil
	BaseURL        string      // another address of the API; empty: DriveURL
}

// NewDrive makes a source. It opens no connection.
func NewDrive(ctx context.Context, access DriveAccess) (*Drive, error) {
	base, err := url.Parse(cmp.Or(access.BaseURL, DriveURL))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("GOOGLE_DRIVE_BASE_URL: %q is not an http or https address", access.BaseURL)
	}
	var deployment http.RoundTripper = apiKeyTransport{host: base.Host, key: access.APIKey, next: http.DefaultTransport}
	if access.ServiceAccount != "" {
		account, err := google.JWTConfigFromJSON([]byte(access.ServiceAccount), drive.DriveReadonlyScope)
		if err != nil {
			return nil, errors.New("GOOGLE_SERVICE_ACCOUNT is not the JSON of a service account's key")
		}
		deployment = &oauth2.Transport{Source: account.TokenSource(context.WithoutCancel(ctx)), Base: http.DefaultTransport}
	}
	service, err := drive.NewService(ctx, option.WithEndpoint(strings.TrimSuffix(base.String(), "/")+"/"),
		option.WithHTTPClient(&http.Client{CheckRedirect: noRedirect,
			Transport: bearerTransport{host: base.Host, next: deployment, personal: http.DefaultTransport}}))
	if err != nil {
		return nil, fmt.Errorf("make the client of Google Drive: %w", err)
	}
	return &Drive{files: service.Files, own: access.Own, shared: access.APIKey != "" || access.ServiceAccount != ""}, nil
}

// byAnyAccess calls ask with the person's own access, if there is one, and then with that
// of the deployment when the person's account may not read the file, or when its token
// could not be refreshed. If the deployment may not read it either, the error of the
// refresh is returned: the account may have access.
func byAnyAccess[T any](ctx context.Context, d *Drive, owner string, ask func(context.Context) (T, error)) (T, error) {
	var none T
	var refresh error
	if d.own != nil {
		token, ok, err := d.own.Token(ctx, owner)
		if err != nil && !d.shared {
			return none, err
		}
		if refresh = err; ok && err == nil {
			found, err := ask(withBearer(ctx, token))
			if !d.shared || !isNotShared(err) {
				return found, err
			}
		}
	}
	if !d.shared {
		return none, &Error{Code: NotConfigured, Cause: errors.New("no access to Google Drive")}
	}
	found, err := ask(ctx)
	if refresh != nil && isNotShared(err) {
		return none, refresh
	}
	return found, err
}

func isNotShared(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == NotShared
}

// noRedirect follows no redirect. The API has none, and a redirect would send a token to
// another address.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// apiKeyTransport sends the key as a header. In the URL it would end up in errors.
type apiKeyTransport struct {
	host, key string
	next      http.RoundTripper
}

func (t apiKeyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == t.host && t.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Goog-Api-Key", t.key)
	}
	return t.next.RoundTrip(r)
}

// Source returns Google Drive as a source. Package links recognises its links.
func (d *Drive) Source() Source {
	return Source{Type: chat.SourceDrive, Label: "Google Drive", Look: d.Look, Fetch: d.Fetch}
}

const (
	googleApps   = "application/vnd.google-apps."
	shortcutType = googleApps + "shortcut"
	driveFields  = "id,name,mimeType,size,md5Checksum,modifiedTime,trashed,capabilities/canDownload,shortcutDetails"
)

// exports maps documents of Google's own editors to the types in which they are downloaded.
var exports = map[string]struct{ mediaType, extension string }{
	googleApps + "document":     {"text/markdown", ".md"},
	googleApps + "spreadsheet":  {"text/csv", ".csv"},
	googleApps + "presentation": {"text/plain", ".txt"},
}

func (d *Drive) Look(ctx context.Context, owner string, link links.Link) (Remote, error) {
	return byAnyAccess(ctx, d, owner, func(ctx context.Context) (Remote, error) { return d.look(ctx, link) })
}

func (d *Drive) look(ctx context.Context, link links.Link) (Remote, error) {
	id, key := link.ExternalID, link.ResourceKey
	f, err := d.metadata(ctx, id, key)
	if err == nil && f.MimeType == shortcutType && f.ShortcutDetails != nil {
		id, key = f.ShortcutDetails.TargetId, f.ShortcutDetails.TargetResourceKey
		f, err = d.metadata(ctx, id, key)
	}
	if err != nil {
		return Remote{}, err
	}
	export, exported := exports[f.MimeType]
	switch {
	case f.Trashed, f.Capabilities != nil && !f.Capabilities.CanDownload:
		return Remote{}, &Error{Code: NotShared, Cause: errors.New("the file is in the bin, or must not be downloaded")}
	case strings.HasPrefix(f.MimeType, googleApps) && !exported:
		return Remote{}, &Error{Code: Unsupported, Cause: fmt.Errorf("%.100q", f.MimeType)}
	}
	version := f.Md5Checksum
	version = cmp.Or(version, f.ModifiedTime)
	r := Remote{ExternalID: id, ResourceKey: key, URL: link.URL, Name: f.Name, MediaType: f.MimeType, Size: f.Size, Version: version}
	if exported { // the size in the metadata is that of the original
		r.Name, r.Size = f.Name+export.extension, 0
	}
	return r, nil
}

func (d *Drive) metadata(ctx context.Context, id, key string) (*drive.File, error) {
	call := d.files.Get(id).SupportsAllDrives(true).Fields(driveFields).Context(ctx)
	withResourceKey(call.Header(), id, key)
	f, err := call.Do()
	if err != nil {
		return nil, driveError(err)
	}
	return f, nil
}

func withResourceKey(h http.Header, id, key string) {
	if key != "" {
		h.Set("X-Goog-Drive-Resource-Keys", id+"/"+key)
	}
}

func (d *Drive) Fetch(ctx context.Context, owner string, r Remote, limit int64) (Content, error) {
	return byAnyAccess(ctx, d, owner, func(ctx context.Context) (Content, error) { return d.fetch(ctx, r, limit) })
}

func (d *Drive) fetch(ctx context.Context, r Remote, limit int64) (Content, error) {
	res, err := d.download(ctx, r)
	if err != nil {
		return Content{}, driveError(err)
	}
	defer res.Body.Close()
	if err := expectType(res, r.MediaType); err != nil {
		return Content{}, err
	}
	raw, err := readBody(res, limit)
	if err != nil {
		return Content{}, err
	}
	c := Content{Name: r.Name, MediaType: r.MediaType, Version: r.Version, Raw: raw}
	if export, ok := exports[r.MediaType]; ok {
		c.MediaType = export.mediaType
		return c, nil
	}
	return c, checkSum(r, raw)
}

func (d *Drive) download(ctx context.Context, r Remote) (*http.Response, error) {
	if export, ok := exports[r.MediaType]; ok {
		call := d.files.Export(r.ExternalID, export.mediaType).Context(ctx)
		withResourceKey(call.Header(), r.ExternalID, r.ResourceKey)
		return call.Download()
	}
	call := d.files.Get(r.ExternalID).SupportsAllDrives(true).Context(ctx)
	withResourceKey(call.Header(), r.ExternalID, r.ResourceKey)
	return call.Download()
}

// expectType refuses a web page that was sent instead of a file, such as a sign-in form.
func expectType(res *http.Response, want string) error {
	got, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if got == "text/html" && want != "text/html" {
		return &Error{Code: NotShared, Cause: errors.New("the response is a web page instead of the file")}
	}
	return nil
}

// checkSum compares the downloaded bytes with the size and the checksum that Drive sent.
func checkSum(r Remote, raw []byte) error {
	sum := md5.Sum(raw)
	switch {
	case r.Size > 0 && int64(len(raw)) != r.Size:
		return fmt.Errorf("received %d of %d bytes", len(raw), r.Size)
	case len(r.Version) == 2*md5.Size && r.Version != hex.EncodeToString(sum[:]):
		return errors.New("the checksum of the content does not match")
	}
	return nil
}

// Reasons of a 403 of Drive's API.
var (
	limitReasons = []string{"rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded",
		"downloadQuotaExceeded", "sharingRateLimitExceeded"}
	keyReasons = []string{"accessNotConfigured", "keyInvalid", "ipRefererBlocked", "forbiddenByPolicy", "SERVICE_DISABLED"}
)

// driveError makes an *Error of an error response of Drive's API. It removes the address
// of the request from other errors.
func driveError(err error) error {
	var said *googleapi.Error
	if !errors.As(err, &said) {
		var where *url.Error
		if errors.As(err, &where) {
			return where.Err
		}
		return err
	}
	var reasons []string
	for _, item := range said.Errors {
		reasons = append(reasons, item.Reason)
	}
	cause := fmt.Errorf("status %d %.200q", said.Code, reasons)
	is := func(list []string) bool {
		return slices.ContainsFunc(reasons, func(r string) bool { return slices.Contains(list, r) })
	}
	switch {
	case said.Code == http.StatusTooManyRequests, said.Code == http.StatusForbidden && is(limitReasons):
		return &Error{Code: RateLimited, RetryAfter: retryAfter(said.Header, time.Now()), Cause: cause}
	case said.Code == http.StatusForbidden && slices.Contains(reasons, "exportSizeLimitExceeded"):
		return &Error{Code: TooLarge, Limit: maxExport, Cause: cause}
	case said.Code == http.StatusBadRequest, is(keyReasons):
		return &Error{Code: NotConfigured, Cause: cause}
	case said.Code == http.StatusUnauthorized, said.Code == http.StatusForbidden, said.Code == http.StatusNotFound,
		said.Code >= 300 && said.Code < 400:
		return &Error{Code: NotShared, Cause: cause}
	}
	return cause
}

// maxExport is Drive's own limit for an export, in bytes.
const maxExport = 10 << 20
