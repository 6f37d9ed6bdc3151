package sentence

import (
	"slices"
	"strings"
	"testing"
)

func texts(s string) []string {
	var out []string
	for _, span := range Sentences(s) {
		out = append(out, strings.Join(strings.Fields(span.Text), " "))
	}
	return out
}

func TestSentences(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"plain":               {"One is here. Two is there! Is three? Yes.", []string{"One is here.", "Two is there!", "Is three?", "Yes."}},
		"wrapped lines":       {"A sentence that goes on over the end of the\nline. And another.", []string{"A sentence that goes on over the end of the line.", "And another."}},
		"Windows lines":       {"A sentence that goes on over the end of the\r\nline. And another.", []string{"A sentence that goes on over the end of the line.", "And another."}},
		"abbreviations":       {"See Art. 12 No. 3, cf. Dr. Weber and J. S. Bach. Next, e.g. this one.", []string{"See Art. 12 No. 3, cf. Dr. Weber and J. S. Bach.", "Next, e.g. this one."}},
		"German":              {"Die Miete wird am 1. Februar angepasst. Mieter bzw. Vermieter zahlen z. B. Strom ab dem 3. Monat. Siehe Nr. 5 und Abs. 2. Das Jahr endet 2024. Neues folgt.", []string{"Die Miete wird am 1. Februar angepasst.", "Mieter bzw. Vermieter zahlen z. B. Strom ab dem 3. Monat.", "Siehe Nr. 5 und Abs. 2.", "Das Jahr endet 2024.", "Neues folgt."}},
		"French":              {"Mme. Dupont paie env. 50 euros, p. ex. Lundi. Elle part.", []string{"Mme. Dupont paie env. 50 euros, p. ex. Lundi.", "Elle part."}},
		"Spanish":             {"La Sra. López firma, p. ej. Aquí, según la pág. 4. Después paga.", []string{"La Sra. López firma, p. ej. Aquí, según la pág. 4.", "Después paga."}},
		"Dutch":               {"De heer en mevr. Jansen tekenen, bijv. Vandaag, volgens nr. 3. Daarna betalen zij.", []string{"De heer en mevr. Jansen tekenen, bijv. Vandaag, volgens nr. 3.", "Daarna betalen zij."}},
		"a number at the end": {"It has a limit of 5. The rest is free. Choose option b. The end.", []string{"It has a limit of 5.", "The rest is free.", "Choose option b.", "The end."}},
		"enumerated":          {"4.2. The bank holds capital. (2) It reports.", []string{"4.2. The bank holds capital.", "(2) It reports."}},
		"decimals":            {"The buffer is 2.5 per cent. It rises.", []string{"The buffer is 2.5 per cent.", "It rises."}},
		"markdown":            {"## 4.2 Buffers\n\nText here.\n\n- First item\n- Second item. With two.\n\n---\n", []string{"4.2 Buffers", "Text here.", "First item", "Second item.", "With two."}},
		"underlined":          {"Capital buffers\n===============\n\nText.", []string{"Capital buffers", "Text."}},
		"legal heading":       {"Article 5. Security incidents\n\nThe Supplier reports.", []string{"Article 5. Security incidents", "The Supplier reports."}},
		"a letter's head":     {"From: Jonas\nTo: Petra\nSubject: List\n\nHi Petra,\n\nI am taking it.", []string{"From: Jonas", "To: Petra", "Subject: List", "Hi Petra,", "I am taking it."}},
		"block quotation":     {"> Quoted words here.", []string{"Quoted words here."}},
		"code":                {"```\nx := 1\ny := 2\n```\nAfter.", []string{"x := 1", "y := 2", "After."}},
		"short whole answer":  {"Yes. No. Maybe so.", []string{"Yes.", "No.", "Maybe so."}},
		"Chinese":             {"第一句。第二句。", []string{"第一句。", "第二句。"}},
		"nothing":             {" \n--- \n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(tc.in); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHeadingsAreMarked(t *testing.T) {
	got := Sentences("# Title\n\nText.")
	if len(got) != 2 || !got[0].Heading || got[1].Heading {
		t.Errorf("%+v", got)
	}
}

func FuzzSentencesMatchTheirOffsets(f *testing.F) {
	for _, s := range []string{"One. Two.\nThree", "# T\n\n- a. b\n- c", "é. 語。\u2028x", "```\na\n", "T\n===\n. .", "Art. 5. J. ", "| a | b |\n> q"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		runes := []rune(s)
		pos := 0
		for _, span := range Sentences(s) {
			if span.Start < pos || span.End <= span.Start || span.End > len(runes) {
				t.Fatalf("%d to %d after %d of %d", span.Start, span.End, pos, len(runes))
			}
			if got := string(runes[span.Start:span.End]); got != span.Text || strings.TrimSpace(got) != got {
				t.Fatalf("text %q, at its offsets %q", span.Text, got)
			}
			pos = span.End
		}
	})
}
