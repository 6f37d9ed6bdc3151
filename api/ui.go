package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// postUI accepts what an AI SDK client posts: a message, a regenerate request, or the
// answer to a question.
func (s *server) postUI(c *gin.Context) error {
	raw, err := body(c, aisdk.MaxBody)
	if err != nil {
		return err
	}
	in, err := aisdk.Parse(raw, s.Agents)
	if err != nil {
		return err
	}
	owner := callerOf(c).ID
	wire := func(to dialect.Stream) dialect.Wire { return aisdk.NewWire(to, in.Continue) }
	if in.Kind == aisdk.Reply {
		in.Answer.ThreadID = threadNamed(owner, in.Thread)
		return s.streamAnswer(c, in.Answer, wire)
	}
	in.Submit.ThreadID = uuid.NewString()
	if in.Thread != "" {
		in.Submit.ThreadID = threadNamed(owner, in.Thread)
	}
	ctx := c.Request.Context()
	rows, done := fractionOfDeadline(ctx, 3) // leaves time for the insert
	err = s.locateUI(rows, owner, &in)
	done()
	if err != nil {
		return err
	}
	if err := s.keepPictures(ctx, owner, &in); err != nil {
		return err
	}
	turn, err := s.submitUI(ctx, callerOf(c), in)
	if err != nil {
		return err
	}
	defer turn.early.Close()
	return s.streamTurn(c, turn.Turn, streamOptions{log: turn.log, early: turn.early, thread: in.Submit.ThreadName(turn.Turn), run: in.Submit.StreamRunID,
		view: in.Submit.View, cancel: in.Submit.CancelOnDisconnect}, wire)
}

// maxContents limits how often a message can be edited under one id.
const maxContents = 100

// submitUI submits a message with a client_turn_id made from the message's id. The same
// content at the same place joins the existing turn; other content is an edit.
func (s *server) submitUI(ctx context.Context, who caller, in aisdk.Request) (submitted, error) {
	sub := in.Submit
	if sub.ClientTurnID != "" || in.Kind == aisdk.Regenerate {
		return s.submit(ctx, who, sub)
	}
	for n := 1; ; n++ {
		sub.ClientTurnID = aisdk.ClientTurnID(in.MessageID, n)
		turn, err := s.submit(ctx, who, sub)
		if sub.ClientTurnID == "" || n == maxContents || !isTurnConflict(err) {
			return turn, err
		}
		if turn, sent := s.sentWithoutPlace(ctx, who, sub); sent {
			return turn, nil
		}
	}
}

// sentWithoutPlace returns the turn of the same message if it was sent while its parent
// could not be looked up, and then got the same parent.
func (s *server) sentWithoutPlace(ctx context.Context, who caller, sub dialect.Submit) (_ submitted, sent bool) {
	t, err := s.Store.FindTurn(ctx, who.ID, db.CancelRef{ThreadID: sub.ThreadID, ClientTurnID: sub.ClientTurnID})
	if err != nil || t.Content.ParentRequest != "" || t.Parent != sub.Content.ParentRequest {
		return submitted{}, false
	}
	sub.Content.ParentRequest = ""
	again, err := s.submit(ctx, who, sub)
	return again, err == nil
}

func isTurnConflict(err error) bool {
	var refused *chat.Refused
	return errors.Is(err, db.ErrTurnConflict) || errors.As(err, &refused) && refused.Code == chat.CodeTurnConflict
}

// locateUI finds the turn that a message follows and, for a regenerate request, the
// message's content. It uses only the ids of the client's messages and ignores unknown
// ids.
func (s *server) locateUI(ctx context.Context, owner string, in *aisdk.Request) error {
	content, thread := &in.Submit.Content, in.Submit.ThreadID
	if content.ParentRequest != "" && in.Kind == aisdk.Send {
		return nil // the client has named the parent
	}
	if _, err := s.Store.Conversation(ctx, owner, thread); err != nil {
		return allowNew(err, in)
	}
	if in.Replaces != "" {
		t, known, err := s.turnOfUI(ctx, owner, thread, in.Replaces, content.Message)
		if err != nil {
			return allowNew(err, in)
		}
		if known && in.Kind == aisdk.Regenerate {
			*content, in.Submit.AgentUnset, in.Pictures = t.Content, false, nil
		}
		if known && t.Parent != "" {
			content.ParentRequest = t.Parent
			return nil
		}
	}
	for _, m := range in.Earlier {
		t, known, err := s.turnOfUI(ctx, owner, thread, m.ID, "")
		if err != nil {
			return allowNew(err, in)
		}
		if known {
			content.ParentRequest = t.ID
			return nil
		}
	}
	if len(in.Earlier) == 0 && (in.Whole || in.Replaces != "") {
		content.ParentRequest = chat.RootCheckpoint
	}
	return nil
}

// allowNew ignores errors for a message that starts a conversation, and for a new
// message while the database is unavailable. Other requests need the rows.
func allowNew(err error, in *aisdk.Request) error {
	if notFound(err) || in.Kind == aisdk.Send && in.Replaces == "" && databaseUnavailable(err) {
		return nil
	}
	return err
}

// turnOfUI returns the turn of an AI SDK message, by the id from our stream or history,
// or by the client's own id. Of several turns it prefers the newest whose message is
// text.
func (s *server) turnOfUI(ctx context.Context, owner, thread, id, text string) (found chat.Turn, known bool, _ error) {
	t, err := s.Store.Turn(ctx, owner, chat.TurnOf(id))
	if notFound(err) {
		t, err = s.Store.TurnOfMessage(ctx, owner, thread, id)
	}
	switch {
	case err == nil && t.ThreadID == thread && t.Status != chat.TurnNew:
		return t, true, nil
	case err != nil && !notFound(err):
		return t, false, err
	}
	matched := false
	for n := 1; n <= maxContents; n++ {
		t, err := s.Store.FindTurn(ctx, owner, db.CancelRef{ThreadID: thread, ClientTurnID: aisdk.ClientTurnID(id, n)})
		if notFound(err) {
			break
		}
		if err != nil {
			return t, false, err
		}
		if same := t.Content.Message == text; t.Status != chat.TurnNew && (same || !matched) {
			found, known, matched = t, true, same
		}
	}
	return found, known, nil
}

// keepPictures stores the pictures inside a message, under ids derived from their
// content, so that a repeated message has the same content hash.
func (s *server) keepPictures(ctx context.Context, owner string, in *aisdk.Request) error {
	for _, p := range in.Pictures {
		sum := sha256.Sum256(p.Data)
		name := strings.Join([]string{owner, in.Submit.ThreadID, "picture", string(sum[:])}, "\x00")
		id := uuid.NewSHA1(threadNamespace, []byte(name)).String()
		if err := s.keepPicture(ctx, chat.Attachment{ID: id, Owner: owner}, p.Data); err != nil {
			return err
		}
		in.Submit.Content.Attachments = append(in.Submit.Content.Attachments, id)
	}
	return nil
}

// uiThread reads the thread of a path and returns its UUID and the client's name of it.
func uiThread(c *gin.Context) (id, name string, _ error) {
	var p dialect.Problems
	name = p.ThreadName("id", c.Param("id"))
	return threadNamed(callerOf(c).ID, name), name, p.Err()
}

// getUIStream replays the assistant message that is being written from its beginning,
// then continues live. Clients call it for every conversation that they open, including
// new ones.
func (s *server) getUIStream(c *gin.Context) error {
	thread, name, err := uiThread(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	view := p.View(c.Query("stream_mode"), nil)
	view.NoTokens = p.Choice("stream_tokens", c.Query("stream_tokens"), "true", "false")
	if err := p.Err(); err != nil {
		return err
	}
	turn, err := s.runningTurn(c.Request.Context(), callerOf(c).ID, thread)
	switch {
	case err != nil && !notFound(err):
		return err
	case turn.ID == "":
		c.Status(http.StatusNoContent)
		return nil
	}
	return s.streamTurn(c, turn, streamOptions{thread: name, view: view},
		func(to dialect.Stream) dialect.Wire { return aisdk.NewWire(to, nil) })
}

// runningTurn returns the turn that a thread runs: from its rows or, while the database
// is unavailable, from its workflow. An idle thread gives a turn without an id.
func (s *server) runningTurn(ctx context.Context, owner, thread string) (chat.Turn, error) {
	rows, done := storeDeadline(ctx)
	defer done()
	open, err := s.Store.OpenTurns(rows, owner, thread)
	if err != nil && databaseUnavailable(err) {
		if state, ok := s.liveThread(ctx, owner, thread); ok && state.TurnID != "" {
			return liveTurn(state, thread, state.TurnID), nil
		}
	}
	if err != nil || len(open) == 0 {
		return chat.Turn{}, err
	}
	return open[0], nil
}

// postUIStop stops the running turn of a conversation, or the one that the body names.
func (s *server) postUIStop(c *gin.Context) error {
	thread, _, err := uiThread(c)
	if err != nil {
		return err
	}
	var raw []byte
	if c.Request.ContentLength != 0 {
		if raw, err = body(c, dialect.MaxBody); err != nil {
			return err
		}
	}
	in, err := aisdk.ParseStop(raw)
	if err != nil {
		return err
	}
	in.ThreadID = thread
	return s.cancel(c, in)
}

type uiThreadJSON struct {
	ID       string          `json:"id"`
	Messages []aisdk.Message `json:"messages"`
	More     bool            `json:"more"` // earlier messages exist: request them with before=<id of the first message here>
}

// getUI returns one branch of a conversation as AI SDK messages.
func (s *server) getUI(c *gin.Context) error {
	thread, name, err := uiThread(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	n, head, before := limit(c, &p, 200, 500), c.Query("head"), c.Query("before")
	p.ID("head", head)
	p.ID("before", before)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), callerOf(c)
	h, err := s.Store.History(ctx, who.ID, thread, chat.TurnOf(head), before, n+1)
	if err != nil {
		return err
	}
	logs, err := s.logsOf(ctx, who.ID, h.Messages)
	if err != nil {
		return err
	}
	attached, err := s.attachedTo(ctx, who.ID, logs)
	if err != nil {
		return err
	}
	ask, done := threadDeadline(ctx)
	defer done()
	more := len(h.Messages) > n
	messages := []aisdk.Message{}
	for _, m := range h.Messages {
		if m.Role != "user" || len(messages) > 0 && messages[len(messages)-1].Metadata["turn_id"] == m.TurnID {
			continue // answers and questions are part of the assistant message
		}
		log, known := logs[m.TurnID]
		turn := log.Turn
		if !known || m.Content != turn.Content.Message {
			continue // deleted meanwhile, or an answer whose message is on the previous page
		}
		messages = append(messages, aisdk.UserMessage(m, attachmentsOf(turn, attached)))
		events, err := s.eventsOfUI(ctx, ask, log)
		if err != nil {
			return err
		}
		if len(events) > 0 {
			to := dialect.Stream{Thread: name, Turn: turn, RunID: turn.StreamRunID}
			messages = append(messages, aisdk.AssistantMessage(to, events))
		}
	}
	c.JSON(http.StatusOK, uiThreadJSON{name, messages, more})
	return nil
}

// logsOf returns the turns of messages with their logs, by turn id.
func (s *server) logsOf(ctx context.Context, owner string, messages []chat.Message) (map[string]db.TurnLog, error) {
	var ids []string
	for _, m := range messages {
		if len(ids) == 0 || ids[len(ids)-1] != m.TurnID {
			ids = append(ids, m.TurnID)
		}
	}
	list, err := s.Store.Logs(ctx, owner, ids)
	logs := make(map[string]db.TurnLog, len(list))
	for _, l := range list {
		logs[l.Turn.ID] = l
	}
	return logs, err
}

// attachedTo returns the pictures of all turns, by id.
func (s *server) attachedTo(ctx context.Context, owner string, logs map[string]db.TurnLog) (map[string]chat.Attachment, error) {
	var ids []string
	for _, l := range logs {
		ids = append(ids, l.Turn.Content.Attachments...)
	}
	attached := make(map[string]chat.Attachment, len(ids))
	if len(ids) == 0 {
		return attached, nil
	}
	list, err := s.Store.AttachmentsByID(ctx, owner, ids)
	for _, a := range list {
		attached[a.ID] = a
	}
	return attached, err
}

// attachmentsOf returns a turn's pictures in their order, without deleted ones.
func attachmentsOf(t chat.Turn, attached map[string]chat.Attachment) []chat.Attachment {
	var pictures []chat.Attachment
	for _, id := range t.Content.Attachments {
		if a, there := attached[id]; there {
			pictures = append(pictures, a)
		}
	}
	return pictures
}

// eventsOfUI returns the events of a turn that is over or waits for a person. For
// running turns the client uses the stream. ask limits workflow queries.
func (s *server) eventsOfUI(ctx, ask context.Context, l db.TurnLog) ([]chat.Event, error) {
	t := l.Turn
	if len(l.Events) > 0 || t.Status == chat.TurnAccepted { // a waiting turn has no question
		return l.Events, nil
	}
	progress, err := s.Threads.Progress(ask, t.ThreadID, t.ID, 0)
	if err != nil {
		s.Log.Warn("querying an open turn failed; sending the conversation without it", "turn", t.ID, "run", t.StreamRunID, "error", err)
		return nil, nil
	}
	if !progress.Waiting {
		return nil, nil
	}
	events, err := s.render(ctx, follow.Ref{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID}, progress.Entries)
	if errors.Is(err, db.ErrSettled) { // settled after its row was read
		return s.Store.Events(ctx, t.Owner, t.ID, 0)
	}
	return events, err
}
