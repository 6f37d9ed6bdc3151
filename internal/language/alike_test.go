package language

import (
	"slices"
	"testing"
)

func TestEquivalentsOfWordsAndPhrases(t *testing.T) {
	for text, want := range map[string][2]string{
		"What does the car cost?":            {"car", "vehicle"},
		"Cars may be parked here":            {"car", "vehicle"},
		"Is there a fine for that?":          {"fine", "penalty"},
		"What is my salary?":                 {"salari", "remuneration"},
		"How many days off do I get?":        {"dai", "leave"},
		"May I work from home on Tuesdays?":  {"home", "remote"},
		"Who must be told about the hacking": {"hack", "intrusion"},
	} {
		if got := Equivalents(text)[want[0]]; !slices.Contains(got, want[1]) {
			t.Errorf("%q: %s has no %s: %v", text, want[0], want[1], Equivalents(text))
		}
	}
	if got := Equivalents("The quantum is entangled"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestBritishAndAmericanSpellingsAreFound(t *testing.T) {
	for british, american := range map[string]string{
		"organisation": "organization", "authorised": "authorized", "analyse": "analyze", "colour": "color",
		"favourable": "favorable", "centre": "center", "travelled": "traveled", "licence": "license", "programme": "program", "cheque": "check",
	} {
		if !slices.Contains(OtherSpellings(british), american) || !slices.Contains(OtherSpellings(american), british) {
			t.Errorf("%s %v, %s %v", british, OtherSpellings(british), american, OtherSpellings(american))
		}
	}
	if got := OtherSpellings("liquidity"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
