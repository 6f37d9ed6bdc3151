package chat

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat/messages"
)

// Withheld replaces what a turn in a space took from documents, for somebody who does not read
// the space, or reads the turn elsewhere.
var Withheld = messages.Withheld.Text

// paragraph separates what is withheld as a whole.
const paragraph = "\n\n"

var marker = regexp.MustCompile(`\[(\d+)\]`)

// runWords is how many words in a row make a quotation.
const runWords = 5

// withholdText replaces the paragraphs of an answer that cite, quote or name documents. Of an
// answer without citations nobody can tell what it took from documents, so it is replaced.
func withholdText(text string, citations []Citation) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	if len(citations) == 0 {
		return Withheld
	}
	cited, parts := map[string]bool{}, map[string]bool{}
	for _, c := range citations {
		if c.Source != "web" {
			cited[strconv.Itoa(c.N)] = true
			quotedParts(parts, c.Quote)
			parts[words(c.Title)] = true
		}
	}
	delete(parts, words(""))
	var kept []string
	for _, p := range strings.Split(text, paragraph) {
		if takenFrom(p, cited, parts) {
			if len(kept) > 0 && kept[len(kept)-1] == Withheld {
				continue
			}
			p = Withheld
		}
		kept = append(kept, p)
	}
	return strings.Join(kept, paragraph)
}

// quotedParts adds the runs of words of a quote.
func quotedParts(parts map[string]bool, quote string) {
	all := strings.Fields(quote)
	for i := 0; i == 0 || i+runWords <= len(all); i++ {
		parts[words(strings.Join(all[i:min(i+runWords, len(all))], " "))] = true
	}
}

// words returns a text in lower case with single blanks, also around it.
func words(text string) string {
	return " " + strings.ToLower(strings.Join(strings.Fields(text), " ")) + " "
}

func takenFrom(p string, cited, parts map[string]bool) bool {
	for _, m := range marker.FindAllStringSubmatch(p, -1) {
		if cited[m[1]] {
			return true
		}
	}
	said := words(p)
	for part := range parts {
		if strings.Contains(said, strings.TrimSpace(part)) {
			return true
		}
	}
	return false
}

// webOnly returns the citations of web pages.
func webOnly(all []Citation) (web []Citation) {
	for _, c := range all {
		if c.Source == "web" {
			web = append(web, c)
		}
	}
	return web
}

// withheldMetadata are the keys of a message's metadata that tell nothing of documents.
var withheldMetadata = []string{"author", "client_turn_id", "stream_run_id", "action", "attachments", "references", "tokens_used", "cost_usd", "model", "finished_reason",
	"cancelled_by", "interrupted", "interrupted_reason", "kind", "interrupt_id", "interrupt_type", "outcome", "outcome_at", "channel", "code"}

// NamesDocuments is the key of the metadata of an answer to a question that has names of documents
// or sets, or words of a model.
const NamesDocuments = "names_documents"

// Withhold returns the message without what it took from documents. What the reader wrote stays.
func (m Message) Withhold(byReader bool) Message {
	if m.Role == "user" && byReader && m.Metadata[NamesDocuments] != true {
		return m
	}
	var cited struct {
		Citations []Citation `json:"citations"`
	}
	b, _ := json.Marshal(m.Metadata)
	_ = json.Unmarshal(b, &cited) // our own JSON; without citations all of the text is withheld
	m.Content = withholdText(m.Content, cited.Citations)
	if m.Metadata == nil {
		return m
	}
	kept := map[string]any{}
	for _, key := range withheldMetadata {
		if v, is := m.Metadata[key]; is {
			kept[key] = v
		}
	}
	m.Metadata = kept
	return m
}

// WithholdEvents returns a turn's log without what it took from documents.
func WithholdEvents(log []Event) []Event {
	var citations []Citation
	for _, e := range log {
		if e.Response != nil {
			citations = append(citations, e.Response.Citations...)
		}
		citations = append(citations, e.Citations...)
	}
	out := make([]Event, len(log))
	for i, e := range log {
		kept := Event{Type: e.Type, N: e.N, TurnID: e.TurnID, ThreadID: e.ThreadID, StreamRunID: e.StreamRunID, Node: e.Node, Piece: e.Piece, Took: e.Took,
			ToolCallID: e.ToolCallID, ToolName: e.ToolName, IsError: e.IsError, Channel: e.Channel, Code: e.Code, Retryable: e.Retryable, Reason: e.Reason, Usage: e.Usage,
			Partial: withholdText(e.Partial, citations), Citations: webOnly(e.Citations)}
		switch e.Type {
		case EventText:
			kept.Text = withholdText(e.Text, citations)
		case EventReasoning, EventToolResult:
			kept.Text = Withheld
		case EventToolCall:
			kept.Arguments = "{}"
		case EventStatus, EventNotice:
			kept.Message = Withheld
		case EventFailed:
			kept.Message, kept.Coded = e.Message, e.Coded
		}
		if e.Resume != nil {
			kept.Resume = &ResumeValue{Type: e.Resume.Type}
		}
		if e.Interrupt != nil {
			kept.Interrupt = &Interrupt{ID: e.Interrupt.ID, Type: e.Interrupt.Type, Message: Withheld}
		}
		if e.Response != nil {
			r := *e.Response
			r.Text, r.Citations, r.Unverified = withholdText(r.Text, citations), webOnly(r.Citations), nil
			kept.Response = &r
		}
		out[i] = kept
	}
	return out
}
