package retrieval

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestPassageRisesWithTheMatchesAroundIt(t *testing.T) {
	hit := func(doc string, ordinal int, score float64) chat.Hit {
		return chat.Hit{Chunk: chat.Chunk{ID: doc + strconv.Itoa(ordinal), DocID: doc, Ordinal: ordinal}, Score: score}
	}
	for name, c := range map[string]struct {
		hits []chat.Hit
		want []string
	}{
		"document with a better match":  {[]chat.Hit{hit("a", 1, 10), hit("b", 1, 6), hit("a", 9, 5.5)}, []string{"a1", "a9", "b1"}},
		"neighbour of a match":          {[]chat.Hit{hit("a", 1, 10), hit("a", 20, 6), hit("a", 3, 5.5)}, []string{"a1", "a3", "a20"}},
		"too far from a match":          {[]chat.Hit{hit("a", 1, 10), hit("a", 20, 6), hit("a", 7, 5.5)}, []string{"a1", "a20", "a7"}},
		"one passage of each document":  {[]chat.Hit{hit("a", 1, 3), hit("b", 1, 2), hit("c", 1, 1)}, []string{"a1", "b1", "c1"}},
		"much better by itself":         {[]chat.Hit{hit("a", 1, 10), hit("b", 1, 9), hit("a", 2, 3)}, []string{"a1", "b1", "a2"}},
		"equal scores keep their order": {[]chat.Hit{hit("b", 1, 1), hit("a", 1, 1)}, []string{"b1", "a1"}},
		"nothing found":                 {},
	} {
		var got []string
		for _, h := range bySurroundings(c.hits) {
			got = append(got, h.ID)
		}
		require.Equal(t, c.want, got, name)
	}
}
