package mention

import (
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// maxNames is the number of names from the model that are matched.
const maxNames = 10

// Sources of a choice.
const (
	Explicit = "explicit"
	Inferred = "inferred"
	Fuzzy    = "fuzzy_match"
)

// Choice is the documents that a message means.
type Choice struct {
	IDs        []string
	Source     string // of the documents; empty when there are none
	Confidence chat.Confidence
	Suggested  []string // for the person to choose from
	Unknown    []string // names that match no document
	Processing bool     // a document is not ready yet
}

// Tagged returns the choice of the tagged documents.
func (c *Candidates) Tagged() Choice {
	out := Choice{IDs: c.Tags.IDs(), Confidence: chat.High}
	if len(out.IDs) > 0 {
		out.Source = Explicit
	}
	for _, d := range c.Tags.Docs {
		out.Processing = out.Processing || d.Status == chat.DocProcessing
	}
	return out
}

// Choose adds to the tagged documents what a model has answered. found are the
// documents of its ids that exist and that the owner may see.
func (c *Candidates) Choose(found []chat.Document, answer llm.DocResolution) Choice {
	m := merge{Choice: c.Tagged(), Candidates: c}
	found = slices.DeleteFunc(found, func(d chat.Document) bool { return slices.Contains(m.IDs, d.ID) })
	m.takeModelChoice(found, answer.Confidence)
	m.takeNames(answer.UnresolvedNames)
	m.takeVerbatimTitles()
	m.finish()
	return m.Choice
}

// merge combines tags, a model's answer, and matches of names.
type merge struct {
	Choice
	*Candidates
	suggested []chat.Document
}

// takeModelChoice takes the documents that a model chose. If it chose several and is not
// sure, or if documents share a title, they become suggestions for the person.
func (m *merge) takeModelChoice(found []chat.Document, c chat.Confidence) {
	switch c {
	case chat.High, chat.Medium:
	default:
		c = chat.Low
	}
	m.Confidence = c
	if len(found) > 1 && c != chat.High {
		sure, open := splitByMention(m.Instruction, found)
		for _, f := range sure {
			m.take(f, Inferred)
		}
		m.suggest(open)
		return
	}
	for _, f := range found {
		if twins := m.sameTitle(f, found); len(twins) > 0 {
			m.suggest(append([]chat.Document{f}, twins...))
			continue
		}
		m.take(f, Inferred)
	}
}

// splitByMention splits documents into those that the message identifies, by a title
// or a word that only one of them has, and the open ones. When only one would be
// open, all are.
func splitByMention(message string, docs []chat.Document) (sure, open []chat.Document) {
	for _, d := range docs {
		if Index(message, d, docs) >= 0 {
			sure = append(sure, d)
		} else {
			open = append(open, d)
		}
	}
	if len(open) < 2 {
		return nil, docs
	}
	return sure, open
}

// sameTitle returns other documents of the same title that may be meant, too: from the
// registry when the chosen one is in it, else from all. It returns none when the model
// chose several of that title, or one is tagged.
func (c *Candidates) sameTitle(of chat.Document, chosen []chat.Document) []chat.Document {
	inRegistry := func(id string) bool {
		return slices.ContainsFunc(c.Registry, func(k chat.DocRef) bool { return k.ID == id })
	}
	var out []chat.Document
	for _, d := range c.Visible {
		same := d.ID != of.ID && language.FoldName(d.Title) == language.FoldName(of.Title)
		if same && (!inRegistry(of.ID) || inRegistry(d.ID)) {
			if slices.ContainsFunc(chosen, func(c chat.Document) bool { return c.ID == d.ID }) ||
				slices.ContainsFunc(c.Tags.Docs, func(c chat.Document) bool { return c.ID == d.ID }) {
				return nil
			}
			out = append(out, d)
		}
	}
	return out
}

// takeNames matches the names that a model could not resolve.
func (m *merge) takeNames(names []string) {
	for _, name := range names[:min(len(names), maxNames)] {
		found := Closest(name, m.Visible)
		if len(found) == 0 {
			found = slices.DeleteFunc(slices.Clone(m.Verbatim), func(d chat.Document) bool { return !overlaps(m.Instruction, name, d) })
		}
		switch {
		case len(found) == 1:
			m.take(found[0], Fuzzy)
		case len(found) > 1:
			m.suggest(found)
		case isPlausibleName(name, m.Instruction):
			m.Unknown = append(m.Unknown, name)
		}
	}
}

// takeVerbatimTitles takes a distinctive title that the message contains when the
// model found nothing. Small models miss such titles.
func (m *merge) takeVerbatimTitles() {
	if len(m.IDs)+len(m.suggested)+len(m.Unknown) > 0 {
		return
	}
	byName := map[string][]chat.Document{}
	for _, d := range m.Verbatim {
		if name := language.FoldName(d.Title); isDistinctive(name) {
			byName[name] = append(byName[name], d)
		}
	}
	for _, d := range m.Verbatim {
		switch same := byName[language.FoldName(d.Title)]; {
		case len(same) == 1:
			m.take(d, Inferred)
			m.Confidence = chat.High
		case len(same) > 1:
			m.suggest(same)
		}
	}
}

func (m *merge) take(d chat.Document, source string) {
	if slices.Contains(m.IDs, d.ID) {
		return
	}
	m.IDs = append(m.IDs, d.ID)
	m.Processing = m.Processing || d.Status == chat.DocProcessing
	if m.Source != Fuzzy {
		m.Source = source
	}
}

func (m *merge) suggest(docs []chat.Document) {
	for _, d := range docs {
		if !slices.ContainsFunc(m.suggested, func(s chat.Document) bool { return s.ID == d.ID }) {
			m.suggested = append(m.suggested, d)
		}
	}
}

// finish sets the confidence: medium for suggestions, low for unknown names, high
// for fuzzy matches.
func (m *merge) finish() {
	m.suggested = slices.DeleteFunc(m.suggested, func(s chat.Document) bool { return slices.Contains(m.IDs, s.ID) })
	switch {
	case len(m.suggested) > 1:
		m.Suggested = IDs(m.suggested)
		m.Confidence = chat.Medium
	case len(m.suggested) == 1:
		m.take(m.suggested[0], Inferred)
	case len(m.Unknown) == 0 && m.Source == Fuzzy:
		m.Confidence = chat.High
	}
	if len(m.Unknown) > 0 && len(m.Suggested) == 0 {
		m.Confidence = chat.Low
	}
}
