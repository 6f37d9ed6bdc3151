package documents

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// What a turn asks first, by the rules of the documents agent (rules.go).
const (
	asksNothing   = ""
	asksAction    = "which action"
	asksWhichDoc  = "which document"
	asksUnknown   = "unknown name"
	asksMissing   = "what is missing"
	asksRetrieval = "nothing relevant"
)

// outcome is the expected result for a message.
type outcome struct {
	action chat.Action
	docs   []string // short names, in order of mention
	asks   string
	offers []string // candidates of asksWhichDoc
}

// library has the titles by short name: the samples, uploads with realistic titles, and
// documents of another user, which must never be found.
var library = map[string]string{
	"circular": circular, "2024": work2024, "2025": work2025, "contract": contract,
	"email":    "Email: Customer list for the spring campaign",
	"q3":       "Q3_report_final_v2.pdf",
	"minutes":  "board_minutes_2025-03-12.md",
	"privacy":  "Datenschutzrichtlinie 2024.pdf",
	"leave":    "Urlaubsregelung_Stand_2025-01-15.pdf",
	"lease":    "Mietvertrag Lindenstraße 12.pdf",
	"nda":      "NDA_Acme_Corp_signed.pdf",
	"handbook": "Employee Handbook.docx",
	"protocol": "2024-11-05 Sitzungsprotokoll Vorstand.pdf",
}

var uploads = map[string]string{
	"q3":       "Quarterly report. Revenue grew by four per cent in the third quarter. Costs fell.",
	"minutes":  "Minutes of the board. The board approved the budget on 12 March 2025. The chair thanked the auditors.",
	"privacy":  "Datenschutz. Personenbezogene Daten dürfen nur verschlüsselt gespeichert werden. Die Aufbewahrung endet nach zehn Jahren.",
	"leave":    "Urlaub. Jeder Mitarbeiter erhält dreißig Tage Urlaub im Jahr. Der Antrag ist vier Wochen vorher zu stellen.",
	"lease":    "Mietvertrag. Die Miete beträgt 1200 Euro. Notice: the lease ends three months after written notice.",
	"nda":      "Confidentiality. Acme Corp must keep all confidential information secret for five years. Disclosure needs written consent.",
	"handbook": "Employees must report sick leave before nine in the morning. Sick leave of three days needs a certificate.",
	"protocol": "Protokoll der Sitzung. Der Vorstand beschließt den Haushalt.",
}

func TestDocumentsOfRealisticMessages(t *testing.T) {
	const (
		sum, cmp, ask, aud = chat.Summarize, chat.Compare, chat.Inquire, chat.Audit
	)
	b, _ := withSamples(t)
	for name, text := range uploads {
		b.Doc(library[name], text)
	}
	b.DocOf("somebody-else", "Zephyr Merger Agreement", "The merger of Zephyr is confidential.")
	b.DocOf("somebody-else", "XYZ Guidelines", "Guidelines of XYZ.")
	b.DocOf("somebody-else", "Remote Work Policy 2026", "Remote work in 2026.")
	ids, names := map[string]string{}, map[string]string{}
	visible, err := b.Store.VisibleDocuments(context.Background(), owner)
	require.NoError(t, err)
	for name, title := range library {
		i := slices.IndexFunc(visible, func(d chat.Document) bool { return d.Title == title })
		require.GreaterOrEqual(t, i, 0, title)
		ids[name], names[visible[i].ID] = visible[i].ID, name
	}

	// before is an earlier turn: a message and, after "=>", the documents it was about.
	const (
		saw2025     = "Summarize the Remote Work and Customer Data Policy 2025 => 2025"
		sawContract = "Summarize the supplier contract => contract"
		sawCircular = "Summarize Circular 2025/04 => circular"
		sawEmail    = "Summarize the email => email"
		sawBoth     = "Compare both policies => 2024 2025"
	)
	cases := []struct {
		before  []string
		message string
		action  chat.Action
		docs    string // in order of mention; "~" before them: in any order
		asks    string
		offers  string
	}{
		// Two documents of a kind.
		{nil, "Compare Remote Work and Customer Data Policy 2025 with the 2024 policy", cmp, "2025 2024", "", ""},
		{nil, "Compare the remote work policy 2025 with the 2024 policy", cmp, "2025 2024", "", ""},
		{nil, "compare the 2025 remote work policy with the 2024 one", cmp, "2025 2024", "", ""},
		{nil, "Compare remote work policy 2024 and 2025", cmp, "~2024 2025", "", ""},
		{nil, "What are the differences between the two policies?", cmp, "~2024 2025", "", ""},
		{nil, "Compare both policies", cmp, "~2024 2025", "", ""},
		{nil, "compare the policies", cmp, "~2024 2025", "", ""},
		{nil, "compare our remote work policies", cmp, "~2024 2025", "", ""},
		{nil, "What do both policies say about encryption?", ask, "~2024 2025", "", ""},
		{nil, "What do the policies say about printing?", ask, "~2024 2025", "", ""},
		{nil, "Which of the two policies is stricter on customer data?", ask, "~2024 2025", "", ""},
		{nil, "Summarize both policies", sum, "~2024 2025", "", ""},
		{nil, "what changed between 2024 and 2025 in the remote work policy?", cmp, "~2024 2025", "", ""},
		{nil, "How has the remote work policy changed from 2024 to 2025?", cmp, "~2024 2025", "", ""},
		{nil, "What does the newest remote work policy say about customer data?", ask, "2025", "", ""},
		{nil, "compare the old remote work policy with the new one", cmp, "~2024 2025", "", ""},
		{nil, "Summarize the remote work policy", sum, "", asksWhichDoc, "2024 2025"},
		{nil, "summarise the policy", sum, "", asksWhichDoc, "2024 2025"},

		{nil, "How do 2024 and 2025 remote work policies differ?", cmp, "~2024 2025", "", ""},
		{nil, "policy 2024 vs policy 2025", cmp, "2024 2025", "", ""},
		{nil, "what's the difference between remote work 2024 and 2025", cmp, "~2024 2025", "", ""},
		{nil, "Compare the 2 policies", cmp, "~2024 2025", "", ""},

		// One document, by part of its name, its kind or its year.
		{nil, "What does the 2024 policy say about working from home?", ask, "2024", "", ""},
		{nil, "Give me an overview of the customer data policy 2024", sum, "2024", "", ""},
		{nil, "summarise the contract", sum, "contract", "", ""},
		{nil, "Summarize the Brightwater contract", sum, "contract", "", ""},
		{nil, "Summarize the agreement with Brightwater", sum, "contract", "", ""},
		{nil, "What does the contract say about liability?", ask, "contract", "", ""},
		{nil, "Summarize the email", sum, "email", "", ""},
		{nil, "what's in the circular?", sum, "circular", "", ""},
		{nil, "What does circular 2025/04 require for outsourcing?", ask, "circular", "", ""},
		{nil, "compare the circular and the contract", cmp, "circular contract", "", ""},

		// Misspelt.
		{nil, "Compare remote wrk policy 2025 and remote work policy 2024", cmp, "2025 2024", "", ""},
		{nil, "Summarise the remote wrk policy 2025", sum, "2025", "", ""},
		{nil, "summarize the suplier contract", sum, "contract", "", ""},
		{nil, "what does the emploee handbook say about sick leave?", ask, "handbook", "", ""},
		{nil, "Summarize the Employee Handbok", sum, "handbook", "", ""},

		// Audits: the first is audited.
		{nil, "audit the email about the customer list against the remote work policy 2025", aud, "email 2025", "", ""},
		{nil, "Check the customer list email against the 2025 policy", aud, "email 2025", "", ""},
		{nil, "Does the email comply with the remote work policy 2025?", aud, "email 2025", "", ""},
		{nil, "Check the email against both policies", aud, "email ~2024 2025", "", ""},
		{nil, "Audit the supplier contract against the circular", aud, "contract circular", "", ""},
		{nil, "audit the NDA against the circular", aud, "nda circular", "", ""},
		{nil, "Check the email against the remote work policy", aud, "email", asksWhichDoc, "2024 2025"},
		{nil, "Audit against the circular", aud, "circular", asksMissing, ""},

		{nil, "Is the supplier contract compliant with circular 2025/04?", aud, "contract circular", "", ""},
		{nil, "Check this against the 2025 policy: I have sent the customer list to my private address without encryption.", aud, "2025", "", ""},
		{nil, "does the email break any rules of the customer data policy 2025", aud, "email 2025", "", ""},

		// Uploads.
		{nil, "Summarize Q3_report_final_v2.pdf", sum, "q3", "", ""},
		{nil, "summarize the Q3 report", sum, "q3", "", ""},
		{nil, "What does the q3 report final say about revenue?", ask, "q3", "", ""},
		{nil, "summarize the board minutes", sum, "minutes", "", ""},
		{nil, "compare the board minutes of 12 March 2025 with the Q3 report", cmp, "minutes q3", "", ""},
		{nil, "Summarize the Datenschutzrichtlinie", sum, "privacy", "", ""},
		{nil, "Was steht in der Datenschutzrichtlinie 2024 zur Aufbewahrung?", ask, "privacy", "", ""},
		{nil, "What does the Mietvertrag say about notice?", ask, "lease", "", ""},
		{nil, "Summarize mietvertrag lindenstrasse 12", sum, "lease", "", ""},
		{nil, "Summarise the NDA with Acme", sum, "nda", "", ""},
		{nil, "compare Urlaubsregelung_Stand_2025-01-15.pdf with Datenschutzrichtlinie 2024", cmp, "leave privacy", "", ""},
		{nil, "summarize the Sitzungsprotokoll of 2024-11-05", sum, "protocol", "", ""},

		{nil, "Summarize board_minutes_2025-03-12", sum, "minutes", "", ""},
		{nil, "who chaired according to the board minutes", ask, "minutes", "", ""},
		{nil, "What does the employee handbook say about sick leave?", ask, "handbook", "", ""},
		{nil, "Summarize urlaubsregelung", sum, "leave", "", ""},
		{nil, "What does the NDA say about disclosure?", ask, "nda", "", ""},
		{nil, "summarise the lease", sum, "lease", "", ""},

		// No document is named: questions search all documents, other actions ask.
		{nil, "What is the minimum total capital ratio?", ask, "", "", ""},
		{nil, "how many days per week can I work from home?", ask, "", "", ""},
		{nil, "Is it allowed to send customer data to a private email address?", ask, "", "", ""},
		{nil, "What are the rules on encryption?", ask, "", "", ""},
		{nil, "Who approves outsourcing of material functions?", ask, "", "", ""},
		{nil, "When must sick leave be reported?", ask, "", "", ""},
		{nil, "What happened to customer data in the two weeks after a breach?", ask, "", "", ""},
		{nil, "Do any documents mention liquidity coverage?", ask, "", "", ""},
		{nil, "What does it say about encryption?", ask, "", "", ""},
		{nil, "Can I use customer data during remote work?", ask, "", "", ""},
		{nil, "Does remote work need approval by the manager?", ask, "", "", ""},
		{nil, "What should be in the report to the board about liquidity?", ask, "", "", ""},
		{nil, "How long is the notice period for the supplier?", ask, "", "", ""},
		{nil, "Is it necessary to encrypt customer data before it is sent?", ask, "", "", ""},
		{nil, "Who do I contact when customer data is lost?", ask, "", "", ""},
		{nil, "Is there a policy on printing customer data?", ask, "", "", ""},
		{nil, "Which documents mention a monthly fee?", ask, "", "", ""},
		{nil, "summarize", sum, "", asksMissing, ""},
		{nil, "Summarize it", sum, "", asksMissing, ""},
		{nil, "compare", cmp, "", asksMissing, ""},
		{nil, "Compare the supplier contract", cmp, "contract", asksMissing, ""},

		// Names of documents that do not exist or are not visible.
		{nil, "Summarize the XYZ guidelines", sum, "", asksUnknown, ""},
		{nil, "What do the XYZ guidelines say?", ask, "", "", ""},
		{nil, "Summarize notes-2021.pdf", sum, "", asksUnknown, ""},
		{nil, "Summarize the Zephyr Merger Agreement", sum, "", asksUnknown, ""},
		{nil, "Summarize the travel expense policy", sum, "", asksUnknown, ""},
		{nil, "Compare the supplier contract with the Globex agreement", cmp, "contract", asksUnknown, ""},
		{nil, "Summarize the remote work policy 2026", sum, "", asksUnknown, ""},

		// After a turn.
		{[]string{saw2025}, "What does it say about encryption?", ask, "2025", "", ""},
		{[]string{saw2025}, "what about the contract?", sum, "contract", "", ""},
		{[]string{saw2025}, "Is it allowed to send customer data to a private address?", ask, "", "", ""},
		{[]string{saw2025}, "Compare it with Circular 2025/04", cmp, "2025 circular", "", ""},
		{[]string{sawCircular, sawContract}, "Compare it with Circular 2025/04", cmp, "contract circular", "", ""},
		{[]string{saw2025}, "and the other one?", sum, "2024", "", ""},
		{[]string{saw2025}, "and the 2024 one?", sum, "2024", "", ""},
		{[]string{saw2025}, "Compare it with the 2024 version", cmp, "2025 2024", "", ""},
		{[]string{saw2025}, "What does the contract say about that?", ask, "contract", "", ""},
		{[]string{saw2025}, "compare it with the other one", cmp, "2025 2024", "", ""},
		{[]string{sawCircular, sawContract}, "compare those two", cmp, "circular contract", "", ""},
		{[]string{sawCircular, sawContract}, "and the other one?", sum, "circular", "", ""},
		{[]string{sawContract}, "compare it with the circular", cmp, "contract circular", "", ""},
		{[]string{sawContract}, "Audit it against the circular", aud, "contract circular", "", ""},
		{[]string{sawContract}, "What does that contract say about notice?", ask, "contract", "", ""},
		{[]string{sawContract}, "What is the minimum total capital ratio?", ask, "", "", ""},
		{[]string{sawEmail}, "does it violate the remote work policy 2025?", aud, "email 2025", "", ""},
		{[]string{sawBoth}, "which one is stricter on encryption?", ask, "~2024 2025", "", ""},
		{[]string{sawBoth}, "What do they say about customer data?", ask, "~2024 2025", "", ""},
		{[]string{sawBoth}, "summarize the first one", sum, "2024", "", ""},
		{[]string{sawBoth}, "Summarize the latter", sum, "2025", "", ""},
	}
	score := 0
	for _, c := range cases {
		ok := t.Run(strings.Join(append(slices.Clone(c.before), c.message), "; "), func(t *testing.T) {
			b.T, b.Thread = t, uuid.NewString()
			for _, before := range c.before {
				message, about, _ := strings.Cut(before, " => ")
				var docs []string
				answer := "It says much."
				for _, name := range strings.Fields(about) {
					docs = append(docs, ids[name])
					answer += " **" + library[name] + "** too."
				}
				b.Exchange(message, answer, docs...)
			}
			got := b.lead(c.message, names)
			require.Equal(t, c.asks, got.asks, "asks; got %+v", got)
			require.Equal(t, c.action, got.action, "action")
			require.Equal(t, ordered(c.docs), asListed(c.docs, got.docs), "documents")
			require.ElementsMatch(t, strings.Fields(c.offers), got.offers, "offers")
		})
		if ok {
			score++
		}
	}
	t.Logf("%d of %d messages are understood", score, len(cases))
}

// ordered parses a list of short names; those after "~" may be in any order.
func ordered(list string) []string {
	first, rest, _ := strings.Cut(list, "~")
	any := strings.Fields(rest)
	slices.Sort(any)
	return append(strings.Fields(first), any...)
}

// asListed sorts those of got whose order list leaves open.
func asListed(list string, got []string) []string {
	first, _, _ := strings.Cut(list, "~")
	out := append([]string{}, got...)
	if n := len(strings.Fields(first)); strings.Contains(list, "~") && n <= len(out) {
		slices.Sort(out[n:])
	}
	return out
}

// lead runs a message through the activities of the documents agent, up to the first
// question to the person.
func (b *bundle) lead(message string, names map[string]string) outcome {
	b.T.Helper()
	named := func(ids []string) []string {
		var out []string
		for _, id := range ids {
			require.Contains(b.T, names, id, "a document that the person cannot see")
			out = append(out, names[id])
		}
		return out
	}
	ref := b.Say(message)
	in, docs := together(b.understand(ref), b.resolve(ref, ""))
	if docs.Called && missing(in.Action, docs) != "" && docs.Confidence != chat.Medium && !docs.Unresolved {
		docs = b.resolve(ref, in.Action)
	}
	out := outcome{action: in.Action, docs: named(docs.IDs)}
	switch {
	case in.asksAction():
		out.asks = asksAction
	case docs.asksDoc(in.Action):
		out.asks, out.offers = asksWhichDoc, named(docs.Suggested)
	case docs.Unresolved && in.Action != chat.Inquire:
		out.asks = asksUnknown
	case missing(in.Action, docs) != "":
		out.asks = asksMissing
	default:
		subject, targets := auditSubject(in.Action, docs)
		if found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: in.Action, DocIDs: targets, Hint: !docs.Sure, Subject: subject}); found.Confidence == chat.Low && !found.Quiet {
			out.asks = asksRetrieval
		}
	}
	return out
}
