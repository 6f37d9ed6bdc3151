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
		"Add " + driveFile + " to my knowledge base":                                      true,
		"Importiere bitte diese Datei: " + driveFile:                                      true,
		"look at " + driveFile:                                                            true,
		"Could you take a look at " + driveFile + "?":                                     true,
		"here is the contract: " + driveFile:                                              true,
		"Here's the signed lease for the warehouse in Leeds: " + driveFile + " – thanks!": true,
		"FYI " + driveFile:                                                                true,
		"This is our new travel budget " + driveFile:                                      true,
		"import the following file: " + driveFile + ", thanks":                            true,
		"Hier ist der Vertrag: " + driveFile + ", danke":                                  true,
		"Voici le contrat de bail : " + driveFile + " merci":                              true,
		"Importe ce fichier s'il te plaît : " + driveFile:                                 true,
		"Aquí está el contrato: " + driveFile:                                             true,
		"Ecco il contratto: " + driveFile + " grazie":                                     true,
		"Hier is het contract: " + driveFile:                                              true,
		"Here is the contract: " + driveFile + ", what is the notice period":              false,
		"Here is the contract: " + driveFile + ". Tell me the notice period":              false,
		"Here is the contract, translate it: " + driveFile:                                false,
		"Look at " + driveFile + " and summarize it":                                      false,
		"Hier ist der Vertrag: " + driveFile + ". Fasse ihn zusammen":                     false,
		"What is this? " + driveFile:                                                      false,
		"Is this the contract? " + driveFile:                                              false,
		"Summarize " + driveFile:                                                          false,
		driveFile + " What is the capital ratio?":                                         false,
		"Import " + driveFile + " and compare it":                                         false,
	} {
		require.Equal(t, want, OnlyImports(message), message)
	}
}

func TestQuestionsForTheListOfImports(t *testing.T) {
	for message, want := range map[string]bool{
		"What documents have I imported?":                           true,
		"What have I imported?":                                     true,
		"which files did I import so far":                           true,
		"Please list my imports":                                    true,
		"Show me the imported documents":                            true,
		"Was habe ich importiert?":                                  true,
		"Zeig mir meine Importe":                                    true,
		"Can you tell me which documents were imported so far?":     true,
		"List everything I've imported here":                        true,
		"which of my files have been imported in this chat":         true,
		"Show the files I imported today, please":                   true,
		"What are my imports?":                                      true,
		"What did we import?":                                       true,
		"Did all my imports work?":                                  true,
		"Which imports of mine failed?":                             true,
		"Give me an overview of the imported documents":             true,
		"Welche Dateien habe ich hier bisher importiert?":           true,
		"Quels documents ai-je importés ?":                          true,
		"Quels fichiers ont été importés dans cette conversation ?": true,
		"¿Qué documentos he importado?":                             true,
		"Quali documenti ho importato?":                             true,
		"Welke bestanden heb ik geïmporteerd?":                      true,
		"What are imports?":                                         false,
		"Which documents can be imported?":                          false,
		"What do my contracts say about imported steel?":            false,
		"Which duties apply to imported goods?":                     false,
		"How were my documents imported?":                           false,
		"What goods have been imported into the EU?":                false,
		"What is imported steel?":                                   false,
		"list the documents":                                        false,
		"How do I import a document?":                               false,
	} {
		require.Equal(t, want, AsksForImports(message), message)
	}
}

func TestMessagesThatReferToAnImport(t *testing.T) {
	const name = "Liquidity Rules 2026"
	always := map[string]bool{
		"What is in the liquidity rules?":           true,
		"Summarize the new document":                true,
		"Summarize the document that I've imported": true,
		"Was steht in der neuen Datei?":             true,
		"What must a bank hold under Basel 3?":      false,
		"Which rules hold for travel?":              false,
		"Thanks, that was great!":                   false,
	}
	justNow := map[string]bool{
		"What does it say?":                  true,
		"Summarize the document":             true,
		"And what is its date?":              true,
		"What does it mean, is it possible?": true,
		"What does this document say?":       true,
		"And that?":                          true,
		"Worum geht es darin?":               true,
		"What must be held for liquidity?":   true,
		"Is it possible to delete a file?":   false,
		"Which rates are there this year?":   false,
		"List the duties that a bank has":    false,
		"Gibt es Neues von der Versammlung":  false,
	}
	for message, want := range always {
		require.Equal(t, want, RefersToImport(message, name, false), message)
		if want {
			require.True(t, RefersToImport(message, name, true), message)
		}
	}
	for message, want := range justNow {
		require.Equal(t, want, RefersToImport(message, name, true), message)
		require.False(t, RefersToImport(message, name, false), "%s: nothing says that it is about the import", message)
	}
	require.False(t, RefersToImport("What must a bank hold?", "", true), "the name is not known yet")
}
