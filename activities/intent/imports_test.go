package intent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const driveFile = "https://drive.google.com/file/d/1AbC-dEf_GhIjKlMnOpQrStUvWxYz/view"

func TestLinksThatAMessageAsksToImport(t *testing.T) {
	for message, want := range map[string][]string{
		"Look at " + driveFile:                                                          {driveFile},
		"https://drive.google.com/file/d/":                                              {"https://drive.google.com/file/d/"},
		"What does https://example.com/a say?":                                          nil,
		"I found https://example.com/a yesterday":                                       nil,
		"I read https://example.com/a yesterday":                                        nil,
		"read https://example.com/a":                                                    {"https://example.com/a"},
		"Please read https://example.com/a and tell me the sum":                         {"https://example.com/a"},
		"Hi! Can you import this page: https://example.com/a.":                          {"https://example.com/a"},
		"import https://example.com/a, https://example.com/b and https://example.com/c": {"https://example.com/a", "https://example.com/b", "https://example.com/c"},
		"Read https://example.com/a. I also know https://example.com/b":                 {"https://example.com/a"},
		"Bitte lies die Seite https://example.com/a":                                    {"https://example.com/a"},
		"read http://example.com/a":                                                     nil,
	} {
		t.Run(message, func(t *testing.T) {
			var got []string
			for _, f := range LinksToImport(message) {
				got = append(got, f.Text)
			}
			require.Equal(t, want, got)
		})
	}
}

func TestMessagesThatAskForNothingButAnImport(t *testing.T) {
	for message, want := range map[string]bool{
		driveFile:                          true,
		"Please import this: " + driveFile: true,
		"Add " + driveFile + " to my knowledge base": true,
		"Importiere bitte diese Datei: " + driveFile: true,
		"Summarize " + driveFile:                     false,
		driveFile + " What is the capital ratio?":    false,
		"Import " + driveFile + " and compare it":    false,
	} {
		require.Equal(t, want, OnlyImports(message), message)
	}
}

func TestQuestionsForTheListOfImports(t *testing.T) {
	for message, want := range map[string]bool{
		"What documents have I imported?":            true,
		"What have I imported?":                      true,
		"which files did I import so far":            true,
		"Please list my imports":                     true,
		"Show me the imported documents":             true,
		"Was habe ich importiert?":                   true,
		"Zeig mir meine Importe":                     true,
		"What goods have been imported into the EU?": false,
		"What is imported steel?":                    false,
		"list the documents":                         false,
		"How do I import a document?":                false,
	} {
		require.Equal(t, want, AsksForImports(message), message)
	}
}

func TestMessagesThatReferToAnImport(t *testing.T) {
	for message, want := range map[string]bool{
		"What does it say?":                    true,
		"Summarize the document":               true,
		"What is in the liquidity rules?":      true,
		"Worum geht es darin?":                 true,
		"What must a bank hold under Basel 3?": false,
	} {
		require.Equal(t, want, RefersToImport(message, "Liquidity Rules 2026"), message)
	}
}
