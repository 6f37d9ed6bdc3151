package offline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/llm"
)

const (
	handbook = `# Staff Handbook

## Kinds of absence

Talk to your manager before you are absent.

### Holiday
You have 25 days a year.

### Sick leave
Tell your manager by 10 a.m.

### Jury duty
Send the letter of the court.

## Rules for passwords

Passwords protect the accounts of all of us. Follow these:

- Use a manager of passwords.
- Use each password once.
- Use long passwords.

## Certificates

The doctor writes a certificate. The certificate must name:

* the date
* the duration of the absence

Send it within 3 days.`
	satzung = `# Vereinssatzung

## Mitgliedschaft
1. Über die Aufnahme entscheidet der Vorstand.
2. Die Mitgliedschaft endet durch:
   a. den Tod,
   b. Austritt,
   c. Ausschluss.
3. Der Austritt ist mit einer Frist von vier Wochen möglich.

## Organe des Vereins
Die Organe des Vereins sind:
- die Versammlung
- der Vorstand

## Versammlung
Die Einladung wird zwei Wochen vorher verschickt. Anträge sind bis fünf Tage vorher möglich.`
	reglement = `# Règlement de l'atelier

## Accès
Pour devenir membre, il faut remplir les conditions suivantes :
- être majeur ;
- avoir une assurance.

## Interdictions
**Il est interdit :**
- de fumer ;
- de manger près des machines.`
	reglamento = `# Reglamento

## Categorías
- Sumo: hasta 3 kg
- Mini: hasta 500 g

## Faltas
- Moverse antes de la señal.
- Tocar el robot.`
	statuten = `# Statuten

## Lidmaatschap
Het lidmaatschap eindigt:
- door de dood van het lid;
- door opzegging.

## Organen
- de vergadering
- het bestuur`
)

// A question for several things is answered from a list, in five languages.
func TestQuestionsForAListAreAnsweredWithIt(t *testing.T) {
	docs := map[string]string{"Staff Handbook": handbook, "Satzung": satzung, "Règlement": reglement, "Reglamento": reglamento, "Statuten": statuten}
	for _, c := range []struct {
		title, question string
		want            []string
	}{
		{"Staff Handbook", "List all kinds of absence", []string{"“Kinds of absence” [1]", "- “Holiday” [1]", "- “Sick leave”", "- “Jury duty”"}},
		{"Staff Handbook", "What are the rules for passwords?", []string{"- “Use a manager of passwords.” [1]", "- “Use each password once.”", "- “Use long passwords.”"}},
		{"Staff Handbook", "What are the three most important rules about passwords?", []string{"Without a language model I cannot say what matters most.", "- “Use long passwords.”"}},
		{"Staff Handbook", "What must a certificate name?", []string{"“The certificate must name:” [1]", "- “the date” [1]", "- “the duration of the absence” [1]"}},
		{"Satzung", "Welche Organe hat der Verein?", []string{"“Die Organe des Vereins sind:” [1]", "- “die Versammlung” [1]", "- “der Vorstand” [1]"}},
		{"Satzung", "Wodurch endet die Mitgliedschaft?", []string{"“2. Die Mitgliedschaft endet durch:” [1]", "- “a. den Tod,” [1]", "- “b. Austritt,” [1]", "- “c. Ausschluss.” [1]"}},
		{"Satzung", "Welche Fristen gibt es?", []string{"“3. Der Austritt ist mit einer Frist von vier Wochen möglich.” [1]", "“Die Einladung wird zwei Wochen vorher verschickt.” [1]", "bis fünf Tage vorher"}},
		{"Règlement", "Quelles sont les conditions pour devenir membre ?", []string{"conditions suivantes :” [1]", "- “être majeur ;” [1]", "- “avoir une assurance.” [1]"}},
		{"Règlement", "Qu'est-ce qui est interdit ?", []string{"“**Il est interdit :**” [1]", "- “de fumer ;” [1]", "- “de manger près des machines.” [1]"}},
		{"Reglamento", "¿Cuáles son las faltas?", []string{"“Faltas” [1]", "- “Moverse antes de la señal.” [1]", "- “Tocar el robot.” [1]"}},
		{"Statuten", "Welke organen zijn er?", []string{"“Organen” [1]", "- “de vergadering” [1]", "- “het bestuur” [1]"}},
	} {
		f := opened(docs, c.title)
		f.Message = c.question
		got := Inquire(f)
		for _, part := range c.want {
			assert.Contains(t, got, part, c.question)
		}
	}
}

// An answer with a list has this list only, and a question for one thing gets no list.
func TestListsAnswerNothingElse(t *testing.T) {
	f := opened(map[string]string{"Staff Handbook": handbook}, "Staff Handbook")
	f.Message = "What are the rules for passwords?"
	require.NotContains(t, Inquire(f), "Holiday")
	// The name of one document is no reason to take the list of another.
	g := opened(map[string]string{"Equipment": "# Equipment\n\n## Rules\n\n- Charge it at night.\n- Keep it dry.", "Password rules": "# Passwords\n\n## Requirements for passwords\n\n- Use a long password.\n- Use a new password."}, "Equipment", "Password rules")
	g.Message, g.Documents = "What are the most important rules about passwords?", []llm.Document{{ID: "Password rules", Title: "Password rules"}}
	require.Contains(t, Inquire(g), "- “Use a long password.”")
	for _, question := range []string{"What are the rules for visitors?", "When do I send the certificate?", "Which manager approves holiday?"} {
		_, ok := structured(question, f)
		require.False(t, ok, question)
	}
	f.Message = "What are the most important machines?"
	require.True(t, strings.HasPrefix(Inquire(f), "Without a language model I cannot say what matters most."), Inquire(f))
}

const (
	cars = `Car | Price | Weight | Top speed | Length
Astra | 21000 | 1250 | 205 | 4370
Bora | 18500 | 1320 | 190 | 4390
Corsa | 14900 | 1010 | 175 | 3820`
	people = `Name | Alter | Größe
Anna | 41 | 172
Bernd | 67 | 181
Clara | 23 | 165`
	lakes = `Lago | Superficie | Profundidad
Sanabria | 3.2 | 51
Banyoles | 1.1 | 46
Carucedo | 0.5 | 9`
	routes = `Route | Distance | Durée
A | 12 | 95
B | 15 | 80`
	parcels = `Parcel | Fee
P1 | 12
P2 | 31`
)

// Items that are found without the sentence before them stand below it; of a long list only the outermost are shown.
func TestItemsStandBelowTheirSentence(t *testing.T) {
	docs := map[string]string{"Leave": `# Leave

Annual leave grows with the years of work:

- Fewer than 3 years of work: 4 hours of leave
- Between 3 and 15 years of work: 6 hours of leave
- More than 15 years of work: 8 hours of leave`}
	f := opened(docs, "Leave")
	f.Message = "How many hours of leave do I get after 5 years of work?"
	require.Contains(t, Inquire(f), "- “Between 3 and 15 years of work: 6 hours of leave” [1]")

	f = opened(map[string]string{"Minutes": "# Minutes\n\nThe agenda of the assembly has these points:\n\n" + strings.Repeat("- Report of the board\n  - Report of the treasurer\n", 9)}, "Minutes")
	f.Message = "What are the points of the agenda?"
	got := Inquire(f)
	require.Contains(t, got, "- “Report of the board” [1]")
	require.NotContains(t, got, "treasurer")
}

// Adjectives name the column that they compare. Without such a column, or with two, nothing is answered.
func TestAdjectivesNameTheColumnThatTheyCompare(t *testing.T) {
	docs := map[string]string{"Cars": cars, "Personen": people, "Lagos": lakes, "Routes": routes, "Parcels": parcels}
	for _, c := range []struct{ title, question, want string }{
		{"Cars", "Which car is the heaviest?", "**1320** (**Bora**)"},
		{"Cars", "What is the lightest car?", "**1010** (**Corsa**)"},
		{"Cars", "Which car is the fastest?", "**205** (**Astra**)"},
		{"Cars", "Which car is the longest?", "**4390** (**Bora**)"},
		{"Cars", "Which car is the cheapest?", "**14900** (**Corsa**)"},
		{"Cars", "Which car is the tallest?", ""},
		{"Personen", "Welche Person ist die älteste?", "**67** (**Bernd**)"},
		{"Personen", "Welche Person ist die jüngste?", "**23** (**Clara**)"},
		{"Personen", "Welche Person ist die schwerste?", ""},
		{"Lagos", "¿Qué lago es el más profundo?", "**51** (**Sanabria**)"},
		{"Routes", "Quelle route est la plus longue ?", ""},
		{"Parcels", "Which parcel is the heaviest?", ""},
	} {
		got, ok := FromTables(c.question, opened(docs, c.title))
		assert.Equal(t, c.want != "", ok, "%s: %s", c.question, got)
		assert.Contains(t, got, c.want, c.question)
	}
}

// Columns that a program named are asked for in words, and a question for what no column has is not
// answered with all columns.
func TestCellsOfARowNeedTheirColumn(t *testing.T) {
	docs := map[string]string{"Elements": `name | meltingPoint | boilingPoint
Iron | 1811 | 3134
Lead | 600 | 2022`, "Rings": `Categoría | B (cm) | C (cm)
Sumo | 5 | 20
Mini Sumo | 2.5 | 10`}
	got, ok := FromTables("What is the melting point of iron?", opened(docs, "Elements"))
	require.True(t, ok)
	require.Contains(t, got, "| Iron | 1811 |")
	for _, question := range []string{"¿Cuánto puede pesar un Mini Sumo?", "¿Qué diámetro tiene el Mini Sumo?", "¿Cuáles son las categorías de Sumo?"} {
		got, ok := FromTables(question, opened(docs, "Rings"))
		require.False(t, ok, got)
	}
}

// The data at the beginning of a Markdown file is no sentence.
func TestDataBeforeATextIsNotQuoted(t *testing.T) {
	p := gather([]llm.Passage{{N: 1, DocID: "d", Text: "title: Rules for passwords\nquestions: many of them\n\nUse long passwords in all places."}}, nil)
	require.Len(t, p.Excerpts, 1)
	f := opened(map[string]string{"Passwords": "title: Rules for passwords\nquestions:\n  - one\n  - two\n\n# Rules for passwords\n\n- Use long passwords.\n- Use new passwords."}, "Passwords")
	f.Message = "What are the rules for passwords?"
	require.Contains(t, Inquire(f), "- “Use new passwords.” [1]")
	require.Equal(t, "Use long passwords in all places.", p.Excerpts[0].Text)
}

// Rows of a passage that begins within a table keep the names of its columns.
func TestRowsKeepTheirHeaderInLaterPassages(t *testing.T) {
	p := gather([]llm.Passage{{N: 1, DocID: "d", Title: "Elements", Heading: "Metals: Name | Symbol | Density", Text: "Iron | Fe | 7.9\nLead | Pb | 11.3\nTin | Sn | 7.3"}}, nil)
	require.Len(t, p.Excerpts, 3)
	for _, x := range p.Excerpts {
		require.Equal(t, "Name | Symbol | Density", x.Columns)
	}
}

func TestSentencesWithTheWordOfAnItemAreQuotedThemselves(t *testing.T) {
	doc := "# Lease\n\nThe tenant pays:\n\n- rent\n- heating\n\n## Amounts\n\nThe rent of the flat is 500 € a month. The heating of the flat is 80 € a month."
	f := opened(map[string]string{"Lease": doc}, "Lease")
	f.Message = "How much are the rent and the heating of the flat?"
	answer := Inquire(f)
	require.Contains(t, answer, "500 €")
	require.Contains(t, answer, "80 €")
}
