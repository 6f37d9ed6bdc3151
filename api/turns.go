package api

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/repair"
)

// threadNamespace turns ids that clients make up into UUIDs, per owner.
var threadNamespace = uuid.MustParse("6f0c4b0e-6d4b-5b0a-9d4e-2f1f0a3f7c11")

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

// taken is a turn that its thread has taken, with what it has recorded so far
// where that is known.
type taken struct {
	chat.Turn
	log []chat.Entry
}

// submit writes a turn's row and has its thread take it. A message sent again
// comes back as the turn it made the first time. Once the row is written, a
// client that goes away changes nothing any more.
func (s *server) submit(ctx context.Context, who caller, in dialect.Submit) (taken, error) {
	now := s.now()
	turn := newTurn(who.ID, in, now)
	lost := s.settleOthers(ctx, who.ID, in) // beside the insert, so that it costs no time
	rows, done := storeShare(ctx)
	row, created, cancelled, err := s.insert(rows, who, in, turn)
	done()
	<-lost
	unsaved := err != nil && away(err) && ctx.Err() == nil
	if unsaved {
		row, err = s.withoutRow(ctx, turn, in, err)
	}
	if err != nil || row.Status.Settled() {
		return taken{Turn: row}, err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	request := chat.Submit{
		Owner: row.Owner, ThreadID: row.ThreadID, TurnID: row.ID, OnBusy: in.OnBusy, Cancelled: cancelled,
		ClientTurnID: row.ClientTurnID, ContentHash: row.ContentHash, StreamRunID: row.StreamRunID, RequestID: who.Request,
		Generation: row.Generation,
	}
	if unsaved {
		turn = row // which is changed below
		request.Unsaved = &turn
	}
	got, err := s.take(ctx, request, now)
	if err != nil {
		if row.Status == chat.TurnNew && !unsaved {
			s.giveUp(ctx, row)
		}
		return taken{Turn: row}, engineErr(err)
	}
	again := got.TurnID != row.ID // it was sent before, and the rows could not tell
	row.ID = got.TurnID
	switch {
	case unsaved:
		s.hub.DatabaseAway()
	case row.Status == chat.TurnNew && !again && len(got.Log) == 0: // one that has begun is marked
		if err := s.Store.MarkTurn(ctx, row.Owner, row.ID, chat.TurnAccepted, ""); err != nil {
			// The thread has it, and marks it when it begins.
			s.Log.Warn("turn not marked as accepted", "turn", row.ID, "run", row.StreamRunID, "error", err)
		}
	}
	if (created || unsaved) && !again {
		s.metrics.turns.Inc()
	}
	if in.OnBusy == chat.Enqueue { // it may wait behind a question that nobody can see
		go s.settleLost(context.WithoutCancel(ctx), row.Owner, row.ThreadID)
	}
	return taken{row, got.Log}, nil
}

// giveUp has a turn that its thread did not take count no more as one under way.
// Without an answer of the database it counts for a minute.
func (s *server) giveUp(ctx context.Context, t chat.Turn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	if err := s.Store.GiveUp(ctx, t.Owner, t.ID); err != nil {
		s.Log.Warn("turn not given up", "turn", t.ID, "error", err)
	}
}

// settleOthers ends lost turns of the thread that a message is for, before it
// takes its place behind them. lost is closed when that is done.
func (s *server) settleOthers(ctx context.Context, owner string, in dialect.Submit) (lost <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if in.ThreadID == "" { // it begins a new one
			return
		}
		s.checked(ctx, in.ThreadID, func(ctx context.Context) ([]repair.Finding, error) {
			open, err := s.Store.HasOpenTurns(ctx, owner, in.ThreadID)
			if err != nil || !open {
				return nil, err
			}
			return s.repair.Others(ctx, owner, in.ThreadID, in.ClientTurnID)
		})
	}()
	return done
}

// take has a thread take a turn. Where the thread remembers what the database has
// lost, it is asked again: a copy of the database was restored.
func (s *server) take(ctx context.Context, request chat.Submit, sent time.Time) (got chat.Submitted, err error) {
	got, err = s.Threads.Submit(ctx, request)
	var refused *chat.Refused
	switch {
	case errors.As(err, &refused) && refused.Code == chat.CodeTurnRunning:
		// It may be a question that nobody can see, and ends now; or it had ended when
		// the message came, and its thread is about to know.
		if s.settleLost(ctx, request.Owner, request.ThreadID) || s.overBefore(ctx, sent, request.Owner, refused.TurnID) {
			got, err = s.takeSoon(ctx, request)
		}
	case errors.As(err, &refused) && refused.Code == chat.CodeNotFound && request.Generation > 0:
		// Of a deleted conversation there is no row. With one, the thread remembers a
		// later conversation of its id than the database does.
		if _, missing := s.Store.Turn(ctx, request.Owner, request.TurnID); missing == nil {
			request.Generation = 0
			got, err = s.Threads.Submit(ctx, request)
		}
	case err == nil && got.TurnID != request.TurnID && request.Unsaved == nil && s.forgotten(ctx, request, got.TurnID):
		request.NoRepeat = true
		got, err = s.Threads.Submit(ctx, request)
	}
	return got, err
}

// overBefore reports whether a turn had ended at a time, or is not there.
func (s *server) overBefore(ctx context.Context, at time.Time, owner, turnID string) bool {
	t, err := s.Store.Turn(ctx, owner, turnID)
	return notFound(err) || err == nil && t.Status.Settled() && t.SettledAt.Before(at)
}

const (
	takeTries = 20
	takePause = 50 * time.Millisecond
)

// takeSoon has a thread take a turn once the one that it runs has ended.
func (s *server) takeSoon(ctx context.Context, request chat.Submit) (got chat.Submitted, err error) {
	for try := range takeTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return got, err
			case <-time.After(takePause):
			}
		}
		var refused *chat.Refused
		got, err = s.Threads.Submit(ctx, request)
		if !errors.As(err, &refused) || refused.Code != chat.CodeTurnRunning {
			break
		}
	}
	return got, err
}

// forgotten reports whether a turn that a thread remembers is neither in the
// database nor open in the thread, which would save it later. The thread is asked
// first: a turn is saved before its thread lets go of it.
func (s *server) forgotten(ctx context.Context, request chat.Submit, turnID string) bool {
	state, err := s.Threads.State(ctx, request.ThreadID)
	if _, open := state.Names[turnID]; err != nil || open {
		return false
	}
	_, err = s.Store.Turn(ctx, request.Owner, turnID)
	return notFound(err)
}

// newTurn is the turn that a message makes if it is not a retry.
func newTurn(owner string, in dialect.Submit, now time.Time) chat.Turn {
	turn := chat.Turn{
		ID:           turnID(now),
		ThreadID:     in.ThreadID,
		Owner:        owner,
		ClientTurnID: in.ClientTurnID,
		StreamRunID:  in.StreamRunID,
		Content:      in.Content,
		ContentHash:  in.Content.Hash(),
		Status:       chat.TurnNew,
		CreatedAt:    now,
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

// turnID makes a turn's id: a UUIDv7, so that rows made at about the same time
// are near each other in indexes. The clocks of API machines differ, so nothing
// may take the order of ids for the order of turns.
func turnID(now time.Time) string {
	id := uuid.Must(uuid.NewV7())
	ms := now.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}

// insert checks a message against what is stored and writes its turn's row, or
// finds the one it made before.
func (s *server) insert(ctx context.Context, who caller, in dialect.Submit, turn chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	var there *bool // the conversation; nil: nobody has looked
	reads, rctx := errgroup.WithContext(ctx)
	reads.Go(func() error { return s.checkSubmit(rctx, who.ID, in) })
	if in.AgentFree { // after the hash: a retry is the same message, whatever came of the first try
		reads.Go(func() (err error) {
			turn.Content.Agent, there, err = s.keptAgent(rctx, who.ID, in)
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return turn, false, false, err
	}
	counted, err := s.admit(ctx, who, turn, in.ClientTurnID != "", there)
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
// follows, or of the thread's newest, else the dialect's. there says
// whether its conversation is, where that was seen on the way.
func (s *server) keptAgent(ctx context.Context, owner string, in dialect.Submit) (_ chat.Agent, there *bool, _ error) {
	before := chat.TurnOf(in.Content.ParentRequest)
	if before == "" || before == chat.RootCheckpoint {
		if in.ThreadID == "" {
			return in.Content.Agent, nil, nil
		}
		newest, any, err := s.Store.HeadContent(ctx, owner, in.ThreadID)
		found := err == nil
		switch {
		case notFound(err), found && !any:
			return in.Content.Agent, &found, nil
		case err != nil:
			return "", nil, err
		}
		return newest.Agent, &found, nil
	}
	t, err := s.Store.Turn(ctx, owner, before)
	switch {
	case notFound(err):
		return in.Content.Agent, there, nil
	case err != nil:
		return "", there, err
	}
	return t.Content.Agent, there, nil
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

// notFound reports whether err says that something is not there for the caller.
func notFound(err error) bool { return describe(err) == errNotFound }
