package mention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// resolve resolves a message as the agent does, for a conversation that used the documents
// with the ids in recent, the latest first.
func resolve(message string, docs []llm.Document, recent ...string) Resolution {
	q := Request{Text: message}
	for _, id := range recent {
		i := slices.IndexFunc(docs, func(d llm.Document) bool { return d.ID == id })
		q.Recent = append(q.Recent, docs[i])
	}
	return NewLibrary(docs).Resolve(q)
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
		got := resolve(c.message, registry)
		ids := got.IDs
		if c.confidence == chat.Medium {
			ids = got.Open
		}
		if strings.Join(ids, " ") != c.ids && !sameSet(ids, strings.Fields(c.ids)) || c.confidence == chat.High && len(got.Open) > 0 {
			t.Errorf("%q: %+v, want %v", c.message, got, c.ids)
		}
		if strings.Join(got.Unknown, "|") != c.unresolved {
			t.Errorf("%q: unknown %q, want %q", c.message, got.Unknown, c.unresolved)
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
	for _, c := range []struct {
		message string
		ids     []string
	}{
		{"What does it say about notice?", []string{"acme"}},
		{"Compare those two", []string{"c23", "acme"}},
		{"compare both documents", []string{"c23", "acme"}},
		{"summarize that document", []string{"acme"}},
		{"What about that circular?", []string{"c23"}},
		{"summarize the first one", []string{"c23"}},
		{"Summarize the latter", []string{"acme"}},
		{"Vergleiche beide", []string{"c23", "acme"}},
		{"summarize", []string{"acme"}},
		{"and weekends?", []string{"acme"}},
	} {
		got := resolve(c.message, registry, "acme", "c23")
		if !slices.Equal(got.IDs, c.ids) || !got.Back || len(got.Open) > 0 {
			t.Errorf("%q: %+v, want %v", c.message, got, c.ids)
		}
	}
}

func TestPronounWithoutEarlierMessagesResolvesNothing(t *testing.T) {
	if got := resolve("Summarize that document", registry); len(got.IDs) != 0 || !got.Lost {
		t.Errorf("got %+v", got)
	}
	if got := resolve("summarize it", registry[:1]); !slices.Equal(got.IDs, []string{"bn24"}) {
		t.Errorf("the only document there is was not taken: %+v", got)
	}
}

func TestTagDecidesAnAmbiguousName(t *testing.T) {
	got := NewLibrary(registry).Resolve(Request{Text: "summarize the remote work policy", Tagged: []string{"rw1"}})
	if len(got.Open)+len(got.Unknown) != 0 {
		t.Errorf("got %+v", got)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("Compare the Acme agreement with v2", "Acme v2")
	f.Add("“", "V")
	f.Add("v v1 1v .1. 'x", "1.2.3'")
	f.Fuzz(func(t *testing.T, message, title string) {
		docs := append([]llm.Document{{ID: "x", Title: title}}, registry...)
		got := NewLibrary(docs).Resolve(Request{Text: message, Recent: docs[:1], Now: time.Now()})
		for _, id := range append(got.IDs, got.Open...) {
			if !slices.ContainsFunc(docs, func(d llm.Document) bool { return d.ID == id }) {
				t.Errorf("%q resolved the unknown id %q", message, id)
			}
		}
	})
}

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
		"How quickly must Contoso report a breach?":                       nil,
		"who signed off the extension of the northwind contract?":         nil, // merely mentioned: no question which
	} {
		got := resolve(message, versions)
		slices.Sort(got.IDs)
		if !slices.Equal(got.IDs, want) && len(got.IDs)+len(want) > 0 || len(got.Open) > 0 || len(got.Unknown) > 0 {
			t.Errorf("%q: %+v, want %v", message, got, want)
		}
	}
}

func TestOlderVersionIsComparedWithTheNewer(t *testing.T) {
	docs := []llm.Document{{ID: "25", Title: "Remote Work and Data Policy 2025"}, {ID: "24", Title: "Remote Work and Data Policy 2024"},
		{ID: "10", Title: "Lease v10"}, {ID: "9", Title: "Lease v9"}}
	for message, want := range map[string][]string{
		"compare the two remote work policies": {"24", "25"}, "compare the leases": {"9", "10"}, "summarize the latest lease": {"10"},
		"compare the 2025 and the 2024 remote work policy": {"25", "24"}, // as the person says
	} {
		require.Equal(t, want, resolve(message, docs).IDs, message)
	}
}

func TestDocumentThatCouldNotBeReadIsNoCandidate(t *testing.T) {
	failed := string(chat.DocFailed)
	docs := []llm.Document{{ID: "scan", Title: "Lease Lindenstrasse", Status: failed}, {ID: "lease", Title: "Lease Lindenstrasse"}, {ID: "other", Title: "Lease Gartenweg"}, {ID: "bad", Title: "Travel Policy", Status: failed}}
	for message, want := range map[string]Resolution{
		`summarize "Lease Lindenstrasse"`: {IDs: []string{"lease"}, Exact: true},
		"summarize the lease":             {Open: []string{"lease", "other"}},
		"summarize the travel policy":     {IDs: []string{"bad"}}, // the only one: the answer says why not
	} {
		got := resolve(message, docs)
		require.Equal(t, want.IDs, got.IDs, message)
		require.Equal(t, want.Open, got.Open, message)
	}
	c := Candidates{Message: "compare the lease"}
	for _, d := range docs {
		c.Visible = append(c.Visible, chat.Document{ID: d.ID, Title: d.Title, Status: chat.DocStatus(d.Status)})
	}
	c.Instruction = c.Message
	c.Gather()
	require.ElementsMatch(t, []string{"lease", "other"}, c.Offer(nil))
	chosen := c.Choose([]string{"scan", "lease", "other"}, llm.DocResolution{Confidence: chat.Medium})
	require.ElementsMatch(t, []string{"lease", "other"}, append(chosen.Suggested, chosen.IDs...))
}

func TestFollowUpKeepsTheDocument(t *testing.T) {
	for _, message := range []string{"and weekends?", "what about meals?", "and why?", "again, but shorter"} {
		got := resolve(message, versions, "travel")
		if !slices.Equal(got.IDs, []string{"travel"}) {
			t.Errorf("%q: %+v", message, got)
		}
	}
	got := resolve("When is the next meeting of the board?", versions, "travel")
	if len(got.IDs) > 0 {
		t.Errorf("a new question kept the old document: %+v", got)
	}
}

func TestUnknownCodeIsAnUnknownName(t *testing.T) {
	got := resolve("summarize CR-9", versions)
	if len(got.IDs) > 0 || !slices.Equal(got.Unknown, []string{"CR-9"}) {
		t.Errorf("got %+v", got)
	}
}

func TestAnEmailIsFoundByItsSender(t *testing.T) {
	docs := []llm.Document{
		{ID: "sample", Title: "Email: Customer list", Public: true},
		{ID: "roof", Title: "martin roof", Names: []string{"martin roof.eml", "Offer for the roof", "Martin Keller <martin@example.com>"}},
		{ID: "text", Title: "Delivery", Names: []string{"Delivery.txt", "Olga Brandt <olga@example.com>"}},
	}
	for message, want := range map[string]string{
		"audit the email from Martin":                 "roof",
		"Summarize the mail from Olga Brandt":         "text",
		"What does the email from Olga Brandt say?":   "text",
		"check the email about the customer list":     "sample",
		"Summarize the email about the customer list": "sample",
		"check Martin's email":                        "roof",
		"Prüfe die E-Mail von Martin":                 "roof",
		"Fasse die Mail von Olga Brandt zusammen":     "text",
		"Vérifie l'e-mail de Martin":                  "roof",
		"Résume le courriel d'Olga Brandt":            "text",
		"Revisa el correo de Martin":                  "roof",
		"Controleer de mail van Martin":               "roof",
	} {
		got := NewLibrary(docs).Resolve(Request{Text: message})
		assert.Equal(t, []string{want}, got.IDs, message)
	}
}

func TestOneListOfADocumentIsNotAVerb(t *testing.T) {
	docs := []llm.Document{{ID: "lease", Title: "Lease Elm Street 12"}, {ID: "prices", Title: "Price list Harrow"}, {ID: "v4", Title: "Travel policy v4"}, {ID: "v3", Title: "Travel policy v3"}}
	for message, want := range map[string]string{
		"Summarize the Elm Street lease and list the deadlines": "lease",
		"Summarize the price list":                              "prices",
		"Summarize version 4 of the travel policy":              "v4",
		"Fasse die Reiserichtlinie zusammen, Travel policy v3":  "v3",
	} {
		got := NewLibrary(docs).Resolve(Request{Text: message})
		require.Equal(t, []string{want}, got.IDs, message)
	}
}
