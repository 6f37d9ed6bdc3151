package offline

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// A column's names in a language: of one item, of several, and of one with its article.
type columnName struct{ one, many, a string }

// columns are the columns of a board, in order.
var columns = []string{"input", "fact", "insight", "recommendation", "output"}

// anyColumn stands for all columns.
const anyColumn = "item"

// names are the names of the columns in the languages of answers.
var names = map[string]map[string]columnName{
	"en": {"input": {"input", "inputs", "an input"}, "fact": {"fact", "facts", "a fact"}, "insight": {"insight", "insights", "an insight"},
		"recommendation": {"recommendation", "recommendations", "a recommendation"}, "output": {"output", "outputs", "an output"}, anyColumn: {"item", "items", "an item"}},
	"de": {"input": {"Quelle", "Quellen", "eine Quelle"}, "fact": {"Fakt", "Fakten", "ein Fakt"}, "insight": {"Erkenntnis", "Erkenntnisse", "eine Erkenntnis"},
		"recommendation": {"Empfehlung", "Empfehlungen", "eine Empfehlung"}, "output": {"Ergebnis", "Ergebnisse", "ein Ergebnis"}, anyColumn: {"Eintrag", "Einträge", "ein Eintrag"}},
	"fr": {"input": {"source", "sources", "une source"}, "fact": {"fait", "faits", "un fait"}, "insight": {"constat", "constats", "un constat"},
		"recommendation": {"recommandation", "recommandations", "une recommandation"}, "output": {"résultat", "résultats", "un résultat"}, anyColumn: {"carte", "cartes", "une carte"}},
	"es": {"input": {"fuente", "fuentes", "una fuente"}, "fact": {"hecho", "hechos", "un hecho"}, "insight": {"conclusión", "conclusiones", "una conclusión"},
		"recommendation": {"recomendación", "recomendaciones", "una recomendación"}, "output": {"resultado", "resultados", "un resultado"}, anyColumn: {"elemento", "elementos", "un elemento"}},
	"nl": {"input": {"bron", "bronnen", "een bron"}, "fact": {"feit", "feiten", "een feit"}, "insight": {"inzicht", "inzichten", "een inzicht"},
		"recommendation": {"aanbeveling", "aanbevelingen", "een aanbeveling"}, "output": {"resultaat", "resultaten", "een resultaat"}, anyColumn: {"item", "items", "een item"}},
}

// outputTypes are the types of outputs by their names in the languages of answers.
var outputTypes = map[string]string{
	"report": "report", "bericht": "report", "rapport": "report", "informe": "report",
	"presentation": "presentation", "präsentation": "presentation", "présentation": "presentation", "presentación": "presentation", "presentatie": "presentation",
	"action plan": "action_plan", "action_plan": "action_plan", "maßnahmenplan": "action_plan", "plan d'action": "action_plan", "plan de acción": "action_plan", "actieplan": "action_plan",
	"brief": "brief", "kurzfassung": "brief", "note": "brief", "resumen": "brief", "samenvatting": "brief",
}

// columnOf returns the column that a word names, in any language; "" if none.
func columnOf(word string) string {
	word = strings.ToLower(word)
	for _, in := range names {
		for column, n := range in {
			if word == strings.ToLower(n.one) || word == strings.ToLower(n.many) {
				return column
			}
		}
	}
	return ""
}

// named returns a pattern for the names of columns.
func named(columns ...string) string {
	var all []string
	for _, in := range names {
		for _, c := range columns {
			all = append(all, regexp.QuoteMeta(in[c].many), regexp.QuoteMeta(in[c].one))
		}
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// The verbs of requests, and words of questions about a board, by language.
var (
	adding = map[string]string{"en": "add create propose extract take collect find use", "de": "füge ergänze erstelle übernimm nimm schlage", "fr": "ajoute ajouter ajoutez crée créer créez prends propose proposer proposez",
		"es": "añada añade agrega agregue crea propón propon toma", "nl": "voeg maak neem stel"}
	deleting = map[string]string{"en": "delete remove", "de": "lösche entferne", "fr": "supprime supprimer supprimez enlève enlevez", "es": "elimina elimine borra borre quita", "nl": "verwijder wis"}
	editing  = map[string]string{"en": "change edit reword rewrite update", "de": "ändere bearbeite ersetze", "fr": "change changer changez modifie modifier modifiez remplace remplacez",
		"es": "cambia cambie edita modifica modifique", "nl": "wijzig verander bewerk"}
	asking = map[string]string{"en": "board summarize missing stale", "de": "fasse zusammen fehlt verbunden veraltet", "fr": "tableau résume manque relier périmé",
		"es": "tablero resume falta relacionar desactualizado", "nl": "bord vat samen ontbreekt verbonden verouderd"}
)

// verb returns a pattern for the words of all languages.
func verb(of map[string]string) string {
	var all []string
	for _, words := range of {
		all = append(all, strings.Fields(words)...)
	}
	return "(?:" + strings.Join(all, "|") + `)\s+`
}

// voiceOf returns the language of a message. A short one, as "lösche F-2", tells it by the words of boards.
func voiceOf(f llm.Facts) voice {
	if lang := intent.LanguageOf(f.Message, nil); names[lang] != nil {
		return voice(lang)
	}
	best, most := "", 0
	for lang, in := range names {
		own := language.NewSet(strings.Join([]string{adding[lang], deleting[lang], editing[lang], asking[lang]}, " "))
		for _, n := range in {
			own[strings.ToLower(n.one)], own[strings.ToLower(n.many)] = true, true
		}
		n := 0
		for _, w := range language.Words(f.Message) {
			if own[w] {
				n++
			}
		}
		if n > most {
			best, most = lang, n
		} else if n == most {
			best = ""
		}
	}
	return voice(cmp.Or(best, intent.LanguageOf(f.Message, f.Recent)))
}

// Parts of requests, in the languages of answers.
const (
	politely = `(?:(?:please|bitte|s'il (?:vous|te) pla[iî]t|por favor|alsjeblieft|alstublieft)[\s,]+)?`
	article  = `(?:(?:an?|the|all(?: the)?|ein(?:e[nrms]?)?|die|de[nmr]|das|alle|une?|l[ae]s?|tou(?:s|tes) les|los|las|todos los|un[ao]?|el|een|het|de)\s+)?(?:(?:new|neue[nrs]?|nouve(?:au|lle)|nuev[oa]|nieuwe?)\s+)?`
	particle = `(?:\s+(?:hinzu(?:fügen)?|ergänzen|vor|toe|voor))?`
	from     = `(?:from|of|in|on|out of|based on|aus|von|auf (?:Grundlage|Basis) von|du|des|de|à partir de|sur la base de|del|a partir de|con base en|uit|van|op basis van)`
	as       = `(?:as|als|comme|como)`
	into     = `(?:to|into|in|zu|auf|en|par|por|a|naar|door)`
)

// has returns a pattern for a word that begins with one of some stems.
func has(stems string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(?:^|[^\pL])(?:` + stems + `)`)
}

// voice words answers in a language (ISO 639-1).
type voice string

func (v voice) say(m messages.Message, values messages.Params) string { return m.In(string(v), values) }

func (v voice) column(name string) columnName {
	if in, ok := names[string(v)]; ok {
		return in[name]
	}
	return names["en"][name]
}

// count returns a number with the name of a column: "2 facts".
func (v voice) count(n int, column string) string {
	name := v.column(column)
	if n == 1 {
		return "1 " + name.one
	}
	return strconv.Itoa(n) + " " + name.many
}

// ids lists ids as answers write them.
func ids(of []string) string { return "[" + strings.Join(of, "], [") + "]" }
