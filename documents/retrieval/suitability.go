package retrieval

import (
	"context"
	"maps"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
)

const (
	sureScore   = 1.0 // score of passages that cover what was asked for
	doubtful    = 0.6 // score of passages that cover a part of it
	unsuitable  = 0.1 // score of passages about something else
	mostRead    = 0.5 // a document counts as read from this share of its passages on
	relatedness = 0.1 // share of words that documents on related subjects have in common
	ruleShare   = 0.2 // a rule is about a sentence if it has this share of the sentence's weight
	maxChecked  = 200 // sentences of a text to audit that are compared with the rules
)

// formWords say how an answer should look.
var formWords = language.StemsOf(`brief briefly bullet bullets chart concise english executive french german spanish dutch headline headlines
key language length line lines note notes one page pages paragraph paragraphs plain sentence sentences short shortly simple slide slides style table three tone two
version word words five ten boss team client colleague board management meeting email exec gist tldr audit check compare comparison summarise summarize summary quick hello hi thanks dear`)

// suitability returns, from 0 to 1, how well the passages of named documents suit a
// summary, a comparison or an audit.
//
//   - A summary is high when most of each document was read and the passages have the
//     subject that was asked for, if there is one; else medium.
//   - A comparison is high under the same conditions, if the documents are also about
//     related subjects; else medium.
//   - An audit is high when rules were found for half of the text's sentences. It is medium
//     when rules were found for any sentence, or when the text is about a related subject or
//     not in English. Else it is low.
//
// Without any passage the result is 0.
func (s *Searcher) suitability(ctx context.Context, owner string, action chat.Action, query string, docs []chat.Document, shares []share) (float64, error) {
	var hits []chat.Hit
	for _, share := range shares {
		hits = append(hits, share.hits...)
	}
	if len(hits) == 0 {
		return 0, nil
	}
	if action == chat.Audit {
		return s.rulesFor(ctx, owner, query, hits)
	}
	if !hasMostPassages(docs, shares) || action == chat.Compare && !related(shares) {
		return doubtful, nil
	}
	q, err := s.question(ctx, owner, query)
	if err != nil {
		return 0, err
	}
	if !q.withoutNames(docs).hasSubjectIn(hits) {
		return doubtful, nil
	}
	return sureScore, nil
}

// hasMostPassages reports whether every share has passages, and at least the share mostRead of
// its document.
func hasMostPassages(docs []chat.Document, shares []share) bool {
	for i, share := range shares {
		if len(share.hits) == 0 || !share.whole && float64(len(share.hits)) < mostRead*float64(docs[i].Chunks) {
			return false
		}
	}
	return true
}

// related reports whether each document shares enough words with another.
func related(shares []share) bool {
	words := make([]map[string]bool, len(shares))
	for i, share := range shares {
		words[i] = stemsOfHits(share.hits)
	}
	for i := range words {
		best := 0.0
		for j := range words {
			if i != j {
				best = max(best, overlap(words[i], words[j]))
			}
		}
		if best < relatedness && len(shares) > 1 {
			return false
		}
	}
	return true
}

// overlap returns the share of the smaller set that the larger set has, too.
func overlap(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	shared := 0
	for stem := range a {
		if b[stem] {
			shared++
		}
	}
	return float64(shared) / float64(max(1, len(a)))
}

func stemsOfHits(hits []chat.Hit) map[string]bool {
	all := map[string]bool{}
	for _, h := range hits {
		for _, stem := range language.StemsIn(h.Heading+"\n"+h.Text, h.Language) {
			all[stem] = true
		}
	}
	return all
}

// hasSubjectIn reports whether the hits have a word of the request's subject. It is true if
// the request names no subject.
func (q question) hasSubjectIn(hits []chat.Hit) bool {
	q = q.inHits(hits)
	stems, subject := map[string]bool{}, false
	for _, h := range hits {
		maps.Copy(stems, language.TermsOf(h.Heading+"\n"+h.Text, h.Language))
	}
	for stem := range q.weight {
		if judgingWords[stem] || formWords[stem] || documentWords[stem] {
			continue
		}
		subject = true
		if q.covered(stem, stems) > 0 {
			return true
		}
	}
	return !subject
}

// rulesFor returns the suitability of rules for an audit of a text.
func (s *Searcher) rulesFor(ctx context.Context, owner, text string, rules []chat.Hit) (float64, error) {
	q, err := s.question(ctx, owner, text)
	if err != nil {
		return 0, err
	}
	q = q.inHits(rules)
	var stems []map[string]bool
	for _, r := range rules {
		for _, s := range sentence.Sentences(r.Text) {
			stems = append(stems, language.TermsOf(s.Text+"\n"+r.Heading, r.Language))
		}
	}
	checked, matched := 0, 0
	for _, one := range sentence.Sentences(text) {
		words := q.of(one.Text)
		if one.Heading || len(words.weight) < 3 { // a greeting, a name
			continue
		}
		if checked++; words.hasRule(stems) {
			matched++
		}
		if checked == maxChecked {
			break
		}
	}
	if checked == 0 && q.matches(rules) {
		return doubtful, nil
	}
	switch {
	case matched == 0 && (!isEnglish(text) || overlap(language.StemsOf(text), stemsOfHits(rules)) >= relatedness):
		return doubtful, nil // words of a text in another language cannot be compared
	case matched == 0:
		return unsuitable, nil
	case 2*matched < checked:
		return doubtful, nil
	}
	return sureScore, nil
}

// isEnglish reports whether enough of a text's words are English stop words.
func isEnglish(text string) bool {
	const least = 0.2
	words, stop := language.Words(text), 0
	for _, w := range words {
		if language.IsStopWord(w) {
			stop++
		}
	}
	return float64(stop) >= least*float64(len(words))
}

// of returns a question with only the words of text, with their weights in q.
func (q question) of(text string) question {
	part := question{weight: map[string]float64{}, common: q.common, words: q.words, terms: q.terms, alike: q.alike}
	for stem := range language.StemsOf(text) {
		if weight, ok := q.weight[stem]; ok {
			part.weight[stem] = weight
			part.sum += weight
		}
	}
	return part
}

// hasRule reports whether a sentence of the rules, given by its stems, has at least two
// words of q and at least the share ruleShare of its weight.
func (q question) hasRule(rules []map[string]bool) bool {
	for _, stems := range rules {
		shared := 0
		for stem := range q.weight {
			if q.covered(stem, stems) > 0 {
				shared++
			}
		}
		if shared >= 2 && q.share(stems) >= ruleShare {
			return true
		}
	}
	return false
}
