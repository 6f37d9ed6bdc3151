// Package prompt builds the requests of the documents agent to models, from the texts of its
// .md files, earlier messages, and what a turn has read. It reads no store and calls no model.
package prompt

import (
	"cmp"
	"embed"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

//go:embed *.md
var files embed.FS

// text returns an embedded prompt. A test checks that every name in use exists.
func text(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// maxSaid is the number of earlier messages that the facts of a request have.
const maxSaid = 6

// Material is what an answer of the documents agent is made of.
type Material struct {
	Action       chat.Action
	Message      string // the person's message, or what of it asks
	FreeText     string // without the documents' names
	Language     string // in which the person asks
	Audited      string // the text under audit
	SubjectTitle string
	Subject      []llm.Passage // the document under audit
	Documents    []llm.Document
	Passages     []llm.Passage
	Opened       []llm.Passage // of documents that are read whole, for the engine without a model
	Sources      []cite.Source
	Quotable     []string // texts that may be quoted without being cited
	Web          bool
	Now          time.Time
	Weak         bool // the passages have too little
	Recent       []chat.Message
	Summary      string // of what was said before Recent
	Wishes       string // how the person wants answers
	Pictures     int    // attached; Images has those that the model can see
	Images       []llm.Image
	HasTools     bool
	Guidance     string          // about the turn's effort and limits
	Calls        prompt.Exchange // the turn's tool calls so far
}

// AddPassages adds passages of documents, with the next numbers.
func (m *Material) AddPassages(hits []chat.Hit) {
	m.Passages = append(m.Passages, m.number(hits)...)
}

// AddSubject adds the passages of the document under audit, with the next numbers.
func (m *Material) AddSubject(hits []chat.Hit) {
	m.Subject = append(m.Subject, m.number(hits)...)
	if len(hits) > 0 {
		m.SubjectTitle = hits[0].Title
	}
}

// AddOpened adds all passages of a document. Those among Passages keep their numbers.
func (m *Material) AddOpened(chunks []chat.Hit) {
	known := map[string]int{}
	for _, s := range m.Sources {
		known[s.ChunkID] = s.N
	}
	for i, h := range chunks {
		n := known[h.ID]
		if n == 0 {
			n = len(m.Sources) + 1
			source, _ := prompt.Numbered(n, h)
			m.Sources = append(m.Sources, source)
		}
		_, passage := prompt.Numbered(n, h)
		if i+1 < len(chunks) && chunks[i+1].Start > h.End+1 { // a blank line ends a table
			passage.Text += "\n"
		}
		m.Opened = append(m.Opened, passage)
	}
}

func (m *Material) number(hits []chat.Hit) []llm.Passage {
	var out []llm.Passage
	for _, h := range hits {
		source, passage := prompt.Numbered(len(m.Sources)+1, h)
		m.Sources, out = append(m.Sources, source), append(out, passage)
	}
	return out
}

// AddPages adds the results of a web search, with the next numbers.
func (m *Material) AddPages(pages []tools.WebHit) {
	for _, p := range pages {
		n := len(m.Sources) + 1
		m.Sources = append(m.Sources, cite.Source{N: n, Title: p.Title, URL: p.URL, Text: p.Text})
		m.Passages = append(m.Passages, llm.Passage{N: n, Title: p.Title, URL: p.URL, Text: p.Text, Score: p.Score})
	}
}

// SetAudited finds the text to audit: an answer to a question, a document, or part of
// the message.
func (m *Material) SetAudited(answer string, subject []chat.Hit) {
	switch {
	case answer != "":
		m.Audited = answer
	case len(subject) > 0:
		m.Audited = joined(subject)
	default:
		instruction, text := intent.SplitAudit(m.FreeText)
		if m.Audited = text; text == "" {
			m.Audited = m.Message
		} else if instruction = strings.TrimSpace(instruction); instruction != "" {
			m.Message = instruction
		} else {
			m.Message = "Audit this text."
		}
	}
	m.Quotable = append(m.Quotable, m.Audited)
}

// ReadLanguage finds the language in which the person asks. It comes before SetAudited.
func (m *Material) ReadLanguage() {
	asks := m.FreeText
	if instruction, text := intent.SplitAudit(m.FreeText); m.Action == chat.Audit && text != "" {
		asks = cmp.Or(strings.TrimSpace(instruction), text)
	}
	m.Language = intent.LanguageOf(asks, m.said())
}

// joined returns the text of consecutive chunks, without their overlaps.
func joined(chunks []chat.Hit) string {
	var b strings.Builder
	end := 0
	for _, c := range chunks {
		text := []rune(c.Text)
		switch overlap := end - c.Start; {
		case overlap >= len(text):
			continue
		case overlap > 0:
			text = text[overlap:]
		case b.Len() > 0:
			b.WriteString("\n")
		}
		b.WriteString(string(text))
		end = c.End
	}
	return b.String()
}

// Answer asks the model for the answer.
func Answer(m Material) llm.Request {
	if m.Action == chat.Talk {
		return talk(m)
	}
	messages := m.answering(m.system(), m.user())
	messages[len(messages)-1].Images = m.Images
	asked := m.FreeText
	if m.Action == chat.Audit {
		asked = m.Audited
	}
	return llm.Request{
		Task:     llm.Task(m.Action),
		Messages: append(messages, m.Calls.Messages...),
		Facts: llm.Facts{
			Message:    asked,
			Language:   m.Language,
			Recent:     m.said(),
			Action:     m.Action,
			Documents:  m.Documents,
			Passages:   slices.Clone(m.Passages),
			Opened:     m.Opened,
			Now:        m.Now,
			WebAllowed: m.Web,
			Weak:       m.Weak,
			Used:       m.Calls.Used,
			Images:     m.Pictures,
		},
		MaxTokens: prompt.MaxAnswerTokens,
	}
}

func (m Material) system() string {
	system := text(string(m.Action)+".md") + "\n\n" + text("rules.md")
	if m.HasTools {
		system += "\n\n" + text("tools.md")
	}
	if m.Guidance != "" {
		system += "\n\n" + m.Guidance
	}
	return system
}

// user returns the user message: the passages, the text under audit, and the question.
func (m Material) user() string {
	var b strings.Builder
	writePassages(&b, m.Passages)
	if len(m.Passages) == 0 {
		b.WriteString("(No passages were found.)\n")
	}
	if m.Action == chat.Audit {
		b.WriteString("\n<text_under_audit" + llm.Attribute("title", m.SubjectTitle) + ">\n")
		if len(m.Subject) > 0 {
			writePassages(&b, m.Subject)
		} else {
			b.WriteString(llm.Data(m.Audited) + "\n")
		}
		b.WriteString("</text_under_audit>\n")
		b.WriteString(m.comparisons())
	}
	b.WriteString("\n<question>\n" + llm.Data(m.Message) + "\n</question>" + prompt.WishesNote(m.Wishes))
	return b.String()
}

func writePassages(b *strings.Builder, passages []llm.Passage) {
	for _, p := range passages {
		b.WriteString(p.Block())
	}
}

// answering returns the prompt of an answer, with the recent messages word for word and the
// summary of those before them.
func (m Material) answering(system, message string) []llm.Message {
	var earlier []llm.Message
	for _, x := range m.Recent {
		if said := prompt.Message(x, prompt.MaxEarlier); said.Role != "" {
			earlier = append(earlier, said)
		}
	}
	return prompt.Conversation(prompt.WithSummary(system, m.Summary), earlier, message)
}

// said returns the last messages before the turn, for the facts of a request.
func (m Material) said() []llm.Message {
	return prompt.Said(m.Recent[max(0, len(m.Recent)-maxSaid):])
}
