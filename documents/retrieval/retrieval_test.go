package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/samples"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

const owner = "user-1"

// bundle is a real store with documents in it.
type bundle struct {
	t     *testing.T
	store *sqlite.Store
	*retrieval.Searcher
}

func setup(t *testing.T) *bundle {
	t.Helper()
	store := litetest.Store(t)
	return &bundle{t, store, retrieval.New(store, nil)}
}

// create makes a document that is still processing.
func (b *bundle) create(id, title string) {
	b.t.Helper()
	err := b.store.CreateDocument(b.t.Context(), chat.Document{
		ID: id, Owner: owner, Title: title, Status: chat.DocProcessing, Format: "md"}, []byte("raw"))
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) add(id, title, text string, vectors ...[]float32) {
	b.t.Helper()
	b.create(id, title)
	if err := b.store.StoreText(b.t.Context(), owner, id, text, chunk.ForDocument(id, text), vectors); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) samples() {
	b.t.Helper()
	for _, s := range samples.List() {
		raw, err := fs.ReadFile(samples.FS, s.Name)
		if err != nil {
			b.t.Fatal(err)
		}
		b.add(s.Name, s.Title, string(raw))
	}
}

func (b *bundle) choose(action chat.Action, query string, ids ...string) retrieval.Selection {
	b.t.Helper()
	s, err := b.Select(b.t.Context(), owner, action, query, ids)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func ids(hits []chat.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.ID
	}
	return out
}

// long returns a text of n sections of about 1,000 characters each.
func long(n int, topic string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## %d. Section about %s\n\n%s\n\n", i+1, topic,
			strings.Repeat(fmt.Sprintf("Rule %d of %s applies to everybody who works here. ", i+1, topic), 18))
	}
	return b.String()
}

// HighScore and MediumScore were chosen so that these labelled questions get the confidence
// that they should have.
func TestConfidenceOfLabelledQuestions(t *testing.T) {
	b := setup(t)
	b.samples()
	for question, want := range map[string]chat.Confidence{
		"What is the capital conservation buffer?":                                    chat.High,
		"How many days per week may employees work remotely?":                         chat.High,
		"When must the liquidity coverage ratio be reported?":                         chat.High,
		"Within how many hours must the supplier report security incidents?":          chat.High,
		"What is the monthly fee of the supplier?":                                    chat.High,
		"How long must records be kept?":                                              chat.High,
		"May customer data be sent to a private electronic mail address?":             chat.High,
		"What is the notice period for terminating the agreement?":                    chat.High,
		"When may an institution pay dividends?":                                      chat.High,
		"What does the circular say about the liquidity coverage ratio?":              chat.High, // the README's first question
		"What is the minimum common equity tier 1 ratio?":                             chat.High,
		"What is the leverage ratio limit for subsidiaries?":                          chat.Medium,
		"Who approves printing of documents with customer names at home on weekends?": chat.Medium,
		"What is the capital of France?":                                              chat.Low,
		"How do I bake sourdough bread?":                                              chat.Low,
		"Explain quantum entanglement":                                                chat.Low,
		"What colour is the office cat?":                                              chat.Low,
		"Who won the football championship in 1998?":                                  chat.Low,
		"What is the parental leave allowance for adopted children?":                  chat.Low,
		"":               chat.Low,
		"And what else?": chat.Low,
	} {
		s := b.choose(chat.Inquire, question)
		if s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, question)
		}
		if s.Score < 0 || s.Score > 1 {
			t.Errorf("score %v: %q", s.Score, question)
		}
	}
}

// The samples have words of these questions but answer none of them.
func TestSharedWordsAreNotEnoughForHighConfidence(t *testing.T) {
	b := setup(t)
	b.samples()
	big := setup(t)
	big.samples()
	big.add("handbook", "Handbook", long(400, "holidays"))
	for _, c := range []struct {
		question string
		want     chat.Confidence // among the samples
	}{
		{"What is the capital of France?", chat.Low},
		{"When was the bank founded?", chat.Low},
		{"What is the minimum salary of employees?", chat.Low},
		{"What is the capital requirement for banks in France?", chat.Medium},
		{"How many days per week may employees work on the moon?", chat.Medium},
		// The samples have all of these words, in sentences about different things.
		{"What is the telephone number of the supplier?", chat.Medium},
		{"How many days of annual leave do employees get?", chat.Medium},
		{"What does the supplier pay its employees?", chat.Medium},
		{"What is the stress level of the management board?", chat.Medium},
		{"What is the period of notice for employees?", chat.Medium},
		{"What is the fee for a customer account?", chat.Medium},
		{"What is the first day of July?", chat.Medium},
	} {
		if s := b.choose(chat.Inquire, c.question); s.Confidence != c.want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, c.want, c.question)
		}
		if s := big.choose(chat.Inquire, c.question); s.Confidence == chat.High {
			t.Errorf("high (%.2f) among many passages: %q", s.Score, c.question)
		}
	}
}

// Words that are on every page of a library say nothing about a question.
func TestCommonWordsAreNotEnoughForHighConfidence(t *testing.T) {
	b := setup(t)
	b.samples()
	one := setup(t)
	one.add("note", "Note", "The bank counts its customers. Forty employees work at the bank.")
	for question, want := range map[string]chat.Confidence{
		"How many customers does the bank have?": chat.Medium,
		"How many employees work at the bank?":   chat.Medium,
		"Where must customer data be stored?":    chat.High, // "stored" is rarer
	} {
		if s := b.choose(chat.Inquire, question); s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, question)
		}
	}
	if s := one.choose(chat.Inquire, "How many employees work at the bank?"); s.Confidence != chat.High {
		t.Errorf("%s (%.2f): in a library of one passage no word is common", s.Confidence, s.Score)
	}
}

func TestNothingRelevantGivesFewOrNoPassages(t *testing.T) {
	b := setup(t)
	b.samples()
	if s := b.choose(chat.Inquire, "Explain quantum entanglement"); len(s.Hits) != 0 {
		t.Errorf("%d hits", len(s.Hits))
	}
	if s := b.choose(chat.Inquire, "What is the capital of France?"); len(s.Hits) > 4 {
		t.Errorf("%d hits", len(s.Hits))
	}
}

func TestSearchPutsTheBestPassageFirst(t *testing.T) {
	b := setup(t)
	b.samples()
	for query, want := range map[string]string{
		"countercyclical buffer announced increase":                     "The Board sets a countercyclical buffer",
		"interest on late payment of invoices":                          "Interest on late payment",
		"encrypting customer data for artificial intelligence services": "artificial intelligence services",
		"exit plans": "an institution shall maintain an exit plan",
	} {
		hits, err := b.Search(t.Context(), owner, query, nil, 3)
		if err != nil || len(hits) == 0 || len(hits) > 3 {
			t.Fatalf("%q: %d hits, %v", query, len(hits), err)
		}
		if !strings.Contains(hits[0].Text, want) || hits[0].Score <= 0 || hits[0].Title == "" {
			t.Errorf("%q found %q (%v)", query, hits[0].Text, hits[0].Score)
		}
	}
}

func TestSearchOfStopWordsOnlyStillSearches(t *testing.T) {
	b := setup(t)
	b.add("d", "Notes", "To be or not to be, that is the question.")
	hits, err := b.Search(t.Context(), owner, "to be or not", nil, 5)
	if err != nil || len(hits) != 1 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
}

func TestSearchByALongTextUsesItsRarestWords(t *testing.T) {
	b := setup(t)
	b.samples()
	var query strings.Builder
	for i := range 300 {
		fmt.Fprintf(&query, "filler%d ", i%150)
	}
	query.WriteString("in this position the countercyclical buffer")
	hits, err := b.Search(t.Context(), owner, query.String(), nil, 1)
	if err != nil || len(hits) != 1 || !strings.Contains(hits[0].Text, "countercyclical") {
		t.Errorf("%v, %v", ids(hits), err)
	}
}

func TestShortDocumentsAreSelectedWholeAndInOrder(t *testing.T) {
	b := setup(t)
	b.samples()
	for _, action := range []chat.Action{chat.Summarize, chat.Compare, chat.Audit} {
		s := b.choose(action, "Employees may work remotely for three days per week.", "remote-work-policy-2025.md", "remote-work-policy-2024.md")
		want := []string{}
		for _, id := range []string{"remote-work-policy-2025.md", "remote-work-policy-2024.md"} {
			all, err := b.store.DocumentChunks(t.Context(), owner, id, 100)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, ids(all)...)
		}
		if !slices.Equal(ids(s.Hits), want) || s.Confidence != chat.High || s.Score != 1 {
			t.Errorf("%s: %v (%s), want %v", action, ids(s.Hits), s.Confidence, want)
		}
	}
}

func TestInquiryPutsTheBestPassageOfNamedDocumentsFirst(t *testing.T) {
	b := setup(t)
	b.samples()
	s := b.choose(chat.Inquire, "Who may print documents with customer data?", "remote-work-policy-2025.md", "supplier-contract.txt")
	if len(s.Hits) == 0 || !strings.Contains(s.Hits[0].Text, "shall not be printed outside the bank") {
		t.Fatalf("first of %d: %v", len(s.Hits), s.Hits)
	}
	for _, h := range s.Hits {
		if h.DocID != "remote-work-policy-2025.md" && h.DocID != "supplier-contract.txt" {
			t.Errorf("%s was not named", h.DocID)
		}
	}
}

// A vague question about a document is answered from the whole document. A question about
// something that is not in the document has low confidence, even if it names the document.
func TestInquiryIntoAWholeDocumentIsSeldomOfLowConfidence(t *testing.T) {
	b := setup(t)
	b.samples()
	const email, policy, contract = "email-customer-list.txt", "remote-work-policy-2025.md", "supplier-contract.txt"
	for _, c := range []struct {
		question, doc string
		want          chat.Confidence
	}{
		{"Any red flags?", email, chat.Medium},
		{"Any red flags in the email?", email, chat.Medium},
		{"What are the risks?", email, chat.Medium},
		{"What does it say?", email, chat.Medium},
		{"", email, chat.Medium},
		{"Anything unusual in the agreement?", contract, chat.Medium},
		{"What should I worry about in the supplier contract?", contract, chat.Medium},
		{"Is the spreadsheet protected by a password?", email, chat.Medium},
		{"What does the supplier contract say about penguins?", contract, chat.Low},
		{"What does the agreement say about maternity leave?", contract, chat.Low},
		{"Which wine goes with fish?", policy, chat.Low},
		{"How do I bake sourdough bread?", email, chat.Low},
		{"Explain quantum entanglement", contract, chat.Low},
		{"What does the remote work policy 2025 say about dividends?", policy, chat.Low},
		{"What is the monthly fee?", contract, chat.High},
		{"How many days per week may employees work remotely?", policy, chat.High},
	} {
		s := b.choose(chat.Inquire, c.question, c.doc)
		if s.Confidence != c.want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, c.want, c.question)
		}
		if len(s.Hits) == 0 {
			t.Errorf("no passage: %q", c.question)
		}
	}
}

func TestEveryDocumentOfACompareIsRepresented(t *testing.T) {
	b := setup(t)
	b.add("a", "Handbook A", long(80, "holidays"))
	b.add("b", "Handbook B", long(80, "pensions"))
	b.add("c", "Handbook C", "## Notes\n\nShort notes on holidays.")
	for _, action := range []chat.Action{chat.Compare, chat.Audit, chat.Summarize} {
		s := b.choose(action, "holidays holidays holidays", "a", "b", "c")
		count, chars := map[string]int{}, 0
		for _, h := range s.Hits {
			count[h.DocID]++
			chars += utf8.RuneCountInString(h.Text)
		}
		if count["a"] < 8 || count["b"] < 8 || count["c"] != 1 {
			t.Errorf("%s: %v", action, count)
		}
		if len(s.Hits) > 40 || chars > 48_000 {
			t.Errorf("%s: %d passages, %d characters", action, len(s.Hits), chars)
		}
	}
}

func TestLargeSetIsSearchedWholeAndLeavesNothingOutSilently(t *testing.T) {
	b := setup(t)
	var ids []string
	for i := range 45 {
		id := fmt.Sprintf("d%02d", i)
		text := "## Notes\n\nNotes on holidays."
		if i == 44 {
			text = "## Notes\n\nThe parrot sleeps in the attic."
		}
		b.add(id, "Notes "+id, text)
		ids = append(ids, id)
	}
	s := b.choose(chat.Inquire, "Where does the parrot sleep?", ids...)
	if len(s.Hits) == 0 || s.Hits[0].DocID != "d44" || s.Partly {
		t.Errorf("inquiry: %+v", s)
	}
	s = b.choose(chat.Summarize, "Summarize them", ids...)
	count := map[string]int{}
	for _, h := range s.Hits {
		count[h.DocID]++
	}
	if len(count) != 45 || s.Partly {
		t.Errorf("summary: %d documents, partly %v", len(count), s.Partly)
	}
}

func TestTooLargeSetUsesTheDocumentsThatAreAboutTheText(t *testing.T) {
	const maxDocs = 80
	b := setup(t)
	var ids []string
	for i := range maxDocs + 5 {
		id := fmt.Sprintf("d%03d", i)
		text := "## Notes\n\nNotes on holidays."
		if i == maxDocs+4 {
			text = "## Gifts\n\nNo employee may accept a gift of more than EUR 50 from a supplier."
		}
		b.add(id, "Notes "+id, text)
		ids = append(ids, id)
	}
	for _, action := range []chat.Action{chat.Audit, chat.Summarize} {
		s := b.choose(action, "I accept a gift of EUR 200 from a supplier.", ids...)
		read := map[string]bool{}
		for _, h := range s.Hits {
			read[h.DocID] = true
		}
		if len(read) != maxDocs || !s.Partly || !read[ids[len(ids)-1]] || !read[ids[0]] {
			t.Errorf("%s: %d documents, partly %v", action, len(read), s.Partly)
		}
	}
}

func TestMisspeltWordsOfAQuestionAreCorrected(t *testing.T) {
	b := setup(t)
	b.add("a", "Passwords", "A password must have at least 14 characters. Casts are no castles.")
	for query, want := range map[string]string{
		"how many charcters must a password have": "how many characters must a password have",
		"how many characters has a password":      "how many characters has a password",
		"which volcano has a password":            "which volcano has a password",
		"charcters":                               "charcters", // nothing else finds a passage
	} {
		got, err := b.Respell(context.Background(), owner, query, nil)
		if err != nil || got != want {
			t.Errorf("%q became %q: %v", query, got, err)
		}
	}
}

func TestSummaryHasPassagesFromAllOverALongDocument(t *testing.T) {
	b := setup(t)
	b.add("a", "Handbook", long(200, "holidays"))
	s := b.choose(chat.Summarize, "Summarize the handbook", "a")
	if len(s.Hits) < 30 || len(s.Hits) > 40 {
		t.Fatalf("%d passages", len(s.Hits))
	}
	at := -1
	var quarters [4]int
	for _, h := range s.Hits {
		if h.Ordinal <= at {
			t.Fatalf("passage %d after %d", h.Ordinal, at)
		}
		at = h.Ordinal
		quarters[min(3, h.Ordinal/50)]++
	}
	if s.Hits[0].Ordinal != 0 || slices.Min(quarters[:]) < 5 {
		t.Errorf("from %d, by quarter %v", s.Hits[0].Ordinal, quarters)
	}
}

func TestDocumentsThatAreNotReadyAreReportedAndLeftOut(t *testing.T) {
	b := setup(t)
	b.add("ready", "Ready", "Holidays are granted in summer.")
	b.create("waiting", "Waiting")
	b.create("broken", "Broken")
	if err := b.store.FailDocument(t.Context(), owner, "broken", "encrypted"); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		ids                    []string
		processing, unreadable bool
		hits                   int
	}{
		"ready only":  {[]string{"ready"}, false, false, 1},
		"with others": {[]string{"ready", "waiting", "broken"}, true, true, 1},
		"none ready":  {[]string{"waiting"}, true, false, 0},
		"anywhere":    {nil, true, false, 1},
		"unknown ids": {[]string{"nobody"}, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := b.choose(chat.Inquire, "When are holidays granted?", tc.ids...)
			if s.Processing != tc.processing || s.Unreadable != tc.unreadable || len(s.Hits) != tc.hits {
				t.Errorf("%+v", s)
			}
			if tc.hits == 0 && s.Confidence != chat.Low {
				t.Errorf("confidence %s", s.Confidence)
			}
		})
	}
}

func TestSearchFindsOnlyPassagesThatTheOwnerMaySee(t *testing.T) {
	b := setup(t)
	b.samples()
	for _, docs := range [][]string{nil, {"supplier-contract.txt"}} {
		s, err := b.Select(t.Context(), "stranger", chat.Inquire, "monthly fee of the supplier", docs)
		if err != nil || len(s.Hits) != 0 {
			t.Errorf("%v: %d hits, %v", docs, len(s.Hits), err)
		}
	}
}

// fake is an embedder whose vectors are given by the text.
type fake struct {
	vector []float32
	err    error
}

func (f fake) Embed(context.Context, []string) ([][]float32, error) {
	return [][]float32{f.vector}, f.err
}

func TestVectorsFindWhatWordsMiss(t *testing.T) {
	b := setup(t)
	b.add("dogs", "Dogs", "Dogs bark at the moon.", []float32{1, 0, 0})
	b.add("cars", "Cars", "Automobiles need fuel.", []float32{0, 1, 0})
	b.Embedder = fake{vector: []float32{0.1, 0.9, 0}}
	hits, err := b.Search(t.Context(), owner, "dogs driving vehicles", nil, 5)
	if err != nil || !slices.Equal(ids(hits), []string{"dogs.0", "cars.0"}) {
		t.Errorf("%v, %v", ids(hits), err)
	}
}

func TestSearchByWordsWhenTheEmbedderFails(t *testing.T) {
	b := setup(t)
	b.add("dogs", "Dogs", "Dogs bark at the moon.", []float32{1, 0, 0})
	for name, e := range map[string]fake{
		"not configured": {err: llm.ErrNoEmbeddings},
		"unavailable":    {err: errors.New("no route to host")},
		"wrong size":     {vector: []float32{1}},
		"no vector":      {},
	} {
		t.Run(name, func(t *testing.T) {
			b.Embedder = e
			hits, err := b.Search(t.Context(), owner, "dogs", nil, 5)
			if err != nil || !slices.Equal(ids(hits), []string{"dogs.0"}) {
				t.Errorf("%v, %v", ids(hits), err)
			}
		})
	}
}
