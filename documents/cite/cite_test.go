package cite

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

const (
	capital = "## 4.2 Capital buffers\n\nInstitutions shall hold a capital conservation buffer of 2.5 per cent of risk-weighted assets. " +
		"The buffer is met with common equity tier 1 capital only. A breach is reported to the supervisor within three business days."
	remote = "Employees may work remotely for up to three days per week. Customer data shall be sent in encrypted form only, " +
		"and never to a private address. As set out in [7], exceptions need approval."
	web = "The central bank raised the buffer in March. Banks have a year to comply."
)

func sources() []Source {
	return []Source{
		{N: 1, DocID: "circular", ChunkID: "circular.4", Title: "Capital Circular", Text: capital, Start: 5000},
		{N: 2, DocID: "policy", ChunkID: "policy.0", Title: "Remote Work and Customer Data Policy", Text: remote},
		{N: 4, Title: "Buffer news", URL: "https://example.org/news", Text: web},
	}
}

func filter(text string, allowed ...string) (string, []chat.Citation) {
	f := New(sources(), allowed...)
	out := f.Write(text)
	tail, citations := f.Close()
	return out + tail, citations
}

func TestMarkersAndQuotations(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain text":                     {"Nothing to see here.", "Nothing to see here."},
		"numbered by first appearance":   {"A [2]. B [1]. C [2].", "A [1]. B [2]. C [1]."},
		"unknown numbers are dropped":    {"A [9]. B [3] and [1].", "A. B and [1]."},
		"zero and huge are dropped":      {"A [0]. B [123456789].", "A. B."},
		"unknown at a line's start":      {"[9] A.\n[9] B.", "A.\nB."},
		"lists":                          {"A [1, 2]. B [1;2].", "A [1][2]. B [1][2]."},
		"list with unknown":              {"A [9, 2, 2].", "A [1]."},
		"range":                          {"A [1-4].", "A [1][2][3]."},
		"range backwards":                {"A [4-1].", "A [1][2]."},
		"en dash range":                  {"A [1–2].", "A [1][2]."},
		"neighbours":                     {"A [1][2][9].", "A [1][2]."},
		"a footnote of the answer":       {"A [^1] [1].\n\n[^1]: See [9] and [^2].", "A [^1] [1].\n\n[^1]: See and [^2]."},
		"full width":                     {"A［２］B【1】", "A[1]B[2]"},
		"spaces inside":                  {"A [ 1 ].", "A [1]."},
		"never closed":                   {"A [1", "A [1"},
		"other brackets":                 {"a [x] [ ] [1.2] [1 of 3] b", "a [x] [ ] [1.2] [1 of 3] b"},
		"a year is no marker":            {"[2024] EWHC 12", "[2024] EWHC 12"},
		"rest of a dropped marker":       {"A [[9]1] and [[9][9]2].", "A [1…] and [2…]."},
		"too long for a marker":          {"A [" + strings.Repeat("0", 80) + "1].", "A [" + strings.Repeat("0", 80) + "1…]."},
		"code span stays":                {"Use `a[9]` and ``b ` [9]``.", "Use `a[9]` and ``b ` [9]``."},
		"unclosed code is text":          {"Use `a [9] b", "Use `a b"},
		"escaped code is text":           {"Use \\`a [9]\\` b", "Use \\`a\\` b"},
		"code does not cross paragraphs": {"Use `a [9]\n\nb` [9]", "Use `a\n\nb`"},
		"fence stays":                    {"```go\na[9] = \"x y z w\"\n```\nB [9].", "```go\na[9] = \"x y z w\"\n```\nB."},
		"fence after a dropped marker":   {"[9]```\na[9]\n```\n[9]c", "```\na[9]\n```\nc"},
		"supported quotation": {`It says "shall hold a capital conservation buffer" [1].`,
			`It says "shall hold a capital conservation buffer" [1].`},
		"curly quotation":                        {"It says “the buffer is met with common equity” [1].", "It says “the buffer is met with common equity” [1]."},
		"first letter, white space, punctuation": {"“Customer  data shall be\nsent in encrypted form only.”", "“Customer  data shall be\nsent in encrypted form only.”"},
		"invented quotation":                     {`It says "banks may hold no capital at all" [1].`, "It says " + Removed + " [1]."},
		"invented in guillemets":                 {"« banks may hold no capital » [1]", Removed + " [1]"},
		"invented in German marks":               {"„banks may hold no capital“ [1]", Removed + " [1]"},
		"invented in German books":               {"Es heißt »banks may hold no capital« [1]", "Es heißt " + Removed + " [1]"},
		"invented in Swedish":                    {"Det står ”banks may hold no capital” [1], »banks may hold no capital» [1]", "Det står " + Removed + " [1], " + Removed + " [1]"},
		"invented in Japanese":                   {"「銀行は資本を持たなくてもよい」[1]。", Removed + "[1]。"},
		"invented before a full stop of Japan":   {"「銀行は資本を持たなくてもよい」。[1]", Removed + "。[1]"},
		"invented before a comma of China":       {"“银行可以完全没有任何资本”，[1]", Removed + "，[1]"},
		"invented in guillemets of France":       {"«\u00a0banks may hold no capital\u00a0»\u202f[1]", Removed + "\u202f[1]"},
		"closing marks that open nothing":        {"a » banks may hold no capital « b ” banks may hold no capital ” [1]", "a » banks may hold no capital « b ” banks may hold no capital ” [1]"},
		"half words are not verbatim":            {`"hall hold a capital" [1]`, Removed + " [1]"},
		"short terms are free":                   {`the "tier 1" and "so called" capital`, `the "tier 1" and "so called" capital`},
		"a title may be quoted":                  {`the "Remote Work and Customer Data Policy" says`, `the "Remote Work and Customer Data Policy" says`},
		"inches":                                 {`a 5" disk and a 3.5" disk of two kinds`, `a 5" disk and a 3.5" disk of two kinds`},
		"apostrophes":                            {"it's the bank's own 'private mail' rule", "it's the bank's own 'private mail' rule"},
		"quotation that never closes":            {`He said "banks may hold no capital`, `He said "banks may hold no capital`},
		"quotation ends with paragraph":          {"He said \"banks may hold\n\nno capital\" here", "He said \"banks may hold\n\nno capital\" here"},
		"quotation ends with its item":           {"- an \"odd mark\n- and \"another one\n", "- an \"odd mark\n- and \"another one\n"},
		"too long for a quotation":               {"“" + strings.Repeat("word ", 500) + "”", "“" + strings.Repeat("word ", 500) + "”"},
		"marker inside":                          {`"a breach is reported to the supervisor [1]."`, `"a breach is reported to the supervisor [1]."`},
		"unknown marker inside":                  {`"a breach is reported to the supervisor [9]."`, `"a breach is reported to the supervisor."`},
		"the source's own brackets":              {`"As set out in [7], exceptions need approval" [2]`, `"As set out in, exceptions need approval" [1]`},
		"invented one loses its markers":         {`"banks may hold no capital [1]" and [2]`, Removed + " and [1]"},
		"block quotation":                        {"> Employees may work remotely for up to three days\n\nso [2]", "> Employees may work remotely for up to three days\n\nso [1]"},
		"invented block quotation":               {"> Employees may work from the moon\n> — Policy 2025, section 2\n", "> " + Removed + "\n> — Policy 2025, section 2\n"},
		"block quotation after a dropped marker": {"[9]> Employees may work from the moon", "> " + Removed},
		"quotation after a dropped marker":       {`word[9]"banks may hold no capital" [9]`, "word" + Removed},
		"quotation in Chinese":                   {`规定"银行可以不持有资本"[1]。`, "规定" + Removed + "[1]。"},
		"table":                                  {"| a | b |\n|---|---|\n| x [1] | y [9] |\n", "| a | b |\n|---|---|\n| x [1] | y |\n"},
		"emphasis in a quotation":                {`"Customer data shall be sent in **encrypted form** only"`, `"Customer data shall be sent in **encrypted form** only"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := filter(tc.in); got != tc.want {
				t.Errorf("%q\n got %q\nwant %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestAllowedTextsMayBeQuoted(t *testing.T) {
	in := `You wrote "please send me the list at home" [2].`
	want := `You wrote "please send me the list at home" [1].`
	if got, _ := filter(in, "Hi, please send me the list at home. Thanks"); got != want {
		t.Errorf("got %q", got)
	}
	if got, _ := filter(in); !strings.Contains(got, Removed) { // it is cited
		t.Errorf("a quotation from no source or allowed text came out: %q", got)
	}
}

func TestQuotationMaySpanNeighbouringPassages(t *testing.T) {
	f := New([]Source{
		{N: 1, DocID: "d", Text: "the end of one.", Start: 100},
		{N: 2, DocID: "d", Text: "The start of two", Start: 117},
		{N: 3, DocID: "d", Text: "and of three", Start: 200},
	})
	out := f.Write(`"end of one. The start" "start of two and of"`)
	tail, _ := f.Close()
	if got, want := out+tail, `"end of one. The start" start of two and of`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Rule N21.
func TestQuotationInNoSourceLosesItsMarks(t *testing.T) {
	const invented = "banks may hold no capital at all"
	for name, tc := range map[string]struct {
		in, want   string
		unverified []string
	}{
		"in a sentence":             {`It says "` + invented + `" somewhere [1].`, "It says " + invented + " somewhere [1].", []string{invented}},
		"each in order":             {`"` + invented + `", „es gilt für alle Banken überall“`, invented + ", es gilt für alle Banken überall", []string{invented, "es gilt für alle Banken überall"}},
		"in Chinese":                {"规定“银行在任何时候都可以不持有资本”。", "规定银行在任何时候都可以不持有资本。", []string{"银行在任何时候都可以不持有资本"}},
		"with emphasis":             {`**"banks may hold *no* capital at all"** is said`, "**banks may hold *no* capital at all** is said", []string{"banks may hold *no* capital at all"}},
		"in a table":                {"| a |\n|---|\n| \"" + invented + "\" |\n", "| a |\n|---|\n| " + invented + " |\n", []string{invented}},
		"would begin a heading":     {`"# banks may hold no capital"`, `\# banks may hold no capital`, []string{"# banks may hold no capital"}},
		"cited":                     {`It says "` + invented + `." [1]`, "It says " + Removed + " [1]", nil},
		"cited behind emphasis":     {`It says **"` + invented + `"** [1].`, "It says **" + Removed + "** [1].", nil},
		"cited within":              {`It says "` + invented + ` [1]".`, "It says " + Removed + ".", nil},
		"cited with a wrong number": {`It says "` + invented + `" [9].`, "It says " + Removed + ".", nil},
		"a block quotation":         {"> " + invented, "> " + Removed, nil},
		"marks in a block":          {"> **\"" + invented + "\"**\n\nIt \"" + invented + "\".", "> **" + Removed + "**\n\nIt " + invented + ".", []string{invented}},
		"a term":                    {`The term "high-quality liquid assets" is defined.`, `The term "high-quality liquid assets" is defined.`, nil},
		"scare quotes":              {`These "not quite so equal" banks differ.`, `These "not quite so equal" banks differ.`, nil},
		"a title by its name":       {`The file is called "Budget overview for the year 2026".`, `The file is called "Budget overview for the year 2026".`, nil},
		"a title in German":         {`Die Datei „Übersicht der Kosten für das Jahr 2026“ fehlt.`, `Die Datei „Übersicht der Kosten für das Jahr 2026“ fehlt.`, nil},
		"a title in capitals":       {`Read "The Old Man and the Sea".`, `Read "The Old Man and the Sea".`, nil},
		"a sentence is no title":    {`The file "Banks may hold no capital. It is free of rules."`, "The file Banks may hold no capital. It is free of rules.", []string{"Banks may hold no capital. It is free of rules."}},
		"elsewhere in the document": {`It "applies from the first of January 2027" [1].`, `It "applies from the first of January 2027" [1].`, nil},
		"a block from elsewhere":    {"> This Circular applies from the first of January\n", "> This Circular applies from the first of January\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 4, 1000} { // lengths of the deltas
				f := New(sources()).CheckDocuments(func() []string { return []string{capital, "This Circular applies from the\nfirst of January 2027."} })
				var out strings.Builder
				for rest := tc.in; rest != ""; {
					n := min(size, len(rest))
					out.WriteString(f.Write(rest[:n]))
					rest = rest[n:]
				}
				tail, _ := f.Close()
				if got := out.String() + tail; got != tc.want || !reflect.DeepEqual(f.Unverified(), tc.unverified) {
					t.Errorf("%q\n got %q %q\nwant %q %q", tc.in, got, f.Unverified(), tc.want, tc.unverified)
				}
			}
		})
	}
}

// Rule N16.
func TestCitationsQuoteTheBestSentenceAtItsOffsets(t *testing.T) {
	for name, tc := range map[string]struct {
		in    string
		quote []string
	}{
		"the sentence around": {"Only common equity tier 1 capital may meet the buffer [1].",
			[]string{"The buffer is met with common equity tier 1 capital only."}},
		"the sentence before": {"A breach must be reported to the supervisor. [1] Something else follows about equity.",
			[]string{"A breach is reported to the supervisor within three business days."}},
		"words after the marker": {"According to [2], customer data must be encrypted.",
			[]string{"Customer data shall be sent in encrypted form only, and never to a private address."}},
		"a table's cell": {"| Where | Rule |\n|---|---|\n| staff may work remotely three days [2] | the buffer is met with equity [1] |",
			[]string{"Employees may work remotely for up to three days per week.", "The buffer is met with common equity tier 1 capital only."}},
		"nothing in common": {"Zebra quagga okapi [1].",
			[]string{"Institutions shall hold a capital conservation buffer of 2.5 per cent of risk-weighted assets."}},
		"web": {"Banks have one year to comply [4].", []string{"Banks have a year to comply."}},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := filter(tc.in)
			if len(got) != len(tc.quote) {
				t.Fatalf("%d citations", len(got))
			}
			for i, c := range got {
				if c.Quote != tc.quote[i] {
					t.Errorf("quote %q, want %q", c.Quote, tc.quote[i])
				}
			}
			checkCitations(t, got)
		})
	}
}

// Rule N16.
func TestCitationHasThePageOfItsQuote(t *testing.T) {
	second := strings.Index(capital, "The buffer is met")
	for name, tc := range map[string]struct {
		pages []chat.PageStart
		want  int
	}{
		"no pages":      {nil, 0},
		"one page":      {[]chat.PageStart{{Page: 7, Start: 5000}}, 7},
		"on the second": {[]chat.PageStart{{Page: 7, Start: 5000}, {Page: 8, Start: 5000 + second}}, 8},
		"before it":     {[]chat.PageStart{{Page: 7, Start: 5000}, {Page: 8, Start: 5000 + second + 1}}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			s := sources()[:1]
			s[0].Pages = tc.pages
			f := New(s)
			f.Write("It is met with common equity tier 1 capital only [1].")
			if _, got := f.Close(); len(got) != 1 || got[0].Page != tc.want {
				t.Errorf("citations %+v, want page %d", got, tc.want)
			}
		})
	}
}

func TestOnlyPartOfALongSentenceIsQuoted(t *testing.T) {
	text := strings.Repeat("lorem ipsum dolor sit amet ", 40) + "the supervisor approves the outsourcing " + strings.Repeat("consectetur adipiscing ", 40)
	f := New([]Source{{N: 1, DocID: "d", Text: text, Start: 10}})
	f.Write("Outsourcing is approved by the supervisor [1].")
	_, c := f.Close()
	if n := utf8.RuneCountInString(c[0].Quote); n > maxQuote || !strings.Contains(c[0].Quote, "supervisor approves the outsourcing") {
		t.Errorf("%d characters: %q", n, c[0].Quote)
	}
	if got := string([]rune(text)[*c[0].Start-10 : *c[0].End-10]); got != c[0].Quote {
		t.Errorf("offsets give %q", got)
	}
}

// Rule N16.
func TestWebCitationHasNoOffsets(t *testing.T) {
	_, c := filter("It rose [4].")
	if c[0].Source != "web" || c[0].URL != "https://example.org/news" || c[0].Start != nil || c[0].DocID != "" {
		t.Errorf("%+v", c[0])
	}
}

func TestNoCitationsIsAnEmptyList(t *testing.T) {
	if _, c := filter("No markers."); c == nil || len(c) != 0 {
		t.Errorf("%#v", c)
	}
}

func TestClosedFilterReturnsNothing(t *testing.T) {
	f := New(sources())
	f.Write("A [1")
	f.Close()
	if out := f.Write("] more"); out != "" {
		t.Errorf("wrote %q", out)
	}
	if tail, c := f.Close(); tail != "" || len(c) != 0 {
		t.Errorf("closed twice: %q %v", tail, c)
	}
}

func TestPlainTextIsReturnedAtOnce(t *testing.T) {
	f := New(sources())
	for _, delta := range []string{"Banks", " must", " hold", " capital", ", it", "'s", " the", " rule", ".\n\n", "Then", " -"} {
		if got := f.Write(delta); got != delta {
			t.Errorf("%q came out as %q", delta, got)
		}
	}
	if got := f.Write(" [1"); got != "" {
		t.Errorf("an unfinished marker came out: %q", got)
	}
	if got := f.Write("] x"); got != " [1] x" {
		t.Errorf("got %q", got)
	}
}

func TestHeldBackTextIsBounded(t *testing.T) {
	for _, unit := range []string{"“", "\"a ", "`", "``", "[", "[1,", " ", "~", ">", "> x", "word ", "\n", "“\n", "［", "```"} {
		f := New(sources())
		for range 3_000 {
			f.Write(unit)
			if n := utf8.RuneCountInString(f.in); n > maxHeld+100 {
				t.Fatalf("%q: %d characters held back", unit, n)
			}
		}
		f.Close()
	}
}

func checkCitations(t *testing.T, citations []chat.Citation) {
	t.Helper()
	texts := map[string]Source{}
	for _, s := range sources() {
		texts[s.DocID] = s
	}
	seen := map[string]bool{}
	for i, c := range citations {
		if c.N != i+1 {
			t.Errorf("citation %d has number %d", i, c.N)
		}
		if seen[c.ChunkID+c.URL] {
			t.Errorf("two citations of %s%s", c.ChunkID, c.URL)
		}
		seen[c.ChunkID+c.URL] = true
		s := texts[c.DocID]
		if c.Quote == "" || utf8.RuneCountInString(c.Quote) > maxQuote || !strings.Contains(s.Text, c.Quote) {
			t.Errorf("quote %q", c.Quote)
		}
		if c.Source == "document" {
			if got := string([]rune(s.Text)[*c.Start-s.Start : *c.End-s.Start]); got != c.Quote {
				t.Errorf("quote %q, at its offsets %q", c.Quote, got)
			}
		}
	}
}

var (
	anyMarker = regexp.MustCompile(`[\[［【][ ]*([0-9０-９]+)[ ]*[\]］】]`)
	anyQuote  = regexp.MustCompile(`“([^“”"\n]*)”`)
)

// checkOutput fails if the output has a marker without a citation or an unsupported
// quotation. It skips outputs that may have code.
func checkOutput(t *testing.T, out string, citations []chat.Citation) {
	t.Helper()
	if strings.ContainsAny(out, "`~") { // TestMarkersAndQuotations covers code
		return
	}
	for _, m := range anyMarker.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if year := n >= 1900 && n < 2100; !year && (err != nil || n < 1 || n > len(citations)) {
			t.Errorf("marker %s with %d citations in %q", m[0], len(citations), out)
		}
	}
	h, f := newQuotable(sources(), nil), New(sources())
	for _, m := range anyQuote.FindAllStringSubmatch(out, -1) {
		if plain := withoutMarkers(m[1]); !f.isName(m[1]) && utf8.RuneCountInString(m[1]) < maxHeld && !h.has(m[1]) && !h.has(plain) {
			t.Errorf("unsupported quotation %q", m[1])
		}
	}
}

func FuzzOutputDoesNotDependOnDeltas(f *testing.F) {
	for i, s := range []string{
		"A [2]. B [1] \"shall hold a capital\" [9].", "`a` ```x\n[9]\n``` [1]", "> Employees may work\n“never said so here” [[9]1]",
		"「[1-3]」 “a\n\nb” \"x y z\" 5\" é語[", "```\n   ````\n[9]", "[1,2", "~~~\n~~~\n[7]", "\xff\xe2\x82[\xe2\x82\xac1]", "a \n [9] > quote of four words",
		"“Institutions shall [9] hold a capital” [^1][2024]", "word[9]\"banks may hold no\" [1…]", "> a\r\n\r\n> \"b c d e\"",
		strings.Repeat("`", 70) + "[9]", strings.Repeat(" ", 80) + "[9]", "\"a\n" + strings.Repeat(" ", 70) + "b c\" [1]",
	} {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 20_000 {
			text = text[:20_000]
		}
		whole, wantCitations := filter(text)
		checkOutput(t, whole, wantCitations)
		checkCitations(t, wantCitations)
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, step := range []int{1, 3, 17} {
			fl := New(sources())
			var got strings.Builder
			for rest := text; rest != ""; {
				n := min(len(rest), 1+rnd.IntN(step))
				got.WriteString(fl.Write(rest[:n]))
				rest = rest[n:]
			}
			tail, citations := fl.Close()
			got.WriteString(tail)
			if got.String() != whole || !reflect.DeepEqual(citations, wantCitations) {
				t.Fatalf("in pieces of up to %d:\n%q\nwhole:\n%q", step, got.String(), whole)
			}
		}
	})
}

// Random texts made of markers, quotation marks and code reach more cases than random bytes.
func TestOutputDoesNotDependOnDeltas(t *testing.T) {
	pieces := []string{"[1]", "[2]", "[9]", "[1, 2]", "[", "]", "1", "`", "```", "\n", "\n\n", "> ", "“", "”", "\"", " ", "- ", "a", "word", "shall hold a capital",
		"Employees may work remotely", ".", "é", "語", "^", "…", "~~~", "|", "5\"", "，"}
	rnd := rand.New(rand.NewPCG(7, 7))
	for i := range 4000 {
		var b strings.Builder
		for range 1 + rnd.IntN(25) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		text := b.String()
		whole, want := filter(text)
		checkOutput(t, whole, want)
		fl := New(sources())
		var got strings.Builder
		for j := range len(text) {
			got.WriteString(fl.Write(text[j : j+1]))
		}
		tail, citations := fl.Close()
		got.WriteString(tail)
		if got.String() != whole || !reflect.DeepEqual(citations, want) {
			t.Fatalf("case %d %q:\nbyte by byte %q\nwhole        %q", i, text, got.String(), whole)
		}
	}
}

func ExampleFilter() {
	f := New([]Source{{N: 3, DocID: "policy", Title: "Policy 2025", Text: "Staff may work remotely two days a week.", Start: 0}})
	for _, delta := range []string{"Staff may work remotely two days", " a week [", "3", "], or ", "\"as often as they like\"", " [7]."} {
		fmt.Print(f.Write(delta))
	}
	tail, citations := f.Close()
	fmt.Println(tail)
	fmt.Println(citations[0].N, citations[0].Quote)
	// Output:
	// Staff may work remotely two days a week [1], or [quotation removed: not in the sources].
	// 1 Staff may work remotely two days a week.
}

func TestSentencesOfOnePassageHaveDifferentNumbers(t *testing.T) {
	passage := "The board approved the policy in March. Employees may work from home three days a week. Laptops must be locked away."
	f := New([]Source{{N: 1, DocID: "d", ChunkID: "d.0", Text: passage, Start: 100}})
	out := f.Write("Employees may work from home three days [1]. Laptops must be locked away [1]. So home work is three days a week for employees [1].")
	tail, citations := f.Close()
	if want := "Employees may work from home three days [1]. Laptops must be locked away [2]. So home work is three days a week for employees [1]."; out+tail != want {
		t.Errorf("got %q, want %q", out+tail, want)
	}
	var quotes []string
	for _, c := range citations {
		quotes = append(quotes, c.Quote)
		if passage[*c.Start-100:*c.End-100] != c.Quote {
			t.Errorf("quote %q is not at %d to %d", c.Quote, *c.Start, *c.End)
		}
	}
	if got, want := strings.Join(quotes, "|"), "Employees may work from home three days a week.|Laptops must be locked away."; got != want {
		t.Errorf("quotes %q, want %q", got, want)
	}
}

func TestFreeAnswerWithoutSourcesIsUnchanged(t *testing.T) {
	const text = "She said \"we shall meet again soon\" and a[1] is [2].\n> a line of a poem\n"
	f := New(nil).AllowUncited()
	out := f.Write(text)
	tail, citations := f.Close()
	if out+tail != text || len(citations) != 0 {
		t.Errorf("%q %v", out+tail, citations)
	}
}

func TestFreeAnswerMayQuoteWithoutCiting(t *testing.T) {
	for in, want := range map[string]string{
		`Write "we would like to extend the lease" to them.`:            `Write "we would like to extend the lease" to them.`,
		`It says "banks hold no buffer at all" [1].`:                    "It says " + Removed + " [1].",
		`It says "banks hold no buffer at all." [9]`:                    `It says "banks hold no buffer at all."`,
		`It says "Banks have a year to comply." [4]`:                    `It says "Banks have a year to comply." [1]`,
		`Say "see [9] and [2] for all of it" and "another one, please"`: `Say "see and [1] for all of it" and "another one, please"`,
		"> We would like to extend the lease.\nSo.":                     "> We would like to extend the lease.\nSo.",
		"> Banks hold no buffer at all [1].\nSo.":                       "> " + Removed + "\nSo.",
	} {
		for _, size := range []int{1, 3, 1000} { // lengths of the deltas
			f := New(sources()).AllowUncited()
			var out strings.Builder
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				out.WriteString(f.Write(rest[:n]))
				rest = rest[n:]
			}
			tail, _ := f.Close()
			if got := out.String() + tail; got != want {
				t.Errorf("%q\n got %q\nwant %q", in, got, want)
			}
		}
	}
}

func TestNextPieceContinuesTheCitationNumbers(t *testing.T) {
	f := New(sources())
	f.Write("The buffer was raised in March [4]. A breach is reported within three business days [1].")
	_, first := f.Close()
	f = New(sources()).Continue(first)
	out := f.Write("Banks hold a buffer of 2.5 per cent of risk-weighted assets [1]. A breach is reported to the supervisor [1]. " +
		"Staff work remotely up to three days per week [2]. It was raised in March [4].")
	tail, all := f.Close()
	want := "Banks hold a buffer of 2.5 per cent of risk-weighted assets [3]. A breach is reported to the supervisor [2]. " +
		"Staff work remotely up to three days per week [4]. It was raised in March [1]."
	if out+tail != want {
		t.Errorf("%s", out+tail)
	}
	if len(all) != 4 || !reflect.DeepEqual(all[:2], first) {
		t.Errorf("%+v", all)
	}
	for i, c := range all {
		if c.N != i+1 {
			t.Errorf("citation %d has number %d", i, c.N)
		}
	}
}

func TestDeletedSourceKeepsItsNumber(t *testing.T) {
	gone := chat.Citation{N: 1, Source: "document", DocID: "gone", ChunkID: "gone.1", Title: "Gone", Quote: "was here"}
	f := New(sources()).Continue([]chat.Citation{gone})
	out := f.Write("A breach is reported within three business days [1].")
	tail, all := f.Close()
	if out+tail != "A breach is reported within three business days [2]." || len(all) != 2 || !reflect.DeepEqual(all[0], gone) {
		t.Errorf("%q %+v", out+tail, all)
	}
}

// The words around a quotation, such as the document's name, do not say where it stands.
func TestACitationOfAQuotationShowsTheQuotation(t *testing.T) {
	text := "5.1 Customer data are any data of the customer data policy.\n\n5.3 There are no exceptions to this rule. More follows."
	f := New([]Source{{N: 1, Title: "Customer data policy", DocID: "d", ChunkID: "d.0", Text: text}})
	f.Write("According to **Customer data policy**: “There are no exceptions to this rule.” [1]")
	_, citations := f.Close()
	if len(citations) != 1 || citations[0].Quote != "5.3 There are no exceptions to this rule." {
		t.Fatalf("%+v", citations)
	}
}

func TestCitationInARowMarksItsRow(t *testing.T) {
	source := Source{N: 4, DocID: "d", ChunkID: "d.1", Title: "Invoices", Start: 100,
		Text: "No | Customer | Amount | Status\nR-1 | Ek & Co | 900.00 | open\nR-2 | Ek & Co | 75.00 | open\nR-3 | Weber *GmbH* [1] | 12.00 | paid"}
	f := New([]Source{source})
	f.Write("2 rows match:\n\n| No | Customer | Amount | Status |\n| --- | --- | --- | --- |\n| R-2 | Ek & Co | 75.00 | open [4] |\n| R-3 | Weber \\*GmbH\\* (1) | 12.00 | paid [4] |\n")
	_, citations := f.Close()
	require.Len(t, citations, 2)
	require.Equal(t, "R-2 | Ek & Co | 75.00 | open", citations[0].Quote)
	require.Equal(t, "R-3 | Weber *GmbH* [1] | 12.00 | paid", citations[1].Quote)
}

func TestFiguresThatNoCitedPassageHasAreUnverified(t *testing.T) {
	sources := []Source{
		{N: 1, DocID: "a", ChunkID: "a.1", Title: "Annual report 2024", Heading: "Income: | 2024 | 2023", Text: "(in millions)\nRevenues | 1,577 | 1,400\nOperating income | 210 | 190"},
		{N: 2, DocID: "b", ChunkID: "b.1", Title: "Handbook", Text: "Employees have 28 days of leave. Overtime is paid within thirty days at 125 %."},
	}
	for answer, want := range map[string][]string{
		"Revenues were $1,577 million in 2024 [1].":                                          nil,
		"Revenues were about 1.6 billion [1].":                                               nil,
		"Revenues were $1.577 billion [1], up 12.6 % from 1,400 million in 2023.":            nil,
		"Revenues grew by 177 million: 1,577 - 1,400 = 177 [1].":                             nil,
		"Revenues were 1,677 million [1].":                                                   {"1,677 million"},
		"Revenues grew by 13.9 % [1].":                                                       {"13.9 %"},
		"Revenues grew by 187 million: 1,577 - 1,400 = 187 [1].":                             {"187 million", "187"},
		"1. There are 28 days of leave [2].\n2. Overtime is paid within 30 days [2].":        nil,
		"There are 28 weeks of leave [2].":                                                   {"28 weeks"},
		"Overtime is paid at 152 % within 13 days [2].":                                      {"152 %", "13 days"},
		"It is 28, not 29 [2]; in 2025 too [2].":                                             {"29", "2025"},
		"Employees have 28 days [2]. That is twenty-eight. I counted 12 of 210 rows [1][2].": {"12"},
		"Without a citation: 1,577 and 28 and 99.":                                           {"99"},
		"H<sub>2</sub>O, H~3~O and x<sup>4</sup> [1].":                                       nil, // formulas
	} {
		f := New(sources, "How did it go in 2024?").CheckFigures()
		f.Write(answer)
		f.Close()
		require.Equal(t, want, f.Unverified(), answer)
		require.Equal(t, len(want), f.WrongFigures(), answer)
	}
}

func TestFigureIsNamedSoThatItsPlaceIsFound(t *testing.T) {
	f := New([]Source{{N: 1, DocID: "a", ChunkID: "a.1", Text: "It took 15 days and 5 hours, at 50 degrees."}}).CheckFigures()
	f.Write("It took 15 days and 50 hours [1]. The hours were 5 or 0.5, or 15, or 9 and 90.")
	f.Close()
	require.Contains(t, f.Unverified(), "50 hours")
	f = New([]Source{{N: 1, DocID: "a", ChunkID: "a.1", Text: "It took 19 days."}}).CheckFigures()
	f.Write("It took 19 days [1] or 9.")
	f.Close()
	require.Equal(t, []string{"or 9"}, f.Unverified())
}

func TestAnswerThatMaySayMoreIsCheckedWhereItCites(t *testing.T) {
	f := New([]Source{{N: 1, DocID: "a", ChunkID: "a.1", Text: "It took 15 days."}}).AllowUncited().CheckFigures()
	f.Write("It took 16 days [1].\nLight travels 300,000 km in a second.")
	f.Close()
	require.Equal(t, []string{"16 days"}, f.Unverified())
}
