package mention

import (
	"slices"

	"github.com/palaver-chat/palaver/agents/documents/intent"
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
	Sure       bool     // the person or a confident model chose IDs: only they are searched
	Suggested  []string // for the person to choose from
	Unknown    []string // names that match no document
	Processing bool     // a document is not ready yet
}

// Tagged returns the choice of the tagged documents.
func (c *Candidates) Tagged() Choice {
	out := Choice{Confidence: chat.High}
	for _, id := range c.Tags.IDs() {
		c.take(&out, id, Explicit)
	}
	out.Sure = len(out.IDs) > 0
	return out
}

func (c *Candidates) take(out *Choice, id, source string) {
	if slices.Contains(out.IDs, id) {
		return
	}
	out.IDs = append(out.IDs, id)
	if out.Source != Fuzzy {
		out.Source = source
	}
	for _, d := range slices.Concat(c.Tags.Docs, c.Visible) {
		out.Processing = out.Processing || d.ID == id && d.Status == chat.DocProcessing
	}
}

// ByRules adds to the tagged documents what the rules found.
func (c *Candidates) ByRules() Choice {
	out := c.Tagged()
	for _, id := range c.Found.IDs {
		c.take(&out, id, Inferred)
	}
	next := len(c.Found.IDs) > 0 && !c.Found.Back && intent.NamesNext(c.Instruction) // "and in 2024?": that document alone
	out.Sure = out.Sure || c.Found.Exact || next
	out.Unknown = c.Found.Unknown
	out.Suggested = slices.DeleteFunc(slices.Clone(c.Found.Open), func(id string) bool { return slices.Contains(out.IDs, id) })
	switch {
	case len(out.Suggested) > 1:
		out.Confidence = chat.Medium
	case len(out.Unknown) > 0, c.Found.Lost && len(out.IDs) == 0:
		out.Confidence = chat.Low
	}
	return out
}

// Choose adds to the tagged documents what a model has answered. ids are those of its
// answer that exist and that the owner may see.
func (c *Candidates) Choose(ids []string, answer llm.DocResolution) Choice {
	out := c.Tagged()
	switch answer.Confidence {
	case chat.High, chat.Medium:
		out.Confidence = answer.Confidence
	default:
		out.Confidence = chat.Low
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(out.IDs, id) })
	suggested := c.takeChosen(&out, ids)
	out.Sure = out.Sure || len(out.IDs) > 0 && out.Confidence == chat.High
	for _, name := range answer.UnresolvedNames[:min(len(answer.UnresolvedNames), maxNames)] {
		found, _ := Named(name, c.Visible, c.Now)
		switch {
		case len(found) == 1:
			c.take(&out, found[0].ID, Fuzzy)
		case len(found) > 1:
			suggested = append(suggested, IDs(found)...)
		case c.isPlausibleName(name):
			out.Unknown = append(out.Unknown, name)
		}
	}
	if len(out.IDs)+len(suggested)+len(out.Unknown) == 0 { // small models miss names that stand in the message
		for _, id := range c.Found.IDs {
			c.take(&out, id, Inferred)
			out.Confidence = chat.High
		}
		suggested = c.Found.Open
	}
	suggested = slices.DeleteFunc(language.Distinct(suggested), func(id string) bool { return slices.Contains(out.IDs, id) || c.failed(id) })
	switch {
	case len(suggested) > 1:
		out.Suggested, out.Confidence = suggested, chat.Medium
	case len(suggested) == 1:
		c.take(&out, suggested[0], Inferred)
	case len(out.Unknown) > 0:
		out.Confidence = chat.Low
	case out.Source == Fuzzy:
		out.Confidence = chat.High
	}
	return out
}

// failed reports whether a document could not be read.
func (c *Candidates) failed(id string) bool {
	return slices.ContainsFunc(c.Visible, func(d chat.Document) bool { return d.ID == id && d.Status == chat.DocFailed })
}

// takeChosen takes the documents that a model chose. Of several that it is not sure about, it
// takes those that the message names, and returns the others.
func (c *Candidates) takeChosen(out *Choice, ids []string) (open []string) {
	if len(ids) > 1 && out.Confidence != chat.High {
		for _, id := range ids {
			if !slices.Contains(c.Found.IDs, id) || c.Found.Back {
				open = append(open, id)
			}
		}
		if len(open) < 2 {
			return ids
		}
	}
	for _, id := range ids {
		if !slices.Contains(open, id) {
			c.take(out, id, Inferred)
		}
	}
	return open
}

// isPlausibleName reports whether a name that a model found can name a document: the message
// has its words, and it says more than "that regulation".
func (c *Candidates) isPlausibleName(name string) bool {
	said, named := language.Words(c.Instruction), language.Words(name)
	if slices.ContainsFunc(named, func(w string) bool { return !slices.Contains(said, w) }) {
		return false
	}
	telling := slices.ContainsFunc(named, func(w string) bool {
		return !language.Determiners[w] && !language.Pointing[w] && !language.TitleNouns[w]
	})
	noun := slices.ContainsFunc(named, func(w string) bool { return language.TitleNouns[w] })
	i, j := language.FindName(c.Instruction, name, 0)
	return telling && (noun || language.WithoutExtension(name) != name || i >= 0 && (mayName(". x "+name) || language.IsQuoted(c.Instruction, i, j)))
}
