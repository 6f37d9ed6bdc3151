// Package transcript renders the entries of a turn's log, which have ids and codes, as
// events with texts.
package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
)

// Store is the part of db.Store that rendering reads.
type Store interface {
	Texts(ctx context.Context, owner, turnID string) (map[string]string, error)
	DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error)
	SetsByID(ctx context.Context, owner string, ids []string) ([]chat.DocumentSet, error)
	ChunksByID(ctx context.Context, owner string, ids []string) ([]chat.Hit, error)
}

// Ref names a turn.
type Ref struct {
	Owner, ThreadID, TurnID string
}

// Render returns the events of entries, in their order and with their numbers. It
// reads texts, titles and set names once each, and only when an entry needs them. A
// deleted document has an empty title. It skips terminal entries, because their events
// are stored.
func Render(ctx context.Context, store Store, ref Ref, entries []chat.Entry) ([]chat.Event, error) {
	w, err := load(ctx, store, ref, entries, nil)
	if err != nil {
		return nil, err
	}
	w.declare = true
	return w.events(entries), nil
}

// End returns the events of a whole log, and the parts of it that become messages of the history,
// for a caller that has read the texts. It leaves out the tool descriptions that people need to decide about calls,
// because no question is open any more.
func End(ctx context.Context, store Store, ref Ref, entries []chat.Entry, texts map[string]string) ([]chat.Event, []db.Prompt, error) {
	w, err := load(ctx, store, ref, entries, texts)
	if err != nil {
		return nil, nil, err
	}
	return w.events(entries), w.prompts(entries), nil
}

// Prompts are those of End, without the names of documents and sets. It reads nothing else.
func Prompts(ref Ref, entries []chat.Entry, texts map[string]string) []db.Prompt {
	return words{ref: ref, texts: texts}.prompts(entries)
}

func (w words) events(entries []chat.Entry) []chat.Event {
	events := make([]chat.Event, 0, len(entries))
	for _, e := range entries {
		if !e.Type.Terminal() {
			events = append(events, w.event(e))
		}
	}
	return events
}

// prompts returns the parts of a log that become messages of the history: the questions
// with their answers, and the notices, except those about ignored answers.
func (w words) prompts(entries []chat.Entry) []db.Prompt {
	var prompts []db.Prompt
	questions := map[string]chat.Question{}
	for _, e := range entries {
		switch {
		case e.Type == chat.EventInterrupt && e.Question != nil:
			questions[e.Question.ID] = *e.Question
			m := e.Question.Message(w.texts[e.Question.Ref], w.titles[e.Question.About])
			prompts = append(prompts, db.Prompt{ID: e.Question.ID, Type: e.Question.Type, Outcome: chat.OutcomeUnanswered,
				Message: m.Text, Coded: m.Coded, At: e.At})
		case e.Type == chat.EventResumed && e.Resume != nil:
			i := slices.IndexFunc(prompts, func(p db.Prompt) bool { return p.ID == e.Answers })
			if i >= 0 {
				w.answerPrompt(&prompts[i], questions[e.Answers], e)
			}
		case e.Type == chat.EventNotice && e.Code != chat.NoticeResumeIgnored:
			if m := w.notice(e); m.Text != "" {
				prompts = append(prompts, db.Prompt{ID: w.ref.TurnID + ".n" + strconv.Itoa(e.N), Code: e.Code, Message: m.Text, Coded: m.Coded, At: e.At})
			}
		}
	}
	return prompts
}

// answerPrompt adds the answer e to its question.
func (w words) answerPrompt(p *db.Prompt, q chat.Question, e chat.Entry) {
	p.Outcome, p.Channel, p.AnsweredAt = chat.OutcomeAnswered, e.Channel, e.At
	p.Answer, p.Names = w.answer(q, e.Resume.Whole(w.texts))
}

// words are the texts and names that a log's entries refer to.
type words struct {
	ref    Ref
	texts  map[string]string
	titles map[string]string // documents
	sets   map[string]string
	hits   map[string]chat.Hit // passages
	// declare adds the descriptions of tools to questions about their calls.
	declare bool
}

// load reads the texts and names of entries. texts is nil when they are not read yet.
func load(ctx context.Context, store Store, ref Ref, entries []chat.Entry, texts map[string]string) (words, error) {
	w := words{ref: ref, texts: texts, titles: map[string]string{}, sets: map[string]string{}, hits: map[string]chat.Hit{}}
	var err error
	if w.texts == nil && slices.ContainsFunc(entries, needsTexts) {
		if w.texts, err = store.Texts(ctx, ref.Owner, ref.TurnID); err != nil {
			return w, fmt.Errorf("render the log: %w", err)
		}
	}
	var docs, sets, chunks []string
	for _, e := range entries {
		docs = append(docs, e.DocIDs...)
		if q := e.Question; q != nil && (q.Type == chat.DocChoice || q.Type == chat.TextInput) {
			docs = append(append(docs, q.OptionIDs...), q.About)
		}
		if e.Question != nil {
			chunks = append(chunks, e.Question.ChunkIDs...)
		}
		if e.Resume != nil {
			v := e.Resume.Whole(w.texts)
			d, s := tagged(v)
			docs, sets = append(append(docs, d...), v.Text()), append(sets, s...)
		}
	}
	if docs = ids(docs); len(docs) > 0 {
		found, err := store.DocumentsByID(ctx, ref.Owner, docs)
		if err != nil {
			return w, fmt.Errorf("render the log: %w", err)
		}
		for _, d := range found {
			w.titles[d.ID] = cmp.Or(d.Label, d.Title)
		}
	}
	if chunks = ids(chunks); len(chunks) > 0 {
		found, err := store.ChunksByID(ctx, ref.Owner, chunks)
		if err != nil {
			return w, fmt.Errorf("render the log: %w", err)
		}
		for _, h := range found {
			w.hits[h.ID] = h
		}
	}
	if sets = ids(sets); len(sets) > 0 {
		found, err := store.SetsByID(ctx, ref.Owner, sets)
		if err != nil {
			return w, fmt.Errorf("render the log: %w", err)
		}
		for _, s := range found {
			w.sets[s.ID] = s.Name
		}
	}
	return w, nil
}

// needsTexts reports whether an entry refers to texts of the turn.
func needsTexts(e chat.Entry) bool {
	return e.Ref != "" || e.Call != nil || e.Resume != nil && e.Resume.Ref != "" ||
		e.Question != nil && (e.Question.Ref != "" || len(e.Question.Calls) > 0)
}

// maxID is the maximum length of an id. An answer may be an id or a long text.
const maxID = 128

// ids keeps the strings that can be ids, each once.
func ids(in []string) []string {
	return slices.DeleteFunc(language.Distinct(in), func(id string) bool { return id == chat.AllDocs || len(id) > maxID })
}

func tagged(v chat.ResumeValue) (docs, sets []string) {
	c, err := tiptap.Read(v.TipTap)
	if err != nil {
		c = tiptap.Content{}
	}
	return append(slices.Clone(v.TaggedDocs), c.IDs(tiptap.Document)...),
		append(slices.Clone(v.TaggedSets), c.IDs(tiptap.Set)...)
}

func (w words) event(e chat.Entry) chat.Event {
	out := chat.Event{Type: e.Type, N: e.N, TurnID: w.ref.TurnID, ThreadID: w.ref.ThreadID}
	switch e.Type {
	case chat.EventStatus:
		out.Node = e.Node
		if e.Node == chat.NodeWebSearch {
			out.WebQuery = w.texts[e.Ref]
		}
		out.Say(e.StatusMessage(out.WebQuery))
		if _, _, is := chat.ReadProgressKey(e.Ref); is {
			r, _ := chat.ReportIn(w.texts, e.Ref)
			out.Say(r.Message())
			out.Report = e.Ref
		}
		if e.Call != nil {
			out.ToolCallID = e.Call.ID
		}
		out.Usage, out.Took = e.Usage, e.Took
		for _, id := range e.DocIDs {
			out.DocsFound = append(out.DocsFound, chat.DocRef{ID: id, Title: w.titles[id]})
		}
	case chat.EventText:
		out.Piece, out.Text = e.Piece, w.texts[e.Ref]
	case chat.EventReasoning:
		out.Text, out.Took = w.texts[e.Ref], e.Took
	case chat.EventToolCall:
		out.ToolCallID, out.ToolName = e.Call.ID, e.Call.Name
		out.Arguments = w.arguments(e.Call.ID)
	case chat.EventToolResult:
		out.ToolCallID, out.ToolName, out.IsError = e.Call.ID, e.Call.Name, e.IsError
		result := w.said(chat.ResultKey(e.Call.ID))
		out.Text, out.Coded = result.Text, result.Coded
	case chat.EventNotice:
		out.Code = e.Code
		out.Say(w.notice(e))
	case chat.EventInterrupt:
		if e.Question != nil {
			out.Interrupt = w.interrupt(*e.Question)
			out.Message, out.Coded, out.Usage = out.Interrupt.Message, out.Interrupt.Coded, e.Usage
		}
	case chat.EventResumed:
		out.Channel = e.Channel
		if e.Resume != nil {
			whole := e.Resume.Whole(w.texts)
			out.Resume = &whole
		}
		if e.Answers != "" {
			out.Interrupt = &chat.Interrupt{ID: e.Answers}
		}
	}
	return out
}

// said returns the text with a key, with its code when it has one.
func (w words) said(key string) messages.Message {
	m := messages.Plain(w.texts[key])
	if stored := w.texts[chat.CodedKey(key)]; stored != "" {
		m.Coded = messages.Read(stored).Coded
	}
	return m
}

// notice returns the message of a notice, which can be a text of the turn.
func (w words) notice(e chat.Entry) messages.Message {
	if e.Ref != "" {
		return w.said(e.Ref)
	}
	return e.NoticeMessage()
}

func (w words) interrupt(q chat.Question) *chat.Interrupt {
	m := q.Message(w.texts[q.Ref], w.titles[q.About])
	i := &chat.Interrupt{ID: q.ID, Type: q.Type, Message: m.Text, Coded: m.Coded}
	for _, id := range q.OptionIDs {
		label := q.OptionLabel(id, w.titles[id])
		i.Options = append(i.Options, chat.Option{ID: id, Label: label.Text, Code: label.Code})
	}
	for _, c := range q.Calls {
		arguments := w.arguments(c.ID)
		if edited := w.texts[chat.EditedKey(c.ID)]; edited != "" && q.Prompt == chat.PromptUnknownOutcome {
			arguments = edited // the call ran with these, and would run again with them
		}
		i.Calls = append(i.Calls, chat.ToolCall{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(arguments), Editable: c.Editable})
	}
	for _, id := range q.ChunkIDs {
		if h, there := w.hits[id]; there {
			i.Closest = append(i.Closest, beginning(h, len(i.Closest)+1))
		}
	}
	if w.declare {
		i.Tools = w.tools(q.Calls)
	}
	return i
}

// maxBeginning is how much of a passage a question shows, in characters.
const maxBeginning = 400

// beginning returns a citation, with number n, of the beginning of a passage up to the end
// of a word.
func beginning(h chat.Hit, n int) chat.Citation {
	quote := []rune(h.Text)
	if len(quote) > maxBeginning {
		quote = quote[:maxBeginning]
		if space := strings.LastIndexFunc(string(quote), unicode.IsSpace); space > 0 {
			quote = []rune(string(quote)[:space])
		}
	}
	start, end := h.Start, h.Start+len(quote)
	return chat.Citation{N: n, Source: "document", DocID: h.DocID, Title: h.Title, ChunkID: h.ID, Quote: string(quote),
		Start: &start, End: &end, Page: chat.PageAt(h.Pages, h.Start)}
}

// tools returns the tools of calls, each once. Schemas beyond the limit are left out.
func (w words) tools(calls []chat.CallRef) []chat.ToolInfo {
	var out []chat.ToolInfo
	size := 0
	for _, c := range calls {
		var info chat.ToolInfo
		known := slices.ContainsFunc(out, func(t chat.ToolInfo) bool { return t.Name == c.Name })
		if known || json.Unmarshal([]byte(w.texts[chat.ToolKey(c.Name)]), &info) != nil {
			continue
		}
		schema := json.RawMessage(w.texts[chat.SchemaKey(c.Name)])
		if size += len(schema); size <= chat.MaxToolSchemas && json.Valid(schema) {
			info.Schema = schema
		}
		out = append(out, info)
	}
	return out
}

// arguments returns the arguments that the model wrote for a tool call; "{}" if they are
// not a JSON object.
func (w words) arguments(callID string) string {
	return chat.Arguments(w.texts[chat.CallKey(callID)])
}

// decisions describes a person's decisions about tool calls.
func decisions(q chat.Question, v chat.ResumeValue) string {
	var said []string
	for _, d := range v.Decisions {
		i := slices.IndexFunc(q.Calls, func(c chat.CallRef) bool { return c.ID == d.ID })
		if i < 0 {
			continue
		}
		line := map[chat.Verdict]string{chat.Approved: "Approved ", chat.Rejected: "Rejected "}[d.Decision] + q.Calls[i].Name
		if d.Decision == chat.Rejected && d.Reason != "" {
			line += ": " + d.Reason
		}
		said = append(said, line)
	}
	return strings.Join(said, "\n")
}

// answer describes a person's answer with labels and titles instead of ids. named says that it has
// names of documents or sets, or words of a model.
func (w words) answer(q chat.Question, v chat.ResumeValue) (text string, named bool) {
	if q.Type == chat.ToolApproval {
		return decisions(q, v), false
	}
	text = v.Text()
	title := w.titles[text]
	if slices.Contains(q.OptionIDs, text) {
		named = q.Type == chat.Choice
		text = q.OptionLabel(text, title).Text
	} else if title != "" {
		text = title
	}
	docs, sets := tagged(v)
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) && !strings.Contains(text, name) {
			names = append(names, name)
		}
	}
	for _, id := range docs {
		add(w.titles[id])
	}
	for _, id := range sets {
		add(w.sets[id])
	}
	named = named || title != "" || len(names) > 0
	switch list := strings.Join(names, ", "); {
	case list == "":
		return text, named
	case text == "":
		return list, named
	default:
		return text + ": " + list, named
	}
}
