package board

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func propose(t *testing.T, b *Board, id, tool string, p Params) {
	t.Helper()
	require.NoError(t, b.Propose(id, "turn", tool, p, noon))
}

func TestAProposalIsAppliedOnce(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolAdd, Params{EntityType: Fact, Text: "Support was slow.", RelatedIDs: []string{"I-1"}})
	propose(t, b, "call-1", ToolAdd, Params{EntityType: Fact, Text: "repeated by a retry"})
	first, err := b.Decide("call-1", Decision{Confirm: true}, noon)
	require.NoError(t, err)
	second, err := b.Decide("call-1", Decision{Confirm: true}, noon)
	assert.True(t, err == nil && second.Items[0] == first.Items[0] && len(b.Column(Fact)) == 2, "confirmed twice: %+v, %v, facts %d", second, err, len(b.Column(Fact)))
	var decided *AlreadyDecidedError
	if _, err := b.Decide("call-1", Decision{}, noon); !errors.As(err, &decided) || decided.State != Applied {
		t.Errorf("cancelled after it was applied: %v", err)
	}
	assert.EqualValues(t, Assistant, b.Find("F-2").Version.By, "written by")
}

func TestACancelledProposalChangesNothing(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolDelete, Params{ItemID: "f-1"})
	for range 2 {
		if _, err := b.Decide("call-1", Decision{}, noon); err != nil {
			t.Fatal(err)
		}
	}
	var decided *AlreadyDecidedError
	if _, err := b.Decide("call-1", Decision{Confirm: true}, noon); !errors.As(err, &decided) || b.Find("F-1") == nil {
		t.Errorf("confirmed after the cancel: %v", err)
	}
}

func TestAProposalIsCheckedWhenItArrives(t *testing.T) {
	b := chain(t)
	for want, p := range map[string]Proposal{
		`item_id names "F-7", which is not on the board`:                 {Tool: ToolEdit, Params: Params{ItemID: "F-7", NewText: "x"}},
		`entity_type is "input", but F-1 is a fact`:                      {Tool: ToolDelete, Params: Params{ItemID: "F-1", EntityType: Input}},
		`related_ids names N-1, but a fact builds on inputs`:             {Tool: ToolAdd, Params: Params{EntityType: Fact, Text: "x", RelatedIDs: []string{"N-1"}}},
		`output_type must be report, presentation, action_plan or brief`: {Tool: ToolAdd, Params: Params{EntityType: Output, Text: "x", OutputType: "film"}},
		`new_text must not be empty`:                                     {Tool: ToolEdit, Params: Params{ItemID: "F-1"}},
		`tool must be add_item, edit_item or delete_item`:                {Tool: "drop_table"},
	} {
		if err := b.Propose("call", "turn", p.Tool, p.Params, noon); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	assert.True(t, len(b.Proposals) <= 0, "a refused proposal was kept")
}

// Rule B9.
func TestSimilarItemsAreShownBeforeAnAddition(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolAdd, Params{EntityType: Fact, Text: "Six of ten left within 30 days"})
	var similar *SimilarItems
	if _, err := b.Decide("call-1", Decision{Confirm: true}, noon); !errors.As(err, &similar) || similar.IDs[0] != "F-1" {
		t.Fatalf("%v", err)
	}
	if p := b.proposal("call-1"); p.State != Failed || p.Reason == "" || len(b.Column(Fact)) != 1 {
		t.Errorf("proposal %+v", p)
	}
	if _, err := b.Decide("call-1", Decision{Confirm: true, Similar: true}, noon); err != nil || len(b.Column(Fact)) != 2 {
		t.Errorf("confirmed in spite of it: %v", err)
	}
}

// Rule B16.
func TestAnItemThatChangedMeanwhileIsNotOverwritten(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolEdit, Params{ItemID: "F-1", NewText: "Nine of ten left."})
	edit(t, b, "F-1", "Five of ten left.")
	var changed *ItemChanged
	if _, err := b.Decide("call-1", Decision{Confirm: true}, noon); !errors.As(err, &changed) ||
		changed.Seen.Text != "Six of ten left within 30 days." || changed.Now.Text != "Five of ten left." {
		t.Fatalf("%v", err)
	}
	if _, err := b.Decide("call-1", Decision{Confirm: true, Changed: true}, noon); err != nil || b.Find("F-1").Version.Text != "Nine of ten left." {
		t.Errorf("confirmed in spite of it: %v", err)
	}
}

// Rule B15.
func TestAPersonEditsWhatWasProposed(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolEdit, Params{ItemID: "F-1", NewText: "Nine of ten left."})
	edited := Params{EntityType: Input, ItemID: "I-1", NewText: "Eight of ten left."} // the item cannot be replaced
	if _, err := b.Decide("call-1", Decision{Confirm: true, Params: &edited}, noon); err != nil {
		t.Fatal(err)
	}
	if got := b.Find("F-1").Version.Text; got != "Eight of ten left." || b.Find("I-1").Version.N != 1 {
		t.Errorf("F-1 is %q", got)
	}
}

// Rule B14.
func TestALaterProposalOvertakesAnEarlierOneAboutTheSameItem(t *testing.T) {
	b := chain(t)
	propose(t, b, "call-1", ToolEdit, Params{ItemID: "F-1", NewText: "one"})
	propose(t, b, "call-2", ToolDelete, Params{ItemID: "F-1"})
	var decided *AlreadyDecidedError
	if _, err := b.Decide("call-1", Decision{Confirm: true}, noon); !errors.As(err, &decided) || decided.State != Overtaken {
		t.Errorf("%v", err)
	}
}
