package offline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/llm"
)

// BenchmarkAnswer is the engine's time for a large request: 60 passages of
// about 1,500 characters from two documents.
func BenchmarkAnswer(b *testing.B) {
	f := llm.Facts{Message: "How soon must a breach of customer data be reported to section 17?"}
	for i := range 60 {
		text := strings.ReplaceAll(circular, "customer", fmt.Sprintf("customer of section %d", i))
		f.Passages = append(f.Passages, llm.Passage{N: i + 1, DocID: fmt.Sprint(i % 2), Title: "Circular", Text: text, Score: 1})
	}
	for _, task := range []llm.Task{llm.TaskInquire, llm.TaskSummarize, llm.TaskCompare, llm.TaskAudit} {
		b.Run(string(task), func(b *testing.B) {
			for b.Loop() {
				if _, err := engine.Stream(context.Background(), llm.Request{Task: task, Facts: f}, func(string) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
