package retrieval_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestQuestionsFindCompoundsByTheirPartsAndPartsByTheCompound(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("de", "Mietvertrag", "# Mietvertrag\n\nDie Frist zur Kündigung der Wohnung beträgt drei Monate. Der Mieter zahlt die Miete zum Ersten des Monats.\n\n# Anlagen\n\nDas Treppenhaus wird von den Mietern im Wechsel gereinigt.")
	b.add("nl", "Reglement", "# Reglement\n\nDe opzegtermijn van de huur is twee maanden en de borg is niet meer dan een maand.")
	for question, want := range map[string]string{
		"Wie lang ist die Kündigungsfrist?":            "de",
		"Kündigungsfrist":                              "de",
		"Was gilt für die Monatsmiete?":                "de",
		"Wat is de termijn voor de opzeg van de huur?": "nl",
	} {
		hits, err := b.Search(t.Context(), owner, question, nil, 3)
		require.NoError(t, err)
		require.NotEmpty(t, hits, question)
		assert.Equal(t, want, hits[0].DocID, question)
		s := b.choose(chat.Inquire, question)
		assert.NotEqual(t, chat.Low, s.Confidence, question)
	}
}

func TestEnglishWordsAreNotSplit(t *testing.T) {
	b := setup(t)
	b.add("en", "Desks", "# Desks\n\nEach desk has a note pad and a book on the shelf.")
	hits, err := b.Search(t.Context(), owner, "What does it say about the notebook of the company?", nil, 3)
	require.NoError(t, err)
	assert.Empty(t, hits)
}
