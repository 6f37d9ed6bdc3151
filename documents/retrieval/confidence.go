package retrieval

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Minimum scores of high and of medium confidence.
const (
	HighScore   = 0.8
	MediumScore = 0.38
)

// A score is the weighted sum of three shares of the question's words: those in one
// passage, those in one sentence, and those in the best passages together. Words in one
// sentence are about one thing; words in several sentences may be about different things.
const (
	passagePart  = 0.4
	sentencePart = 0.4
	unionPart    = 0.2
	bestPassages = 5    // passages that count
	commonScore  = 0.6  // the highest score of common words only
	commonShare  = 0.25 // of all passages; words in more of them are common

	belowHigh   = HighScore - 0.01
	belowMedium = MediumScore - 0.01
)

// askingWords ask for something but do not name the subject.
var askingWords = language.StemsOf(`according answer answers audit comparison compare compares compared content contents detail details
difference differences different document documents example file files help information kind kinds happen happens list long main many mention
mentions much often overview part parts point points possible question questions regarding relevant rule rules said section summarise
summarize summary come comes coming text texts soon thing things type types use used topic topics
get gets getting got go goes going went put puts putting rid really actually even exactly quickly deadline deadlines maximum minimum old new`)

// judgingWords ask for an opinion about a text. A question with no other words is vague,
// and the text need not contain them.
var judgingWords = language.StemsOf(`advice aim anything author bad challenge challenges concern concerns conclusion conclusions critical change changed changes error errors
essence everything flag flags gap gaps gist goal good highlight highlights idea ideas important improve improvement improvements interesting
issue issues key meaning message mistake mistakes noteworthy notable odd opinion problem problems problematic purpose recommend recommendation
recommendations red risk risks something special strange strength strengths striking suggest suggestion suggestions surprise surprises surprising
takeaway takeaways think thought thoughts unclear unusual useful watch weakness weaknesses worry worrying wrong`)

// documentWords are nouns and adjectives by which a person refers to a known
// document.
var documentWords = language.StemsOf(`agreement agreements circular circulars contract contracts email emails guideline guidelines handbook letter manual memo
minutes paper pdf policies policy regulation report version versions current latest newer newest old older oldest updated`)

// confidence returns the level of a score.
func confidence(score float64) chat.Confidence {
	switch {
	case score >= HighScore:
		return chat.High
	case score >= MediumScore:
		return chat.Medium
	}
	return chat.Low
}

// weights gives words a weight by how rare they are among the passages. A word that is in
// no passage has the highest weight.
type weights struct {
	counts map[string]int
	total  int
}

func (s *Searcher) weigh(ctx context.Context, owner string, words []string) (weights, error) {
	if len(words) == 0 {
		return weights{}, nil
	}
	counts, total, err := s.Store.WordCounts(ctx, owner, words)
	return weights{counts, total}, err
}

func (w weights) of(word string) float64 {
	n := float64(w.counts[word])
	return math.Log(1 + (float64(w.total)-n+0.5)/(n+0.5))
}

// common reports whether a word is in so many passages that a match says nothing. A word
// in one passage is never common.
func (w weights) common(word string) bool {
	return float64(w.counts[word]) > max(1, commonShare*float64(w.total))
}

// question is the stems of a query with their weights.
type question struct {
	weight    map[string]float64
	common    map[string]bool
	words     map[string]string             // by stem
	terms     map[string][]language.Term    // by stem: the terms of the word in the languages of the passages
	partTerms map[string][]language.Term    // by stem: the terms of the words of a compound
	alike     map[string]map[string]float64 // by stem: stems that mean the same, with their weights
	sum       float64
	parts     map[string][]string // by stem: the words of a compound that is in no passage
	joined    map[string][]string // by stem: compounds that the word forms with another one of the question
	counted   map[string]bool     // stems of the noun that "how many" counts; empty without one
}

func (s *Searcher) question(ctx context.Context, owner, query string) (question, error) {
	words := language.Distinct(language.AskedWords(query))
	w, err := s.weigh(ctx, owner, words[:min(len(words), 4*maxQueryWords)])
	if err != nil {
		return question{}, err
	}
	parts, err := s.parts(ctx, owner, query, slices.DeleteFunc(slices.Clone(words), func(word string) bool { return w.counts[word] > 0 }))
	if err != nil {
		return question{}, err
	}
	joined := language.Compounds(query)
	q := question{weight: map[string]float64{}, common: map[string]bool{}, words: map[string]string{}, alike: alikeStems(query), counted: countedStems(query),
		parts: map[string][]string{}, joined: map[string][]string{}}
	for _, word := range words {
		stem := language.Stem(word)
		if _, seen := q.weight[stem]; seen || askingWords[stem] {
			continue
		}
		q.weight[stem], q.common[stem] = w.of(word), w.common(word)
		q.sum += q.weight[stem]
		q.words[stem] = word
		q.parts[stem], q.joined[stem] = parts[word], joined[word]
	}
	return q, nil
}

// in returns the question for passages and names in some languages.
func (q question) in(langs []string) question {
	langs = slices.Compact(slices.Sorted(slices.Values(append([]string{""}, langs...))))
	q.terms, q.partTerms = make(map[string][]language.Term, len(q.words)), map[string][]language.Term{}
	for stem, word := range q.words {
		q.terms[stem] = language.Query(word, langs)
		for _, compound := range q.joined[stem] {
			for _, t := range language.Query(compound, langs) {
				q.terms[stem] = append(q.terms[stem], language.Term{Forms: t.Forms, Whole: true})
			}
		}
		for _, part := range q.parts[stem] {
			q.partTerms[stem] = append(q.partTerms[stem], language.Query(part, langs)...)
		}
	}
	return q
}

func (q question) inHits(hits []chat.Hit) question {
	langs := make([]string, len(hits))
	for i, h := range hits {
		langs[i] = h.Language
	}
	return q.in(langs)
}

// withoutNames returns the question without the words that name the documents, or the
// whole question when nothing else is left.
func (q question) withoutNames(docs []chat.Document) question {
	names, langs := map[string]bool{}, make([]string, len(docs))
	for i, d := range docs {
		langs[i] = d.Language
		maps.Copy(names, language.TermsOf(d.Title, d.Language))
	}
	q = q.in(langs)
	rest := q
	rest.weight, rest.sum = map[string]float64{}, 0
	for stem, weight := range q.weight {
		if q.covered(stem, names) < 1 && !documentWords[stem] {
			rest.weight[stem] = weight
			rest.sum += weight
		}
	}
	if len(rest.weight) == 0 {
		return q
	}
	return rest
}

// vague reports whether a question has no subject: "Any red flags?".
func (q question) vague() bool {
	for stem := range q.weight {
		if !judgingWords[stem] {
			return false
		}
	}
	return true
}

// matches reports whether the hits have any word of the question. For a question of three
// words or more they must also have a minimum share of its weight.
func (q question) matches(hits []chat.Hit) bool {
	const short, least = 2, 0.17
	all, shared := map[string]bool{}, 0
	for _, h := range hits {
		maps.Copy(all, language.TermsOf(h.Heading+"\n"+h.Text, h.Language))
	}
	for stem := range q.weight {
		if q.covered(stem, all) > 0 {
			shared++
		}
	}
	return shared > 0 && (len(q.weight) <= short || q.share(all) >= least)
}

// share returns the share, from 0 to 1, of the question's weight whose words are among the
// stems.
func (q question) share(stems map[string]bool) float64 {
	if q.sum == 0 {
		return 0
	}
	covered := 0.0
	for stem, weight := range q.weight {
		covered += weight * q.covered(stem, stems)
	}
	return min(1, covered/q.sum) // covered may exceed sum slightly: the order of additions differs
}

// covered returns 1 if the stems have a word of the question, a compound with it, or both parts
// of it, the weight of a word that means the same if they have one, the share of the word's
// pieces that they have (a word of a script without spaces may be a phrase), and else 0.
func (q question) covered(stem string, stems map[string]bool) float64 {
	if stems[stem] {
		return 1
	}
	best := 0.0
	has := func(form string) bool { return stems[form] }
	pieces, found := 0.0, 0.0
	for _, t := range q.terms[stem] {
		switch {
		case t.Whole && slices.ContainsFunc(t.Forms, has):
			return 1
		case t.Whole:
			continue
		case slices.ContainsFunc(t.Forms, has):
			found++
		}
		pieces++
	}
	if found > 0 && found >= leastPieces*pieces {
		best = found / pieces
	}
	absent := func(part language.Term) bool { return !slices.ContainsFunc(part.Forms, has) }
	if parts := q.partTerms[stem]; len(parts) > 0 && !slices.ContainsFunc(parts, absent) {
		return 1
	}
	for other, covers := range q.alike[stem] {
		if stems[other] {
			best = max(best, covers)
		}
	}
	return best
}

// leastPieces is the share of the pieces of a word that a passage with the word has.
const leastPieces = 0.4

// rarest returns the stem with the highest weight; "" without words. Of equal ones, it
// returns the first in alphabetical order.
func (q question) rarest() (rarest string) {
	for stem, weight := range q.weight {
		if best := q.weight[rarest]; weight > best || weight == best && stem < rarest {
			rarest = stem
		}
	}
	return rarest
}

// bound limits a score. "in encrypted form" does not answer "How do volcanoes form?", and
// one sentence on directors and another on payments do not answer "What does the director
// earn?". If the rarest word does not stand beside another word of the question, the score
// stays below HighScore, and below MediumScore unless one sentence has two other words.
func (q question) bound(score float64, hasRarest bool, others int) float64 {
	switch {
	case hasRarest:
		return score
	case others < 2 && len(q.weight) > 1:
		return min(score, belowMedium)
	}
	return min(score, belowHigh)
}

// hasRarest reports whether the rarest word stands beside another word of the question: in
// the same passage, or, for a word that means the same, in the same sentence. For a
// question of one word it reports whether the passage has it.
func (q question) hasRarest(passage, sentence map[string]bool) bool {
	rarest := q.rarest()
	if len(q.weight) == 1 {
		return q.covered(rarest, passage) > 0
	}
	return q.covered(rarest, passage) == 1 && q.wordsIn(passage) > 1 || q.covered(rarest, sentence) > 0 && q.wordsIn(sentence) > 1
}

// wordsIn counts the words of the question that are among the stems.
func (q question) wordsIn(stems map[string]bool) (n int) {
	for stem := range q.weight {
		if q.covered(stem, stems) > 0 {
			n++
		}
	}
	return n
}

// score returns, from 0 to 1, how well the best hits match the question. "customers" and
// "bank", which are on every page of a bank's rules, do not answer "How many customers
// does the bank have?": without a rarer word the score stays below HighScore. It also
// stays below it if the match depends on words that mean the same.
func (q question) score(hits []chat.Hit) float64 {
	literal := q
	literal.alike = spelledAlike(q.alike)
	return max(literal.match(hits), min(q.match(hits), belowHigh))
}

func (q question) match(hits []chat.Hit) float64 {
	union := map[string]bool{}
	best, bestSentence := 0.0, 0.0
	hasRarest, others, counts := false, 0, len(q.counted) == 0
	for _, h := range hits[:min(bestPassages, len(hits))] {
		about := language.TermsOf(h.Title+"\n"+h.Heading, h.Language)
		all := language.TermsOf(h.Text, h.Language)
		maps.Copy(all, about)
		maps.Copy(union, all)
		best = max(best, q.share(all))
		for _, s := range labelled(h.Text) {
			stems := language.TermsOf(s.label+"\n"+s.Text, h.Language)
			counts = counts || q.countsIn(s.Text)
			maps.Copy(stems, about)
			bestSentence = max(bestSentence, q.share(stems))
			others = max(others, q.wordsIn(stems))
			hasRarest = hasRarest || q.hasRarest(all, stems)
		}
	}
	score := q.bound(passagePart*best+sentencePart*bestSentence+unionPart*q.share(union), hasRarest, others)
	if !q.hasRareWord(union) {
		score = min(score, commonScore)
	}
	if !counts {
		score = min(score, belowMedium)
	}
	return score
}

// hasRareWord reports whether a word of the question that is not common is among
// the stems.
func (q question) hasRareWord(stems map[string]bool) bool {
	for stem := range q.weight {
		if !q.common[stem] && q.covered(stem, stems) > 0 {
			return true
		}
	}
	return false
}
