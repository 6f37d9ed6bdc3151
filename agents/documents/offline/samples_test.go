package offline

import (
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/internal/samples"
	"github.com/palaver-chat/palaver/llm"
)

// sample is a sample document cut as ingest cuts it.
func sample(t *testing.T, from int, id, file string) []llm.Passage {
	t.Helper()
	var out []llm.Passage
	for _, c := range chunk.Split(sampleText(t, file)) {
		out = append(out, llm.Passage{N: from + len(out), DocID: id, Title: id, Heading: c.Heading, Text: c.Text, Score: 1})
	}
	return out
}

func sampleText(t *testing.T, file string) string {
	t.Helper()
	b, err := samples.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The sample documents are what a new user tries first.
func TestAnswersFromTheSampleDocuments(t *testing.T) {
	circular := sample(t, 1, "circular", "circular-2025-04.md")
	policy24 := sample(t, 20, "policy 2024", "remote-work-policy-2024.md")
	policy25 := sample(t, 40, "policy 2025", "remote-work-policy-2025.md")

	has(t, answered(t, llm.TaskAudit, llm.Facts{Message: sampleText(t, "supplier-contract.txt"), Passages: circular}),
		"the text says 14 days, the rule asks for at least 30 days",
		"the text says 48 hours, the rule allows at most 24 hours",
		"the text says 180 days, the rule allows at most 90 days")
	has(t, answered(t, llm.TaskAudit, llm.Facts{Message: sampleText(t, "email-customer-list.txt"), Passages: policy25}),
		"“5.3 Customer data shall not be sent to private electronic mail addresses.”",
		"“I am sending the spreadsheet to my private address because the virtual private network was slow again today.”",
		"“I have not encrypted the file, since my computer at home cannot open our protected archives.”")
	has(t, answered(t, llm.TaskCompare, llm.Facts{Message: "Compare the policies", Passages: append(policy24, policy25...)}),
		"Differs: two days / three days", "Differs: 24 hours / four hours", "Differs: may / forbidden", "Agrees")
	has(t, answered(t, llm.TaskInquire, llm.Facts{Message: "What is the liquidity coverage ratio?", Passages: circular}),
		"at least 100 per cent of its net cash outflows")
}

// The first sentence of an answer is what people read.
func TestAnswerBeginsWithTheSentenceThatStatesTheRule(t *testing.T) {
	const title = "Circular 2025/04: Capital, Liquidity and Outsourcing"
	circular := sample(t, 1, "circular", "circular-2025-04.md")
	for i := range circular {
		circular[i].Title = title
	}
	named := []llm.Document{{ID: "circular", Title: title}}
	const coverage = "An institution shall hold high-quality liquid assets that cover at least 100 per cent"
	for _, c := range []struct {
		question string
		docs     []llm.Document // resolved from the question
		want     string
	}{
		{"What does the circular say about the liquidity coverage ratio?", named, coverage}, // the README's first question
		{"What does the circular say about the liquidity coverage ratio?", nil, coverage},
		{"What is the liquidity coverage ratio?", nil, coverage},
		{"Tell me about the liquidity coverage ratio", named, coverage},
		{"liquidity coverage ratio", nil, coverage},
		{"What does Circular 2025/04 say about outsourcing?", named, `"Outsourcing" means any arrangement`},
		// The answer stands in another section than the subject of the question.
		{"When must the liquidity coverage ratio be reported?", named, "The liquidity coverage ratio shall be reported every month"},
		{"What does the circular say about exit plans?", named, "For each critical function that is outsourced, an institution shall maintain an exit plan"},
		{"What is the countercyclical buffer?", nil, "The Board sets a countercyclical buffer of between 0 and 2.5 per cent"},
		{"What does the circular say about the leverage ratio?", named, "The leverage ratio of an institution"},
		// "The circular" says where to look.
		{"What does the circular say about dividends?", nil, "An institution that does not meet its combined buffer requirement shall not pay dividends"},
		{"Does the circular require a register?", nil, "An institution shall keep a register"},
		// A definition begins with the term that it defines.
		{"What is outsourcing?", nil, `"Outsourcing" means any arrangement`},
		{"What is a critical function?", nil, `"Critical function" means a function whose failure`},
		// The 1 of "tier 1" is no answer to how much.
		{"What is the minimum ratio of common equity tier 1?", named, "An institution shall hold at all times common equity tier 1 capital of at least 4.5 per cent"},
		{"How high is the fine?", nil, "The Board may impose a fine of up to 5 per cent"},
	} {
		got := answered(t, llm.TaskInquire, llm.Facts{Message: c.question, Passages: circular, Documents: c.docs})
		first, _, _ := strings.Cut(got, "\n")
		if _, quoted, _ := strings.Cut(first, ": “"); !strings.HasPrefix(quoted, c.want) {
			t.Errorf("%q (%d documents) leads with\n%s\nwant\n%s", c.question, len(c.docs), first, c.want)
		}
	}
}
