package offline

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
)

const circular = `# Circular on Customer Data 2024

## 1. Scope

This circular applies to all licensed banks and to their service providers.

## 2. Sharing of customer data

A bank must not share customer data with a third party without the written consent of the customer.
Customer lists shall be encrypted before they are sent outside of the bank.

## 3. Breaches

A bank must report a data breach to the supervisor within 24 hours of its discovery. The report
shall name the customers concerned.

## 4. Retention

Customer records must be kept for at least seven years. Complaints must be answered within 14 days.

## 5. Capital

A bank shall hold a capital ratio of at least 10.5% at all times.
`

const policyOld = `# Remote Work Policy v1

## Days
Employees may work remotely up to 2 days per week with approval of their manager.

## Equipment
Company laptops must be encrypted. Employees must not use private devices for customer data.

## Expenses
The company pays up to 30 euros per month for internet access.
`

const policyNew = `# Remote Work Policy v2

## Days
Employees may work remotely up to 3 days per week with approval of their manager.

## Equipment
Company laptops must be encrypted. Employees must not use private devices for customer data.

## Expenses
The company pays up to 50 euros per month for internet access.

## Abroad
Remote work from abroad is limited to 20 days per year and must be approved by Human Resources.
`

// passages cuts a document at its blank lines, as retrieval would.
func passages(from int, id, title, text string) []llm.Passage {
	var out []llm.Passage
	for _, part := range strings.Split(text, "\n## ") {
		out = append(out, llm.Passage{N: from + len(out), DocID: id, Title: title, Text: "## " + part, Score: 1})
	}
	return out
}

var engine = offline.New(Rules())

func answered(t testing.TB, task llm.Task, f llm.Facts) string {
	t.Helper()
	var b strings.Builder
	reply, err := engine.Stream(context.Background(), llm.Request{Task: task, Facts: f}, func(d string) error { b.WriteString(d); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if usage := reply.Usage; usage.CostUSD != 0 || usage.Calls != 1 || usage.TokensOut == 0 {
		t.Errorf("usage %+v", reply.Usage)
	}
	if notice := messages.AnswerOffline.In(string(voiceOf(f)), nil); !strings.HasSuffix(b.String(), "\n\n_"+notice+"_") {
		t.Errorf("the answer does not end with %q:\n%s", notice, b.String())
	}
	return b.String()
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func TestInquireQuotesTheSentenceThatAnswers(t *testing.T) {
	f := llm.Facts{Passages: append(passages(1, "c", "Circular 2024", circular), passages(10, "p", "Remote Work Policy", policyNew)...)}
	for question, want := range map[string]string{
		"How soon must a data breach be reported?":       "“A bank must report a data breach to the supervisor within 24 hours of its discovery.” [4]",
		"What is the minimum capital ratio?":             "“A bank shall hold a capital ratio of at least 10.5% at all times.” [6]",
		"How long are customer records kept?":            "“Customer records must be kept for at least seven years.” [5]",
		"How many days per week may I work remotely?":    "“Employees may work remotely up to 3 days per week with approval of their manager.” [11]",
		"who does the circular apply to":                 "“This circular applies to all licensed banks and to their service providers.” [2]",
		"can I use my private phone for customer data ?": "“Employees must not use private devices for customer data.” [12]",
	} {
		f.Message = question
		got := answered(t, llm.TaskInquire, f)
		first := strings.SplitN(got, "\n", 2)[0]
		if !strings.HasSuffix(first, want) {
			t.Errorf("%q begins with %q, want %q", question, first, want)
		}
	}
}

func TestInquireSaysWhenNothingWasFound(t *testing.T) {
	f := llm.Facts{Message: "What is the airspeed of an unladen swallow?", Passages: passages(1, "c", "Circular", circular)}
	has(t, answered(t, llm.TaskInquire, f), messages.NothingFound.Text)
	has(t, answered(t, llm.TaskInquire, llm.Facts{Message: "anything?"}), messages.NothingFound.Text)
}

func TestInquireGoesOnFromTheQuestionBefore(t *testing.T) {
	rules := []llm.Passage{{N: 1, DocID: "l", Title: "Leave Policy v1", Text: "Employees have 25 days of annual leave. A doctor's note is required from the third day of sickness."}}
	recent := []llm.Message{{Role: llm.User, Text: "What does the leave policy say about annual leave?"}, {Role: llm.Assistant, Text: "28 days."}}
	for _, message := range []string{"now the other one", "and in the previous version?"} {
		got := answered(t, llm.TaskInquire, llm.Facts{Message: message, Recent: recent, Passages: rules, Documents: []llm.Document{{ID: "l", Title: "Leave Policy v1"}}})
		has(t, got, "25 days")
		if strings.Contains(got, "doctor") {
			t.Errorf("%q: the topic is lost:\n%s", message, got)
		}
	}
	has(t, answered(t, llm.TaskInquire, llm.Facts{Message: "and sickness?", Recent: recent, Passages: rules}), "doctor")
}

func TestSummaryFollowsTheHeadings(t *testing.T) {
	got := answered(t, llm.TaskSummarize, llm.Facts{Message: "Summarize it", Passages: passages(1, "c", "Circular 2024", circular)})
	has(t, got, "**Circular 2024**", "- **Scope**: “", "[2]", "Sharing of customer data")
	if n := strings.Count(got, "“"); n < 3 || n > 9 {
		t.Errorf("%d quotations:\n%s", n, got)
	}
}

func TestSummaryOfSeveralDocumentsHasASectionForEach(t *testing.T) {
	got := answered(t, llm.TaskSummarize, llm.Facts{Passages: append(passages(1, "c", "Circular", circular), passages(10, "p", "Policy", policyNew)...)})
	has(t, got, "**Circular**", "**Policy**")
}

func TestCompareShowsDifferencesAndAgreements(t *testing.T) {
	f := llm.Facts{Message: "Compare them", Passages: append(passages(1, "a", "Policy v1", policyOld), passages(10, "b", "Policy | v2", policyNew)...)}
	got := answered(t, llm.TaskCompare, f)
	has(t, got, "| Subject | Policy v1 | Policy / v2 | Result |",
		"| Days | “Employees may work remotely up to 2 days per week with approval of their manager.” [2] | “Employees may work remotely up to 3 days per week with approval of their manager.” [11] | Differs: 2 days / 3 days |",
		"Differs: 30 euros / 50 euros", "| Agrees |", "“Company laptops must be encrypted.” [3]",
		"| Abroad | – | “Remote work from abroad is limited to 20 days per year and must be approved by Human Resources.” [14] | Only in one |")
}

func TestComparePairsSentencesThatDifferInFiguresOnly(t *testing.T) {
	prices := func(first int, id string, figures ...any) []llm.Passage {
		return []llm.Passage{{N: first, DocID: id, Title: "Prices " + id, Score: 1, Text: fmt.Sprintf(`Court hire costs EUR %v.
Racket hire costs EUR %v.
Members play for %v hours.
Guests play %v times.
Lockers are emptied on %v.`, figures...)}}
	}
	got := answered(t, llm.TaskCompare, llm.Facts{Message: "Compare them", Passages: append(
		prices(1, "A", "18.50", 4, "three", 20, "1 March 2030"), prices(2, "B", 21, "6.25", "five", 35, "15 April 2031")...)})
	for _, differs := range []string{"EUR 18.50 / EUR 21", "EUR 4 / EUR 6.25", "three hours / five hours", "20 times / 35 times", "1 March 2030 / 15 April 2031"} {
		has(t, got, "Differs: "+differs)
	}
	if strings.Contains(got, "Only in one") {
		t.Errorf("a sentence has no pair:\n%s", got)
	}
}

// A difference names what both sentences say; a row's subject is not the title of one document.
func TestCompareSaysWhatBothSentencesState(t *testing.T) {
	doc := func(first int, title, text string) []llm.Passage {
		return []llm.Passage{{N: first, DocID: title, Title: title, Heading: title, Score: 1, Text: text}}
	}
	got := answered(t, llm.TaskCompare, llm.Facts{Message: "Compare them", Passages: append(
		doc(1, "Policy 2024", "Employees complete the training on information security once every two years.\nThis policy applies to all employees of Larkfield Bank."),
		doc(2, "Policy 2025", "Employees complete the training on information security every year.\nThis policy applies to all employees and contractors of Larkfield Bank.")...)})
	has(t, got, "once every two years", "every year", "Differs: ")
	for _, wrong := range []string{"not stated", "| Policy 2024 | “", "| Policy 2025 | “"} {
		if strings.Contains(got, wrong) {
			t.Errorf("%q:\n%s", wrong, got)
		}
	}
}

func TestCompareNamesASentenceWithoutAHeadingByItsFirstWords(t *testing.T) {
	doc := func(first int, title, text string) []llm.Passage {
		return []llm.Passage{{N: first, DocID: title, Title: title, Score: 1, Text: text}}
	}
	has(t, answered(t, llm.TaskCompare, llm.Facts{Message: "Compare them", Passages: append(
		doc(1, "Policy 2024", "Approved by the management board on 11 December 2023.\nValid from 1 January 2024."),
		doc(2, "Policy 2025", "Approved by the management board on 9 December 2024.\nValid from 1 January 2025.")...)}),
		"\n| Approved by the management board | “", "\n| Valid | “")
}

func TestAnswerSaysThatThePassagesAreInAnotherLanguage(t *testing.T) {
	const hint = "another language"
	german := messages.OtherLanguage.In("de", nil)
	f := llm.Facts{Message: "Wie viele Stunden hat die Bank, um einen Vorfall zu melden?", Weak: true, Passages: passages(1, "c", "Circular 2024", circular)}
	has(t, answered(t, llm.TaskInquire, f), messages.NothingFound.In("de", nil), german, "Am nächsten kommt:")
	f.Message = "How many zebras are in the zoo of the bank?"
	if got := answered(t, llm.TaskInquire, f); strings.Contains(got, hint) || strings.Contains(got, german) {
		t.Error(got)
	}
}

func TestAnswerSaysWhatNeedsAModel(t *testing.T) {
	for message, want := range map[string]bool{
		"Translate the circular into German":                  true,
		"Write an email to the bank about customer lists":     true,
		"What must a bank do with customer lists?":            false,
		"What are the rules about sharing of customer data?":  false,
		"How many hours does a bank have to report a breach?": false,
	} {
		got := answered(t, llm.TaskInquire, llm.Facts{Message: message, Action: chat.Inquire, Passages: passages(1, "c", "Circular 2024", circular)})
		if strings.Contains(got, "Without a language model I cannot translate") != want {
			t.Errorf("%s:\n%s", message, got)
		}
	}
}

// Among sentences that differ only in their figures, those with the same figures are paired.
func TestComparePairsTheSameFigures(t *testing.T) {
	list := func(first int, id, text string) []llm.Passage {
		return []llm.Passage{{N: first, DocID: id, Title: id, Score: 1, Text: text}}
	}
	got := answered(t, llm.TaskCompare, llm.Facts{Message: "Compare them", Passages: append(
		list(1, "Old", "Boxes of 10 kg cost EUR 7 to send.\nBoxes of 20 kg cost EUR 9 to send."),
		list(2, "New", "Boxes of 20 kg cost EUR 11 to send.\nBoxes of 10 kg cost EUR 7 to send.")...)})
	has(t, got, "1 difference and 1 agreement", "Differs: EUR 9 / EUR 11")
}

func TestCompareSaysWhenTextsAreUnrelated(t *testing.T) {
	f := llm.Facts{Passages: []llm.Passage{
		{N: 1, DocID: "a", Title: "A", Text: "Cats sleep all day long in the sun."},
		{N: 2, DocID: "b", Title: "B", Text: "Interest accrues daily on unpaid principal."}}}
	has(t, answered(t, llm.TaskCompare, f), "no passage in common")
	has(t, answered(t, llm.TaskCompare, llm.Facts{Passages: f.Passages[:1]}), "two documents are needed")
}

func TestAuditFindsWhatBreaksARule(t *testing.T) {
	f := llm.Facts{
		Message: "Hi Tom,\n\nI have forwarded the customer list to our marketing vendor, a third party, without asking for consent.\n" +
			"The capital ratio was 9.8% in March.\nWe will answer customer complaints within 10 days.\nThe weather was nice in Lisbon.",
		Passages: passages(1, "c", "Circular 2024", circular),
	}
	got := answered(t, llm.TaskAudit, f)
	has(t, got, "2 findings", "**Severity:** High",
		"“A bank must not share customer data with a third party without the written consent of the customer.” [3]",
		"“I have forwarded the customer list to our marketing vendor, a third party, without asking for consent.”",
		"the text says 9.8%, the rule asks for at least 10.5%",
		"### In order", "“We will answer customer complaints within 10 days.” fits the rule “Complaints must be answered within 14 days.” [5]")
	if strings.Contains(got, "Lisbon") {
		t.Errorf("the weather was audited:\n%s", got)
	}
}

func TestAuditOfAGoodTextFindsNothing(t *testing.T) {
	f := llm.Facts{
		Message:  "The customer gave written consent before we shared the customer data with the third party. We reported the data breach to the supervisor within 12 hours.",
		Passages: passages(1, "c", "Circular 2024", circular),
	}
	got := answered(t, llm.TaskAudit, f)
	has(t, got, "No breach found", "### In order")
}

func TestAuditSaysWhatIsMissing(t *testing.T) {
	has(t, answered(t, llm.TaskAudit, llm.Facts{Message: "Audit this", Passages: passages(1, "c", "C", circular)}), "no text to check")
	has(t, answered(t, llm.TaskAudit, llm.Facts{Message: "A text to check is here.", Passages: []llm.Passage{{N: 1, Text: "Roses are red and violets are blue."}}}), "nothing to audit against")
}

func TestMarkerInASourceIsNoCitation(t *testing.T) {
	f := llm.Facts{Message: "What did the Romans build?", Passages: []llm.Passage{
		{N: 1, Title: "History [7]", Text: "The Romans built many roads across the provinces [12] and some bridges."}}}
	got := answered(t, llm.TaskInquire, f)
	has(t, got, "“The Romans built many roads across the provinces” [1]", "**History (7)**")
	if strings.Contains(got, "[12]") || strings.Contains(got, "[7]") {
		t.Errorf("the answer has a marker of the source: %s", got)
	}
}

func TestAnswersAreTheSameEveryTime(t *testing.T) {
	f := llm.Facts{Message: "Compare the rules on customer data", Passages: append(passages(1, "a", "A", circular), passages(10, "b", "B", policyNew)...)}
	for _, task := range []llm.Task{llm.TaskInquire, llm.TaskSummarize, llm.TaskCompare, llm.TaskAudit} {
		first := answered(t, task, f)
		for range 5 {
			if again := answered(t, task, f); again != first {
				t.Fatalf("%s: two answers to one request:\n%s\n%s", task, first, again)
			}
		}
	}
}

func TestStreamSendsSmallDeltasAndStops(t *testing.T) {
	f := llm.Facts{Message: "Summarize", Passages: passages(1, "c", "Circular", circular)}
	var n int
	stop := errors.New("enough")
	_, err := engine.Stream(t.Context(), llm.Request{Task: llm.TaskSummarize, Facts: f}, func(d string) error {
		if n++; n == 3 {
			return stop
		}
		if len(d) > 80 {
			t.Errorf("a delta of %d bytes", len(d))
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("%v after %d deltas", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = engine.Stream(ctx, llm.Request{Task: llm.TaskSummarize, Facts: f}, func(string) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestStructuredSupportsTwoSchemas(t *testing.T) {
	m := engine
	r := llm.Request{Facts: llm.Facts{Message: "What are the latest capital rules in BankNegara2024?", Documents: []llm.Document{{ID: "bn24", Title: "BankNegara2024"}, {ID: "acme", Title: "Acme Services Agreement"}}, Industry: "banking", Location: "Malaysia"}}
	var in llm.Intent
	if _, err := m.Structured(t.Context(), r, llm.IntentSchema, &in); err != nil || in.Action != chat.Inquire || !in.WebSearch {
		t.Errorf("%+v, %v", in, err)
	}
	var q llm.WebQuery
	usage, err := m.Structured(t.Context(), r, llm.WebQuerySchema, &q)
	if err != nil || q.Query != "capital rules BankNegara2024 latest banking Malaysia" || usage.CostUSD != 0 {
		t.Errorf("%+v, %+v, %v", q, usage, err)
	}
	if _, err := m.Structured(t.Context(), r, llm.Schema{Name: "other", JSON: []byte(`{}`)}, &q); !errors.Is(err, llm.ErrUnparseable) {
		t.Errorf("got %v", err)
	}
	if _, err := m.Embed(t.Context(), []string{"x"}); !errors.Is(err, llm.ErrNoEmbeddings) {
		t.Errorf("got %v", err)
	}
	if !m.Info().Offline {
		t.Error("Info does not say offline")
	}
}

var (
	quotation = regexp.MustCompile(`(?s)(?:“([^“”]*)”|"([^"]*)")( \[(\d+)\])?`)
	marker    = regexp.MustCompile(`\[(\d+)\]`)
)

// flat normalizes white space: lists and tables put a quotation on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// checkQuotations is the engine's promise: each quotation is verbatim in the
// passage that its marker names or, without a marker, in the message; and each
// marker is a passage's number.
func checkQuotations(f llm.Facts, text string) error {
	byN := map[string]string{}
	for _, p := range f.Passages {
		byN[strconv.Itoa(p.N)] = p.Text
	}
	for _, m := range quotation.FindAllStringSubmatch(text, -1) {
		from := f.Message
		if m[4] != "" {
			from = byN[m[4]]
		}
		if !strings.Contains(flat(from), flat(m[1]+m[2])) {
			return fmt.Errorf("%q is not verbatim in %q", m[0], from)
		}
	}
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		if _, ok := byN[m[1]]; !ok {
			return fmt.Errorf("marker %s is no passage's", m[0])
		}
	}
	return nil
}

func TestEveryQuotationIsVerbatim(t *testing.T) {
	for _, f := range []llm.Facts{
		{Message: "We do not encrypt customer data on private devices", Passages: append(passages(1, "a", "A", circular), passages(10, "b", "B", policyNew)...)},
		{Message: "We share customer data with third parties. Laptops are not encrypted.", Passages: append(passages(3, "a", "A", circular), passages(20, "b", "B", policyOld)...)},
	} {
		for _, task := range []llm.Task{llm.TaskInquire, llm.TaskSummarize, llm.TaskCompare, llm.TaskAudit} {
			text := answered(t, task, f)
			if !strings.Contains(text, "“") {
				t.Errorf("%s quotes nothing", task)
			}
			if err := checkQuotations(f, text); err != nil {
				t.Errorf("%s: %v", task, err)
			}
		}
	}
}

func FuzzQuotationsAreVerbatim(f *testing.F) {
	f.Add("Must we report a breach?", circular, policyNew)
	f.Add("a [1] | b", "Banks must [9] keep 1|2 records.\nSecond “line” must stay [3].", "x ” y must not “ z be here")
	f.Add("", "| a | b must |\n|---|---|", "\xff must not \x00 be here at all")
	f.Fuzz(func(t *testing.T, message, a, b string) {
		facts := llm.Facts{Message: message, Passages: []llm.Passage{
			{N: 1, DocID: "a", Title: a, Text: a}, {N: 2, DocID: "b", Heading: message, Title: b, Text: b}}}
		for _, task := range []llm.Task{llm.TaskInquire, llm.TaskSummarize, llm.TaskCompare, llm.TaskAudit} {
			if err := checkQuotations(facts, answered(t, task, facts)); err != nil {
				t.Errorf("%s: %v", task, err)
			}
		}
	})
}

// A title, the parties and a document's number often have the words and a figure that a
// question asks for.
func TestHowManyIsNotAnsweredByADocumentNumber(t *testing.T) {
	contract := `Contract
Employees Contract 2024

## Parties
This contract is made between Northwind with 12 employees and Contoso.

## Parties
Parties: the 2 employers Northwind and Contoso with their employees.

## Reference
Contract no. 12-4711

## Reference
Document number: 4711

## Staff
The supplier assigns at least 7 employees to the contract.
`
	f := llm.Facts{Passages: passages(1, "c", "Employees Contract 2024", contract)}
	formal := []string{"Employees Contract 2024”", "is made between", "the 2 employers", "4711"}
	for _, question := range []string{"How many employees does the contract require?", "how many employees are there", "How many employees work on contract no. 4711?"} {
		f.Message = question
		got := answered(t, llm.TaskInquire, f)
		has(t, got, "at least 7 employees")
		for _, never := range formal {
			if strings.Contains(got, never) {
				t.Errorf("%q is answered with %q:\n%s", question, never, got)
			}
		}
	}
	f.Passages = f.Passages[:len(f.Passages)-1] // without the one that answers
	f.Message = "How many employees does the contract require?"
	has(t, answered(t, llm.TaskInquire, f), messages.NothingFound.Text)
}

func TestHowMuchIsAnsweredByAnAmountAndNotByADate(t *testing.T) {
	for _, test := range []struct{ title, text, question, want string }{
		{"Hosting Contract", "## Fees\nThe fee may be adjusted once a year, on 1 February. The customer pays a monthly fee of 18,400 euros for the hosting.", "How much is the fee?", "18,400 euros"},
		{"Mietvertrag", "## Miete\nDie Miete wird jedes Jahr am 1. Februar angepasst. Die monatliche Miete für die Wohnung beträgt 1.250 Euro.", "Wie viel Miete ist zu zahlen?", "1.250 Euro"},
		{"Bail", "## Loyer\nLe loyer est révisé chaque année, le 1er mars. Le loyer mensuel du logement est fixé à 850 euros.", "À combien s'élève le loyer ?", "850 euros"},
		{"Contrato", "## Renta\nLa renta se revisa cada año, el 1 de marzo. La renta mensual de la vivienda es de 900 euros.", "¿Cuánto es la renta?", "900 euros"},
		{"Huurcontract", "## Huur\nDe huur wordt elk jaar op 1 maart aangepast. De maandelijkse huur van de woning is 1.100 euro.", "Hoeveel is de huur?", "1.100 euro"},
	} {
		got := answered(t, llm.TaskInquire, llm.Facts{Message: test.question, Passages: passages(1, "c", test.title, test.text)})
		first, _, _ := strings.Cut(got, "[1]")
		has(t, first, test.want)
	}
}
