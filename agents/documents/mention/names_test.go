package mention

import (
	"slices"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

var versions = []llm.Document{
	{ID: "v1", Title: "Northwind Services Contract v1"},
	{ID: "v2", Title: "Northwind Services Contract v2"},
	{ID: "nda", Title: "Mutual Non-Disclosure Agreement Northwind"},
	{ID: "travel", Title: "Travel Policy"},
	{ID: "sample", Title: "Sample Travel Policy", Public: true},
	{ID: "cr7", Title: "CR-7 Change Request: Checkout"},
	{ID: "letter", Title: "Letter to Contoso about the price increase"},
	{ID: "dpa", Title: "Data Processing Agreement Contoso"},
	{ID: "mail", Title: "Email: Customer list"},
}

func TestNamesOfVersionsCodesAndParts(t *testing.T) {
	for message, want := range map[string][]string{
		"summarize the new northwind contract":                            {"v2"},
		"summarize the old northwind contract":                            {"v1"},
		"summarize the latest version of the northwind services contract": {"v2"},
		"what changed in the northwind contract since v1?":                {"v1", "v2"},
		"compare the two northwind contracts":                             {"v1", "v2"},
		"summarize the travel policy":                                     {"travel"}, // the person's own
		"who requested CR-7?":                                             {"cr7"},
		"check the letter to contoso against the travel policy":           {"letter", "travel"},
		"check the following email against the travel policy: Dear Ann, I shall stay in hotels of EUR 240 a night.": {"travel"},
		"How quickly must Contoso report a breach?":                                                                 nil,
		"who signed off the extension of the northwind contract?":                                                   nil, // merely mentioned: no question which
	} {
		got := Resolve(llm.Facts{Message: message, Documents: versions})
		slices.Sort(got.ResolvedIDs)
		if !slices.Equal(got.ResolvedIDs, want) && len(got.ResolvedIDs)+len(want) > 0 || got.Confidence != chat.High || len(got.UnresolvedNames) > 0 {
			t.Errorf("%q: %+v, want %v", message, got, want)
		}
	}
}

func TestFollowUpKeepsTheDocument(t *testing.T) {
	recent := []llm.Message{{Role: llm.User, Text: "What does the travel policy say about hotels?"}, {Role: llm.Assistant, Text: "160."}}
	for _, message := range []string{"and weekends?", "what about meals?", "and why?", "again, but shorter"} {
		got := Resolve(llm.Facts{Message: message, Recent: recent, Documents: versions})
		if !slices.Equal(got.ResolvedIDs, []string{"travel"}) {
			t.Errorf("%q: %+v", message, got)
		}
	}
	got := Resolve(llm.Facts{Message: "When is the next meeting of the board?", Recent: recent, Documents: versions})
	if len(got.ResolvedIDs) > 0 {
		t.Errorf("a new question kept the old document: %+v", got)
	}
}

func TestUnknownCodeIsAnUnknownName(t *testing.T) {
	got := Resolve(llm.Facts{Message: "summarize CR-9", Documents: versions})
	if len(got.ResolvedIDs) > 0 || !slices.Equal(got.UnresolvedNames, []string{"CR-9"}) {
		t.Errorf("got %+v", got)
	}
}
