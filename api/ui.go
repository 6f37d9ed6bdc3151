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

// postUI takes what an AI SDK client posts: a message, a wish for another
// answer, or the answer to a question.
func (s *server) postUI(c *gin.Context) error {
	raw, err := body(c, aisdk.MaxBody)
	if err != nil {
		return err
	}
	in, err := aisdk.Parse(raw)
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
	rows, done := share(ctx, 3) // its insert may take as long
	err = s.placeUI(rows, owner, &in)
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
	return s.streamTurn(c, turn.Turn, showing{log: turn.log, thread: in.Submit.ThreadName(turn.Turn), run: in.Submit.StreamRunID,
		view: in.Submit.View, cancel: in.Submit.CancelOnDisconnect}, wire)
}

// maxContents bounds how often a message can be edited under its id.
const maxContents = 100

// submitUI submits a message under a name made from its id. The same content at
// the same place joins its turn; with other content the message has been edited.
func (s *server) submitUI(ctx context.Context, who caller, in aisdk.Request) (taken, error) {
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

// sentWithoutPlace is the turn of the same message, sent while its place could
// not be looked up, if it has come to stand there.
func (s *server) sentWithoutPlace(ctx context.Context, who caller, sub dialect.Submit) (_ taken, sent bool) {
	t, err := s.Store.FindTurn(ctx, who.ID, db.CancelRef{ThreadID: sub.ThreadID, ClientTurnID: sub.ClientTurnID})
	if err != nil || t.Content.ParentRequest != "" || t.Parent != sub.Content.ParentRequest {
		return taken{}, false
	}
	sub.Content.ParentRequest = ""
	again, err := s.submit(ctx, who, sub)
	return again, err == nil
}

func isTurnConflict(err error) bool {
	var refused *chat.Refused
	return errors.Is(err, db.ErrTurnConflict) || errors.As(err, &refused) && refused.Code == chat.CodeTurnConflict
}

// placeUI finds where a message stands: what it follows, and for another answer
// also what it says. What the client sends along says so by ids alone; ids that
// mean nothing here change nothing.
func (s *server) placeUI(ctx context.Context, owner string, in *aisdk.Request) error {
	content, thread := &in.Submit.Content, in.Submit.ThreadID
	if content.ParentRequest != "" && in.Kind == aisdk.Send {
		return nil // the client has said so itself
	}
	if _, err := s.Store.Conversation(ctx, owner, thread); err != nil {
		return unlessNew(err, in)
	}
	if in.Replaces != "" {
		t, known, err := s.turnOfUI(ctx, owner, thread, in.Replaces, content.Message)
		if err != nil {
			return unlessNew(err, in)
		}
		if known && in.Kind == aisdk.Regenerate {
			*content, in.Submit.AgentFree, in.Pictures = t.Content, false, nil
		}
		if known && t.Parent != "" {
			content.ParentRequest = t.Parent
			return nil
		}
	}
	for _, m := range in.Earlier {
		t, known, err := s.turnOfUI(ctx, owner, thread, m.ID, "")
		if err != nil {
			return unlessNew(err, in)
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

// unlessNew lets a message begin a conversation, and go on in one whose rows
// cannot be read now. Anything but a new message needs them.
func unlessNew(err error, in *aisdk.Request) error {
	if notFound(err) || in.Kind == aisdk.Send && in.Replaces == "" && away(err) {
		return nil
	}
	return err
}

// turnOfUI is the turn of a message as an AI SDK client knows it: by the id that
// its stream or history gave it, or by the client's own. Of several, the newest
// that says text, else the newest.
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
	said := false
	for n := 1; n <= maxContents; n++ {
		t, err := s.Store.FindTurn(ctx, owner, db.CancelRef{ThreadID: thread, ClientTurnID: aisdk.ClientTurnID(id, n)})
		if notFound(err) {
			break
		}
		if err != nil {
			return t, false, err
		}
		if says := t.Content.Message == text; t.Status != chat.TurnNew && (says || !said) {
			found, known, said = t, true, says
		}
	}
	return found, known, nil
}

// keepPictures stores what came inside a message, under ids that follow from it,
// so that a message sent again is the same.
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

// uiThread reads the thread of a path: its UUID and its name.
func uiThread(c *gin.Context) (id, name string, _ error) {
	var p dialect.Problems
	name = p.ThreadName("id", c.Param("id"))
	return threadNamed(callerOf(c).ID, name), name, p.Err()
}

// getUIStream replays the assistant message that is being written from its
// beginning, then goes on live. A client asks this of every conversation that it
// opens, also of one that is new.
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
	return s.streamTurn(c, turn, showing{thread: name, view: view},
		func(to dialect.Stream) dialect.Wire { return aisdk.NewWire(to, nil) })
}

// runningTurn is what a thread runs, by its rows or, with the database away, by
// its workflow; without an id when it is idle.
func (s *server) runningTurn(ctx context.Context, owner, thread string) (chat.Turn, error) {
	rows, done := storeShare(ctx)
	defer done()
	open, err := s.Store.OpenTurns(rows, owner, thread)
	if err != nil && away(err) {
		if state, ok := s.live(ctx, owner, thread); ok && state.TurnID != "" {
			return named(state, thread, state.TurnID), nil
		}
	}
	if err != nil || len(open) == 0 {
		return chat.Turn{}, err
	}
	return open[0], nil
}

// postUIStop stops what runs in a conversation; the body may say what.
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
	More     bool            `json:"more"` // earlier ones exist: ask with before, the id of the first message here
}

// getUI is a conversation as messages for a page that loads it, along one
// branch.
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
	ask, done := threadShare(ctx)
	defer done()
	more := len(h.Messages) > n
	messages := []aisdk.Message{}
	for _, m := range h.Messages {
		if m.Role != "user" || len(messages) > 0 && messages[len(messages)-1].Metadata["turn_id"] == m.TurnID {
			continue // answers and questions stand in the assistant's message
		}
		log, known := logs[m.TurnID]
		turn := log.Turn
		if !known || m.Content != turn.Content.Message {
			continue // deleted since, or an answer whose message lies before the limit
		}
		messages = append(messages, aisdk.UserMessage(m, picturesOf(turn, attached)))
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

// logsOf are the turns of messages with their logs, by id.
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

// attachedTo are the pictures of all turns, by id.
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

// picturesOf are a turn's, in their order, without those that are gone.
func picturesOf(t chat.Turn, attached map[string]chat.Attachment) []chat.Attachment {
	var pictures []chat.Attachment
	for _, id := range t.Content.Attachments {
		if a, there := attached[id]; there {
			pictures = append(pictures, a)
		}
	}
	return pictures
}

// eventsOfUI are the events of a turn that is over, or that waits for a person;
// of any other the client gets the stream. ask bounds how long workflows are asked.
func (s *server) eventsOfUI(ctx, ask context.Context, l db.TurnLog) ([]chat.Event, error) {
	t := l.Turn
	if len(l.Events) > 0 || t.Status == chat.TurnAccepted { // one that waits its turn asks nothing
		return l.Events, nil
	}
	progress, err := s.Threads.Progress(ask, t.ThreadID, t.ID, 0)
	if err != nil {
		s.Log.Warn("open turn not known", "turn", t.ID, "run", t.StreamRunID, "error", err)
		return nil, nil
	}
	if !progress.Waiting {
		return nil, nil
	}
	events, err := s.render(ctx, follow.Ref{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID}, progress.Entries)
	if errors.Is(err, db.ErrSettled) { // since its row was read
		return s.Store.Events(ctx, t.Owner, t.ID, 0)
	}
	return events, err
}
