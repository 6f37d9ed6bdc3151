package offline

import (
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/llm"
)

var travelRules = []llm.Passage{
	{N: 1, DocID: "t", Title: "Travel Policy", Text: "An employee may work abroad for no more than 20 days in a calendar year. Work abroad must be approved by the line manager. The cost of a hotel must not exceed EUR 160 per night. Claims must be submitted within 30 days of the trip. Meals are reimbursed up to EUR 45 per day."},
	{N: 2, DocID: "l", Title: "Leave Policy", Text: "Days that are carried over must be taken by 31 March. A request for leave must be made at least 14 days before the leave begins."},
}

func TestAuditComparesFiguresByUnit(t *testing.T) {
	got := audit(llm.Facts{
		Message:  "Dear Ann, I am going to work from Lisbon, 45 days abroad this year. The hotel nights are EUR 240 each. My carried over days I take on 15 May. Best, Tom",
		Passages: travelRules,
	})
	for _, want := range []string{
		"the text says 45 days, the rule allows at most 20 days", "the text says EUR 240, the rule allows at most EUR 160",
		"the text says 15 May, the rule sets 31 March as the last day",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for _, not := range []string{"No breach", "EUR 45", "at most 30 days"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in\n%s", not, got)
		}
	}
}

func TestAuditOfSomethingElseDoesNotReassure(t *testing.T) {
	got := audit(llm.Facts{
		Message:  "The energy of a photon is proportional to the frequency of the light that it belongs to, as Planck found in Berlin.",
		Passages: travelRules,
	})
	if strings.Contains(strings.ToLower(got), "no breach") || !strings.HasPrefix(got, "**I could not judge this.**") {
		t.Errorf("got\n%s", got)
	}
	if strings.Count(got, "\n- ") < 3 {
		t.Errorf("the rules that may matter are missing:\n%s", got)
	}
}

func TestAuditSaysHowMuchItCompared(t *testing.T) {
	got := audit(llm.Facts{
		Message:  "The cost of the hotel is EUR 120 per night. The weather in Lisbon is splendid in these weeks of spring.",
		Passages: travelRules,
	})
	if !strings.HasPrefix(got, "**No breach found in what could be compared**: 1 of 2 sentences") {
		t.Errorf("got\n%s", got)
	}
}

func TestAuditNeverReassuresWhereFiguresCouldNotBeCompared(t *testing.T) {
	rules := []llm.Passage{{N: 1, DocID: "t", Title: "Travel Policy", Text: "At most two guests may be invited to a business dinner. A hotel night may cost at most EUR 160, breakfast included."}}
	for text, want := range map[string]string{
		"I will invite five guests to the business dinner.":            "the text says five guests, the rule allows at most two guests",
		"I will invite the whole team as guests to a business dinner.": "I could not judge this",
		"The hotel night costs 1.2k EUR, breakfast included.":          "the text says 1.2k EUR, the rule allows at most EUR 160",
		"I will invite two guests to the business dinner.":             "No breach found in what could be compared",
	} {
		got := audit(llm.Facts{Message: text, Passages: rules})
		if !strings.Contains(got, want) || !strings.HasPrefix(want, "No breach") && strings.Contains(got, "No breach") {
			t.Errorf("%q: %q is missing in\n%s", text, want, got)
		}
	}
}

func TestTextUnderAuditMayReadLikeAQuestion(t *testing.T) {
	rules := []llm.Passage{{N: 1, DocID: "d", Title: "DPA", Text: "The processor must notify the controller of a personal data breach within 72 hours."}}
	got := audit(llm.Facts{Message: "we will tell you about a personal data breach within 5 days", Passages: rules})
	if !strings.Contains(got, "the text says 5 days, the rule allows at most 72 hours") {
		t.Errorf("got\n%s", got)
	}
}

func TestSentenceWithABoundIsARule(t *testing.T) {
	rules := []llm.Passage{{N: 1, DocID: "s", Title: "Sheet", Text: "Invoices of the cleaning service are payable within 30 days."}}
	got := audit(llm.Facts{Message: "We pay invoices of the cleaning service after 90 days.", Passages: rules})
	if !strings.Contains(got, "the text says 90 days, the rule allows at most 30 days") {
		t.Errorf("got\n%s", got)
	}
}
