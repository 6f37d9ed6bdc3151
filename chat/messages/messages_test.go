package messages

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextHasItsValues(t *testing.T) {
	for want, m := range map[string]Message{
		"The file is empty.":                                                                                           FileEmpty,
		"The document is larger than the 50 MB allowed.":                                                               DocumentTooLarge.With(Params{"limit": int64(50)}),
		"Unsupported file type. Text, HTML and PDF files can be read.":                                                 DocumentType.With(Params{"types": []string{"Text", "HTML", "PDF"}}),
		"You may store 3 discovery boards and have done so. Please delete something.":                                  QuotaOwner.With(Params{"limit": 3, "stored": "discoveries"}),
		"That file is too large to import (3.1MB). The maximum file size is 1MB.":                                      ImportTooLarge.With(Params{"size": 3<<20 + 1, "limit": 1 << 20}),
		`I could not find "A {b}". Which document do you mean?`:                                                        AskAfterNotFound.With(Params{"names": `"A {b}"`, "question": AskDocument.Coded}),
		"The model did not answer. Please try again in a moment. The provider does not accept the API key. Check KEY.": ModelUnavailable.Then(HintKey.With(Params{"setting": "KEY"})),
	} {
		require.Equal(t, want, m.Text)
		require.Equal(t, m.Text, Read(m.Stored()).Text, "read from a row")
	}
}

func TestTextsOfOthersAreKeptAsTheyAre(t *testing.T) {
	for _, text := range []string{"", "The e-mail has no body.", `{"message_code":"unknown"}`, `{"message_code":`} {
		m := Read(text)
		require.Equal(t, Plain(text), m)
		require.Equal(t, text, m.Stored())
	}
	require.Equal(t, Plain("Something. Check it."), Plain("Something.").Then(Plain("Check it.")))
}

func TestPlaceholdersHaveAKnownKind(t *testing.T) {
	for _, code := range Codes() {
		require.Regexp(t, `^[a-z_]+\.[a-z_]+$`, code)
		require.NotEmpty(t, catalog[code])
		for _, p := range code.Placeholders() {
			require.NotEmpty(t, typeOf(p.Kind), "%s: {%s:%s}", code, p.Name, p.Kind)
		}
	}
}

var update = flag.Bool("update", false, "write the page's list of codes")

const listOfPage = "../../web/src/words/codes.ts"

// The page has words for every code of its list in each of its languages, which its type
// check ensures.
func TestPageHasEveryCode(t *testing.T) {
	want := pageList()
	if *update {
		require.NoError(t, os.WriteFile(listOfPage, []byte(want), 0o644))
	}
	got, err := os.ReadFile(listOfPage)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run: go test ./chat/messages -update")
}

// inAnswers begins the codes of texts that are part of an answer. The page looks for them.
const inAnswers = "answer."

// worded begins the codes of texts that the server words itself.
const worded = "frame."

func TestTextsOfAnswersHaveTheSameValuesInEachLanguage(t *testing.T) {
	for _, code := range Codes() {
		if _, translated := translations["de"][code]; !translated {
			require.NotContains(t, string(code), worded)
			continue
		}
		for _, lang := range framed {
			in := translations[lang][code]
			require.NotEmpty(t, in, "%s in %s", code, lang)
			var here, english []string
			for _, s := range placeholder.FindAllString(in, -1) {
				p := readPlaceholder(s)
				if nouns, is := counted[p.Kind]; is {
					require.NotEmpty(t, nouns[lang][0]+nouns[lang][1], "%s: %s in %s", code, p.Kind, lang)
				}
				here = append(here, p.Name)
			}
			for _, p := range code.Placeholders() {
				english = append(english, p.Name)
			}
			require.ElementsMatch(t, english, here, "%s in %s", code, lang)
		}
	}
}

func TestAnAnswerIsWordedInALanguage(t *testing.T) {
	values := Params{"n": 1, "what": "2024"}
	require.Equal(t, "Ich habe 1 Zeile dieser Tabelle gesehen. Ohne KI-Modell zähle und rechne ich nicht über eine Tabelle.", RowsSeen.In("de", values))
	require.Equal(t, "Volgens **Lease**:", AccordingTo.In("nl", Params{"title": "**Lease**"}))
	require.Equal(t, "I found nothing in your documents that answers this.", NothingFound.In("it", nil), "no words in Italian")
	require.Equal(t, "There is 1 document that you can ask about:", DocumentsHere.In("", values))
	require.Equal(t, "a, b und c", Joined("de", []string{"a", "b", "c"}))
}

func pageList() string {
	var b strings.Builder
	b.WriteString("// Made by: go test ./chat/messages -update\n\n/** The codes of the server's texts, with the values in each. */\nexport interface Values {\n")
	for _, code := range Codes() {
		if strings.HasPrefix(string(code), inAnswers) || strings.HasPrefix(string(code), worded) {
			continue
		}
		b.WriteString("  " + quoted(string(code)) + ": ")
		list := code.Placeholders()
		if len(list) == 0 {
			b.WriteString("null;\n")
			continue
		}
		var fields []string
		for _, p := range list {
			fields = append(fields, p.Name+": "+typeOf(p.Kind))
		}
		b.WriteString("{ " + strings.Join(fields, "; ") + " };\n")
	}
	b.WriteString("}\n\n/** Texts of the server inside of answers. */\nexport const inAnswers = {\n")
	for _, code := range Codes() {
		if name, is := strings.CutPrefix(string(code), inAnswers); is {
			said := []string{quoted(catalog[code])}
			for _, lang := range framed {
				if text, translated := translations[lang][code]; translated {
					said = append(said, quoted(text))
				}
			}
			if len(said) == 1 {
				b.WriteString("  " + name + ": " + said[0] + ",\n")
			} else {
				b.WriteString("  " + name + ": [\n    " + strings.Join(said, ",\n    ") + ",\n  ],\n")
			}
		}
	}
	b.WriteString("} as const;\n")
	return b.String()
}

// typeOf returns the TypeScript type of a kind of value; "" for an unknown kind.
func typeOf(k Kind) string {
	switch k {
	case Name, Another:
		return "string"
	case Number, Bytes:
		return "number"
	case List:
		return "readonly string[]"
	}
	if _, is := counted[k]; is {
		return "number"
	}
	var words []string
	for _, word := range k.Values() {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " | ")
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
