//go:build long

package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// Conversations by what happens in them between the two backups.
const (
	writes      = "writes"        // an answer begins before the first and does not end
	endsTurn    = "ends a turn"   // it ends between them
	asks        = "asks"          // a question waits before the first and is not answered
	isAnswered  = "is answered"   // it is answered between them
	beginsTurn  = "begins a turn" // an answer begins between them and does not end
	asksLater   = "asks later"
	saysMore    = "says more" // a whole turn is between them
	isNew       = "is new"    // its only turn is between them
	againTurnID = "sent-again"
)

// Messages. The model holds the answers to a saga and to a ballad back after begun.
const (
	greeting = "Hello"
	saga     = "Write a saga"
	ballad   = "Write a ballad"
	vague    = "The vague circular"
	more     = "Is this kept?"
	whatNow  = "What now?"

	begun = "Once upon a time"
	first = begun + " there was a bank."       // before the restore
	anew  = begun + " there was another bank." // after it
)

// state is what a restored conversation has.
type state struct {
	messages []string // of the person; none: it does not exist
	end      string   // how the last turn ended: finished_reason, or the code of its error
	text     string   // of the last answer; empty: any
	pending  bool     // a question waits instead
	retry    string   // a message that its client sends again first
}

const complete = "stop" // finished_reason of a complete answer

var (
	// before is how conversations go on from the older set, as if nothing had come later.
	before = map[string]state{
		writes:     {messages: []string{saga}, end: complete, text: anew},
		endsTurn:   {messages: []string{ballad}, end: complete, text: anew},
		asks:       {messages: []string{vague}, pending: true},
		isAnswered: {messages: []string{vague}, pending: true},
		beginsTurn: {messages: []string{greeting}, end: complete},
		asksLater:  {messages: []string{greeting}, end: complete},
		saysMore:   {messages: []string{greeting}, end: complete, retry: more},
		isNew:      {},
	}
	// temporalOlder: open turns of Temporal continue, ended ones keep their end, and those that
	// it does not have are lost.
	temporalOlder = map[string]state{
		writes:     {messages: []string{saga}, end: complete, text: anew},
		endsTurn:   {messages: []string{ballad}, end: complete, text: first},
		asks:       {messages: []string{vague}, pending: true},
		isAnswered: {messages: []string{vague}, end: complete},
		beginsTurn: {messages: []string{greeting, saga}, end: chat.CodeTurnLost, text: begun},
		asksLater:  {messages: []string{greeting, vague}, end: chat.CodeTurnLost},
		saysMore:   {messages: []string{greeting, more}, end: complete, retry: more},
		isNew:      {messages: []string{greeting}, end: complete},
	}
	// palaverOlder: later messages are missing, and turns that have ended since are lost with
	// what the backup has of them.
	palaverOlder = map[string]state{
		writes:     {messages: []string{saga}, end: complete, text: anew},
		endsTurn:   {messages: []string{ballad}, end: chat.CodeTurnLost, text: begun},
		asks:       {messages: []string{vague}, pending: true},
		isAnswered: {messages: []string{vague}, end: chat.CodeTurnLost},
		beginsTurn: {messages: []string{greeting}, end: complete},
		asksLater:  {messages: []string{greeting}, end: complete},
		saysMore:   {messages: []string{greeting}, end: complete, retry: more},
		isNew:      {},
	}
)

// cases are conversations of one person whose state differs between the backups.
type cases struct {
	*system
	people map[string]*person // by what happens in their conversation
	ballad *llmtest.Gate
}

// newCases brings the conversations into the state that they have before the first backup.
func (s *system) newCases(ctx context.Context) (*cases, error) {
	c := &cases{system: s, people: map[string]*person{}, ballad: llmtest.NewGate()}
	for name := range before {
		c.people[name] = &person{system: s, user: s.people[0].user, doc: s.people[0].doc, thread: uuid.NewString()}
	}
	s.model.On(llmtest.Match{Schema: llm.IntentSchema.Name, Contains: vague},
		llmtest.JSON(llm.Intent{Action: chat.Inquire, Confidence: chat.Low, Actions: []chat.Action{chat.Inquire, chat.Summarize}}))
	s.model.On(llmtest.Match{Kind: llmtest.Stream, Contains: saga}, llmtest.Silent("Once upon ", "a time"))
	s.model.On(llmtest.Match{Kind: llmtest.Stream, Contains: ballad},
		llmtest.Answer{Chunks: []string{"Once upon ", "a time", " there was a bank."}, Gates: map[int]*llmtest.Gate{2: c.ballad}})
	var err error
	for name, message := range map[string]string{writes: saga, endsTurn: ballad} {
		err = errors.Join(err, c.people[name].beginAnswer(ctx, message))
	}
	for _, name := range []string{asks, isAnswered} {
		err = errors.Join(err, c.people[name].ask(ctx))
	}
	for _, name := range []string{beginsTurn, asksLater, saysMore} {
		err = errors.Join(err, c.people[name].tell(ctx, greeting))
	}
	return c, err
}

// goOn is what happens between the backups.
func (c *cases) goOn(ctx context.Context) error {
	c.ballad.Release()
	return errors.Join(
		c.people[endsTurn].found(ctx, state{messages: []string{ballad}, end: complete, text: first}),
		c.people[isAnswered].answer(ctx),
		c.people[beginsTurn].beginAnswer(ctx, saga),
		c.people[asksLater].ask(ctx),
		c.people[saysMore].tell(ctx, more),
		c.people[isNew].tell(ctx, greeting),
	)
}

// answerAtOnce ends holding answers back.
func (c *cases) answerAtOnce() {
	for _, message := range []string{saga, ballad} {
		c.model.On(llmtest.Match{Kind: llmtest.Stream, Contains: message}, llmtest.Text("Once upon ", "a time", " there was another bank."))
	}
}

// tell sends a message to the assistant until it is answered.
func (p *person) tell(ctx context.Context, message string) error {
	m := stack.Message{"message": message, "agent": "assistant"}
	if message == more { // its client sends it again after a restore
		m["client_turn_id"] = againTurnID
	}
	_, err := p.send(ctx, m)
	return err
}

// beginAnswer sends a message whose answer the model holds back, and leaves when the database
// has what is written.
func (p *person) beginAnswer(ctx context.Context, message string) error {
	conn, err := pgx.Connect(ctx, p.system.databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	reading, leave := context.WithCancel(ctx)
	left := make(chan error, 1)
	go func() { left <- p.tell(reading, message) }()
	drafted := false
	err = await(ctx, "the draft of an answer", func() bool {
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM drafts d JOIN turns t ON t.id = d.turn_id WHERE t.thread_id = $1 AND d.text = $2)", p.thread, begun).Scan(&drafted)
		return err == nil && drafted
	})
	leave()
	if ended := <-left; err != nil {
		return errors.Join(err, ended)
	}
	return nil
}

// ask sends a message whose turn asks what to do.
func (p *person) ask(ctx context.Context) error {
	_, err := p.send(ctx, stack.Message{"message": vague, "agent": "documents", "tagged_doc_ids": []string{p.doc}})
	var ended *stack.Ended
	if errors.As(err, &ended) && ended.Type == string(chat.EventInterrupt) {
		return nil
	}
	return errors.Join(fmt.Errorf("%q asked no question", vague), err)
}

// answer answers the question and waits for the end of its turn.
func (p *person) answer(ctx context.Context) error {
	resp, err := p.user.At(p.system.apis()[0].url).Post(ctx, "/api/chat/resume", map[string]any{
		"thread_id": p.thread, "resume_value": map[string]any{"type": chat.ActionChoice, "value": chat.Summarize}})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close(), p.found(ctx, state{messages: []string{vague}, end: complete}))
}

// checkState waits until the conversation has that state, and goes on in it.
func (p *person) checkState(ctx context.Context, want state) error {
	if err := p.found(ctx, want); err != nil {
		return err
	}
	want.messages = slices.Clone(want.messages)
	if want.pending {
		if err := p.answer(ctx); err != nil {
			return err
		}
	}
	if want.retry != "" {
		if err := p.tell(ctx, want.retry); err != nil {
			return fmt.Errorf("send again: %w", err)
		}
		if !slices.Contains(want.messages, want.retry) {
			want.messages = append(want.messages, want.retry)
		}
	}
	if err := p.tell(ctx, whatNow); err != nil {
		return fmt.Errorf("go on: %w", err)
	}
	return p.found(ctx, state{messages: append(want.messages, whatNow), end: complete})
}

// found waits until no turn runs, and compares the conversation with what it is to have.
func (p *person) found(ctx context.Context, want state) error {
	var c conversation
	var err error
	e := await(ctx, "turns end", func() bool {
		c, err = p.history(ctx)
		return errors.Is(err, errNoConversation) || err == nil && (c.Pending != nil || c.Active == nil)
	})
	switch {
	case errors.Is(err, errNoConversation) && len(want.messages) == 0:
		return nil
	case e != nil || err != nil:
		return errors.Join(e, err)
	}
	got := state{pending: c.Pending != nil, retry: want.retry}
	for _, m := range c.Messages {
		switch {
		case m.Role == "user" && m.Metadata.Kind != "answer":
			got.messages, got.end, got.text = append(got.messages, m.Content), "", ""
		case m.Role == "assistant":
			got.end, got.text = m.Metadata.Finished, m.Content
			if m.Metadata.Error.Code != "" {
				got.end = m.Metadata.Error.Code
			}
		}
	}
	if want.text == "" {
		got.text = ""
	}
	if !slices.Equal(got.messages, want.messages) || got.end != want.end || got.text != want.text || got.pending != want.pending {
		return fmt.Errorf("it is %+v instead of %+v", got, want)
	}
	return nil
}
