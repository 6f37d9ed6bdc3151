package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuestionWordsOfItsLanguageAreNoContent(t *testing.T) {
	for question, want := range map[string][]string{
		"Wie hoch ist die Miete?":                           {"miete"},
		"Quelle est la durée du préavis ?":                  {"durée", "préavis"},
		"¿Cuánto es el alquiler?":                           {"alquiler"},
		"Hoeveel is de huur?":                               {"huur"},
		"Ile wynosi czynsz?":                                {"wynosi", "czynsz"},
		"Kira ne kadar?":                                    {"kira"},
		"Какая арендная плата?":                             {"арендная", "плата"},
		"What does the die cost?":                           {"die", "cost"},
		"How long is the notice period of the Hotel Miete?": {"long", "notice", "period", "hotel", "miete"},
	} {
		require.Equal(t, want, AskedWords(question), question)
	}
}
