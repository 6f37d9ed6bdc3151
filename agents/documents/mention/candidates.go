package mention

import (
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxRegistry      = 100 // newest entries of the registry in the prompt
	maxSharingWords  = 20  // documents offered because their title shares a word
	maxSimilarTitles = 5   // documents offered because their title is similar to that of the document used last
)

// Candidates are the documents that a message may mean.
type Candidates struct {
	Message     string
	Instruction string // the message without tagged names and without a text to audit; Gather writes names as titles do
	Tags        tiptap.Tags
	Registry    []chat.DocRef   // documents that the thread has used, the latest last
	Visible     []chat.Document // all that the owner may see
	Known       []chat.DocRef   // what a model may choose from; Gather sets it
	Verbatim    []chat.Document // documents whose titles stand in the instruction; Gather sets it
	Now         time.Time       // for "last year's"
}

// Gather sets Known and Verbatim: the registry, titles that stand in the message, and
// titles that share words with it. One shared word is enough when the message speaks of
// a document.
func (c *Candidates) Gather() {
	if n := len(c.Registry); n > maxRegistry {
		c.Registry = c.Registry[n-maxRegistry:]
	}
	c.Instruction = c.AsTitled(c.Instruction)
	if c.Verbatim = Occurring(c.Instruction, c.Visible); len(c.Verbatim)+len(c.Tags.Docs) == 0 {
		c.Verbatim = Occurring(c.Message, c.Visible) // a name in what was cut away as a quotation
	}
	c.Known = slices.Clone(c.Registry)
	add := func(docs []chat.Document) {
		for _, d := range docs {
			if !slices.ContainsFunc(c.Known, func(k chat.DocRef) bool { return k.ID == d.ID }) {
				c.Known = append(c.Known, chat.DocRef{ID: d.ID, Title: d.Title})
			}
		}
	}
	add(c.Verbatim)
	speaks := mentionsDocument(c.Instruction) || mayName(c.Instruction) || intent.AsksForDocuments(c.Instruction)
	add(sharingWords(c.Instruction, c.Visible, maxSharingWords, !speaks))
	if n := len(c.Registry); n > 0 && (refersBack(c.Instruction) || isShort(c.Instruction)) { // "the other one", "and in 2024?": a version of what was spoken of
		add(sharingWords(c.Registry[n-1].Title, c.Visible, maxSimilarTitles, true))
	}
	add(c.Tags.Docs)
}

// AsTitled writes the names in a message as the titles of the documents do.
func (c *Candidates) AsTitled(message string) string {
	about := make([]chat.Document, len(c.Registry))
	for i, d := range c.Registry {
		about[i] = chat.Document{ID: d.ID, Title: d.Title}
	}
	return AsTitled(message, c.Visible, about, c.Now)
}

// maxFollowUp is the number of words of a message that may go on with what was asked
// before.
const maxFollowUp = 12

func isShort(message string) bool { return len(language.Words(message)) <= maxFollowUp }

// NeedModel reports whether rules cannot tell which documents are meant. Rules
// suffice when everything is tagged and the rest of the message refers to nothing
// before it, and when there are neither candidates nor anything like a name.
func (c *Candidates) NeedModel() bool {
	if mayName(c.Instruction) || len(c.Verbatim) > 0 {
		return true
	}
	others := len(c.Known) - len(c.Tags.Docs)
	if len(c.Tags.Docs) > 0 {
		return others > 0 && refersBack(c.Instruction)
	}
	return others > 0
}

// NamesRegistered reports whether the message names a document of the registry, and
// refers to no other: then the model needs no earlier messages.
func (c *Candidates) NamesRegistered() bool {
	if refersBack(language.ReplaceNames(c.Instruction, Titles(c.Verbatim), " ")) {
		return false
	}
	lower := strings.ToLower(c.Message)
	return slices.ContainsFunc(c.Registry, func(d chat.DocRef) bool {
		return d.Title != "" && strings.Contains(lower, strings.ToLower(d.Title))
	})
}

// Fallback replaces a model's answer that cannot be parsed: it resolves the documents whose
// titles stand in the message.
func (c *Candidates) Fallback() llm.DocResolution {
	out := llm.DocResolution{ResolvedIDs: IDs(c.Verbatim), Confidence: chat.High}
	if len(c.Verbatim) == 0 {
		out.Confidence = chat.Low
	}
	return out
}

// IsPublic reports whether a visible document belongs to everyone.
func (c *Candidates) IsPublic(id string) bool {
	return slices.ContainsFunc(c.Visible, func(d chat.Document) bool { return d.ID == id && d.Owner == chat.PublicOwner })
}

// IDs returns the ids of documents, in order.
func IDs(docs []chat.Document) []string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// maxQuotedName limits a name that a question quotes, in characters.
const maxQuotedName = 80

// Quote lists names in quotation marks, for a question to the person.
func Quote(names []string) string {
	var quoted []string
	for _, n := range names {
		n = strings.Join(strings.Fields(n), " ")
		quoted = append(quoted, `"`+language.Truncate(n, maxQuotedName)+`"`)
	}
	return strings.Join(language.Distinct(quoted), ", ")
}
