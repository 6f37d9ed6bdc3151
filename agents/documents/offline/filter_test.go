package offline

import (
	"regexp"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/llm"
)

// filtered is an answer as the citation filter lets it out.
func filtered(f llm.Facts, text string) (string, int) {
	var sources []cite.Source
	for _, p := range f.Passages {
		sources = append(sources, cite.Source{N: p.N, DocID: p.DocID, ChunkID: p.DocID, Title: p.Title, Text: p.Text})
	}
	filter := cite.New(sources, f.Message)
	out := ""
	for _, d := range strings.SplitAfter(text, " ") {
		out += filter.Write(d)
	}
	tail, citations := filter.Close()
	return out + tail, len(citations)
}

var anyMarker = regexp.MustCompile(`\[\d+\]`)

func TestCitationFilterRemovesNothingFromAnswers(t *testing.T) {
	wrapped := "The lessee, called “the Tenant” below, must pay rent | fees by the 5th day\nof each month [3], and shall not sublet the \"premises\"\nwithout approval of the landlord. Pets are not permitted in the building at any time."
	for name, f := range map[string]llm.Facts{
		"policies": {Message: "We never encrypt company laptops and use private devices for customer data. How many days remotely per week?",
			Passages: append(passages(1, "a", "Policy [1]", policyOld), passages(10, "b", "Policy | “v2”", policyNew)...)},
		"marks": {Message: "The tenant will pay rent on the 20th day of each month and sublet the premises without approval of the landlord.",
			Passages: []llm.Passage{{N: 1, DocID: "a", Title: "Lease", Text: wrapped}, {N: 2, DocID: "b", Title: "Other", Text: wrapped + " The rent is 900 euros."}}},
	} {
		for _, task := range []llm.Task{llm.TaskInquire, llm.TaskSummarize, llm.TaskCompare, llm.TaskAudit} {
			text := answered(t, task, f)
			got, citations := filtered(f, text)
			if anyMarker.ReplaceAllString(got, "[]") != anyMarker.ReplaceAllString(text, "[]") {
				t.Errorf("%s, %s: the filter changed\n%s\ninto\n%s", name, task, text, got)
			}
			if citations == 0 {
				t.Errorf("%s, %s: no citation in\n%s", name, task, text)
			}
		}
	}
}
