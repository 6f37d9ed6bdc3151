package intent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuestionsAboutTheLibrary(t *testing.T) {
	for message, want := range map[string]bool{
		"Which documents do I have?":                     true,
		"list my files":                                  true,
		"Show me all my documents":                       true,
		"How many contracts do I have?":                  true,
		"what have I uploaded this week?":                true,
		"since when do I have the lease?":                true,
		"Which files failed?":                            true,
		"Welche Dokumente habe ich?":                     true,
		"Wie viele Dateien gibt es?":                     true,
		"Quels documents ai-je importés ?":               true,
		"Combien de fichiers ai-je ?":                    true,
		"¿Qué documentos tengo?":                         true,
		"¿Cuántos archivos hay?":                         true,
		"Welke documenten heb ik?":                       true,
		"Hoeveel bestanden heb ik?":                      true,
		"Which documents mention a monthly fee?":         false,
		"Which documents are needed for a visa?":         false,
		"How many contracts did the company sign?":       false,
		"What documents must be submitted to the bank?":  false,
		"How many days of leave do I have?":              false,
		"Welche Unterlagen brauche ich für den Antrag?":  false,
		"What is in the contract?":                       false,
		"What are the reports that 3M filed in 2018 on?": false,
	} {
		require.Equal(t, want, AsksLibrary(message), message)
	}
}

func TestRequestsThatNeedAModel(t *testing.T) {
	for message, want := range map[string]bool{
		"Translate the contract into German":            true,
		"Write me a letter to the tenant":               true,
		"Summarize the lease in three bullets":          true,
		"Übersetze den Vertrag":                         true,
		"What is the notice period?":                    false,
		"Who may write to the regulator?":               false,
		"Summarize the lease":                           false,
		"When must the total be paid according to X?":   false,
		"What was the average revenue that it reported": false,
	} {
		require.Equal(t, want, NeedsModel(message), message)
	}
}

func TestRequestsForAJudgement(t *testing.T) {
	for message, want := range map[string]bool{
		"What do you think of the lease?":                          true,
		"Is the supplier contract fair?":                           true,
		"Is this a good deal for the tenant?":                      true,
		"Should we sign it?":                                       true,
		"Give me some ideas for a better policy":                   true,
		"Was hältst du vom Mietvertrag?":                           true,
		"Ist der Mietvertrag fair?":                                true,
		"Sollten wir den Vertrag unterschreiben?":                  true,
		"Que pensez-vous du bail ?":                                true,
		"Est-ce que le bail est équitable ?":                       true,
		"¿Qué opina del contrato?":                                 true,
		"¿El contrato es justo?":                                   true,
		"Wat vind je van het contract?":                            true,
		"Is het contract eerlijk?":                                 true,
		"What is the notice period?":                               false,
		"How long is the voucher good for?":                        false,
		"Is the clause good for the tenant?":                       true,
		"Should a breach be reported?":                             false,
		"Are goods returned in good condition paid for?":           false,
		"Does the report have recommendations for the board?":      false,
		"What are the risks of the company?":                       false,
		"Ist das Rauchen in der Wohnung erlaubt?":                  false,
		"Was ist bei guter Führung vorgesehen?":                    false,
		"Quels sont les arguments pour la fusion ?":                false,
		"¿Cuáles son las sugerencias para el consejo en la carta?": false,
		"Welke goederen zijn goedgekeurd?":                         false,
	} {
		require.Equal(t, want, AsksForJudgement(message), message)
	}
}

func TestImportsOfAllConversationsAreAQuestionAboutTheLibrary(t *testing.T) {
	for _, message := range []string{
		"list my imports everywhere", "What have I imported in all conversations?", "Which files did I import in total?",
		"Welche Dateien habe ich insgesamt importiert?", "Show me all imports across all chats",
	} {
		require.True(t, AsksLibrary(message), message)
		require.False(t, AsksForImports(message), message)
		require.True(t, ReadLibrary(message, time.Time{}).Imported, message)
	}
	require.False(t, ReadLibrary("Which documents do I have?", time.Time{}).Imported)
}
