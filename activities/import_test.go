package activities

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/links"
)

// slowSource is a source during whose download something happens.
type slowSource struct{ meanwhile func() }

func (s slowSource) Look(context.Context, string, links.Link) (imports.Remote, error) {
	return imports.Remote{Source: chat.SourceDrive, ExternalID: "a", URL: "https://drive.example/a", Name: "a.txt", MediaType: "text/plain", Size: 11, Version: "1"}, nil
}

func (s slowSource) Fetch(context.Context, string, imports.Remote, int64) (imports.Content, error) {
	s.meanwhile()
	return imports.Content{Name: "a.txt", MediaType: "text/plain", Version: "1", Raw: []byte("Secret text")}, nil
}

func TestDownloadThatOutlastsItsUserOrConversationStoresNothing(t *testing.T) {
	for name, remove := range map[string]func(*testBundle) error{
		"user":         func(b *testBundle) error { _, err := b.store.DeleteUser(t.Context(), owner); return err },
		"conversation": func(b *testBundle) error { return b.store.DeleteConversation(t.Context(), owner, b.thread) },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.say("Read this.")
			source := slowSource{func() { require.NoError(t, remove(b)) }}
			b.Importer = &imports.Importer{Sources: []imports.Source{{Type: chat.SourceDrive, Look: source.Look, Fetch: source.Fetch}}, Types: extract.All(), MaxBytes: 1000}
			_, err := b.store.CreateImport(t.Context(), chat.Import{ID: uuid.NewString(), Owner: owner, ThreadID: b.thread, Key: "key",
				Source: chat.SourceDrive, ExternalID: "a", URL: "https://drive.example/a", State: chat.ImportLooking})
			require.NoError(t, err)
			r := ImportRequest{Owner: owner, Key: "key"}
			require.NoError(t, b.lookImport(t.Context(), r, &ImportLooked{}))

			var out ImportFetched
			require.NoError(t, b.fetchImport(t.Context(), r, &out))
			require.Equal(t, ImportFetched{Done: true}, out)
			_, err = b.store.ImportedDocument(t.Context(), owner, chat.SourceDrive, "a")
			require.ErrorIs(t, err, db.ErrNotFound)
		})
	}
}
