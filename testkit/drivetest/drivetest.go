// Package drivetest is a fake Google Drive for tests: the paths, headers and errors of its
// API, and its failures.
package drivetest

import (
	"crypto/md5" // the checksum that Drive sends
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the API key that the server accepts.
const Key = "drive-test-key"

// Fault is a failure of requests for a file.
type Fault int

// The faults before Content concern requests for metadata and for content.
const (
	None Fault = iota
	Unauthorized
	NotShared
	NotFound
	RateLimit403
	RateLimit429 // with Retry-After
	ServerError
	BadKey
	// Content and the faults after it concern requests for content only.
	Content
	Slow        // never ends
	Cut         // the connection ends in the middle
	WrongLength // fewer bytes than the metadata say
	Damaged     // other bytes than the metadata say
	LoginPage   // a web page instead of the file
	Endless     // more bytes than the metadata say, without an end
	ExportLimit // too large to be exported
)

// RetryAfter is the header of RateLimit429, in seconds.
const RetryAfter = 7

// File is a file in the Drive.
type File struct {
	Name        string
	MIME        string // with the type of a Google editor, the content can only be exported
	Content     []byte
	Size        int64 // in the metadata; 0: the size of the content
	Modified    time.Time
	ResourceKey string // without it, the file is not found
	Target      string // of a shortcut
	Trashed     bool
	Locked      bool // must not be downloaded
	Fault       Fault
	// Readers are the access tokens that may read the file; empty: any token and the API
	// key may. With Public, the API key may read a file with Readers, too.
	Readers []string
	Public  bool
}

// Server is a running Drive. Its URL is a value for GOOGLE_DRIVE_BASE_URL.
type Server struct {
	URL string

	mu    sync.Mutex
	files map[string]File
	calls []string
	holds map[string]chan struct{}
	stop  chan struct{}
	http  *httptest.Server
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := Open()
	t.Cleanup(s.Close)
	return s
}

// Open starts a server. The caller must Close it.
func Open() *Server {
	s := &Server{files: map[string]File{}, stop: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /drive/v3/files/{id}", s.get)
	mux.HandleFunc("GET /drive/v3/files/{id}/export", s.export)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL + "/drive/v3/"
	return s
}

// Close ends the server and the answers that it holds.
func (s *Server) Close() {
	close(s.stop) // first: closing waits for slow answers
	s.http.Close()
}

// Put adds or replaces a file.
func (s *Server) Put(id string, f File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Modified.IsZero() {
		f.Modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	s.files[id] = f
}

// Calls lists the requests, as "metadata ID", "download ID" and "export ID TYPE".
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

// Hold makes calls with this name, in the form of Calls, wait until release is called or
// their client disconnects.
func (s *Server) Hold(call string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	if s.holds == nil {
		s.holds = map[string]chan struct{}{}
	}
	s.holds[call] = held
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.holds, call)
		close(held)
	})
}

// find records a call and finds its file. If the file cannot be read, it answers the call.
func (s *Server) find(w http.ResponseWriter, r *http.Request, call string) (File, bool) {
	s.mu.Lock()
	f, ok := s.files[r.PathValue("id")]
	s.calls = append(s.calls, call)
	held := s.holds[call]
	s.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-s.stop:
		case <-r.Context().Done():
		}
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	readable := len(f.Readers) == 0 || bearer && slices.Contains(f.Readers, token) || !bearer && f.Public
	key := r.Header.Get("X-Goog-Drive-Resource-Keys")
	switch {
	case r.Header.Get("X-Goog-Api-Key") != Key && !bearer:
		refuse(w, http.StatusBadRequest, "badRequest")
	case !ok, f.ResourceKey != "" && key != r.PathValue("id")+"/"+f.ResourceKey:
		refuse(w, http.StatusNotFound, "notFound")
	case !readable:
		refuse(w, http.StatusNotFound, "notFound")
	case f.Fault > None && f.Fault < Content:
		fail(w, f.Fault)
	default:
		return f, true
	}
	return File{}, false
}

func fail(w http.ResponseWriter, f Fault) {
	switch f {
	case Unauthorized:
		refuse(w, http.StatusUnauthorized, "authError")
	case NotShared:
		refuse(w, http.StatusForbidden, "insufficientFilePermissions")
	case NotFound:
		refuse(w, http.StatusNotFound, "notFound")
	case RateLimit403:
		refuse(w, http.StatusForbidden, "userRateLimitExceeded")
	case RateLimit429:
		w.Header().Set("Retry-After", strconv.Itoa(RetryAfter))
		refuse(w, http.StatusTooManyRequests, "rateLimitExceeded")
	case BadKey:
		refuse(w, http.StatusForbidden, "accessNotConfigured")
	default:
		refuse(w, http.StatusInternalServerError, "backendError")
	}
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": "The request failed: " + reason,
		"errors": []any{map[string]any{"domain": "global", "reason": reason, "message": reason}},
	}})
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if r.URL.Query().Get("alt") == "media" {
		if f, ok := s.find(w, r, "download "+id); ok {
			s.send(w, f, f.MIME)
		}
		return
	}
	f, ok := s.find(w, r, "metadata "+id)
	if !ok {
		return
	}
	about := map[string]any{
		"id": id, "name": f.Name, "mimeType": f.MIME, "trashed": f.Trashed, "modifiedTime": f.Modified.Format(time.RFC3339Nano),
		"capabilities": map[string]any{"canDownload": !f.Locked},
	}
	if f.Target != "" {
		about["shortcutDetails"] = map[string]any{"targetId": f.Target}
	}
	if !strings.HasPrefix(f.MIME, "application/vnd.google-apps.") {
		size := int64(len(f.Content))
		if f.Size != 0 {
			size = f.Size
		}
		sum := md5.Sum(f.Content)
		about["size"], about["md5Checksum"] = strconv.FormatInt(size, 10), hex.EncodeToString(sum[:])
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(about)
}

func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	kind := r.URL.Query().Get("mimeType")
	f, ok := s.find(w, r, "export "+r.PathValue("id")+" "+kind)
	if ok && f.Fault == ExportLimit {
		refuse(w, http.StatusForbidden, "exportSizeLimitExceeded")
		return
	}
	if ok {
		s.send(w, f, kind)
	}
}

// send sends the content, with its fault.
func (s *Server) send(w http.ResponseWriter, f File, kind string) {
	half := f.Content[:len(f.Content)/2]
	switch f.Fault {
	case LoginPage:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Sign in</title><p>Sign in to continue to Google Drive")
		return
	case Cut:
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Content)))
		_, _ = w.Write(half)
		return // the server closes the connection
	case Slow:
		_, _ = w.Write(half)
		_ = http.NewResponseController(w).Flush()
		<-s.stop
		return
	case WrongLength:
		f.Content = half
	case Damaged:
		f.Content = append([]byte("?"), f.Content[min(1, len(f.Content)):]...)
	case Endless:
		for more := true; more; {
			_, err := w.Write(make([]byte, 64<<10))
			select {
			case <-s.stop:
				more = false
			default:
				more = err == nil
			}
		}
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(f.Content)
}
