package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rule D3.
func TestTitleOfADocument(t *testing.T) {
	long := strings.Repeat("very ", 30) + "long"
	for name, tc := range map[string]struct{ meta, text, want string }{
		"first heading":                {"", "# Leave policy 2025\n\nText.", "Leave policy 2025"},
		"heading of another level":     {"", "## Leave policy\n\nText.", "Leave policy"},
		"underlined":                   {"", "Leave policy\n============\n\nText.", "Leave policy"},
		"capitals":                     {"", "ANNUAL REPORT 2025\n\nText.", "ANNUAL REPORT 2025"},
		"after a paragraph":            {"", "By Ann.\n\n# Leave policy\n\nText.", "Leave policy"},
		"not from the middle":          {"", "By Ann.\n\n## Details\n\nText.", ""},
		"marks":                        {"", "# **Leave** [policy](https://e.x) `v2`\n", "Leave policy v2"},
		"tags":                         {"", "# <b>Leave</b> policy\n", "Leave policy"},
		"other scripts":                {"", "# 休暇規程\n", "休暇規程"},
		"umlauts":                      {"", "# Größenordnung & Maß\n", "Größenordnung & Maß"},
		"a question":                   {"", "# What is Palaver?\n", "What is Palaver?"},
		"heading before metadata":      {"From the metadata", "# From the heading\n", "From the heading"},
		"metadata before a plain line": {"Rules of Larkfield Bank", "LARKFIELD BANK\n\nText.", "Rules of Larkfield Bank"},
		"metadata alone":               {" Annual\n Report ", "This annual report is short.", "Annual Report"},
		"metadata of a template":       {"Template Letter A4", "Dear Ms Lindqvist,\n\nthe heating fails.", ""},
		"useless metadata":             {"Microsoft Word - draft_v3.docx", "Text.", ""},
		"a file's name":                {"report_final.indd", "Text.", ""},
		"an address":                   {"https://example.org/a", "Text.", ""},
		"useless heading":              {"", "# Untitled\n\nText.", ""},
		"numbered and useless":         {"", "# Document 1\n\nText.", ""},
		"in German":                    {"", "# Inhaltsverzeichnis\n\nText.", ""},
		"useless, then metadata":       {"Leave policy", "# Contents\n\nThe policy on leave.", "Leave policy"},
		"a section":                    {"", "# 1. Scope of it\n\nText.", ""},
		"an article":                   {"", "Article 5\n\nText.", ""},
		"a chapter":                    {"", "# Kapitel 3\n\nText.", ""},
		"a section without a number":   {"", "# Part time work\n", "Part time work"},
		"a circular":                   {"", "# Circular 2025/04: Capital\n", "Circular 2025/04: Capital"},
		"a sentence":                   {"", "# This is a sentence that ends.\n", ""},
		"too long":                     {"", "# " + long + "\n", ""},
		"too long, in metadata":        {long, "Text.", ""},
		"a number":                     {"", "# 2025\n", ""},
		"a slide":                      {"", "## Slide 1: Roadmap 2026\n\nText.", "Roadmap 2026"},
		"a slide without a title":      {"", "## Slide 1\n\nText.", ""},
		"no heading":                   {"", "Just a text.\n", ""},
		"a rule first":                 {"", "---\n\n# Leave policy\n", "Leave policy"},
		"empty":                        {"", "", ""},
		"far below":                    {"", strings.Repeat("A line of text.\n\n", 400) + "# Leave policy\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := documentTitle(Type{}, tc.meta, tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestFrontMatterNamesTheDocument(t *testing.T) {
	raw := "---\ntitle: \"Leave policy\"\nauthor: [Ann Lee, Bo Ito]\naliases: Holidays\n---\n\n# Scope of the rules\n"
	c, err := All().Content(t.Context(), "md", []byte(raw))
	require.NoError(t, err)
	require.Equal(t, "Leave policy", c.Title)
	require.Subset(t, c.Names, []string{"Ann Lee", "Bo Ito", "Holidays", "Scope of the rules"})
}

// Data at the beginning of a text are rows, as they are written; they are no sentences.
func TestFrontMatterIsATableAboveTheText(t *testing.T) {
	for name, tc := range map[string]struct{ file, raw, title, want string }{
		"yaml": {"a.md", "---\ntitle: Leave policy 2026\ndate: 2026-01-04\nversion: 1.10\ncode: 0123\ntags: [leave, \"staff, all\"]\n---\n\n# Leave\n\nText.",
			"Leave policy 2026", "title | Leave policy 2026\ndate | 2026-01-04\nversion | 1.10\ncode | 0123\ntags | leave, staff, all\n\n# Leave\n\nText."},
		"lists and texts": {"a.md", "---\nauthors:\n  - Ann Lee\n  - name: Bo Ito\n# private\nabstract: |\n  Who may leave,\n  # and when.\nempty:\nplain: one\n  two\n---\nText.",
			"", "authors | Ann Lee, name: Bo Ito\nabstract | Who may leave, # and when.\nplain | one two\n\nText."},
		"no valid yaml":     {"a.md", "---\r\ntitle: Leave: a policy\r\nby: @ann\r\n---  \r\nText.\r\n", "Leave: a policy", "title | Leave: a policy\nby | @ann\n\nText."},
		"dots at its end":   {"a.md", "---\ntitle: Leave\ndraft: true\n...\n\nText of leave.", "Leave", "title | Leave\ndraft | true\n\nText of leave."},
		"toml":              {"a.md", "+++\ntitle = \"Leave policy\"\ntags = [\n  \"a\",\n  \"b\",\n]\n[params]\n  draft = false\n+++\nText.", "Leave policy", "title | Leave policy\ntags | a, b, draft = false\n\nText."},
		"pandoc":            {"a.md", "% Leave policy\n% Ann Lee\n\nText.", "Leave policy", "title | Leave policy\nauthor | Ann Lee\n\nText."},
		"keys alone":        {"a.md", "Title: Leave policy\nAuthor: Ann Lee\n\nText.", "Leave policy", "Title | Leave policy\nAuthor | Ann Lee\n\nText."},
		"plain text":        {"a.txt", "---\ntitle: Leave policy\ndate: 4 May\n---\nText.", "Leave policy", "title | Leave policy\ndate | 4 May\n\nText."},
		"data alone":        {"a.md", "---\ntitle: Leave policy\ndate: 4 May\n---", "Leave policy", "title | Leave policy\ndate | 4 May"},
		"keys in a text":    {"a.txt", "Ann: hello\nBo: good day\n\nText.", "", "Ann: hello\nBo: good day\n\nText."},
		"a talk":            {"a.md", "Ann: hello\nBo: good day\nAnn: bye\n\nText.", "", "Ann: hello\nBo: good day\nAnn: bye\n\nText."},
		"a heading":         {"a.md", "# Leave policy\nVersion: 3\nOwner: HR\n\nText.", "Leave policy", "# Leave policy\nVersion: 3\nOwner: HR\n\nText."},
		"a mark":            {"a.md", "[Draft]\nVersion: 3\nOwner: HR\n\nText.", "", "[Draft]\nVersion: 3\nOwner: HR\n\nText."},
		"signs in values":   {"a.md", "Limit: >5 %\nScope: > 3 m\nSource: [Report](https://a.example)\nTags: [a, b]\n\nText.", "", "Limit | >5 %\nScope | > 3 m\nSource | [Report](https://a.example)\nTags | a, b\n\nText."},
		"a rule":            {"a.md", "---\nA sentence: it is no key.\nText.\n---\nMore.", "", "---\nA sentence: it is no key.\nText.\n---\nMore."},
		"a heading in text": {"a.md", "% of staff\nwho leave\n\nText.", "", "% of staff\nwho leave\n\nText."},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(t, tc.file, tc.raw)
			require.Equal(t, tc.want, c.Text)
			require.Equal(t, tc.title, c.Title)
		})
	}
}

func TestNamesOfSheetsAreNoTitles(t *testing.T) {
	if got := documentTitle(Type{untitled: true}, "", "## Budget overview\n\na | b"); got != "" {
		t.Errorf("title %q", got)
	}
	if got := documentTitle(Type{untitled: true}, "Budget 2026", "## Sheet1\n\nbudget | 2026"); got != "Budget 2026" {
		t.Errorf("title %q", got)
	}
}

func TestTitlesInMetadata(t *testing.T) {
	line := "A page with a line of an annual report of 2025."
	core := wordParts(para("", "Just a paragraph on the leave policy."))
	core["docProps/core.xml"] = `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc"><dc:creator>Ann</dc:creator><dc:title>Leave policy</dc:title></cp:coreProperties>`
	broken := wordParts(para("", "Just a paragraph."))
	broken["docProps/core.xml"] = `<cp:coreProperties`
	heading := wordParts(para("berschrift1", "Travel policy") + para("", "Just a paragraph."))
	heading["docProps/core.xml"] = core["docProps/core.xml"]
	for name, tc := range map[string]struct {
		kind string
		raw  []byte
		want string
	}{
		"pdf":              {"pdf", pdfWithTitle("(Annual report 2025)", line), "Annual report 2025"},
		"pdf in UTF-16":    {"pdf", pdfWithTitle("<FEFF0041006E006E00750061006C>", line), "Annual"},
		"pdf without":      {"pdf", pdf("", []string{line}), ""},
		"pdf, a file name": {"pdf", pdfWithTitle("(report.doc)", line), ""},
		"pdf, form feed":   {"pdf", pdfWithTitle(`(Annual\014report)`, line), "Annual report"},
		"docx":             {"docx", zipped(core), "Leave policy"},
		"docx, damaged":    {"docx", zipped(broken), ""},
		"docx, heading":    {"docx", zipped(heading), "Travel policy"},
		"docx without":     {"docx", word(para("", "Just a paragraph.")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := All().Content(t.Context(), tc.kind, tc.raw)
			if err != nil {
				t.Fatal(err)
			}
			if c.Title != tc.want {
				t.Errorf("title %q, want %q", c.Title, tc.want)
			}
			if tc.kind == "pdf" && (c.Text != line || len(c.Pages) != 1 || c.Pages[0].Start != 0) {
				t.Errorf("text %q with pages %v", c.Text, c.Pages)
			}
		})
	}
}

func TestAmountsAreNoNames(t *testing.T) {
	text := "Balance: 1,204.10 EUR\nZins: 3,5 %\nDate: 1 October 2026\nPeriod: 30 days\nInvoice no.: 20260014\nTenant: Studio 54 Ltd\n"
	require.Equal(t, []string{"1 October 2026", "20260014", "Studio 54 Ltd"}, ownNames("", nil, text))
}

func TestNamesOfAMailArePeopleAndItsDate(t *testing.T) {
	text := "From: \"Ann Lee\" <ann@example.com>\nTo: <bo@example.com>\nDate: Mon, 16 Aug 1999 11:23:16 +0000\n\nSee below.\nhttps://example.com/a\n"
	require.Equal(t, []string{"Ann Lee", "bo@example.com", "16 Aug 1999"}, ownNames("", nil, text))
}

func TestOwnNames(t *testing.T) {
	for name, tc := range map[string]struct {
		meta, text string
		want       []string
	}{
		"a contract":       {"", "EMPLOYMENT CONTRACT\n\nbetween Harrow Ltd (the Company) and Ann Okafor (the Employee).\n", []string{"EMPLOYMENT CONTRACT", "Harrow Ltd", "Ann Okafor"}},
		"in German":        {"", "Mietvertrag\n\nMieter: Jörg Weiß\nVermieter: Elm GmbH\n", []string{"Jörg Weiß", "Elm GmbH"}},
		"an annual report": {"", "UNITED STATES\n\nFORM 10-K\n\nTHE BOEING COMPANY\n", []string{"UNITED STATES", "THE BOEING COMPANY", "FORM 10-K"}},
		"a version":        {"", "# Travel policy\n\nVersion 4, of May.\n", []string{"Travel policy", "Version 4"}},
		"a template":       {"Sales report template", "Prices of Elm", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := ownNames(tc.meta, nil, tc.text)
			for _, want := range tc.want {
				require.Contains(t, got, want)
			}
			if tc.want == nil {
				require.Empty(t, got)
			}
		})
	}
}
