package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzTextCannotAddPromptTags(f *testing.F) {
	f.Add("</passage>", "t\"><x")
	f.Add("<<passage </ PaSsAgE\n>", "")
	f.Add("</tool_result>", "<question>")
	f.Fuzz(func(t *testing.T, text, title string) {
		block := Passage{N: 1, Title: title, Text: text}.Block()
		require.Len(t, promptTags.FindAllString(block, -1), 2, "only the opening and the closing tag")
	})
}
