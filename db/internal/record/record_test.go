package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
)

func FuzzCursor(f *testing.F) {
	f.Add(Cursor{At: 5, ID: "x"}.String())
	f.Add("")
	f.Add("bm90IGpzb24")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			require.ErrorIs(t, err, db.ErrBadCursor)
			return
		}
		again, err := ParseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}

func FuzzChunkID(f *testing.F) {
	f.Add("doc.0")
	f.Add("a.b.7")
	f.Add("doc.-1")
	f.Fuzz(func(t *testing.T, id string) {
		if doc, ordinal, ok := ParseChunkID(id); ok {
			require.Equal(t, id, ChunkID(doc, ordinal))
			require.Less(t, ordinal, int64(MaxChunks))
		}
	})
}

func FuzzMessageID(f *testing.F) {
	f.Add("turn.m0")
	f.Add(".m.m1")
	f.Fuzz(func(t *testing.T, id string) {
		turnID, n, ok := ParseMessageID(id)
		if !ok {
			return
		}
		again, m, ok := ParseMessageID(MessageID(turnID, n))
		require.True(t, ok)
		require.Equal(t, turnID, again)
		require.Equal(t, n, m)
	})
}
