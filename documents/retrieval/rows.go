package retrieval

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/internal/language"
)

// A question for the figure of a year is answered by the row of a table. The words of a row, of its
// header, of its caption and of its document's title are one unit here: prose repeats the names of
// company and year, a table says them once.

const (
	rowGain     = 1.0 // of a row that has all that is asked for; a share of the document's best score
	commonInDoc = 0.5 // share of a document's passages; a word in more of them is its subject
	partOfWord  = 0.7 // what "Umsatz" counts for the label "Umsatzerlöse"
	leastStart  = 5   // bytes of a word that may be the start of a compound
)

var yearAsked = regexp.MustCompile(`\b(?:[Ff][Yy])?((?:19|20)\d\d)\b`)

// byRows ranks passages with a row that answers a question for the figure of a year before prose
// about the same words.
func byRows(query string, words []db.Word, hits []chat.Hit) []chat.Hit {
	var years []string
	for _, m := range yearAsked.FindAllStringSubmatch(query, -1) {
		years = append(years, m[1])
	}
	if len(years) == 0 {
		return hits
	}
	asked := map[string]map[string]float64{} // stems of words that mean what a word of the query means
	for _, w := range words {
		if yearAsked.MatchString(w.Text) {
			continue
		}
		stems := map[string]float64{language.Stem(w.Text): 1}
		for _, a := range w.Alike {
			stem := language.Stem(a.Text)
			stems[stem] = max(stems[stem], a.Weight)
		}
		asked[language.Stem(w.Text)] = stems
	}
	best, subject := map[string]float64{}, map[string]language.Set{}
	for id, of := range byDocument(hits) {
		subject[id] = subjectOf(asked, of)
		for _, h := range of {
			best[id] = max(best[id], h.Score)
		}
	}
	ranked := slices.Clone(hits)
	for i, h := range hits {
		if strings.Contains(h.Text, " | ") {
			ranked[i].Score += rowGain * best[h.DocID] * bestRow(h, years, asked, subject[h.DocID])
		}
	}
	slices.SortStableFunc(ranked, func(a, b chat.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}

func byDocument(hits []chat.Hit) map[string][]chat.Hit {
	out := map[string][]chat.Hit{}
	for _, h := range hits {
		out[h.DocID] = append(out[h.DocID], h)
	}
	return out
}

// subjectOf returns the words of a query that a document is about as a whole: those of its title,
// and those that most of its passages have.
func subjectOf(asked map[string]map[string]float64, hits []chat.Hit) language.Set {
	in := map[string]int{}
	prose := 0
	for _, h := range hits {
		if strings.Contains(h.Text, " | ") {
			continue
		}
		prose++
		for stem := range language.StemsOf(h.Text) {
			in[stem]++
		}
	}
	title := language.StemsOf(hits[0].Title)
	out := language.Set{}
	for stem := range asked {
		if title[stem] || prose > 0 && float64(in[stem]) > commonInDoc*float64(prose) {
			out[stem] = true
		}
	}
	return out
}

// bestRow returns how well the best row of a passage answers a question, from 0 to 1: the share of
// the years in its header, times the share of its label that is asked for, times the share of what
// is asked for that the row, its header and its caption have.
func bestRow(h chat.Hit, years []string, asked map[string]map[string]float64, subject language.Set) (best float64) {
	above := h.Heading
	for line := range strings.Lines(h.Text) {
		line = strings.Trim(line, " |\n")
		label, cells, isRow := strings.Cut(line, " | ")
		if !isRow || !chunk.HasFigure(cells) {
			above += "\n" + line
			continue
		}
		found := 0
		for _, y := range years {
			if strings.Contains(above, y) || strings.Contains(line, y) {
				found++
			}
		}
		labels := slices.DeleteFunc(language.Distinct(language.ContentWords(label)), language.IsNumber)
		if found == 0 || len(labels) == 0 {
			continue
		}
		inLabel := 0.0
		for _, w := range labels {
			of := 0.0
			for _, alike := range asked {
				of = max(of, matches(language.Stem(w), alike))
			}
			inLabel += of
		}
		if inLabel == 0 {
			continue
		}
		unit := language.StemsOf(above + "\n" + label)
		covered, all := 0.0, 0.0
		for stem, alike := range asked {
			of := 0.0
			for w := range unit {
				of = max(of, matches(w, alike))
			}
			if of > 0 {
				covered++
			}
			if of > 0 || !subject[stem] {
				all++
			}
		}
		best = max(best, float64(found)/float64(len(years))*inLabel/float64(len(labels))*covered/all)
	}
	return best
}

// matches returns how much a stem of a text counts for a word of the query.
func matches(stem string, alike map[string]float64) (of float64) {
	for other, weight := range alike {
		switch {
		case stem == other:
			of = max(of, weight)
		case len(other) >= leastStart && strings.HasPrefix(stem, other):
			of = max(of, partOfWord*weight)
		}
	}
	return of
}
