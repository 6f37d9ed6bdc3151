package api

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// unzip reads an archive and returns the names of its files, and their contents together.
func unzip(t testing.TB, res *http.Response) (names []string, content string) {
	t.Helper()
	raw := must.Have(io.ReadAll(res.Body))(t)
	z := must.Have(zip.NewReader(bytes.NewReader(raw), int64(len(raw))))(t)
	var all strings.Builder
	for _, f := range z.File {
		names = append(names, f.Name)
		r := must.Have(f.Open())(t)
		must.Have(io.Copy(&all, r))(t)
	}
	return names, all.String()
}

// Rule I12.
func TestExportHoldsAllOfTheCallerAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, theirs := b.client(), b.client()
	own(b, mine, "Gherkin")
	own(b, theirs, secretWord)
	res := mine.send("GET", "/api/me/export", nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "application/zip", res.Header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename="palaver-\d{4}-\d\d-\d\d\.zip"$`, res.Header.Get("Content-Disposition"))
	names, content := unzip(t, res)
	require.Contains(t, names, "manifest.json")
	require.Contains(t, content, "Gherkin is private.")
	require.Contains(t, content, `"message":"Gherkin"`)
	require.NotContains(t, content, secretWord)
	require.Contains(t, content, mine.id())
	require.NotContains(t, content, theirs.id())
}

// brokenPictures is a store that fails while an archive is written, or before.
type brokenPictures struct {
	db.Store
	early bool
}

func (s brokenPictures) UserData(ctx context.Context, owner string) (db.UserData, error) {
	if s.early {
		return db.UserData{}, db.ErrUnavailable
	}
	return s.Store.UserData(ctx, owner)
}

func (s brokenPictures) AttachmentIDs(context.Context, string) ([]string, error) {
	return nil, errors.New("disk error")
}

func TestFailedExportIsNoCompleteDownload(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Store = brokenPictures{Store: d.Store} })
	c := b.client()
	c.call(202, "POST", "/api/documents", map[string]any{"title": "Notes", "text": strings.Repeat("It is long. ", 20_000)})
	res := c.send("GET", "/api/me/export", nil)
	_, err := io.ReadAll(res.Body)
	require.True(t, err != nil || res.StatusCode == http.StatusInternalServerError, "status %d", res.StatusCode)
}

func TestExportWithoutTheDatabaseIsAPlainError(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Store = brokenPictures{Store: d.Store, early: true} })
	res := b.client().send("GET", "/api/me/export", nil)
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"))
	require.Empty(t, res.Header.Get("Content-Disposition"))
}
