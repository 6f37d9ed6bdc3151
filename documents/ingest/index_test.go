package ingest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// outdatedStore lists documents as indexed by an earlier release until they are indexed.
type outdatedStore struct {
	db.Store
	outdated []string
	fails    string // the document whose indexing fails
}

func (s *outdatedStore) DocumentsToIndex(_ context.Context, after string, limit int) (docs []chat.Document, _ error) {
	for _, id := range s.outdated {
		if id > after && len(docs) < limit {
			docs = append(docs, chat.Document{ID: id, Owner: owner})
		}
	}
	return docs, nil
}

func (s *outdatedStore) IndexDocument(_ context.Context, _, id string) error {
	if id == s.fails {
		return errors.New("planted")
	}
	s.outdated = slices.DeleteFunc(s.outdated, func(o string) bool { return o == id })
	if id == "b" { // deleted meanwhile
		return db.ErrNotFound
	}
	return nil
}

// Rule W13.
func TestDocumentsOfAnEarlierReleaseAreIndexedAgainAfterARestart(t *testing.T) {
	b := setup(t)
	s := &outdatedStore{Store: b.Store, outdated: []string{"a", "b", "c", "d"}, fails: "c"}
	b.Kit.Store = s
	_, err := b.Env.ExecuteActivity(b.IndexDocuments)
	require.Error(t, err, "Temporal retries")
	require.Equal(t, []string{"c", "d"}, s.outdated)
	s.fails = ""
	_, err = b.Env.ExecuteActivity(b.IndexDocuments)
	require.NoError(t, err)
	require.Empty(t, s.outdated)
}
