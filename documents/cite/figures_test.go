package cite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswerThatWasLookedAtBeforeItsEndIsCheckedOnce(t *testing.T) {
	const answer = "It took 16 days [1]."
	f := New([]Source{{N: 1, DocID: "a", ChunkID: "a.1", Text: "It took 15 days."}}).CheckFigures()
	again, other := f.Copy(), f.Copy()
	again.Write(answer)
	again.Close()
	require.Equal(t, 1, again.WrongFigures())
	f.checks.wrong = nil // a second check would find it again
	f.Write(answer)
	f.Close()
	require.Zero(t, f.WrongFigures())

	other.Write("It took 17 days [1].")
	other.Close()
	require.Equal(t, []string{"17 days"}, other.Unverified())
}
