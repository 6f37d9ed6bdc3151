package board

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// chain is a board with one item in each column, each building on the one before.
func chain(t *testing.T) *Board {
	t.Helper()
	b := &Board{Title: "Churn", Goal: "Why do customers leave?"}
	for _, a := range []AddedItem{
		{Kind: Input, Title: "Interviews", Text: "Ten calls with customers.", Type: "notes"},
		{Kind: Fact, Text: "Six of ten left within 30 days.", Related: []string{"I-1"}},
		{Kind: Insight, Text: "The first month decides.", Related: []string{"F-1"}},
		{Kind: Recommendation, Text: "Call every new customer in week one.", Related: []string{"N-1"}},
		{Kind: Output, Text: "A plan for onboarding.", Type: "action_plan", Related: []string{"R-1"}},
	} {
		add(t, b, a)
	}
	return b
}

func add(t *testing.T, b *Board, a AddedItem) string {
	t.Helper()
	r, err := b.Add(a, Person, noon)
	require.NoError(t, err)
	return r.Items[0]
}

func edit(t *testing.T, b *Board, id, text string) Result {
	t.Helper()
	r, err := b.Edit(id, Edit{Text: &text}, Person, noon)
	require.NoError(t, err)
	return r
}

// Rule B1.
func TestAnIDIsNeverGivenTwice(t *testing.T) {
	b := chain(t)
	second := add(t, b, AddedItem{Kind: Fact, Text: "Two came back."})
	if _, err := b.Delete(second, Person, noon); err != nil {
		t.Fatal(err)
	}
	if third := add(t, b, AddedItem{Kind: Fact, Text: "Nobody complained."}); second != "F-2" || third != "F-3" {
		t.Errorf("ids are %s and %s, want F-2 and F-3", second, third)
	}
	again, err := Read(exported(t, b), noon)
	require.NoError(t, err)
	if _, err := again.Delete("F-3", Person, noon); err != nil {
		t.Fatal(err)
	}
	assert.EqualValues(t, "F-4", add(t, again, AddedItem{Kind: Fact, Text: "After the import."}), "after an export and an import the next id is")
}

// Rule B3.
func TestEditMakesEverythingDownstreamStale(t *testing.T) {
	b := chain(t)
	r := edit(t, b, "f-1", "Seven of ten left within 30 days.")
	if want := []string{"F-1", "N-1", "R-1", "O-1"}; !slices.Equal(r.Items, want) || r.Impact != 3 {
		t.Errorf("changed %v with an impact of %d, want %v and 3", r.Items, r.Impact, want)
	}
	if got := b.Find("O-1").Stale; !slices.Equal(got, []string{"F-1"}) {
		t.Errorf("O-1 is stale because of %v", got)
	}
	assert.True(t, len(b.Find("I-1").Stale)+len(b.Find("F-1").Stale) <= 0, "what is upstream became stale")
	if _, err := b.Edit("N-1", Edit{Fresh: true}, Person, noon); err != nil {
		t.Fatal(err)
	}
	assert.True(t, len(b.Find("N-1").Stale) <= 0 && len(b.Find("R-1").Stale) != 0, "clearing one item's mark must clear that one only")
}

// Rule B2.
func TestVersionsKeepEveryTextWithItsAuthor(t *testing.T) {
	b := chain(t)
	edit(t, b, "F-1", "Seven of ten left.")
	edit(t, b, "F-1", "Seven of ten left.") // the same text makes no version
	item := b.Find("F-1")
	assert.True(t, item.Version.N == 2 && len(item.Earlier) == 1 && item.Earlier[0].Text == "Six of ten left within 30 days." && item.Earlier[0].By == Person, "version %+v after %+v", item.Version, item.Earlier)
	for range 2 * MaxVersions {
		edit(t, b, "F-1", item.Version.Text+"!"+item.Version.At.String()[:1]+strings.Repeat("x", b.Find("F-1").Version.N%7+1))
	}
	if n := len(b.Find("F-1").Earlier); n >= MaxVersions {
		t.Errorf("%d earlier versions are kept", n)
	}
}

// Rule B1.
func TestRelationsGoToTheColumnBefore(t *testing.T) {
	b := chain(t)
	for name, a := range map[string]AddedItem{
		"related_ids names \"F-9\", which is not on the board":               {Kind: Insight, Text: "x", Related: []string{"F-9"}},
		"related_ids names I-1, but an insight builds on facts":              {Kind: Insight, Text: "x", Related: []string{"I-1"}},
		"related_ids must be empty: an input builds on nothing":              {Kind: Input, Text: "x", Related: []string{"F-1"}},
		"text must not be empty":                                             {Kind: Fact, Text: " "},
		"text must have at most 8000 characters":                             {Kind: Fact, Text: strings.Repeat("ä", MaxText+1)},
		"text must not contain the NUL character":                            {Kind: Fact, Text: "a\x00b"},
		"output_type must be report, presentation, action_plan or brief":     {Kind: Output, Text: "x", Type: "film"},
		"entity_type must be input, fact, insight, recommendation or output": {Kind: "idea", Text: "x"},
	} {
		before := stored(t, b)
		_, err := b.Add(a, Person, noon)
		var bad *Invalid
		assert.True(t, errors.As(err, &bad) && err.Error() == name, "error %v, want %s", err, name)
		assert.EqualValues(t, before, stored(t, b), "%s: the board changed", name)
	}
	r, err := b.Add(AddedItem{Kind: Insight, Text: "x", Related: []string{" f-1 ", "F-1"}}, Person, noon)
	assert.True(t, err == nil && slices.Equal(b.Find(r.Items[0]).Related, []string{"F-1"}), "relations %v, %v", b.Find(r.Items[0]), err)
}

func TestDeletingAnItemUnlinksItAndUndoRestoresBoth(t *testing.T) {
	b := chain(t)
	before := b.File()
	r, err := b.Delete("F-1", Person, noon)
	require.True(t, err == nil && r.Impact == 3, "%+v, %v", r, err)
	assert.True(t, b.Find("F-1") == nil && len(b.Find("N-1").Related) <= 0 && len(b.Find("R-1").Stale) != 0, "the deleted item left traces")
	if _, err := b.Undo(r.Change, Person, noon); err != nil {
		t.Fatal(err)
	}
	if after := b.File(); !reflect.DeepEqual(before, after) {
		t.Errorf("after the undo\n%s\nwant\n%s", show(after), show(before))
	}
	if _, err := b.Undo(r.Change, Person, noon); !errors.Is(err, ErrNoChange) {
		t.Errorf("a second undo: %v", err)
	}
}

func TestUndoingAnEditWritesTheEarlierTextAsANewVersion(t *testing.T) {
	b := chain(t)
	r := edit(t, b, "I-1", "Twelve calls.")
	if _, err := b.Undo(r.Change, Person, noon); err != nil {
		t.Fatal(err)
	}
	item := b.Find("I-1")
	assert.True(t, item.Version.Text == "Ten calls with customers." && item.Version.N == 3 && len(b.Find("O-1").Stale) <= 0, "item %+v, O-1 stale %v", item, b.Find("O-1").Stale)
}

// Rule B11.
func TestUndoRefusesAChangeThatLaterChangesBuildOn(t *testing.T) {
	for name, build := range map[string]func(t *testing.T, b *Board){
		"the item itself was changed": func(t *testing.T, b *Board) { edit(t, b, "F-2", "other") },
		"an item was added to it": func(t *testing.T, b *Board) {
			add(t, b, AddedItem{Kind: Insight, Text: "new", Related: []string{"F-2"}})
		},
		"an item below was changed": func(t *testing.T, b *Board) {
			related := []string{"F-1", "F-2"}
			if _, err := b.Edit("N-1", Edit{Related: &related}, Person, noon); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := chain(t)
			r, err := b.Add(AddedItem{Kind: Fact, Text: "Two came back.", Related: []string{"I-1"}}, Person, noon)
			require.NoError(t, err)
			build(t, b)
			if _, err := b.Undo(r.Change, Person, noon); !errors.Is(err, ErrBuiltOn) {
				t.Errorf("undo: %v", err)
			}
			last := b.Changes[len(b.Changes)-1].N
			if _, err := b.Undo(last, Person, noon); err != nil {
				t.Fatalf("undo of the last change: %v", err)
			}
			if _, err := b.Undo(r.Change, Person, noon); err != nil || b.Find("F-2") != nil {
				t.Errorf("after undoing what was built on it: %v", err)
			}
		})
	}
}

func TestSimilarItemsHaveTheSameNumbers(t *testing.T) {
	b := chain(t)
	for text, want := range map[string]bool{
		"six of ten left within 30 days":            true,
		"Six of ten customers left within 30 days.": true,
		"Six of ten left within 60 days.":           false,
		"The office has 30 chairs.":                 false,
		"":                                          false,
	} {
		assert.EqualValues(t, want, len(b.Similar(Fact, text)) > 0, text)
	}
}

func exported(t *testing.T, b *Board) []byte {
	t.Helper()
	raw, err := json.Marshal(b.File())
	require.NoError(t, err)
	return raw
}

func stored(t *testing.T, b *Board) string {
	t.Helper()
	raw, err := json.Marshal(b)
	require.NoError(t, err)
	return string(raw)
}

func show(f Fields) string {
	raw, _ := json.MarshalIndent(f, "", " ")
	return string(raw)
}

// A page may still show Undo for a change from before the board's content was replaced.
func TestANumberOfAChangeIsNeverGivenTwice(t *testing.T) {
	b := chain(t)
	before, err := b.Add(AddedItem{Kind: Fact, Text: "Two came back."}, Person, noon)
	if err != nil {
		t.Fatal(err)
	}
	b.Replace(chain(t))
	if _, err := b.Undo(before.Change, Person, noon); !errors.Is(err, ErrNoChange) {
		t.Errorf("undo of a change that was replaced: %v", err)
	}
	after, err := b.Add(AddedItem{Kind: Fact, Text: "Three came back."}, Person, noon)
	if err != nil {
		t.Fatal(err)
	}
	if after.Change <= before.Change {
		t.Errorf("change %d has a number that change %d had", after.Change, before.Change)
	}
}
