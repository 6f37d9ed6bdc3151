package tools

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports"
)

// importStore has one turn, the messages before it, and at most one import.
type importStore struct {
	message string
	recent  []chat.Message
	i       chat.Import
	ends    chat.ImportState // the state that the import has when it is read
}

func (s *importStore) Turn(context.Context, string, string) (chat.Turn, error) {
	return chat.Turn{ID: "turn", Content: chat.Content{Message: s.message}}, nil
}

func (s *importStore) Recent(context.Context, string, string, string, int) ([]chat.Message, error) {
	return s.recent, nil
}

func (s *importStore) CreateImport(_ context.Context, i chat.Import) (chat.Import, error) {
	i.State = chat.ImportLooking
	s.i = i
	return i, nil
}

func (s *importStore) ImportByID(context.Context, string, string) (chat.Import, error) {
	i := s.i
	i.State, i.Name = s.ends, "Rules"
	return i, nil
}

func (s *importStore) AdvanceImport(context.Context, string, string, chat.ImportStep, time.Time) error {
	return nil
}

func (s *importStore) AnnounceImport(_ context.Context, _, _ string, announce bool) error {
	s.i.Announce = announce
	return nil
}

func (s *importStore) ListImports(context.Context, string, string, string, int) ([]chat.Import, error) {
	return []chat.Import{s.i}, nil
}

func (s *importStore) call(ctx context.Context, link string) (Result, error) {
	jobs := &imports.Jobs{Store: s, Start: func(context.Context, string, string) error { return nil }, Poll: time.Millisecond}
	arguments, _ := json.Marshal(map[string]string{"url": link})
	return ImportDocument(jobs, s, 20*time.Millisecond).Run(ctx, Call{ID: "c", TurnID: "turn", Arguments: arguments})
}

// A document could make a model send what it has read to an address of the document's
// author.
func TestOnlyLinksOfThePersonAreImported(t *testing.T) {
	const link = "https://example.com/a"
	for name, c := range map[string]struct {
		store importStore
		given bool
	}{
		"in the message":             {importStore{message: "read " + link}, true},
		"in an earlier message":      {importStore{recent: []chat.Message{{Role: "user", Content: "see " + link}}}, true},
		"in an answer":               {importStore{recent: []chat.Message{{Role: "assistant", Content: "see " + link}}}, false},
		"nowhere":                    {importStore{message: "read the page"}, false},
		"longer than what was given": {importStore{message: "read https://example.com/"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.store.ends = chat.ImportReady
			result, err := c.store.call(t.Context(), link)
			require.NoError(t, err)
			require.Equal(t, c.given, c.store.i.URL != "")
			require.Equal(t, !c.given, result.IsError)
		})
	}
}

func TestEndOfAnImportIsAnnouncedUnlessItsCallReturnsIt(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx  context.Context
		ends chat.ImportState
		told bool // the conversation is told later
	}{
		"ended":                 {t.Context(), chat.ImportReady, false},
		"failed":                {t.Context(), chat.ImportFailed, false},
		"still running":         {t.Context(), chat.ImportReading, true},
		"its turn was stopped":  {stopped, chat.ImportDownloading, true},
		"stopped when it ended": {stopped, chat.ImportReady, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := importStore{message: "read https://example.com/a", ends: c.ends}
			_, _ = s.call(c.ctx, "https://example.com/a")
			require.Equal(t, c.told, s.i.Announce)
		})
	}
}
