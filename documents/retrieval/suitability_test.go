package retrieval_test

import (
	"testing"

	"github.com/palaver-chat/palaver/chat"
)

const leaveRules = `## Annual leave

Employees have 25 days of annual leave. A request for leave must be made at least 14 days before the leave begins.

## Sick leave

Employees who are ill inform their manager before nine on the first day. A certificate is needed from the fourth day.`

func TestConfidenceOfAnAuditFollowsFromTheRulesFound(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("leave", "Leave Policy", leaveRules)
	for text, want := range map[string]chat.Confidence{
		"The energy of a photon is proportional to the frequency of its light.":                                                                                                 chat.Low,
		"Überprüfe diesen Text: Ich habe am Montag Bargeld von einem Lieferanten angenommen.":                                                                                   chat.Medium,
		"Dear Ann,\n\nI am going on vacation next week and ask for ten days of annual leave that begin on Monday.\n\nBest, Tom":                                                 chat.High,
		"The weather was splendid in Lisbon. We saw the tower and ate grilled sardines. My annual leave request comes two days before it begins. The tram was full of singers.": chat.Medium,
	} {
		if s := b.choose(chat.Audit, text, "leave"); s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, text)
		}
	}
}

func TestConfidenceOfASummaryFollowsFromWhatWasRead(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("leave", "Leave Policy", leaveRules)
	b.add("physics", "Photons", "The energy of a photon is proportional to the frequency of its light, as Planck found. Electrons absorb quanta and jump between orbits.")
	b.add("long", "Handbook", long(200, "holidays"))
	for _, c := range []struct {
		action chat.Action
		query  string
		docs   []string
		want   chat.Confidence
	}{
		{chat.Summarize, "Summarize the leave policy", []string{"leave"}, chat.High},
		{chat.Summarize, "Please summarize the leave policy in three bullet points", []string{"leave"}, chat.High},
		{chat.Summarize, "Summarize what the leave policy says about penguins", []string{"leave"}, chat.Medium},
		{chat.Summarize, "Summarize the handbook", []string{"long"}, chat.Medium}, // a part of it
		{chat.Compare, "differences", []string{"remote-work-policy-2025.md", "remote-work-policy-2024.md"}, chat.High},
		{chat.Compare, "compare them", []string{"leave", "physics"}, chat.Medium},
	} {
		if s := b.choose(c.action, c.query, c.docs...); s.Confidence != c.want {
			t.Errorf("%s (%.2f), want %s: %s %q", s.Confidence, s.Score, c.want, c.action, c.query)
		}
	}
}

func TestOneRareWordIsNoAnswer(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("security", "Security Rules", "Laptops must be locked when nobody is there. Data are stored in encrypted form. Passwords have fourteen characters.")
	for question, want := range map[string]chat.Confidence{
		"How do volcanoes form?":             chat.Low,
		"Which characters appear in Hamlet?": chat.Low,
		"How are data stored?":               chat.High,
	} {
		if s := b.choose(chat.Inquire, question); s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, question)
		}
	}
}
