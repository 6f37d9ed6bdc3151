package offline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

func TestTablesAnswerInTheirLanguages(t *testing.T) {
	docs := map[string]string{
		"Lagerliste":  "# Lagerliste\n\nArtikel | Lager | Bestand | Mindestbestand | Preis (EUR)\nPumpe P200 | W3 | 4 | 5 | 1.190,00\nSchlauch 2 m | W1 | 152 | 50 | 12,40\nDichtung 40 mm | W3 | 120 | 100 | 3,50\nVentil V7 | W3 | 47 | 20 | 89,00\nFilter F9 | W2 | 0 | 10 | 22,30",
		"Rechnungen":  "Offene und bezahlte Rechnungen\n\nNr. | Kunde | Betrag | Fällig am | Status\n2026-1 | Müller | 1.200,50 | 01.10.2026 | bezahlt\n2026-2 | Schulz | 300,00 | 15.10.2026 | offen\n2026-3 | Krause | 80,25 | 24.12.2026 | offen\nSumme |  | 1.580,75",
		"Factures":    "Numéro | Client | Montant | Échéance | Payée\nF-1 | Dupont | 1 200,50 € | 1 octobre 2026 | oui\nF-2 | Martin | 300,00 € | 15 octobre 2026 | non\nF-3 | Leroy | 80,25 € | 24 décembre 2026 | non",
		"Stock":       "Pièce | Dépôt | Quantité | Prix\nPompe P200 | W3 | 4 | 1 190,00\nTuyau 2 m | W1 | 152 | 12,40\nJoint 40 mm | W3 | 120 | 3,50",
		"Facturas":    "Factura | Cliente | Importe | Vencimiento | Pagada\nA-1 | García | 1.200,50 | 01/10/2026 | sí\nA-2 | López | 300,00 | 15/10/2026 | no\nA-3 | Ruiz | 80,25 | 24/12/2026 | no",
		"Existencias": "Pieza | Almacén | Existencias | Precio\nBomba P200 | W3 | 4 | 1.190,00\nManguera | W1 | 152 | 12,40\nJunta | W3 | 120 | 3,50",
		"Facturen":    "Factuur | Klant | Bedrag | Vervaldatum | Betaald\nB-1 | Jansen | 1.200,50 | 01-10-2026 | ja\nB-2 | Visser | 300,00 | 15-10-2026 | nee\nB-3 | Bakker | 80,25 | 24-12-2026 | nee",
		"Voorraad":    "Onderdeel | Magazijn | Voorraad | Prijs\nPomp P200 | W3 | 4 | 1.190,00\nSlang | W1 | 152 | 12,40\nPakking | W3 | 120 | 3,50",
	}
	docs["Lager"] = "# Lager\n\nArtikel | Lagerplats | Saldo | Beställningspunkt | Pris\nPump P200 | W3 | 4 | 5 | 1190,00\nSlang | W1 | 152 | 50 | 12,40\nPackning | W3 | 120 | 130 | 3,50"
	docs["Varer"] = "# Varer på lager\n\nVare | Lagersted | Beholdning | Mindstebeholdning | Pris\nPumpe P200 | W3 | 4 | 5 | 1.190,00\nSlange | W1 | 152 | 50 | 12,40\nPakning | W3 | 120 | 130 | 3,50"
	docs["Parts"] = "Part | Warehouse | Stock | Minimum stock | Ordered\nPump P200 | W3 | 4 | 5 | 10\nHose 2 m | W1 | 152 | 50 | 0\nSeal 40 mm | W3 | 120 | 130 | 200\nValve V7 | W2 | 20 | 20 | 5"
	for _, of := range []struct {
		title, question string
		want            []string // nil: no answer
	}{
		{"Lagerliste", "Wie viele Teile sind im Lager W3?", []string{"**3** rows", "Lager: W3", "**171**"}},
		{"Lagerliste", "Welcher Artikel hat den höchsten Bestand?", []string{"**152**", "Schlauch 2 m"}},
		{"Lagerliste", "höchster Bestand", []string{"**152**"}},
		{"Lagerliste", "Was ist der niedrigste Preis?", []string{"**3,50**"}},
		{"Lagerliste", "Wie hoch ist der durchschnittliche Preis?", []string{"**263.44 EUR**"}},
		{"Lagerliste", "Welche Artikel kosten mehr als 50 Euro?", []string{"2 of 5 rows", "Ventil V7"}},
		{"Rechnungen", "Welche Rechnungen sind überfällig?", []string{"1 of 3 rows", "| 2026-2 |"}},
		{"Rechnungen", "Summe aller offenen Rechnungen", []string{"**380.25**", "2 of 3 rows"}},
		{"Rechnungen", "Wie viele Rechnungen sind offen?", []string{"**2** rows"}},
		{"Rechnungen", "Welche Rechnungen von Schulz sind noch nicht bezahlt?", []string{"1 of 3 rows", "| 2026-2 |"}},
		{"Rechnungen", "Was ist die höchste Rechnung?", []string{"**1.200,50**"}},
		{"Rechnungen", "Welche Rechnungen sind im Dezember fällig?", []string{"| 2026-3 |"}},
		{"Factures", "Quelles factures sont en retard ?", []string{"1 of 3 rows", "| F-2 |"}},
		{"Factures", "Total des factures impayées", []string{"**380.25 EUR**"}},
		{"Factures", "Quel est le montant total des factures ouvertes ?", []string{"**380.25 EUR**"}},
		{"Factures", "Combien de factures ne sont pas payées ?", []string{"**2** rows"}},
		{"Factures", "Quelle facture a le montant le plus élevé ?", []string{"**1 200,50 €**"}},
		{"Factures", "Quelles factures sont échues ?", []string{"| F-2 |"}},
		{"Stock", "Combien de pièces sont dans le dépôt W3 ?", []string{"**2** rows", "**124**"}},
		{"Stock", "Quel est le stock le plus élevé ?", []string{"**152**"}},
		{"Stock", "Quelle pièce est la moins chère ?", []string{"**3,50**", "Joint 40 mm"}},
		{"Stock", "Quel est le prix moyen ?", []string{"**401.97**"}},
		{"Facturas", "¿Qué facturas están vencidas?", []string{"1 of 3 rows", "| A-2 |"}},
		{"Facturas", "Total de las facturas pendientes", []string{"**380.25**"}},
		{"Facturas", "¿Cuántas facturas están abiertas?", []string{"**2** rows"}},
		{"Facturas", "¿Cuál es la factura más alta?", []string{"**1.200,50**"}},
		{"Facturas", "Suma de todas las facturas no pagadas", []string{"**380.25**"}},
		{"Existencias", "¿Cuántas piezas hay en el almacén W3?", []string{"**2** rows", "**124**"}},
		{"Existencias", "¿Qué pieza tiene las existencias más altas?", []string{"**152**"}},
		{"Existencias", "¿Cuál es el precio medio?", []string{"**401.97**"}},
		{"Existencias", "¿Qué pieza es la más barata?", []string{"**3,50**"}},
		{"Facturen", "Welke facturen zijn te laat?", []string{"| B-2 |"}},
		{"Facturen", "Welke facturen zijn vervallen?", []string{"1 of 3 rows", "| B-2 |"}},
		{"Facturen", "Totaal van alle openstaande facturen", []string{"**380.25**"}},
		{"Facturen", "Hoeveel facturen zijn nog niet betaald?", []string{"**2** rows"}},
		{"Facturen", "Wat is de hoogste factuur?", []string{"**1.200,50**"}},
		{"Voorraad", "Hoeveel onderdelen liggen in magazijn W3?", []string{"**2** rows", "**124**"}},
		{"Voorraad", "Wat is de hoogste voorraad?", []string{"**152**"}},
		{"Voorraad", "Welk onderdeel is het goedkoopst?", []string{"**3,50**"}},
		{"Voorraad", "Wat is de gemiddelde prijs?", []string{"**401.97**"}},
		{"Lagerliste", "Wie hoch ist der Gesamtbestand?", []string{"**323**", "of Bestand"}},
		{"Lagerliste", "Wie hoch ist der Lagerbestand der Pumpe P200?", []string{"**4**"}},
		{"Lagerliste", "Wie hoch ist der Durchschnittspreis?", []string{"**263.44 EUR**"}},
		{"Lagerliste", "Welcher Artikel hat den höchsten Lagerbestand?", []string{"**152**", "Bestand"}},
		{"Lagerliste", "Welche Artikel liegen unter dem Mindestbestand?", []string{"2 of 5 rows", "| Pumpe P200 |", "| Filter F9 |"}},
		{"Lagerliste", "Wie viele Artikel haben einen Bestand unter dem Mindestbestand?", []string{"**2** rows"}},
		{"Lagerliste", "Welche Artikel kosten höchstens 50 Euro?", []string{"3 of 5 rows"}},
		{"Lagerliste", "Welche Artikel sind nicht im Lager W3?", []string{"2 of 5 rows", "| Schlauch 2 m |", "| Filter F9 |"}},
		{"Lagerliste", "Wie hoch ist der Sicherheitsbestand der Pumpe P200?", nil},
		{"Voorraad", "Wat is de totaalvoorraad?", []string{"**276**"}},
		{"Voorraad", "Wat is de magazijnvoorraad van de pomp P200?", []string{"**4**"}},
		{"Voorraad", "Welke onderdelen liggen niet in magazijn W3?", []string{"1 of 3 rows", "| Slang |"}},
		{"Lager", "Vilken artikel har högst lagersaldo?", []string{"**152**", "Slang"}},
		{"Lager", "Vad är genomsnittspriset?", []string{"**401.97**"}},
		{"Lager", "Hur många artiklar finns på lagerplats W3?", []string{"**2** rows"}},
		{"Lager", "Vilka artiklar ligger under beställningspunkten?", []string{"2 of 3 rows", "| Pump P200 |", "| Packning |"}},
		{"Varer", "Hvilken vare har den højeste lagerbeholdning?", []string{"**152**", "Slange"}},
		{"Varer", "Hvad er gennemsnitsprisen?", []string{"**401.97**"}},
		{"Varer", "Hvilke varer ligger under mindstebeholdningen?", []string{"2 of 3 rows", "| Pumpe P200 |", "| Pakning |"}},
		{"Parts", "Which parts are below the minimum stock?", []string{"2 of 4 rows", "| Pump P200 |", "| Seal 40 mm |"}},
		{"Parts", "Which parts are below their minimum stock in W3?", []string{"2 of 4 rows"}},
		{"Parts", "How many parts have less stock than ordered?", []string{"**2** rows", "| Pump P200 |", "| Seal 40 mm |"}},
		{"Parts", "Which parts have more stock than 20?", []string{"2 of 4 rows"}},
		{"Parts", "What is the safety stock of pump P200?", nil},
		{"Parts", "What is the current stock of pump P200?", []string{"**4**"}},
		{"Parts", "For which parts is the stock at most the minimum stock?", []string{"3 of 4 rows"}},
		{"Parts", "How many parts are below the minimum stock?", []string{"**2** rows"}},
		{"Parts", "What is the lowest stock?", []string{"**4**"}},
		{"Parts", "What is the highest minimum stock?", []string{"**130**"}},
		{"Parts", "Which parts are not in W3?", []string{"2 of 4 rows", "| Hose 2 m |"}},
		{"Parts", "Which parts except those in W3 are there?", []string{"2 of 4 rows", "| Hose 2 m |"}},
		{"Parts", "Which parts have a stock of at most 20?", []string{"2 of 4 rows"}},
		{"Parts", "Which parts are below the safety stock?", nil},
		{"Stock", "Combien de pièces ne sont pas dans le dépôt W3 ?", []string{"**1** row"}},
		{"Stock", "Quelles pièces ne sont pas chères ?", nil},
		{"Lagerliste", "Wie viele Schuhe sind im Lager W3?", nil},
		{"Lagerliste", "Welche Rechnungen sind nicht überfällig?", nil},
	} {
		got, ok := FromTables(of.question, opened(docs, of.title))
		assert.Equal(t, of.want != nil, ok, "%s: %s", of.question, got)
		for _, part := range of.want {
			assert.Contains(t, got, part, of.question)
		}
	}
}

// The frame of an answer is in the language of the question, whatever it quotes.
func TestFrameOfAnAnswerIsInTheLanguageOfTheQuestion(t *testing.T) {
	policy := append(passages(1, "a", "Remote Work Policy v1", policyOld), passages(10, "b", "Remote Work Policy v2", policyNew)...)
	one := []llm.Document{{ID: "a", Title: "Remote Work Policy v1"}, {ID: "b", Title: "Remote Work Policy v2"}}
	for _, c := range []struct {
		task    llm.Task
		message string
		want    []string
	}{
		{llm.TaskInquire, "Was sagt die Policy über laptops und private devices?", []string{"Laut **Remote Work Policy"}},
		{llm.TaskInquire, "Que dit le document sur les laptops et les private devices ?", []string{"Selon **Remote Work Policy", "** :"}},
		{llm.TaskInquire, "¿Qué dice el documento sobre los laptops y private devices?", []string{"Según **Remote Work Policy"}},
		{llm.TaskInquire, "Wat zegt het document over laptops en private devices?", []string{"Volgens **Remote Work Policy"}},
		{llm.TaskInquire, "What does the policy say about laptops and private devices?", []string{"According to **Remote Work Policy"}},
		{llm.TaskInquire, "Wie heißt der Hund von Frau Meier?", []string{"In Ihren Dokumenten habe ich nichts gefunden"}},
		{llm.TaskInquire, "Übersetze die Regeln für laptops ins Deutsche", []string{"Ohne KI-Modell kann ich nicht übersetzen"}},
		{llm.TaskInquire, "What do you think of the Remote Work Policy v1?", []string{"Without a language model I have no opinion", "“"}},
		{llm.TaskInquire, "Was hältst du von der Remote Work Policy v1?", []string{"Ohne KI-Modell habe ich keine Meinung", "Diese Stellen helfen vielleicht", "“"}},
		{llm.TaskInquire, "Que pensez-vous du document Remote Work Policy v1 ?", []string{"Sans modèle de langage, je n'ai pas d'avis"}},
		{llm.TaskInquire, "¿Qué opina del documento Remote Work Policy v1?", []string{"Sin un modelo de lenguaje no tengo opinión"}},
		{llm.TaskInquire, "Wat vindt u van de Remote Work Policy v1?", []string{"Zonder taalmodel heb ik geen mening"}},
		{llm.TaskCompare, "Vergleiche die beiden Dokumente", []string{"Unterschiede und", "| Thema |", "| Ergebnis |", "Verschieden: ", "Gleich"}},
		{llm.TaskCompare, "Compare les deux documents et dis-moi ce qui change", []string{"différences et", "| Sujet |", "Diffère : "}},
		{llm.TaskAudit, "Wir arbeiten an 5 Tagen pro Woche remotely, up to 5 days per week, ohne approval. Das ist nicht so gut.", []string{"des Textes"}},
		{llm.TaskTalk, "Danke, das war es!", []string{"Gern geschehen! Ich kann Ihre Dokumente **zusammenfassen**", "2 Dokumente, darunter **Remote Work Policy v1** und **Remote Work Policy v2**", "- Fasse Remote Work Policy v1 zusammen"}},
		{llm.TaskTalk, "Welche Dokumente habe ich?", []string{"Sie können 2 Dokumente befragen:"}},
		{llm.TaskTalk, "¿Qué documentos tengo?", []string{"Puede preguntar sobre 2 documentos:"}},
		{llm.TaskTalk, "Welke documenten heb ik?", []string{"U kunt vragen stellen over 2 documenten:"}},
		{llm.TaskTalk, "Quels documents ai-je ?", []string{"Vous pouvez interroger 2 documents :"}},
	} {
		f := llm.Facts{Message: c.message, Passages: policy, Documents: one}
		if c.task == llm.TaskTalk {
			has(t, talk(f), c.want...)
		} else {
			has(t, answered(t, c.task, f), c.want...)
		}
	}
	recent := []llm.Message{{Role: llm.User, Text: "Was sagt die Policy über laptops?"}}
	has(t, answered(t, llm.TaskInquire, llm.Facts{Message: "devices?", Recent: recent, Passages: policy}), "Laut **")
}

// Documents rarely name their risks. What they say is quoted, and the answer says what is missing.
func TestQuestionForRisksThatNoDocumentNamesSaysThatAModelIsMissing(t *testing.T) {
	contract := passages(1, "a", "Supplier Contract", "Termination\nEither party may terminate with a notice of one month. The supplier pays a penalty of 500 euros for each late delivery.")
	named := []llm.Document{{ID: "a", Title: "Supplier Contract"}}
	for question, want := range map[string]string{
		"What are the risks in the supplier contract?":    "Without a language model",
		"What are the weak points of the contract?":       "Without a language model",
		"Welche Risiken hat der Vertrag?":                 "Ohne KI-Modell",
		"Wo sind die Schwächen des Vertrags?":             "Ohne KI-Modell",
		"Quels sont les inconvénients de ce contrat ?":    "Sans modèle de langage",
		"¿Cuáles son los riesgos del contrato?":           "Sin un modelo de lenguaje",
		"Wat zijn de risico's van het contract?":          "Zonder taalmodel",
		"Quali sono i rischi del contratto?":              "Without a language model",
		"Quais são as desvantagens e riscos do contrato?": "Without a language model",
	} {
		has(t, answered(t, llm.TaskInquire, llm.Facts{Message: question, Passages: contract, Documents: named}), want, "terminate with a notice of one month")
	}
	report := passages(1, "a", "Annual Report", "Outlook\nThe main risks of the company are currencies and floods. The board met nine times.")
	got := answered(t, llm.TaskInquire, llm.Facts{Message: "What are the risks of the company?", Passages: report, Documents: named})
	has(t, got, "currencies and floods")
	assert.NotContains(t, got, "Without a language model")
}

func TestTablesAreAnsweredInTheLanguageOfTheQuestion(t *testing.T) {
	docs := map[string]string{"Lagerliste": "# Lagerliste\n\nArtikel | Lager | Bestand | Preis (EUR)\nPumpe P200 | W3 | 4 | 1.190,00\nSchlauch 2 m | W1 | 152 | 12,40\nDichtung 40 mm | W3 | 120 | 3,50"}
	for question, want := range map[string][]string{
		"Wie viele Teile sind im Lager W3?":         {"**2** Zeilen passen: 2 von 3 Zeilen von **Lagerliste**", "Die Summe von Bestand ist **124**"},
		"Welcher Artikel hat den höchsten Bestand?": {"Höchster Wert von Bestand: **152** (**Schlauch 2 m**)"},
		"How many parts are in the Lager W3?":       {"**2** rows match: 2 of 3 rows of **Lagerliste**"},
	} {
		f := opened(docs, "Lagerliste")
		f.Message = question
		text, ok := FromTables(question, f)
		assert.True(t, ok, question)
		for _, part := range want {
			assert.Contains(t, text, part, question)
		}
	}
}

func TestSummaryHasAsManyPointsAsWereAskedForAndSaysWhatItIs(t *testing.T) {
	both := append(passages(1, "a", "Remote Work Policy v1", policyOld), passages(10, "b", "Remote Work Policy v2", policyNew)...)
	for _, c := range []struct {
		message string
		points  int
		want    string
	}{
		{"Summarize the policies in three bullet points", 3, "Without a language model I cannot reword a text: these are its central sentences."},
		{"Fasse die Richtlinien in drei Stichpunkten zusammen", 3, "Ohne KI-Modell kann ich einen Text nicht umformulieren"},
		{"Résume les documents en quatre points", 4, "Sans modèle de langage"},
		{"Resume los documentos en cinco puntos", 5, "Sin un modelo de lenguaje"},
		{"Vat de documenten samen in vijf punten", 5, "Zonder taalmodel"},
		{"Summarize the policies in one sentence", 2, "Each of the 2 documents needs at least one point"},
		{"Summarize the policies in 40 points", -1, "You asked for 40 points."},
	} {
		got := answered(t, llm.TaskSummarize, llm.Facts{Message: c.message, Action: chat.Summarize, Passages: both})
		has(t, got, c.want)
		if n := strings.Count(got, "\n- "); c.points >= 0 {
			assert.Equal(t, c.points, n, "%s:\n%s", c.message, got)
		}
	}
}
