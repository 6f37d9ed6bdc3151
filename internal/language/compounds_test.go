package language_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/internal/language"
)

func TestCompoundsAreReadAsTwoWordsWithLinkingLetters(t *testing.T) {
	for word, want := range map[string]language.Split{
		"kündigungsfrist":     {First: "kündigung", Last: "frist"},
		"mietvertrag":         {First: "miet", Last: "vertrag"},
		"straßenreinigung":    {First: "straße", Last: "reinigung"},
		"kinderbetreuung":     {First: "kind", Last: "betreuung"},
		"opzegtermijn":        {First: "opzeg", Last: "termijn"},
		"arbetsgivare":        {First: "arbet", Last: "givare"},
		"lejlighedskontrakt":  {First: "lejlighed", Last: "kontrakt"},
		"irtisanomisilmoitus": {First: "irtisanomis", Last: "ilmoitus"},
	} {
		assert.Contains(t, language.Splits(word), want, word)
	}
	for _, word := range []string{"frist", "b2b-vertragspartner", "κωδικοποιημένοςκανών", strings.Repeat("lang", 20), ""} {
		assert.Empty(t, language.Splits(word), word)
	}
}

func TestTwoWordsOfAQuestionMayBeOneCompound(t *testing.T) {
	german := language.Compounds("Welche Frist gilt für die Kündigung?")
	assert.Contains(t, german["frist"], "kündigungsfrist")
	assert.Contains(t, german["kündigung"], "kündigungsfrist")
	assert.Contains(t, language.Compounds("Wat is de termijn voor opzeg van de huur?")["termijn"], "opzegtermijn")
	for _, other := range []string{
		"What is the period for giving notice?", "Quel est le délai de préavis pour le bail?", "Kündigung", "",
	} {
		assert.Empty(t, language.Compounds(other), other)
	}
}
