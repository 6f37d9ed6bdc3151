package tiptap

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const composer = `{"type":"doc","content":[
 {"type":"paragraph","content":[
  {"type":"text","text":"Compare "},
  {"type":"mention","attrs":{"id":"d1","category":"document","label":"Circular 2024"}},
  {"type":"text","text":" and "},
  {"type":"mention","attrs":{"id":"s1","category":"set","label":"Policies"}},
  {"type":"mention","attrs":{"id":"summarize","category":"action","label":"Summarize"}},
  {"type":"mention","attrs":{"id":"d1","category":"document","label":"Circular 2024"}}]},
 {"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[
  {"type":"text","text":"in short","marks":[{"type":"bold"}]},
  {"type":"mention","attrs":{"id":"d2","category":"document","label":"Deep"}}]}]}]}]}`

func TestReadFindsDocumentAndSetMentionsOnceAndInOrder(t *testing.T) {
	c, err := Read(json.RawMessage(composer))
	require.NoError(t, err)
	require.Equal(t, []Mention{{"d1", "document", "Circular 2024"}, {"s1", "set", "Policies"}, {"d2", "document", "Deep"}}, c.Mentions)
	require.Equal(t, []string{"d1", "d2"}, c.IDs(Document))
	require.Equal(t, []string{"s1"}, c.IDs(Set))
	require.Equal(t, []string{"Circular 2024", "Policies", "Deep"}, c.Labels())
	require.NotContains(t, c.Text, "Circular")
	require.Contains(t, c.Text, "Compare")
	require.Contains(t, c.Text, "in short")
}

func TestReadHandlesUntrustedInput(t *testing.T) {
	for name, tc := range map[string]struct {
		raw      string
		mentions int
		fails    bool
	}{
		"nothing":               {"", 0, false},
		"null":                  {"null", 0, false},
		"not JSON":              {"{", 0, true},
		"an array":              {"[]", 0, true},
		"a number":              {"7", 0, true},
		"attrs of a wrong type": {`{"type":"mention","attrs":[1]}`, 0, false},
		"id of a wrong type":    {`{"type":"mention","attrs":{"id":7,"category":"document"}}`, 0, false},
		"content no list":       {`{"type":"doc","content":{"type":"mention"}}`, 0, false},
		"no category":           {`{"type":"mention","attrs":{"id":"x"}}`, 0, false},
		"one":                   {`{"type":"mention","attrs":{"id":"x","category":"document"}}`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Read(json.RawMessage(tc.raw))
			require.Equal(t, tc.fails, err != nil)
			require.Len(t, c.Mentions, tc.mentions)
		})
	}
}

func TestReadEnforcesItsLimits(t *testing.T) {
	mention := `{"type":"mention","attrs":{"id":"x","category":"document"}}`
	deep := strings.Repeat(`{"type":"doc","content":[`, MaxDepth+1) + mention + strings.Repeat("]}", MaxDepth+1)
	c, err := Read(json.RawMessage(deep))
	require.NoError(t, err)
	require.Empty(t, c.Mentions, "deeper than the limit")

	wide := `{"type":"doc","content":[` + strings.Repeat(`{"type":"x"},`, MaxNodes) + mention + `]}`
	c, err = Read(json.RawMessage(wide))
	require.NoError(t, err)
	require.Empty(t, c.Mentions, "later than the limit")

	within := strings.Repeat(`{"type":"doc","content":[`, MaxDepth) + mention + strings.Repeat("]}", MaxDepth)
	c, err = Read(json.RawMessage(within))
	require.NoError(t, err)
	require.Len(t, c.Mentions, 1)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(composer))
	f.Add([]byte(`{"type":"mention","attrs":{"id":"x","category":"set","label":"\ud800"}}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Read(raw)
		if err != nil {
			require.Empty(t, c)
			return
		}
		require.LessOrEqual(t, len(c.Mentions), MaxMentions)
		seen := map[Mention]bool{}
		for _, m := range c.Mentions {
			require.NotEmpty(t, m.ID)
			require.Contains(t, []string{Document, Set}, m.Category)
			require.LessOrEqual(t, utf8.RuneCountInString(m.Label), MaxLabel)
			key := Mention{ID: m.ID, Category: m.Category}
			require.False(t, seen[key], "an id twice")
			seen[key] = true
		}
	})
}
