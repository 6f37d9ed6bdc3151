package chunk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/process"
)

// check fails unless chunks keep every promise of Split about text.
func check(t *testing.T, text string, chunks []chat.Chunk) {
	t.Helper()
	runes := []rune(text)
	pos := 0
	for i, c := range chunks {
		if c.Ordinal != i {
			t.Fatalf("chunk %d has ordinal %d", i, c.Ordinal)
		}
		if c.Start < pos || c.End > len(runes) || c.Start >= c.End {
			t.Fatalf("chunk %d is at %d to %d after %d of %d", i, c.Start, c.End, pos, len(runes))
		}
		if got := string(runes[c.Start:c.End]); got != c.Text {
			t.Fatalf("chunk %d: text %q, at its offsets %q", i, c.Text, got)
		}
		if strings.TrimSpace(c.Text) == "" {
			t.Fatalf("chunk %d is empty", i)
		}
		if n := utf8.RuneCountInString(c.Text); n > Max {
			t.Fatalf("chunk %d has %d characters", i, n)
		}
		onlySpace(t, runes[pos:c.Start])
		pos = c.End
	}
	onlySpace(t, runes[pos:])
}

func onlySpace(t *testing.T, gap []rune) {
	t.Helper()
	for _, r := range gap {
		if !unicode.IsSpace(r) {
			t.Fatalf("text lost between chunks: %q", string(gap))
		}
	}
}

func TestChunksKnowTheirPages(t *testing.T) {
	chunks := []chat.Chunk{{Start: 0, End: 10}, {Start: 12, End: 30}, {Start: 30, End: 35}, {Start: 40, End: 50}}
	SetPages(chunks, []chat.PageStart{{Page: 2, Start: 0}, {Page: 3, Start: 11}, {Page: 5, Start: 20}, {Page: 6, Start: 36}, {Page: 7, Start: 50}})
	want := [][]chat.PageStart{
		{{Page: 2, Start: 0}},
		{{Page: 3, Start: 12}, {Page: 5, Start: 20}},
		{{Page: 5, Start: 30}},
		{{Page: 6, Start: 40}},
	}
	for i, c := range chunks {
		if !slices.Equal(c.Pages, want[i]) {
			t.Errorf("chunk %d: %v, want %v", i, c.Pages, want[i])
		}
	}
	SetPages(chunks[:1], nil)
	for at, page := range map[int]int{0: 0, 12: 3, 19: 3, 20: 5, 29: 5} {
		if got := chat.PageAt(want[1], at); got != page {
			t.Errorf("character %d is on page %d, want %d", at, got, page)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", " \n\t ", "# Title\n\nOne sentence. Two sentences.\n", "Title\n=====\n\ntext", "- a\n- b\n\n1. c\n",
		"```\ncode\n\nmore\n```\nafter", "ARTICLE ONE\nText.\r\n\r\nSection 2 Scope\nText", "| a | b |\n|---|---|\n",
		strings.Repeat("word ", 2000), strings.Repeat("x", 5000), strings.Repeat("語。", 3000), "a\u2028b\u0085c\fd",
		strings.Repeat("# Heading\n", 400), "Art. 5 No. 6 e.g. J. S. Bach\n\n", strings.Repeat("\n", 3000) + "end",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		check(t, s, Split(s))
	})
}

func TestSplitEndsPassagesAtHeadingsAndNamesThem(t *testing.T) {
	body := strings.Repeat("The institution holds enough capital at all times. ", 15)
	text := "# Circular\n\n## 4.1 Scope\n\n" + body + "\n\n4.2 Capital buffers\n\n" + body + "\n\nArticle 5\n\n" + body +
		"\n\nLIQUIDITY RULES\n" + body + "\n\nClosing words\n-------------\n\n" + body
	chunks := Split(text)
	check(t, text, chunks)
	var got []string
	for _, c := range chunks {
		got = append(got, c.Heading)
	}
	want := []string{"4.1 Scope", "4.2 Capital buffers", "Article 5", "LIQUIDITY RULES", "Closing words"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Fatalf("headings %q, want %q", got, want)
	}
}

func TestSplitCutsLongParagraphsBetweenSentences(t *testing.T) {
	text := strings.Repeat("Each bank reports its exposure to the supervisor, cf. Art. 12 No. 3, within ten days. ", 60)
	chunks := Split(text)
	check(t, text, chunks)
	if len(chunks) < 3 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for _, c := range chunks {
		if !strings.HasPrefix(c.Text, "Each bank") || !strings.HasSuffix(c.Text, "ten days.") {
			t.Errorf("not cut at a sentence: %q … %q", c.Text[:20], c.Text[len(c.Text)-20:])
		}
	}
}

func TestHeadingIsInThePassageOfTheTextAfterIt(t *testing.T) {
	text := strings.Repeat("A sentence of some length stands here to fill it. ", 27) + "\n\n3.1 Outsourcing\n\n" +
		strings.Repeat("Outsourcing needs a written contract. ", 3)
	chunks := Split(text)
	check(t, text, chunks)
	if last := chunks[len(chunks)-1]; !strings.HasPrefix(last.Text, "3.1 Outsourcing") || last.Heading != "3.1 Outsourcing" {
		t.Fatalf("last chunk: heading %q, text %q", last.Heading, last.Text)
	}
}

func TestForDocumentNamesChunks(t *testing.T) {
	c := ForDocument("d1", strings.Repeat("Some words in a row. ", 200))
	for i, want := range []string{"d1.0", "d1.1"} {
		if c[i].ID != want || c[i].DocID != "d1" {
			t.Errorf("chunk %d is %q of %q", i, c[i].ID, c[i].DocID)
		}
	}
}

// Adversarial texts take no longer than plain ones: a text that is four times as long takes
// four times as long, not 16 times.
func TestSplitIsLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"plain words":      "capital buffer requirement applies. ",
		"dots":             ". ",
		"initials":         "A. ",
		"enumerators":      "1. ",
		"no spaces":        "x",
		"blank lines":      "\n",
		"headings":         "# H\n",
		"unclosed fence":   "```\n",
		"short lines":      "Ab\n",
		"punctuation":      "!?.)\"",
		"rules":            "---\n",
		"items":            "- x\n",
		"wide characters":  "語",
		"numbered heading": "4.2 Buffers\n",
		"ellipses":         "... ",
		"quotes":           "\"a.\" ",
	} {
		took := func(size int) time.Duration {
			text := strings.Repeat(unit, size/len(unit))
			began := process.CPUTime(t)
			Split(text)
			return process.CPUTime(t) - began
		}
		// Short times are noise, such as that of the garbage collector.
		if long := took(480_000); long > time.Second && long > 9*took(120_000) {
			t.Errorf("%s: %v for 480,000 bytes", name, long)
		}
	}
}

func TestEveryPassageOfATableHasItsHeader(t *testing.T) {
	var b strings.Builder
	b.WriteString("## Stock\n\nBefore the table stands a sentence.\n\nItem | On hand | Reorder level\n")
	for i := range 200 {
		fmt.Fprintf(&b, "Part-%04d | %d | %d\n", i, i*7, i%50)
	}
	b.WriteString("\nRegion | 2023 | 2023\nRegion | Q1 | Q2\n")
	for i := range 100 {
		fmt.Fprintf(&b, "North-%04d | %d | %d\n", i, i*7, i%50)
	}
	text := b.String()
	chunks := Split(text)
	require.Greater(t, len(chunks), 4)
	runes := []rune(text)
	for _, c := range chunks {
		require.Equal(t, string(runes[c.Start:c.End]), c.Text)
		if strings.HasPrefix(c.Text, "Part-") {
			require.Equal(t, "Stock: Item | On hand | Reorder level", c.Heading)
		} else if strings.HasPrefix(c.Text, "North-") {
			require.Equal(t, "Stock: Region | 2023 | 2023 / Region | Q1 | Q2", c.Heading)
		} else {
			require.Equal(t, "Stock", c.Heading)
		}
	}
}

// The words of a row, the names of its columns and the caption are found together: each passage of a
// table has them, also if the caption has a year or a company's name and does not look like a title.
func TestEachPassageOfATableHasItsCaptionAndHeader(t *testing.T) {
	text := "Some prose about the year stands here, and ends.\n\nInvoices of Ek & Co, 2026:\n\nNo | Customer | Amount\n"
	for i := range 200 {
		text += fmt.Sprintf("R-%03d | Customer %d | %d.00\n", i, i, 10*i)
	}
	text += "\nAnd then there is a sentence.\n\nPart | Stock\nbolt | 3\n" + strings.Repeat("nut | 4\n", 300)
	chunks := Split(text)
	check(t, text, chunks)
	for _, c := range chunks[1:] {
		switch {
		case strings.HasPrefix(c.Text, "R-"):
			require.Equal(t, "Invoices of Ek & Co, 2026: No | Customer | Amount", c.Heading)
		case strings.HasPrefix(c.Text, "nut"):
			require.Equal(t, "Part | Stock", c.Heading, "the sentence before the table is no caption")
		}
	}
}

func TestLabelsBetweenTheRowsOfATableKeepItsHeader(t *testing.T) {
	rows := func(prefix string) (out string) {
		for i := range 60 {
			out += fmt.Sprintf("%s-%02d | %d | open\n", prefix, i, i)
		}
		return out
	}
	text := "Shop | Staff | State\nDeutschland\n" + rows("DE") + "ประเทศไทย\nกรุงเทพ\n" + rows("TH") +
		"Other prices\nArticle | Price | Unit\n" + rows("AR") + "\nA sentence ends the table.\n\n" + rows("none")
	seen := map[string]bool{}
	for _, c := range Split(text) {
		switch first, _, _ := strings.Cut(c.Text, "-"); first {
		case "DE", "TH", "ประเทศไทย\nกรุงเทพ\nTH":
			seen[first] = true
			require.Equal(t, "Shop | Staff | State", c.Heading, c.Text)
		case "AR":
			seen[first] = true
			require.Contains(t, c.Heading, "Article | Price | Unit")
			require.NotContains(t, c.Heading, "Shop")
		case "none":
			require.NotContains(t, c.Heading, "Shop")
		}
	}
	require.True(t, seen["DE"] && seen["TH"] && seen["AR"], seen)
}
