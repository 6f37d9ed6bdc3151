package language_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/internal/language"
)

// BenchmarkIndexNumbers makes the terms of 50,000 rows of numbers.
func BenchmarkIndexNumbers(b *testing.B) {
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "%d | 2024-%02d-%02d | %d.%02d | %d,%03d.%02d | %d\n", i, i%12+1, i%28+1, i%997, i%100, i%90+1, i%1000, i%100, i*7919%100_003)
	}
	rows := text.String()
	b.SetBytes(int64(len(rows)))
	for b.Loop() {
		for at := 0; at < len(rows); at += 1200 {
			language.Index(rows[at:min(at+1200, len(rows))], "en")
		}
	}
}
