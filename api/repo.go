package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

const (
	maxRepo      = 8 << 20 // bytes of its JSON
	repoOverhead = 1 << 10 // bytes that a request may add to it
)

var errRepoSize = problem.TooLarge(messages.RepoTooLarge.With(messages.Params{"limit": maxRepo >> 20}))

type repoJSON struct {
	ThreadID string          `json:"thread_id"`
	Repo     json.RawMessage `json:"repo"`
}

type repoBody struct {
	Repo json.RawMessage `json:"repo"`
}

type repoPutJSON struct {
	ThreadID  string `json:"thread_id"`
	UpdatedAt int64  `json:"updated_at"` // seconds since 1970
	Version   int    `json:"repo_version"`
}

// threadOfPath reads a LangGraph client's own thread name and returns it with the thread's
// id.
func threadOfPath(c *gin.Context) (name, id string, _ error) {
	var p dialect.Problems
	name = p.ThreadName("thread_id", c.Param("thread_id"))
	return name, threadNamed(identity.Of(c).ID, name), p.Err()
}

// getRepo returns the message repository that a client stored, null when there is
// none.
func (s *server) getRepo(c *gin.Context) error {
	name, thread, err := threadOfPath(c)
	if err != nil {
		return err
	}
	out := repoJSON{name, json.RawMessage("null")}
	kept, err := s.Store.Repo(c.Request.Context(), identity.Of(c).ID, thread)
	switch {
	case err == nil:
		if out.Repo, err = unpackRepo(kept); err != nil {
			return fmt.Errorf("repo of thread %s: %w", thread, err)
		}
	case !notFound(err):
		return err
	}
	c.Header("ETag", etag(kept.Version))
	return respond(c, http.StatusOK, out)
}

// putRepo stores a client's message repository, unless If-Match names a version other
// than the stored one.
func (s *server) putRepo(c *gin.Context) error {
	name, thread, err := threadOfPath(c)
	if err != nil {
		return err
	}
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	body, err := request.SpoolBody(c, s.Config.TempDir, maxRepo+repoOverhead)
	if errors.Is(err, request.ErrTooLong) {
		return errRepoSize
	}
	if err != nil {
		return err
	}
	defer body.Close()
	raw, release, err := s.load(c.Request.Context(), body)
	if err != nil {
		return err
	}
	defer release()
	kept, err := s.keepRepo(c.Request.Context(), identity.Of(c), thread, raw, match)
	if err != nil {
		return err
	}
	c.Header("ETag", etag(kept.Version))
	return respond(c, http.StatusOK, repoPutJSON{name, kept.UpdatedAt.Unix(), kept.Version})
}

// keepRepo stores a repo, and creates its conversation if needed.
func (s *server) keepRepo(ctx context.Context, who identity.Caller, thread string, raw []byte, match *int) (db.Repo, error) {
	repo, err := readRepo(raw)
	if err != nil {
		return db.Repo{}, err
	}
	gzipped, sum, err := packRepo(repo)
	if err != nil {
		return db.Repo{}, err
	}
	counted, err := s.admitThread(ctx, who, thread)
	if err != nil {
		return db.Repo{}, err
	}
	kept, err := s.limits.Insert(who).PutRepo(ctx, who.ID, thread, gzipped, sum, match)
	if err != nil {
		counted.Refund(ctx)
	}
	return kept, err
}

func readRepo(raw []byte) (json.RawMessage, error) {
	var b repoBody
	if err := dialect.Decode(raw, &b); err != nil {
		return nil, err
	}
	switch {
	case len(b.Repo) == 0 || b.Repo[0] != '{':
		return nil, problem.Invalid("repo", "must be an object")
	case !utf8.Valid(b.Repo):
		return nil, problem.Invalid("repo", "must be UTF-8")
	case len(b.Repo) > maxRepo:
		return nil, errRepoSize
	}
	return b.Repo, nil
}

func packRepo(repo []byte) (gzipped []byte, sum string, err error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err = w.Write(repo); err == nil {
		err = w.Close()
	}
	return out.Bytes(), sumOf(repo), err
}

func unpackRepo(kept db.Repo) (json.RawMessage, error) {
	r, err := gzip.NewReader(bytes.NewReader(kept.Gzipped))
	if err != nil {
		return nil, err
	}
	repo, err := io.ReadAll(io.LimitReader(r, maxRepo+1))
	if err != nil {
		return nil, err
	}
	if sumOf(repo) != kept.SHA256 {
		return nil, errors.New("stored data is corrupt: its checksum differs")
	}
	return repo, nil
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func etag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// ifMatch returns the version that the client expects, as db.VersionFits takes it; nil
// without If-Match. Proxies that compress responses make their ETags weak.
func ifMatch(c *gin.Context) (*int, error) {
	h := strings.TrimSpace(c.GetHeader("If-Match"))
	if h == "" {
		return nil, nil
	}
	if h == "*" {
		return new(db.AnyVersion), nil
	}
	version, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(h, "W/"), `"`))
	if err != nil || version < 0 {
		return nil, problem.Invalid("If-Match", "must be a repo_version")
	}
	return &version, nil
}
