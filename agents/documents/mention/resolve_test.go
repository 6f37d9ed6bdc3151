package mention

import (
	"slices"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

var registry = []llm.Document{
	{ID: "bn24", Title: "BankNegara2024"},
	{ID: "rw1", Title: "Remote Work Policy v1"},
	{ID: "rw2", Title: "Remote Work Policy v2.md"},
	{ID: "gift", Title: "Gifts and Hospitality Policy"},
	{ID: "acme", Title: "Acme Services Agreement"},
	{ID: "c23", Title: "Circular 2023"},
	{ID: "c24", Title: "Circular 2024"},
	{ID: "data", Title: "data-retention_rules.pdf"},
}

func TestDocumentsOfRealMessages(t *testing.T) {
	for _, c := range []struct {
		message    string
		ids        string
		unresolved string
		confidence chat.Confidence
	}{
		{"What about BankNegara?", "bn24", "", chat.High},
		{"what does bank negara 2024 say about capital", "bn24", "", chat.High},
		{"Summarize banknegara2024", "bn24", "", chat.High},
		{"Compare Remote Work Policy v1 and Remote Work Policy v2", "rw1 rw2", "", chat.High},
		{"Compare remote work policy v1 and v2", "rw1 rw2", "", chat.High},
		{"Compare version 2 of the remote work policy with version 1", "rw1 rw2", "", chat.High},
		{"Summarize the remote work policy", "rw1 rw2", "", chat.Medium},
		{"Compare both remote work policies", "rw1 rw2", "", chat.High},
		{"Summarize remote work policy v2", "rw2", "", chat.High},
		{"What is the limit in the gifts policy?", "gift", "", chat.High},
		{"Who terminates the Acme agreement?", "acme", "", chat.High},
		{"compare circular 2024 with circular 2023", "c24 c23", "", chat.High},
		{"How long does data retention last under the rules?", "data", "", chat.High},
		{"What does the agreement say on liability?", "acme", "", chat.High},
		{"What about the XYZ guidelines?", "", "XYZ guidelines", chat.Low},
		{"Summarize the Bank Negara 2019 circular", "", "Bank Negara 2019 circular", chat.Low},
		{"Compare the Acme agreement with the Globex contract", "acme", "Globex contract", chat.High},
		{"Summarize the travel expense policy", "", "travel expense policy", chat.Low},
		{"Summarize notes-2021.pdf", "", "notes-2021.pdf", chat.Low},
		{`Summarize the document called "Basel Notes"`, "", "Basel Notes", chat.Low},
		{"What are the capital requirements?", "", "", chat.High},
		{"How many days of leave do I get?", "", "", chat.High},
		{"Is there a policy on overtime?", "", "", chat.High},
		{"Please explain our capital position", "", "", chat.High},
	} {
		got := Resolve(llm.Facts{Message: c.message, Documents: registry})
		if strings.Join(got.ResolvedIDs, " ") != c.ids && !sameSet(got.ResolvedIDs, strings.Fields(c.ids)) {
			t.Errorf("%q: resolved %v, want %v", c.message, got.ResolvedIDs, c.ids)
		}
		if strings.Join(got.UnresolvedNames, "|") != c.unresolved {
			t.Errorf("%q: unresolved %q, want %q", c.message, got.UnresolvedNames, c.unresolved)
		}
		if got.Confidence != c.confidence {
			t.Errorf("%q: %s (%s), want %s", c.message, got.Confidence, got.Reasoning, c.confidence)
		}
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestPronounsMeanTheLastDocumentMentioned(t *testing.T) {
	recent := []llm.Message{
		{Role: llm.User, Text: "Summarize Circular 2023"},
		{Role: llm.Assistant, Text: "It sets limits."},
		{Role: llm.User, Text: "And the Acme Services Agreement?"},
		{Role: llm.Assistant, Text: "It covers liability."},
	}
	for _, c := range []struct {
		message string
		ids     []string
	}{
		{"What does it say about notice?", []string{"acme"}},
		{"Compare those two", []string{"c23", "acme"}},
		{"compare both documents", []string{"c23", "acme"}},
		{"summarize that document", []string{"acme"}},
		{"What about that circular?", []string{"c23"}},
	} {
		got := Resolve(llm.Facts{Message: c.message, Recent: recent, Documents: registry})
		if !slices.Equal(got.ResolvedIDs, c.ids) || !got.ImplicitRefs || got.Confidence != chat.High {
			t.Errorf("%q: %+v, want %v", c.message, got, c.ids)
		}
	}
}

func TestPronounWithoutEarlierMessagesResolvesNothing(t *testing.T) {
	got := Resolve(llm.Facts{Message: "Summarize that document", Documents: registry})
	if len(got.ResolvedIDs) != 0 || got.Confidence != chat.Low || !got.ImplicitRefs {
		t.Errorf("got %+v", got)
	}
	got = Resolve(llm.Facts{Message: "summarize it", Documents: registry[:1]})
	if !slices.Equal(got.ResolvedIDs, []string{"bn24"}) {
		t.Errorf("the only document there is was not taken: %+v", got)
	}
}

func TestTagDecidesAnAmbiguousName(t *testing.T) {
	got := Resolve(llm.Facts{Message: "summarize the remote work policy", Documents: registry, Explicit: []string{"rw1"}})
	if got.Confidence != chat.High || len(got.UnresolvedNames) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestNamesInPastedTextAreIgnored(t *testing.T) {
	got := Resolve(llm.Facts{
		Message:   "Check this email against the gifts policy:\n\nDear Sir, under the Smith Contract we owe you dinner.",
		Documents: registry, Action: chat.Audit,
	})
	if !slices.Equal(got.ResolvedIDs, []string{"gift"}) || len(got.UnresolvedNames) != 0 || got.Confidence != chat.High {
		t.Errorf("got %+v", got)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("Compare the Acme agreement with v2", "Acme v2")
	f.Add("“", "V")
	f.Add("v v1 1v .1. 'x", "1.2.3'")
	f.Fuzz(func(t *testing.T, message, title string) {
		docs := append([]llm.Document{{ID: "x", Title: title}}, registry...)
		facts := llm.Facts{Message: message, Documents: docs, Recent: []llm.Message{{Role: llm.User, Text: title}}}
		got := Resolve(facts)
		for _, id := range got.ResolvedIDs {
			if !slices.ContainsFunc(docs, func(d llm.Document) bool { return d.ID == id }) {
				t.Errorf("%q resolved the unknown id %q", message, id)
			}
		}
	})
}
