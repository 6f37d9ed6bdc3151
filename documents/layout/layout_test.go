package layout

import (
	"strings"
	"testing"
	"unicode"
)

func TestHeadings(t *testing.T) {
	const body = "The institution shall hold sufficient capital at all times."
	for name, tc := range map[string]struct {
		in   string
		want string // titles, joined by "|"
	}{
		"markdown":                   {"# One\n\n" + body + "\n## Two ##\n" + body, "One|Two"},
		"setext":                     {"One\n===\n\n" + body + "\n\nTwo words\n---------\n" + body, "One|Two words"},
		"numbered":                   {"4.2 Capital buffers\n\n" + body, "4.2 Capital buffers"},
		"numbered, no blank lines":   {body + "\n4.2 Capital buffers\n" + body, "4.2 Capital buffers"},
		"single number":              {"3. Scope\n\n" + body + "\n\n4. Terms\n\n" + body, "3. Scope|4. Terms"},
		"legal words":                {"Article 5\n\n" + body + "\n\nSection 3 Capital\n\n" + body + "\n\nANNEX II: FORMS\n\n" + body, "Article 5|Section 3 Capital|ANNEX II: FORMS"},
		"capitals":                   {"GENERAL PROVISIONS\n" + body, "GENERAL PROVISIONS"},
		"numbered paragraph":         {"4.2 " + body, ""},
		"wrapped numbered paragraph": {"4.2 The institution shall hold capital and\nreport it to the Board.", ""},
		"a list":                     {"1. Pack the bag\n2. Lock the door\n3. Leave", ""},
		"a list with blank lines":    {"1. Pack the bag\n\n2. Lock the door\n\n3. Leave", ""},
		"a clause that wraps":        {"3.2 Invoices are payable within 30 days of receipt. Interest on late payment is\n4 per cent per year.", ""},
		"a clause before a bracket":  {"1.1 The Supplier hosts and operates the Bank's customer relationship system\n(the \"Service\").", ""},
		"a section named in text":    {body[:40] + "\nSection 3 of this Act applies to it.", ""},
		"an abbreviation":            {"USA\n\n" + body, ""},
		"inside code":                {"```\n# not a heading\n```\n" + body, ""},
		"a table's rule":             {"| a | b |\n|---|---|\n| c | d |", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range Blocks(tc.in) {
				if b.Kind == Heading {
					got = append(got, b.Title)
				}
			}
			if strings.Join(got, "|") != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzBlocksCoverTheText(f *testing.F) {
	for _, s := range []string{"# a\nb\n\nc", "a\n===\n", "```\n\n", "- a\n  b\n1. c", "| a |\n> b", "\r\n\ra\fb", "A B C D E\n4.2 X\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pos := 0
		for _, b := range append(Blocks(s), Block{Start: len(s), End: len(s)}) {
			if b.Start < pos || b.End < b.Start || b.End > len(s) {
				t.Fatalf("block %+v after %d of %d", b, pos, len(s))
			}
			if strings.TrimFunc(s[pos:b.Start], unicode.IsSpace) != "" {
				t.Fatalf("lost between blocks: %q", s[pos:b.Start])
			}
			if b.Kind == Heading && (b.Title == "" || !strings.Contains(s[b.Start:b.End], b.Title)) {
				t.Fatalf("title %q of %q", b.Title, s[b.Start:b.End])
			}
			pos = b.End
		}
	})
}
