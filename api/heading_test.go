package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Rule D6.
func TestHeadingOfAQuoteIsTheNearestAboveIt(t *testing.T) {
	t.Parallel()
	v := chat.Chunk{Heading: "2 Übersicht", Start: 100, Text: "Größe der Anlage.\n\n## 3.1 Höhe\n\nSie misst drei Meter.\n\n## 3.2 Breite\n\nZwei Meter."}
	for at, want := range map[int]string{
		100: "2 Übersicht", // as in the passage before
		110: "2 Übersicht",
		119: "3.1 Höhe", // the heading itself
		132: "3.1 Höhe", // the sentence below it
		170: "3.2 Breite",
	} {
		require.Equal(t, want, headingAt(v, at), "%d", at)
	}
}
