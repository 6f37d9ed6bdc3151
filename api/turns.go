package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// threadNamespace turns ids that clients make up into UUIDs, per owner.
var threadNamespace = uuid.MustParse("6f0c4b0e-6d4b-5b0a-9d4e-2f1f0a3f7c11")

const acceptTimeout = 20 * time.Second

// threadFor names the thread of a first message: by the client's own turn id,
// so that a retry never forks the conversation, else a new one.
func threadFor(owner, clientTurnID string) string {
	if clientTurnID == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(threadNamespace, []byte(owner+"\x00"+clientTurnID)).String()
}

// threadNamed is the thread that an id of a client's own making means; a UUID
// means itself.
func threadNamed(owner, name string) string {
	if id, err := uuid.Parse(name); err == nil && len(name) == 36 {
		return id.String()
	}
	return uuid.NewSHA1(threadNamespace, []byte(owner+"\x00"+name)).String()
}

// submit writes a turn's row and has its thread take it. A message sent again
// comes back as the turn it made the first time. Once the row is written, a
// client that goes away changes nothing any more.
func (s *server) submit(ctx context.Context, who caller, in dialect.Submit) (chat.Turn, error) {
	turn := newTurn(who.ID, in)
	stored, done := context.WithTimeout(ctx, storePatience)
	row, created, cancelled, err := s.insert(stored, who, in, turn)
	done()
	unsaved := err != nil && away(err) && ctx.Err() == nil
	if unsaved {
		row, err = s.withoutRow(ctx, turn, in, err)
	}
	if err != nil || row.Status.Settled() {
		return row, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	request := chat.Submit{
		Owner: row.Owner, ThreadID: row.ThreadID, TurnID: row.ID, OnBusy: in.OnBusy, Cancelled: cancelled,
		ClientTurnID: row.ClientTurnID, ContentHash: row.ContentHash, StreamRunID: row.StreamRunID, RequestID: who.Request,
	}
	if unsaved {
		turn = row // which is changed below
		request.Unsaved = &turn
	}
	id, err := s.Threads.Submit(ctx, request)
	if err != nil {
		return row, engineErr(err)
	}
	again := id != row.ID // it was sent before, and the rows could not tell
	row.ID = id
	switch {
	case unsaved:
		s.hub.DatabaseAway()
	case row.Status == chat.TurnNew && !again:
		if err := s.Store.MarkTurn(ctx, row.Owner, row.ID, chat.TurnAccepted, ""); err != nil {
			// The thread has it, and marks it when it begins.
			s.Log.Warn("turn not marked as accepted", "turn", row.ID, "run", row.StreamRunID, "error", err)
		}
	}
	if (created || unsaved) && !again {
		s.metrics.turns.Inc()
	}
	s.Bus.ThreadChanged(row.ThreadID, row.ID)
	return row, nil
}

// newTurn is the turn that a message makes if it is not a retry.
func newTurn(owner string, in dialect.Submit) chat.Turn {
	turn := chat.Turn{
		ID:           uuid.Must(uuid.NewV7()).String(), // ids sort in the order in which turns were made
		ThreadID:     in.ThreadID,
		Owner:        owner,
		ClientTurnID: in.ClientTurnID,
		StreamRunID:  in.StreamRunID,
		Content:      in.Content,
		ContentHash:  in.Content.Hash(),
		Status:       chat.TurnNew,
		CreatedAt:    time.Now().UTC(),
	}
	if turn.ThreadID == "" {
		turn.ThreadID = threadFor(owner, turn.ClientTurnID)
	}
	if turn.ClientTurnID == "" {
		turn.ClientTurnID = uuid.NewString()
	}
	if turn.StreamRunID == "" {
		turn.StreamRunID = uuid.NewString()
	}
	return turn
}

// insert checks a message against what is stored and writes its turn's row, or
// finds the one it made before.
func (s *server) insert(ctx context.Context, who caller, in dialect.Submit, turn chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	if err := s.checkSubmit(ctx, who.ID, in); err != nil {
		return turn, false, false, err
	}
	if in.AgentFree { // after the hash: a retry is the same message, whatever came of the first try
		if turn.Content.Agent, err = s.keptAgent(ctx, who.ID, in); err != nil {
			return turn, false, false, err
		}
	}
	counted, err := s.admit(ctx, who, turn, in.ClientTurnID != "")
	if err != nil {
		return turn, false, false, err
	}
	row, created, cancelled, err := s.Store.InsertTurn(ctx, turn)
	if !created {
		counted.giveBack(ctx)
	}
	return row, created, cancelled, err
}

// keptAgent is the agent of a message that names none: that of the turn which it
// follows, or of the thread's newest, else the dialect's.
func (s *server) keptAgent(ctx context.Context, owner string, in dialect.Submit) (chat.Agent, error) {
	before := chat.TurnOf(in.Content.ParentRequest)
	if (before == "" || before == chat.RootCheckpoint) && in.ThreadID != "" {
		var err error
		if before, err = s.Store.Head(ctx, owner, in.ThreadID); err != nil && !notFound(err) {
			return "", err
		}
	}
	if before == "" || before == chat.RootCheckpoint {
		return in.Content.Agent, nil
	}
	t, err := s.Store.Turn(ctx, owner, before)
	switch {
	case notFound(err):
		return in.Content.Agent, nil
	case err != nil:
		return "", err
	}
	return t.Content.Agent, nil
}

// checkSubmit finds what only the store knows: whether the ids exist.
func (s *server) checkSubmit(ctx context.Context, owner string, in dialect.Submit) error {
	var p dialect.Problems
	if err := s.checkTags(ctx, &p, owner, "", in.Content.TaggedDocs, in.Content.TaggedSets); err != nil {
		return err
	}
	if ids := in.Content.Attachments; len(ids) > 0 {
		found, err := s.Store.AttachmentsByID(ctx, owner, ids)
		if err != nil {
			return err
		}
		if len(found) < len(ids) {
			p.Add("attachments", "names an attachment that does not exist")
		}
	}
	if parent := in.Content.ParentRequest; parent != "" && parent != chat.RootCheckpoint {
		t, err := s.Store.Turn(ctx, owner, chat.TurnOf(parent))
		if err != nil && !notFound(err) {
			return err
		}
		if err != nil || t.ThreadID != in.ThreadID {
			p.Add("parent_checkpoint_id", "is not a checkpoint of this conversation")
		}
	}
	return p.Err()
}

// checkTags notes tagged ids that the owner cannot see.
func (s *server) checkTags(ctx context.Context, p *dialect.Problems, owner, prefix string, docs, sets []string) error {
	if len(docs) > 0 {
		found, err := s.Store.DocumentsByID(ctx, owner, docs)
		if err != nil {
			return err
		}
		if len(found) < len(docs) {
			p.Add(prefix+"tagged_doc_ids", "names a document that does not exist")
		}
	}
	if len(sets) > 0 {
		found, err := s.Store.SetsByID(ctx, owner, sets)
		if err != nil {
			return err
		}
		if len(found) < len(sets) {
			p.Add(prefix+"tagged_set_ids", "names a set that does not exist")
		}
	}
	return nil
}

// cancelWhenAlone ends a turn whose client has gone when nobody has followed it,
// in any process, for as long as the grace; one that waits for a person is left
// to wait. If this process dies meanwhile, the turn simply goes on.
func (s *server) cancelWhenAlone(t chat.Turn) {
	for alone := true; ; {
		timer := time.NewTimer(s.grace)
		select {
		case <-timer.C:
		case <-s.Stop:
			timer.Stop()
			return
		}
		switch watched := s.watched(t); {
		case watched:
			alone = false
		case !alone: // somebody has only just gone
			alone = true
		default:
			s.cancelAlone(t)
			return
		}
	}
}

// watched reports whether somebody follows the turn. Who cannot be asked counts
// as somebody.
func (s *server) watched(t chat.Turn) bool {
	if s.hub.Viewers(t.ID) > 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	yes, err := s.Bus.Watched(ctx, t.ID)
	if err != nil {
		s.Log.Info("other processes could not be asked who follows", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
	return yes || err != nil
}

func (s *server) cancelAlone(t chat.Turn) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	state, err := s.Threads.State(ctx, t.ThreadID)
	_, open := state.Names[t.ID]
	if err == nil && (!open || state.TurnID == t.ID && state.Pending != nil) {
		return
	}
	if err == nil {
		err = s.Threads.Cancel(ctx, t.Owner, t.ThreadID, chat.Cancel{TurnID: t.ID, Reason: chat.Disconnected})
	}
	if err != nil {
		s.Log.Warn("turn of a gone client not cancelled", "turn", t.ID, "run", t.StreamRunID, "error", err)
	}
}

// notFound reports whether err says that something is not there for the caller.
func notFound(err error) bool { return describe(err) == errNotFound }
