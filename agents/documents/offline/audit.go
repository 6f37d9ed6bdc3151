package offline

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

var (
	ruleLike  = lazyregexp.New(`(?i)\b(?:must|shall|may not|may only|cannot|never|not (?:permitted|allowed)|prohibit(?:s|ed)|forbidden|forbids|(?:is|are|be) required|requires?|required to|obliged|mandatory|needs? to|has to|have to|at least|at most|no later than|not later than|no more than|not more than|not exceed|maximum|minimum|without (?:prior|written|the)|only (?:if|with|after|by|when))\b`)
	forbids   = lazyregexp.New(`(?i)\b(?:must not|shall not|may not|must never|cannot|can not|never|not (?:be )?(?:permitted|allowed)|prohibit(?:s|ed)|forbidden|forbids|may only|only (?:if|with|after|by|when)|no (?:employee|person|member|staff|one|bank|institution|customer|personal|confidential))\b`)
	restricts = lazyregexp.New(`(?i)\b(?:unless|only (?:if|with|after|when)|without (?:the |any |an? |prior |previous |written |express )*(?:approv|consent|permission|authori[sz]|agreement|notice)\w*)\b`)
	exception = lazyregexp.New(`(?i)\b(?:without|unless|except(?: with| after)?|only (?:if|with|after|when)|prior to|before)\b`)
	negation  = lazyregexp.New(`(?i)\b(?:not|never|no|none|without|cannot|skip(?:ped|ping)?|waiv(?:e|ed|ing)|ignor(?:e|ed|ing)|bypass(?:ed|ing)?|omit(?:ted|ting)?|instead of|unable|refus(?:e|ed|ing)|fail(?:ed|s|ing)?|forgot(?:ten)?|don'?t|doesn'?t|didn'?t|won'?t|haven'?t|hasn'?t|isn'?t|aren'?t|can'?t)\b|n[’']t\b`)
)

// isRule reports whether a sentence reads like a rule: by its words, or because it sets a
// bound ("payable within 30 days").
func isRule(s string) bool {
	return (ruleLike.MatchString(s) || language.SetsBound(s)) && !strings.HasSuffix(s, "?")
}

// severity of a finding.
type severity int

const (
	high severity = iota
	medium
	low
	inOrder
)

func (s severity) name() messages.Message {
	return [...]messages.Message{messages.High, messages.Medium, messages.Low, messages.InOrder}[s]
}

// finding is the result of comparing a rule with a sentence of the text.
type finding struct {
	severity   severity
	why        string
	rule, text excerpt.Excerpt
	weight     float64 // of the words that they share
	exceeds    bool    // a figure of the text is beyond the rule's
}

// audit compares the rules in the documents with the sentences of the text in the message.
func audit(f llm.Facts) string {
	const mostFindings, mostFine = 10, 5
	p, v := gather(f.Passages, canonical), voiceOf(f)
	p.Excerpts = slices.DeleteFunc(p.Excerpts, func(s excerpt.Excerpt) bool { return !isRule(s.Text) })
	if len(p.Excerpts) == 0 {
		return v.say(messages.NoRules, nil)
	}
	under := excerpt.Sentences(withoutMailHeader(f.Message))
	if len(under) == 0 {
		return v.say(messages.NoTextToAudit, nil)
	}
	p.Excerpts = append(p.Excerpts, under...)
	n := len(p.Excerpts) - len(under)
	p.Weigh(canonical) // rules and text are weighed together
	found := p.check(p.Excerpts[:n], p.Excerpts[n:], v)

	var b strings.Builder
	breaches := slices.DeleteFunc(slices.Clone(found), func(x finding) bool { return x.severity == inOrder })
	kept := slices.DeleteFunc(slices.Clone(found), func(x finding) bool { return x.severity != inOrder })
	scope := v.say(messages.AuditScope, messages.Params{"rules": n, "text": len(under)})
	switch {
	case len(found) == 0:
		return v.say(messages.CannotJudge, messages.Params{"scope": scope}) + "\n" + p.likeliestRules(p.Excerpts[:n], p.Excerpts[n:])
	case len(breaches) == 0:
		b.WriteString(v.say(messages.NoBreach, messages.Params{"judged": sentencesOf(found), "text": len(under), "scope": scope}) + "\n")
	default:
		b.WriteString(v.say(messages.FindingsFound, messages.Params{"n": len(breaches), "scope": scope}) + "\n")
	}
	for i, x := range breaches[:min(len(breaches), mostFindings)] {
		fmt.Fprintf(&b, "\n### %d. %s\n\n- **%s:** %s\n- **%s:** %s\n- **%s:** %s\n- **%s:** %s.\n", i+1, subject(x.rule),
			v.say(messages.Severity, nil), v.say(x.severity.name(), nil), v.say(messages.Rule, nil), inline(x.rule), v.say(messages.Text, nil), inline(x.text), v.say(messages.Why, nil), x.why)
	}
	if more := len(breaches) - mostFindings; more > 0 {
		b.WriteString("\n" + v.say(messages.FindingsHidden, messages.Params{"n": more}) + "\n")
	}
	if len(kept) > 0 {
		b.WriteString("\n### " + v.say(messages.InOrder, nil) + "\n")
		for _, x := range kept[:min(len(kept), mostFine)] {
			b.WriteString("\n- " + v.say(messages.FitsRule, messages.Params{"text": inline(x.text), "rule": inline(x.rule)}))
		}
	}
	return b.String()
}

// sentencesOf counts the sentences of the text that have findings.
func sentencesOf(found []finding) int {
	seen := map[int]bool{}
	for _, x := range found {
		seen[x.text.Order] = true
	}
	return len(seen)
}

// likeliestRules lists the rules that are most similar to a text.
func (p pool) likeliestRules(rules, text []excerpt.Excerpt) string {
	const most = 5
	like := map[int]float64{}
	for _, r := range rules {
		for _, t := range text {
			like[r.Order] = max(like[r.Order], excerpt.Cosine(r.Vec, t.Vec))
		}
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b excerpt.Excerpt) int { return cmp.Compare(like[b.Order], like[a.Order]) })
	var b strings.Builder
	for _, r := range rules[:min(len(rules), most)] {
		b.WriteString("\n- " + inline(r))
	}
	return b.String()
}

// inline returns a quote on one line, for a list in a list.
func inline(s excerpt.Excerpt) string { return strings.Join(strings.Fields(excerpt.Quote(s)), " ") }

// mailHeader are the lines above an e-mail's text.
var mailHeader = lazyregexp.New(`(?im)^(?:from|to|cc|bcc|date|sent|reply-to|subject)[ \t]*:.*$`)

func withoutMailHeader(text string) string { return mailHeader.ReplaceAllString(text, "") }

// check compares each sentence of the text with the rules most similar to it. It keeps the
// most severe result of each, breaches first.
func (p pool) check(rules, text []excerpt.Excerpt, v voice) []finding {
	const nearest = 4
	var out []finding
	for i, t := range text {
		var around excerpt.Vector // of the sentences beside it
		for _, o := range text[max(0, i-2):min(len(text), i+3)] {
			around = append(around, o.Vec...)
		}
		slices.SortFunc(around, func(a, b excerpt.Entry) int { return a.Word - b.Word })
		around = slices.CompactFunc(around, func(a, b excerpt.Entry) bool { return a.Word == b.Word })
		var near []finding
		for _, r := range rules {
			if x, ok := p.compareRule(r, t, around, v); ok {
				near = append(near, x)
			}
		}
		slices.SortStableFunc(near, func(a, b finding) int {
			if a.exceeds != b.exceeds && a.exceeds {
				return -1
			} else if a.exceeds != b.exceeds {
				return 1
			}
			return cmp.Compare(b.weight, a.weight)
		})
		near = near[:min(len(near), nearest)]
		slices.SortStableFunc(near, func(a, b finding) int { return cmp.Compare(a.severity, b.severity) })
		for i, x := range near[:min(len(near), 2)] { // a sentence may break two rules
			if i == 0 || x.severity < inOrder {
				out = append(out, x)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.text.Order, b.text.Order))
	})
	return out
}

// compareRule judges a sentence by one rule; ok is false when their subjects differ.
// Words of the sentences around it count, too, but the sentence itself must share a rare
// word with the rule, or two words.
func (p pool) compareRule(r, t excerpt.Excerpt, around excerpt.Vector, v voice) (finding, bool) {
	const alike, touches, barely, beside = 0.5, 0.2, 0.12, 0.35
	var shared, nearby float64
	words, telling, beyond := 0, false, 0
	r.Vec.Each(t.Vec, func(a, b excerpt.Entry) {
		shared += min(a.Weight, b.Weight)
		words++
		telling = telling || p.Vocab.DF[a.Word] <= max(3, p.Vocab.Total/8)
	})
	if words == 0 {
		return finding{}, false
	}
	r.Vec.Each(around, func(a, b excerpt.Entry) {
		nearby += min(a.Weight, b.Weight)
		beyond++
	})
	weight := shared + beside*(nearby-shared)
	share := weight / min(r.Vec.Sum(), t.Vec.Sum())
	x := finding{rule: r, text: t, weight: weight}
	why, sure := p.brokenLimit(r.Text, t.Text, v)
	if sure && telling {
		x.severity, x.why, x.exceeds = high, why, true
		return x, true
	}
	if share < barely || !telling || words == 1 && beyond < 2 {
		return finding{}, false
	}
	if share < touches && (why == "" || words < 2) {
		return finding{}, false
	}
	denies := negation.MatchString(t.Text)
	bound := language.SetsBound(r.Text) // shared words alone do not show that the text keeps the bound
	switch {
	case why != "" && words > 1:
		x.severity, x.why = high, why
	case language.Within(r.Text, t.Text) && !denies:
		x.severity = inOrder
		return x, words > 1
	case forbids.MatchString(r.Text) || restricts.MatchString(r.Text):
		if !isForbidden(r.Text, t.Text, denies) {
			x.severity = inOrder
			return x, share >= alike && words > 2 && !bound
		}
		x.severity, x.why = grade(share, words), v.say(messages.Restricts, nil)
	case p.denies(t.Text, r.Vec):
		x.severity, x.why = min(medium, grade(share, words)), v.say(messages.LeavesOut, nil)
	default:
		x.severity = inOrder
		return x, share >= alike && words > 2 && !denies && !bound
	}
	return x, true
}

// brokenLimit says which limit of a rule a text breaks; empty when none. sure: the texts
// around both figures have the same subject, because they share two words or a rare one. The
// price of a hotel does not break a limit for meals.
func (p pool) brokenLimit(rule, text string, v voice) (why string, sure bool) {
	const rare = 3 // sentences that have the word, rule and text included
	for _, x := range language.Beyond(rule, text) {
		shared, telling := 0, false
		p.Vocab.Count(around(rule, x.Rule)).Each(p.Vocab.Count(around(text, x.At)), func(a, _ excerpt.Entry) {
			shared++
			telling = telling || p.Vocab.DF[a.Word] <= rare
		})
		if shared > 1 || telling {
			return v.excess(x), true
		}
		if why == "" {
			why = v.excess(x)
		}
	}
	return why, false
}

// excess says which bound a figure breaks.
func (v voice) excess(x language.Excess) string {
	says := messages.AtLeast
	switch {
	case x.Date:
		says = messages.LastDay
	case x.Upper:
		says = messages.AtMost
	}
	return v.say(says, messages.Params{"said": x.Text, "bound": x.Bound})
}

// around returns the part of a text around a position, in bytes.
func around(text string, at int) string {
	const reach = 70 // bytes
	return strings.ToValidUTF8(text[max(0, at-reach):min(len(text), at+reach)], "")
}

// denies reports whether a negation is right before a word of the rule: "have not
// encrypted the file".
func (p pool) denies(text string, rule excerpt.Vector) bool {
	const reach = 2 // words after a negation
	left := 0
	for _, w := range strings.Fields(strings.ToLower(text)) {
		w = strings.Trim(w, ".,;:!?()\"“”")
		if negation.MatchString(w) {
			left = reach
			continue
		}
		if left > 0 {
			left--
			hit := false
			p.Vocab.Count(w).Each(rule, func(excerpt.Entry, excerpt.Entry) { hit = true })
			if hit {
				return true
			}
		}
	}
	return false
}

// grade returns a high severity for a sentence that shares many words with the rule, and a
// lower one for a sentence that may be about something else.
func grade(share float64, words int) severity {
	switch {
	case share >= 0.42 && words > 1, share >= 0.33 && words > 2:
		return high
	case share >= 0.33:
		return medium
	}
	return low
}

// isForbidden reports whether a text does what a prohibition forbids. A rule with an
// exception ("without written approval") is kept by a text that has the approval.
func isForbidden(rule, text string, denies bool) bool {
	if exception.MatchString(rule) && slices.ContainsFunc(language.Stems(text), func(s string) bool { return consent[canonical(s)] }) {
		return denies
	}
	return !denies || strings.Contains(strings.ToLower(text), "without")
}

// canonical maps stems that mean the same in rules and e-mails to one of them, and stems of
// numbers and units to "", because they do not say what a sentence is about.
func canonical(stem string) string {
	if language.IsAmountStem(stem) {
		return ""
	}
	if c, ok := synonyms[stem]; ok {
		return c
	}
	return stem
}

//go:embed words.txt
var wordsFile string

var lists = language.ReadLists(wordsFile)

// synonyms maps stems to the stem of the first word of their line.
var synonyms = func() map[string]string {
	m := map[string]string{}
	for line := range lists.Phrases("synonyms") {
		words := strings.Fields(line)
		for _, w := range words {
			m[language.Stem(w)] = language.Stem(words[0])
		}
	}
	return m
}()

// consent are the canonical stems of what exceptions usually ask for.
var consent = func() map[string]bool {
	m := map[string]bool{}
	for w := range lists.Set("consent") {
		m[canonical(language.Stem(w))] = true
	}
	return m
}()
