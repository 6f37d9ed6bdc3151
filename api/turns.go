package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// threadNamespace turns ids that clients make up into UUIDs, per owner.
var threadNamespace = uuid.MustParse("6f0c4b0e-6d4b-5b0a-9d4e-2f1f0a3f7c11")

// threadFor returns the thread id for a first message. It is derived from the
// client's own turn id, so that a retry never forks the conversation.
func threadFor(owner, clientTurnID string) string {
	if clientTurnID == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(threadNamespace, []byte(owner+"\x00"+clientTurnID)).String()
}

// threadNamed returns the thread id for a client's own name of it. A UUID is used as
// it is.
func threadNamed(owner, name string) string {
	if id, err := uuid.Parse(name); err == nil && len(name) == 36 {
		return id.String()
	}
	return uuid.NewSHA1(threadNamespace, []byte(owner+"\x00"+name)).String()
}

// threadOf returns the thread that a client means: by its id, or by the client's own
// name of it.
func threadOf(owner, id, alias string) string {
	if id == "" && alias != "" {
		return threadNamed(owner, alias)
	}
	return id
}

// submittedTurn is a turn that its thread has accepted, with the first entries of its
// log if they are known, and the subscription to it, which the caller closes.
type submittedTurn struct {
	chat.Turn
	log   []chat.Entry
	early *follow.Early
}

// submit writes a turn's row and submits the turn to its thread. A repeated message
// returns the turn that it made the first time. Once the row is written, the submit
// goes on even if the client disconnects.
func (s *server) submit(ctx context.Context, who identity.Caller, in dialect.Submit) (_ submittedTurn, err error) {
	if in.Content.Model, err = s.chosenModel(in.Content.Model); err != nil {
		return submittedTurn{}, err
	}
	in.Space = db.SpaceOf(ctx)
	now := s.now()
	turn := newTurn(who.ID, in, now)
	rows, done := storeDeadline(ctx)
	newest := sync.OnceValues(func() (db.Newest, error) { return s.Store.Newest(rows, who.ID, in.ThreadID) })
	lost := s.settleLostBefore(ctx, who.ID, in, newest) // concurrent with the insert, so that it adds no latency
	early := s.hub.Expect(turn.ID)
	defer func() {
		if err != nil {
			early.Close()
		}
	}()
	row, created, cancelled, err := s.insert(rows, who, in, turn, newest, early)
	<-lost
	done()
	unsaved := err != nil && db.Unavailable(err) && ctx.Err() == nil
	if unsaved {
		row, err = s.unsavedTurn(ctx, turn, in, err)
	}
	if err != nil || row.Status.Settled() {
		return submittedTurn{Turn: row, early: early}, err
	}
	ctx, cancel := request.Detached(ctx)
	defer cancel()
	submit := chat.Submit{
		Owner: row.Owner, ThreadID: row.ThreadID, TurnID: row.ID, Space: row.Space, OnBusy: onBusy(in), Replaces: in.Replaces, Cancelled: cancelled,
		ClientTurnID: row.ClientTurnID, ContentHash: row.ContentHash, StreamRunID: row.StreamRunID, RequestID: who.RequestID,
		Generation: row.Generation,
	}
	if unsaved {
		turn = row // a copy, because row is changed below
		submit.Unsaved = &turn
	}
	early.Subscribed()
	got, err := s.submitToThread(ctx, submit, now)
	if err != nil {
		if row.Status == chat.TurnNew && !unsaved {
			s.giveUp(ctx, row, err)
		}
		return submittedTurn{Turn: row}, problem.Engine(err)
	}
	if got.Given && !created && !unsaved && s.hasOwnTurn(ctx, row, got.TurnID) {
		got = chat.SubmitResult{TurnID: row.ID}
	}
	message := row.ID
	again := got.TurnID != message // a repeated message that the rows did not show, or one that a running turn reads
	row.ID = got.TurnID
	switch {
	case unsaved:
		s.hub.DatabaseUnavailable()
	case row.Status == chat.TurnNew && (got.Given || !again && len(got.Log) == 0): // a turn that has begun is marked already
		err := s.Store.MarkTurn(ctx, row.Owner, message, chat.TurnAccepted, "")
		if err != nil && !(got.Given && notFound(err)) { // the running turn has read it already
			// The thread has the turn and marks it when it begins.
			s.Log.Warn("marking the turn as accepted failed; its thread will do it", "turn", message, "run", row.StreamRunID, "error", err)
		}
	}
	if (created || unsaved) && !again {
		s.metrics.turns.Inc()
	}
	if submit.OnBusy == chat.Enqueue { // the turn before it may be lost with its question
		go s.settleLost(context.WithoutCancel(ctx), row.Owner, row.ThreadID)
	}
	return submittedTurn{row, got.Log, early}, nil
}

// hasOwnTurn reports whether a message that was given to a running turn, and is sent again, has
// a turn of its own now. Temporal answers a repeated submit as it answered the first.
func (s *server) hasOwnTurn(ctx context.Context, message chat.Turn, given string) bool {
	row, err := s.Store.Turn(ctx, message.Owner, message.ID)
	if err != nil || row.Status == chat.TurnNew { // the running turn has read it, or is about to
		return false
	}
	if row.Status != chat.TurnAccepted {
		return true
	}
	state, err := s.Threads.State(ctx, message.ThreadID)
	return err == nil && state.TurnID != given
}

// onBusy returns the policy of a message. A running turn reads no more than the words of a message
// that steers it, so one with more waits for its own turn.
func onBusy(in dialect.Submit) chat.OnBusy {
	if c := in.Content; in.OnBusy == chat.Steer && (len(c.Attachments) > 0 || c.Action != "" || len(c.Board) > 0) {
		return chat.Enqueue
	}
	return in.OnBusy
}

// submitEdition submits a message whose client names messages, not their contents. The
// same content at the same place joins the existing turn; other content is an edit.
func (s *server) submitEdition(ctx context.Context, who identity.Caller, in dialect.Submit) (submittedTurn, error) {
	if in.Edition == nil {
		return s.submit(ctx, who, in)
	}
	for n := 1; ; n++ {
		in.ClientTurnID = in.Edition(n)
		turn, err := s.submit(ctx, who, in)
		if in.ClientTurnID == "" || n == dialect.MaxEditions || !isTurnConflict(err) {
			return turn, err
		}
		if turn, sent := s.sentWithoutPlace(ctx, who, in); sent {
			return turn, nil
		}
	}
}

// sentWithoutPlace returns the turn of the same message if it was sent while its parent
// could not be looked up, and then got the same parent.
func (s *server) sentWithoutPlace(ctx context.Context, who identity.Caller, sub dialect.Submit) (_ submittedTurn, sent bool) {
	t, err := s.Store.FindTurn(ctx, who.ID, db.CancelRef{ThreadID: sub.ThreadID, ClientTurnID: sub.ClientTurnID})
	if err != nil || t.Content.ParentRequest != "" || t.Parent != sub.Content.ParentRequest {
		return submittedTurn{}, false
	}
	sub.Content.ParentRequest = ""
	again, err := s.submit(ctx, who, sub)
	return again, err == nil
}

func isTurnConflict(err error) bool {
	var refused *chat.RefusedError
	return errors.Is(err, db.ErrTurnConflict) || errors.As(err, &refused) && refused.Code == chat.CodeTurnConflict
}

// giveUpTimeout is shorter than the time that remains to answer after a request's
// deadline.
const giveUpTimeout = 500 * time.Millisecond

// giveUp marks a turn that its thread did not accept, so that it no longer counts
// against the caller's limit. Unmarked turns count for a minute. A turn that its thread
// refused may have begun in a workflow task that Temporal lost; nobody may see it.
func (s *server) giveUp(ctx context.Context, t chat.Turn, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	var refused *chat.RefusedError
	var err error
	if errors.As(cause, &refused) {
		err = s.Store.UnmarkTurn(ctx, t.Owner, t.ID, chat.TurnNew)
	}
	if err == nil {
		err = s.Store.AbandonTurn(ctx, t.Owner, t.ID)
	}
	if err != nil {
		s.Log.Warn("marking an unaccepted turn failed; it counts as open for a minute", "turn", t.ID, "error", err)
	}
	if refused == nil {
		go s.endStuck(context.WithoutCancel(ctx), t)
	}
}

// endStuck ends the run of a thread that did not answer a submit, if it never will.
func (s *server) endStuck(ctx context.Context, t chat.Turn) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := s.repair.EndStuck(ctx, t.Owner, t.ThreadID); err != nil {
		s.Log.Info("checking a thread that did not accept a turn failed", "thread", t.ThreadID, "error", err)
	}
}

// newestTurn reads the newest turn of a message's thread, once.
type newestTurn func() (db.Newest, error)

// settleLostBefore settles lost turns of a message's thread, before the new turn
// gets its place behind them. lost is closed when that is done.
func (s *server) settleLostBefore(ctx context.Context, owner string, in dialect.Submit, newest newestTurn) (lost <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if in.ThreadID == "" { // a new thread
			return
		}
		s.runCheck(ctx, in.ThreadID, func(ctx context.Context) ([]repair.Finding, error) {
			if now, err := newest(); err != nil || !now.Open {
				if notFound(err) { // a new thread
					err = nil
				}
				return nil, err
			}
			return s.repair.CheckOthers(ctx, owner, in.ThreadID, in.ClientTurnID)
		})
	}()
	return done
}

// submitToThread submits a turn to its thread. If the thread remembers turns that the database
// does not have, because a backup was restored, it submits again with flags that
// make the thread ignore them.
func (s *server) submitToThread(ctx context.Context, submit chat.Submit, sent time.Time) (got chat.SubmitResult, err error) {
	got, err = s.Threads.Submit(ctx, submit)
	var refused *chat.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Code == chat.CodeTurnRunning:
		// The running turn may be lost, and is settled now; or it had ended before the
		// message arrived, and its thread is about to notice.
		if s.settleLost(ctx, submit.Owner, submit.ThreadID) || s.settledBefore(ctx, sent, submit.Owner, refused.TurnID) {
			got, err = s.submitWhenIdle(ctx, submit)
		}
	case errors.As(err, &refused) && refused.Code == chat.CodeNotFound && submit.Generation > 0:
		// A deleted conversation has no row. If the row exists, the thread remembers a
		// later conversation with this id than the database does.
		if _, missing := s.Store.Turn(ctx, submit.Owner, submit.TurnID); missing == nil {
			submit.Generation = 0
			got, err = s.Threads.Submit(ctx, submit)
		}
	case err == nil && got.TurnID != submit.TurnID && submit.Unsaved == nil && s.missingFromDatabase(ctx, submit, got.TurnID):
		submit.NoRepeat = true
		got, err = s.Threads.Submit(ctx, submit)
	}
	return got, err
}

// settledBefore reports whether a turn had ended at a time, or does not exist.
func (s *server) settledBefore(ctx context.Context, at time.Time, owner, turnID string) bool {
	t, err := s.Store.Turn(ctx, owner, turnID)
	return notFound(err) || err == nil && t.Status.Settled() && t.SettledAt.Before(at)
}

const (
	idleRetries       = 20
	idleRetryInterval = 50 * time.Millisecond
)

// submitWhenIdle submits a turn until the thread has noticed that its running turn has
// ended. Threads.Submit does not retry this refusal, only failures of Temporal.
func (s *server) submitWhenIdle(ctx context.Context, submit chat.Submit) (got chat.SubmitResult, err error) {
	for try := range idleRetries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return got, err
			case <-time.After(idleRetryInterval):
			}
		}
		var refused *chat.RefusedError
		got, err = s.Threads.Submit(ctx, submit)
		if !errors.As(err, &refused) || refused.Code != chat.CodeTurnRunning {
			break
		}
	}
	return got, err
}

// missingFromDatabase reports whether a turn that a thread remembers is neither in
// the database nor open in the thread, which would save it later. It queries the
// thread first, because a turn is saved before its thread closes it.
func (s *server) missingFromDatabase(ctx context.Context, submit chat.Submit, turnID string) bool {
	state, err := s.Threads.State(ctx, submit.ThreadID)
	if _, open := state.Names[turnID]; err != nil || open {
		return false
	}
	_, err = s.Store.Turn(ctx, submit.Owner, turnID)
	return notFound(err)
}

// newTurn returns the turn that a message creates if it is not a retry.
func newTurn(owner string, in dialect.Submit, now time.Time) chat.Turn {
	turn := chat.Turn{
		ID:           turnID(now),
		ThreadID:     in.ThreadID,
		Owner:        owner,
		ClientTurnID: in.ClientTurnID,
		StreamRunID:  in.StreamRunID,
		Space:        in.Space,
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

// turnID makes a turn's id: a UUIDv7, so that rows created at about the same time
// are close together in indexes. The clocks of API machines differ, so the order of
// ids is not the order of turns.
func turnID(now time.Time) string {
	id := uuid.Must(uuid.NewV7())
	ms := now.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}

// insert checks a message against the store and writes its turn's row, or finds the
// row of an earlier try.
func (s *server) insert(ctx context.Context, who identity.Caller, in dialect.Submit, turn chat.Turn, newest newestTurn, early *follow.Early) (_ chat.Turn, created, cancelled bool, err error) {
	var exists *bool // whether the conversation exists; nil: not checked
	var first bool   // it follows no turn
	reads, rctx := errgroup.WithContext(ctx)
	reads.Go(func() error {
		docs, err := s.checkSubmit(rctx, who, in)
		if in.Space == "" && len(in.Content.Spaces) == 0 { // in a space, each read checks whether its author still reads the space
			early.Know(docs)
		}
		return err
	})
	var space chat.Space
	reads.Go(func() (err error) {
		space, err = s.thisSpace(rctx, who)
		return err
	})
	reads.Go(func() (err error) { // after the hash, so that a retry has the same hash whatever agent and model the first try got
		turn.Content.Agent, turn.Content.Model, first, exists, err = s.answererFor(rctx, who.ID, in, newest)
		return err
	})
	if err := reads.Wait(); err != nil {
		return turn, false, false, err
	}
	if space.Agent != "" && in.AgentUnset && first {
		turn.Content.Agent = space.Agent
	}
	turn.Content.Effort = cmp.Or(turn.Content.Effort, space.Effort)
	counted, err := s.limits.Admit(ctx, who, turn, in.ClientTurnID != "", exists)
	if err != nil {
		return turn, false, false, err
	}
	row, created, cancelled, err := s.limits.InsertTurn(ctx, who, turn)
	if !created {
		counted.Refund(ctx)
	}
	return row, created, cancelled, err
}

// chosenModel checks the model that a message names. Without a choice of models it is ignored.
func (s *server) chosenModel(name string) (string, error) {
	switch {
	case len(s.Model.Choices) == 0:
		return "", nil
	case name != "" && !slices.Contains(s.Model.Choices, name):
		return "", dialect.Problems{{Field: "model", Problem: "must be " + dialect.OneOf(s.Model.Choices)}}
	}
	return name, nil
}

// answererFor returns the agent and the model for a message: on the thread of a discovery
// board the boards' agent, else the agent that the message names, else that of the turn that
// it follows, else the dialect's default; the model in the same way, empty: none was chosen.
// exists says whether the conversation exists; nil: not checked.
func (s *server) answererFor(ctx context.Context, owner string, in dialect.Submit, newest newestTurn) (agent chat.Agent, model string, first bool, exists *bool, err error) {
	agent, model = in.Content.Agent, in.Content.Model
	inherits := model == "" && !in.ModelNamed && len(s.Model.Choices) > 0
	followed := false
	if in.AgentUnset || inherits {
		var before chat.Content
		before, followed, exists, err = s.followed(ctx, owner, in, newest)
		if followed && in.AgentUnset {
			agent = before.Agent
		}
		if followed && inherits && slices.Contains(s.Model.Choices, before.Model) {
			model = before.Model
		}
	}
	known := followed && in.AgentUnset && agent != chat.AgentDiscovery // the thread of a board has only turns of its agent
	if err != nil || in.ThreadID == "" || len(in.Content.Board) > 0 || known {
		return agent, model, !followed, exists, err
	}
	agent, err = s.agentOnBoard(ctx, owner, in.ThreadID, agent)
	if err == nil && agent == chat.AgentDiscovery && len(in.Content.Spaces) > 0 {
		err = problem.Invalid("space_ids", "is not used in the chat of a board")
	}
	return agent, model, !followed, exists, err
}

// followed returns the content of the turn that a message follows, or of the thread's newest
// turn. ok says whether there is such a turn; exists is that of answererFor.
func (s *server) followed(ctx context.Context, owner string, in dialect.Submit, newest newestTurn) (_ chat.Content, ok bool, exists *bool, _ error) {
	before := chat.TurnOf(in.Content.ParentRequest)
	if before == "" || before == chat.RootCheckpoint {
		if in.ThreadID == "" {
			return chat.Content{}, false, nil, nil
		}
		now, err := newest()
		found := err == nil
		switch {
		case notFound(err), found && !now.Any:
			return chat.Content{}, false, &found, nil
		case err != nil:
			return chat.Content{}, false, nil, err
		}
		return now.Content, true, &found, nil
	}
	t, err := s.Store.Turn(ctx, owner, before)
	if notFound(err) {
		err = nil
	}
	return t.Content, t.ID != "", nil, err
}

// checkSubmit checks what only the store knows: whether the ids exist. It returns the tagged documents.
func (s *server) checkSubmit(ctx context.Context, who identity.Caller, in dialect.Submit) ([]chat.Document, error) {
	var p dialect.Problems
	owner := who.ID
	if err := s.checkScope(ctx, &p, who, in.Content.Spaces); err != nil {
		return nil, err
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	sees := db.InThread(ctx, in.ThreadID)
	if len(in.Content.TaggedDocs)+len(in.Content.TaggedSets) > 0 {
		var err error
		if sees, err = s.inScope(sees, who, in.ThreadID, in.Content.Spaces); err != nil {
			return nil, err
		}
	}
	docs, err := s.checkTags(sees, &p, owner, "", in.Content.TaggedDocs, in.Content.TaggedSets)
	if err != nil {
		return nil, err
	}
	if ids := in.Content.Attachments; len(ids) > 0 {
		found, err := s.Store.AttachmentsByID(ctx, owner, ids)
		if err != nil {
			return nil, err
		}
		if ids, err = s.withoutShared(ctx, owner, ids, found); err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(a chat.Attachment) bool {
			refused := s.checkBoundPicture(ctx, who, a)
			if !notFound(refused) {
				err = errors.Join(err, refused)
			}
			return notFound(refused)
		})
		if err != nil {
			return nil, err
		}
		if len(found) < len(ids) {
			p.Say("attachments", messages.FieldAttachment)
		}
	}
	if parent := in.Content.ParentRequest; parent != "" && parent != chat.RootCheckpoint {
		t, err := s.Store.Turn(ctx, owner, chat.TurnOf(parent))
		if err != nil && !notFound(err) {
			return nil, err
		}
		if err != nil || t.ThreadID != in.ThreadID {
			p.Add("parent_checkpoint_id", "is not a checkpoint of this conversation")
		}
	}
	return docs, p.Err()
}

// checkTags notes tagged ids that the owner cannot see, and returns the documents.
func (s *server) checkTags(ctx context.Context, p *dialect.Problems, owner, prefix string, docs, sets []string) (found []chat.Document, err error) {
	if len(docs) > 0 {
		found, err = s.Store.DocumentsByID(ctx, owner, docs)
		if err != nil {
			return nil, err
		}
		if len(found) < len(docs) {
			p.Say(prefix+"tagged_doc_ids", messages.FieldDocument)
		}
	}
	if len(sets) > 0 {
		known, err := s.Store.SetsByID(ctx, owner, sets)
		if err != nil {
			return nil, err
		}
		if len(known) < len(sets) {
			p.Say(prefix+"tagged_set_ids", messages.FieldSet)
		}
	}
	return found, nil
}

// notFound reports whether err says that something does not exist for the caller.
func notFound(err error) bool { return describe(err) == problem.NotFound }
