package retrieval

import (
	"context"
	"maps"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/retrieval/sentence"
)

const (
	sureScore   = 1.0 // of passages that are all that was asked for
	doubtful    = 0.6 // of passages that are a part of it
	unsuitable  = 0.1 // of passages about something else
	mostRead    = 0.5 // share of a document from which on it counts as read
	relatedness = 0.1 // share of words that documents on related subjects have in common
	ruleShare   = 0.2 // share of a sentence's weight that a rule about it has
	maxChecked  = 200 // sentences of a text to audit
)

// formWords say how an answer should look.
var formWords = language.StemsOf(`brief briefly bullet bullets chart concise english executive french german spanish dutch headline headlines
key language length line lines note notes one page pages paragraph paragraphs plain sentence sentences short shortly simple slide slides style table three tone two
version word words five ten boss team client colleague board management meeting email exec gist tldr audit check compare comparison summarise summarize summary quick hello hi thanks dear`)

// suitability says from 0 to 1 how well the passages of named documents suit a summary, a
// comparison or an audit.
//
//   - A summary is high when most of its documents was read and they have the subject
//     that was asked for, if there is one; else medium.
//   - A comparison is so, too, when each document has passages and they are about related
//     things.
//   - An audit is high when rules were found for half of the text's sentences, medium when
//     they were found for any, the text is about something related or is not in English, and
//     else low.
//
// It is low without any text.
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
	if !mostWasRead(docs, shares) || action == chat.Compare && !related(shares) {
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

// mostWasRead reports whether every document has passages, and most of each.
func mostWasRead(docs []chat.Document, shares []share) bool {
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

// overlap is the share of the smaller set that the other one has.
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
		maps.Copy(all, language.StemsOf(h.Heading+"\n"+h.Text))
	}
	return all
}

// hasSubjectIn reports whether the hits have a word of what a request is about, or the
// request names no subject.
func (q question) hasSubjectIn(hits []chat.Hit) bool {
	stems, subject := stemsOfHits(hits), false
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

// rulesFor is the suitability of rules for an audit of a text.
func (s *Searcher) rulesFor(ctx context.Context, owner, text string, rules []chat.Hit) (float64, error) {
	q, err := s.question(ctx, owner, text)
	if err != nil {
		return 0, err
	}
	var stems []map[string]bool
	for _, r := range rules {
		for _, s := range sentence.Sentences(r.Text) {
			of := language.StemsOf(s.Text)
			maps.Copy(of, language.StemsOf(r.Heading))
			stems = append(stems, of)
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
		return doubtful, nil // words of another language are not compared
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

// of is the question of a part of the text.
func (q question) of(text string) question {
	part := question{weight: map[string]float64{}, common: q.common, alike: q.alike}
	for stem := range language.StemsOf(text) {
		if weight, ok := q.weight[stem]; ok {
			part.weight[stem] = weight
			part.sum += weight
		}
	}
	return part
}

// hasRule reports whether a sentence of the rules has two words of a sentence, and enough
// of its weight.
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
