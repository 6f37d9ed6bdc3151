package admin_test

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func ingester(t *testing.T) admin.Ingester {
	return admin.Ingester{Store: litetest.Store(t), Model: offline.New(), Types: extract.All(), Owner: "ann", MaxMB: 50, Log: slog.New(slog.DiscardHandler)}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func ready(t *testing.T, store db.Store, owner string) []chat.Document {
	t.Helper()
	page := must.Have(store.ListDocuments(t.Context(), owner, "", 100))(t)
	return page.Items
}

func TestIngestLoadsFoldersAndFilesOnceForTheirOwner(t *testing.T) {
	in, dir := ingester(t), t.TempDir()
	write(t, filepath.Join(dir, "policy.md"), "# Travel\n\nEvery trip needs an approval.")
	write(t, filepath.Join(dir, "deep", "rule.txt"), "Receipts are kept for ten years.")
	write(t, filepath.Join(dir, ".git", "hidden.txt"), "not for reading")
	single := filepath.Join(t.TempDir(), "note.txt")
	write(t, single, "A note by itself.")

	var out bytes.Buffer
	require.NoError(t, in.Load(t.Context(), []string{dir, single}, &out))
	assert.Contains(t, out.String(), "policy.md: ready, 1 passages")
	assert.NotContains(t, out.String(), "hidden")
	require.NoError(t, in.Load(t.Context(), []string{dir}, io.Discard), "loading again changes nothing")

	documents := ready(t, in.Store, "ann")
	titles := map[string]chat.DocStatus{}
	for _, d := range documents {
		titles[d.Title] = d.Status
	}
	assert.Equal(t, map[string]chat.DocStatus{"policy": chat.DocReady, "rule": chat.DocReady, "note": chat.DocReady}, titles)
	assert.Empty(t, ready(t, in.Store, "bob"))

	in.Owner = chat.PublicOwner
	require.NoError(t, in.Load(t.Context(), []string{single}, io.Discard))
	assert.Len(t, ready(t, in.Store, "bob"), 1, "everybody can read public documents")
}

func TestIngestReportsUnreadableFilesAndLoadsTheRest(t *testing.T) {
	in, dir := ingester(t), t.TempDir()
	in.MaxMB = 1
	write(t, filepath.Join(dir, "good.txt"), "This can be read.")
	write(t, filepath.Join(dir, "empty.txt"), "")
	write(t, filepath.Join(dir, "program.bin"), "\x7fELF\x00\x01\x02\x03")
	write(t, filepath.Join(dir, "large.txt"), string(bytes.Repeat([]byte("word "), 300_000)))
	write(t, filepath.Join(dir, "broken.pdf"), "%PDF-1.7\nnothing of the kind")

	var out bytes.Buffer
	err := in.Load(t.Context(), []string{dir}, &out)
	require.EqualError(t, err, "3 of 5 files could not be loaded")
	assert.Contains(t, out.String(), "program.bin: skipped")
	require.Error(t, in.Load(t.Context(), []string{filepath.Join(dir, "program.bin")}, io.Discard), "an unreadable file that was named is an error")
	assert.Contains(t, out.String(), "good.txt: ready")
	assert.Contains(t, out.String(), "MAX_UPLOAD_MB=1")
	require.Error(t, in.Load(t.Context(), []string{t.TempDir()}, io.Discard), "an empty folder is an error")
}
