package retrieval_test

import (
	"testing"

	"github.com/palaver-chat/palaver/chat"
)

func TestOnlyANumberOfTheCountedThingAnswersHowMany(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("garden", "Allotment Rules", `1. Plots. The colony has 84 plots. A gardener rents at most two plots.
2. Gardeners. A gardener waters in the evening only. The gardeners of a path choose a warden.
3. Water. Taps are turned off for the winter. Each path has a tap.
4. Compost. Heaps are turned every six weeks. Children: up to four may share a bed.
5. Keys. Lost keys are replaced for EUR 25.`)
	for question, low := range map[string]bool{
		"How many plots does the colony have?":  false,
		"How many plots may a gardener rent?":   false,
		"How many gardeners does a path have?":  true,
		"How many taps does each path have?":    true,
		"How many kids may share a bed?":        false,
		"After how many days are heaps turned?": false, // weeks are a time, too
		"How often are heaps turned?":           false,
		"Who chooses the warden of a path?":     false,
	} {
		if s := b.choose(chat.Inquire, question); (s.Confidence == chat.Low) != low {
			t.Errorf("%s (%.2f): %q", s.Confidence, s.Score, question)
		}
	}
}

func TestRarestWordCountsOnlyBesideAnotherWordOfTheQuestion(t *testing.T) {
	b := setup(t)
	b.add("choir", "Choir Rules", "The conductor chooses the pieces. Singers stand when the conductor enters.")
	b.add("hall", "Hall Rental", "The hall costs EUR 80 an evening. The landlord pays for the heating.")
	b.add("trip", "Concert Tour", "Singers receive their meals on the tour. The bus leaves from the hall. Nobody sings in the bus.")
	for question, want := range map[string]chat.Confidence{
		"What does the conductor earn?":             chat.Low, // pay is in another sentence
		"Who is the landlord of the conductor?":     chat.Low,
		"May singers sing in the bus on the tour?":  chat.High,
		"Do singers get food when they are on tour": chat.Medium,
	} {
		if s := b.choose(chat.Inquire, question); s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, question)
		}
	}
}

func TestLabelOfAClauseIsAPartOfItsSentences(t *testing.T) {
	b := setup(t)
	b.samples()
	b.add("aquarium", "Aquarium Standard", `1. Salinity. Basins are kept at 35 grams a litre.
2. Warmth. Tropical basins are kept at 26 degrees. A diver reads the gauges daily.
3. Sharks are fed twice a week.`)
	for question, want := range map[string]chat.Confidence{
		"How warm are tropical basins?": chat.Medium, // by "temperature"
		"What salinity do basins have?": chat.High,
		"Who feeds the penguins?":       chat.Low,
		"How warm do sharks like it?":   chat.Low, // the label of another clause
	} {
		if s := b.choose(chat.Inquire, question); s.Confidence != want {
			t.Errorf("%s (%.2f), want %s: %q", s.Confidence, s.Score, want, question)
		}
	}
}
