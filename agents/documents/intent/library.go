package intent

import (
	"strings"
	"time"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// maxLibraryQuestion is the number of words of the longest question about the library that
// rules recognize.
const maxLibraryQuestion = 16

var (
	// asksLibrary matches questions about the documents as such: "which files do I have?".
	asksLibrary = lazyregexp.New(`(?i)^\W*` + lists.Pattern("library lead") + `*\W*` + lists.Pattern("asks for the library"))
	// asksContent matches what makes such a question one about contents: "which documents
	// mention a fee?".
	aboutContents = lazyregexp.New(`(?i)\b` + lists.Pattern("about contents") + `\b`)
	counts        = lazyregexp.New(`(?i)` + lists.Pattern("counts"))
	failed        = lazyregexp.New(`(?i)` + lists.Pattern("failed"))
	imported      = lazyregexp.New(`(?i)\b(?:import(?:s|ed|e|iert\w*|é\w*|ad[oa]s?)?|ge[iï]mporteerd\w*)\b`)
	// everywhere matches what asks for more than one conversation's imports.
	everywhere = lazyregexp.New(`(?i)` + lists.Pattern("everywhere"))
	formats    = lists.Pairs("formats")
	fileWords  = lists.Set("file words")
)

// Library is a question about the documents as such.
type Library struct {
	Counts bool // "how many"
	Failed bool // only those that failed
	// Imported: only those that came by a link.
	Imported bool
	Format   string   // only files of this type; "" for all
	Words    []string // only documents whose names have one of the words: "contracts"
	Since    time.Time
	Until    time.Time
}

// AsksLibrary reports whether a message asks which documents there are, how many, of which
// kind, or since when. It recognizes English, German, French, Spanish and Dutch.
func AsksLibrary(message string) bool {
	message = strings.TrimSpace(WithoutTalk(message))
	return len(language.Words(message)) <= maxLibraryQuestion && asksLibrary.MatchString(message) && !aboutContents.MatchString(message)
}

// ReadLibrary reads a question about the library.
func ReadLibrary(message string, now time.Time) (q Library) {
	q.Counts, q.Failed = counts.MatchString(message), failed.MatchString(message)
	q.Imported = imported.MatchString(message)
	q.Since, q.Until = period(strings.ToLower(message), now)
	for _, w := range language.Words(message) {
		if f := formats[w]; f != "" {
			q.Format = f
		} else if DocumentNouns[w] && !fileWords[w] || kindsAsked[w] {
			q.Words = append(q.Words, w)
		}
	}
	return q
}

var kindsAsked = lists.Set("kinds asked")

var periods = []struct {
	re          *lazyregexp.Regexp
	since, days int // before today
}{
	{lazyregexp.New(`\b(?:today|heute|aujourd|hoy|vandaag)`), 0, 1},
	{lazyregexp.New(`\b(?:yesterday|gestern|hier|ayer|gisteren)\b`), 1, 1},
	{lazyregexp.New(`\b(?:this week|diese[rn]? woche|cette semaine|esta semana|deze week|last seven days|past week)\b`), 6, 7},
	{lazyregexp.New(`\b(?:last week|letzte[rn]? woche|la semaine dernière|la semana pasada|vorige week)\b`), 13, 14},
	{lazyregexp.New(`\b(?:this month|diese[nm] monat|ce mois|este mes|deze maand|last month|letzten monat)\b`), 31, 32},
}

// period returns the days that a message names; zero times without any.
func period(lower string, now time.Time) (since, until time.Time) {
	day := now.Truncate(24 * time.Hour)
	for _, p := range periods {
		if p.re.MatchString(lower) {
			since = day.AddDate(0, 0, -p.since)
			return since, since.AddDate(0, 0, p.days)
		}
	}
	return since, until
}

// needsModel matches requests for a new text: a translation, a letter, "in three bullets".
var needsModel = lazyregexp.New(`(?i)` + lists.Pattern("needs a model"))

// NeedsModel reports whether only a language model can do what a message asks for.
func NeedsModel(message string) bool { return needsModel.MatchString(message) }

// asksForJudgement matches requests for an opinion, an assessment, advice or ideas.
var asksForJudgement = lazyregexp.New(`(?i)` + lists.Pattern("asks for a judgement"))

// AsksForJudgement reports whether a message asks what somebody thinks, and not what documents say.
func AsksForJudgement(message string) bool { return asksForJudgement.MatchString(message) }

// asksForAssessment matches questions for risks, weaknesses and advantages.
var asksForAssessment = lazyregexp.New(`(?i)` + lists.Pattern("asks for an assessment"))

// AsksForAssessment reports whether a message asks for what a document rarely names itself, such as
// its risks. If it does not, a reader must judge it.
func AsksForAssessment(message string) bool { return asksForAssessment.MatchString(message) }
