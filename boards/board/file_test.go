package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExportedBoardIsImportedUnchanged(t *testing.T) {
	b := chain(t)
	edit(t, b, "F-1", "Seven of ten left.")
	b.History = []Message{{ID: "m1", Role: "user", Content: "Why?", References: []string{"F-1"}}}
	b.Extra = Fields{"theme": json.RawMessage(`{"dark":true}`)}
	again, err := Read(exported(t, b), noon)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(again.File(), b.File()), "got\n%s\nwant\n%s", show(again.File()), show(b.File()))
}

// Rule B7.
func TestAnOldFileOfAnotherProgramIsRead(t *testing.T) {
	b, err := Read([]byte(`{"title":"T","goal":"G","dark":true,
		"inputs":[{"input_id":"4f9e-a","type":"web","title":"A page","text":"text of it","url":"https://example.com"}],
		"facts":[{"fact_id":"F-3","text":"one","related_inputs":["4f9e-a"],"status":"draft"},{"text":"two","related_ids":["4f9e-a"]}],
		"insights":[{"insight_id":"x","text":"three","related_facts":["F-3"],"stale":true}]}`), noon)
	require.NoError(t, err)
	want := []string{"I-1 []", "F-3 [I-1]", "F-4 [I-1]", "N-1 [F-3]"}
	for i, item := range b.Items {
		assert.EqualValues(t, want[i], item.ID+" "+fmt.Sprint(item.Related), i)
	}
	assert.True(t, string(b.Extra["dark"]) == "true" && string(b.Items[0].Extra["url"]) == `"https://example.com"` && len(b.Find("N-1").Stale) != 0, "fields were lost: %s", show(b.File()))
	assert.True(t, b.History == nil, "history %v", b.History)
}

func TestErrorOfABadFileNamesItsField(t *testing.T) {
	for file, want := range map[string]string{
		`[]`:                                   "body must be a JSON object",
		`null`:                                 "body must be a JSON object",
		`{"title":3}`:                          "title has the wrong type",
		`{"facts":[{"text":7}]}`:               "facts[0].text has the wrong type",
		`{"facts":[null]}`:                     "facts[0] must be an object",
		`{"facts":[{"text":"a\u0000"}]}`:       "body must not contain the NUL character",
		`{"facts":[{"text":"a","version":0}]}`: "facts[0].version must be a number from 1",
		`{"facts":[{"text":"a","version":2,"earlier_versions":[{"version":2}]}]}`: "facts[0].earlier_versions[0].version must grow, and stay below the item's version",
		`{"chat_history":[{"role":"system"}]}`:                                    "chat_history[0].role must be user or assistant",
	} {
		if _, err := Read([]byte(file), noon); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
	if _, err := Read(bytes.Repeat([]byte(" "), MaxBytes+1), noon); err == nil {
		t.Error("a file that is too large was read")
	}
}

// Rule B7. A file of the original client need not keep the rules of this board.
func TestAFileThatBreaksRulesOfTheBoardIsRead(t *testing.T) {
	long := strings.Repeat("x", 3*MaxText)
	b, err := Read([]byte(`{"title":"`+long+`","facts":[{"fact_id":"F-1","text":""},{"text":"a","fact_id":"x","related_inputs":["I-1","F-1"]},{"text":"b","fact_id":"x"},{"fact_id":"F-1"}],
		"insights":[{"text":"`+long+`","related_facts":["x"]}],
		"outputs":[{"text":"a"},{"text":"b","type":"poem"}],"chat_history":[{"role":"user","content":"`+long+`"}]}`), noon)
	require.NoError(t, err)
	var got []string
	for _, item := range b.Items {
		got = append(got, item.ID+" "+fmt.Sprint(item.Related)+item.Type)
	}
	require.Equal(t, []string{"F-1 []", "F-2 []", "F-3 []", "F-4 []", "N-1 [F-2]", "O-1 []", "O-2 []poem"}, got)
	require.Len(t, b.Find("N-1").Version.Text, len(long))
}

// Rule K10.
func TestTheBoardOfARequestIsTakenAsItIs(t *testing.T) {
	long := strings.Repeat("x", 3*MaxText)
	b, err := ReadContext([]byte(`{"title":null,"inputs":[{"input_id":"9f-x","type":"anything","title":"T","text":"`+long+`"}],
		"facts":[{"fact_id":"F-1","text":"","related_inputs":["I-9","N-1"],"version":"3b"},{"text":"b"},{"fact_id":"9f-x"}],
		"outputs":[{"output_id":"O-1","type":"poem","text":"o"},{"output_id":"O-1"}]}`),
		[]byte(`[{"role":"assistant","content":"","tool_calls":[{"tool":"add_item","params":{"text":"x"},"status":"cancelled"}]}]`))
	require.NoError(t, err)
	var got []string
	for _, item := range b.Items {
		got = append(got, item.ID+" "+fmt.Sprint(item.Related)+item.Type)
	}
	require.Equal(t, []string{"9f-x []anything", "F-1 [I-9 N-1]", "F-2 []", "9f-x []", "O-1 []poem", "O-1 []"}, got)
	require.Len(t, b.Items[0].Version.Text, len(long))
	require.Equal(t, "cancelled", b.History[0].ToolCalls[0].Status)
	for context, field := range map[string]string{`[]`: "body", `{"facts":{}}`: "facts", `{"facts":[1]}`: "facts", `{"facts":[null]}`: "facts[0]", `{"goal":1}`: "goal", `{"facts":[{"text":{}}]}`: "facts[0].text"} {
		_, err := ReadContext([]byte(context), nil)
		require.ErrorContains(t, err, field+" ", context)
	}
}

// Rule B5.
func TestDocumentsAndCitationsOfItemsAreKept(t *testing.T) {
	b, err := Read([]byte(`{"inputs":[{"input_id":"I-1","text":"a","document_id":"d"},{"text":"b","document_id":7}],
		"facts":[{"text":"one","citation":{"document_id":"d","title":"T","chunk_id":"d.0","quote":"one","start":0,"end":3}},
			{"text":"two","citation":"page 7"},{"text":"three","citation":{"document_id":"d","quote":"x","page":7}},{"text":"four","citation":{"document_id":"d","quote":"","start":2,"end":1}}]}`), noon)
	require.NoError(t, err)
	assert.True(t, b.Items[0].DocumentID == "d" && b.Items[1].DocumentID == "" && string(b.Items[1].Extra["document_id"]) == "7", "inputs %+v", b.Items[:2])
	if c := b.Find("F-1").Citation; c == nil || *c != (Citation{"d", "T", "d.0", "one", 0, 3}) {
		t.Errorf("citation %+v", c)
	}
	for _, id := range []string{"F-2", "F-3", "F-4"} {
		if item := b.Find(id); item.Citation != nil || item.Extra["citation"] == nil {
			t.Errorf("%s: what another program means is lost: %+v", id, item)
		}
	}
	again, err := Read(exported(t, b), noon)
	assert.True(t, err == nil && reflect.DeepEqual(again.File(), b.File()), "%v\n%s\n%s", err, show(again.File()), show(b.File()))
	if _, err := b.Add(AddedItem{Kind: Fact, Text: "x", DocumentID: "d"}, Person, noon); err == nil {
		t.Error("a fact is a document")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"inputs":[{"text":"a","document_id":"d"}],"facts":[{"text":"b","citation":{"document_id":"d","quote":"b","start":0,"end":1}},{"text":"c","citation":[]}]}`))
	f.Add([]byte(`{"title":"T","inputs":[{"input_id":"I-1","text":"a"}],"facts":[{"fact_id":"F-2","text":"b","related_inputs":["I-1"],"version":2,"earlier_versions":[{"version":1,"text":"c"}]}],"outputs":[{"text":"o","type":"brief"}],"chat_history":[{"role":"user","content":"x"}],"z":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := Read(raw, noon)
		if err != nil {
			return
		}
		again, err := Read(exported(t, b), noon)
		require.NoError(t, err)
		require.True(t, bytes.Equal(exported(t, again), exported(t, b)), "another export:\n%s\n%s", exported(t, again), exported(t, b))
		for _, item := range b.Items {
			if found := b.Find(item.ID); found == nil || found.Kind != item.Kind {
				t.Fatalf("%s is on the board twice", item.ID)
			}
		}
	})
}
