package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuestionWordsOfItsLanguageAreNoContent(t *testing.T) {
	for question, want := range map[string][]string{
		"Wie hoch ist die Miete?":               {"miete"},
		"Quelle est la durée du préavis ?":      {"préavis"},
		"¿Cuánto es el alquiler?":               {"alquiler"},
		"Hoeveel is de huur?":                   {"huur"},
		"Quelle pièce est la moins chère ?":     {"pièce", "chère"},
		"¿Cuál es el estado de la cuenta?":      {"estado", "cuenta"},
		"Welches Recht gilt, und ist es offen?": {"recht", "offen"},
		"Ile wynosi czynsz?":                    {"czynsz"},
		"Kira ne kadar?":                        {"kira"},
		"Какая арендная плата?":                 {"арендная", "плата"},
		"Quel est le montant de l’assurance ?":  {"assurance"},
		"Wie lang ist sie?":                     {"lang"},
		"임대료는 얼마입니까?":                           {"임대료는"},
		"出差住宿标准是多少？":                            {"出差住宿标准"},
		"家賃はいくらですか？":                            {"家賃"},
		"ค่าเช่าเท่าไร":                         {"ค่าเช่า"},
		"什么？":                     {"什么"},
		"What does the die cost?": {"die", "cost"},
		"How long is the notice period of the Hotel Miete?": {"long", "notice", "period", "hotel", "miete"},
	} {
		require.Equal(t, want, AskedWords(question), question)
	}
}
