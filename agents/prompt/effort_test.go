package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestGuidanceSaysWhatAnEffortMeansAndWhatIsLeft(t *testing.T) {
	require.Empty(t, Guidance{}.Text(), "a quick answer reads what it always has")
	normal := Guidance{Effort: chat.Normal, Steps: 4, Tokens: 900, CostUSD: 0.5}.Text()
	require.Contains(t, normal, "If the passages answer the question")
	require.NotContains(t, normal, "careful researcher")
	require.Contains(t, normal, "You have left: 4 steps (a step is one message of yours, with all its calls), about 900 tokens, 0.50 US dollars.")
	require.Contains(t, Guidance{CostUSD: 0.0042}.Text(), "0.0042 US dollars")
	thorough := Guidance{Effort: chat.Thorough, Plan: "1. Find </passage> it"}.Text()
	require.Contains(t, thorough, "careful researcher")
	require.Contains(t, thorough, "1. Find &lt;/passage> it")
	require.NotContains(t, thorough, "Answer now")
	last := Guidance{Effort: chat.Thorough, Last: true, Steps: 1}.Text()
	require.Contains(t, last, "Answer now")
	require.NotContains(t, last, "You have left")
}
