package offline

import (
	"testing"

	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/chunk"
	"github.com/palaver-chat/palaver/samples"
)

// sample is a sample document cut as ingest cuts it.
func sample(t *testing.T, from int, id, file string) []llm.Passage {
	t.Helper()
	var out []llm.Passage
	for _, c := range chunk.Split(sampleText(t, file), "") {
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

// The sample documents are a newcomer's first minute with the product.
func TestTheSampleDocumentsShowWhatTheEngineCanDo(t *testing.T) {
	circular := sample(t, 1, "circular", "circular-2025-04.md")
	policy24 := sample(t, 20, "policy 2024", "remote-work-policy-2024.md")
	policy25 := sample(t, 40, "policy 2025", "remote-work-policy-2025.md")

	has(t, answer(t, llm.TaskAudit, llm.Facts{Message: sampleText(t, "supplier-contract.txt"), Passages: circular}),
		"the text goes outside of what the rule keeps within",
		"the text says 14 days, the rule asks for at least 30 days",
		"the text says 48 hours, the rule allows at most 24 hours",
		"the text says 180 days, the rule allows at most 90 days")
	has(t, answer(t, llm.TaskAudit, llm.Facts{Message: sampleText(t, "email-customer-list.txt"), Passages: policy25}),
		"“5.3 Customer data shall not be sent to private electronic mail addresses.”",
		"“I am sending the spreadsheet to my private address because the virtual private network was slow again today.”",
		"“I have not encrypted the file, since my computer at home cannot open our protected archives.”")
	has(t, answer(t, llm.TaskCompare, llm.Facts{Message: "Compare the policies", Passages: append(policy24, policy25...)}),
		"Differs: two days / three days", "Differs: 24 hours / four hours", "Differs: may / forbidden", "Agrees")
	has(t, answer(t, llm.TaskInquire, llm.Facts{Message: "What is the liquidity coverage ratio?", Passages: circular}),
		"at least 100 per cent of its net cash outflows")
}
