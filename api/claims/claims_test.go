package claims_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities/repair"
	"github.com/palaver-chat/palaver/api/claims"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// browser is an anonymous user with two conversations and a document.
type browser struct {
	t       *testing.T
	store   *sqlite.Store
	claimer *claims.Claimer
	sweeper *repair.Sweeper
	threads []string
	owners  map[string]string // of the threads' workflows
}

const anonymous, ann, bob = "anonymous", "ann", "bob"

func open(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, store: litetest.Store(t), owners: map[string]string{}}
	b.claimer = &claims.Claimer{
		Store: b.store,
		ChangeOwner: func(ctx context.Context, thread, to string) error {
			if ctx.Err() == nil {
				b.owners[thread] = to
			}
			return ctx.Err()
		},
		SettleLost: func(context.Context, string) error { return nil },
		Accounts:   func(context.Context, string, string) error { return nil },
	}
	b.sweeper = repair.NewSweeper(b.store, idle{}, slog.New(slog.DiscardHandler))
	b.sweeper.Claim = func(ctx context.Context, c db.Claim) (int, bool, error) {
		moved, err := b.claimer.Finish(ctx, c)
		return moved.Conversations + moved.Documents, moved.Left > 0, err
	}
	for range 2 {
		b.threads = append(b.threads, uuid.NewString())
		must.Have(b.store.CreateConversation(t.Context(), chat.Conversation{ID: b.threads[len(b.threads)-1], Owner: anonymous}))(t)
	}
	b.upload()
	return b
}

// idle is Temporal without open workflows.
type idle struct{ repair.Engine }

func (idle) InterruptedThreads(context.Context, []byte) ([]chat.ThreadRef, []byte, error) {
	return nil, nil, nil
}

func (b *browser) upload() {
	b.t.Helper()
	id := uuid.NewString()
	require.NoError(b.t, b.store.CreateDocument(b.t.Context(), chat.Document{ID: id, Owner: anonymous, Title: "Notes"}, []byte("raw")))
	require.NoError(b.t, b.store.FailDocument(b.t.Context(), anonymous, id, "unreadable"))
}

// began makes the claim so old.
func (b *browser) began(ago time.Duration) {
	b.t.Helper()
	require.NoError(b.t, b.store.EndClaim(b.t.Context(), db.Claim{Owner: anonymous, Account: ann}))
	must.Have(b.store.BeginClaim(b.t.Context(), anonymous, ann, time.Now().Add(-ago)))(b.t)
}

func (b *browser) sweep() {
	b.t.Helper()
	must.Have(b.sweeper.Sweep(b.t.Context()))(b.t)
}

func (b *browser) has(owner string) (threads, documents int) {
	b.t.Helper()
	d := must.Have(b.store.UserData(b.t.Context(), owner))(b.t)
	return len(d.Threads), len(d.Documents)
}

func (b *browser) requireAllOf(owner string, documents int) {
	b.t.Helper()
	threads, docs := b.has(owner)
	require.Equal(b.t, []int{2, documents}, []int{threads, docs})
	for _, id := range b.threads {
		require.Equal(b.t, owner, b.owners[id])
	}
}

// A claim that dies half-way leaves a thread whose workflow acts for the account and whose rows
// are the anonymous owner's.
func TestSweepFinishesAClaimForTheAccountThatBeganIt(t *testing.T) {
	t.Parallel()
	for _, calls := range []int{0, 1} { // threads that were moved before the process died
		b := open(t)
		change := b.claimer.ChangeOwner
		dying, died := context.WithCancel(t.Context())
		b.claimer.ChangeOwner = func(ctx context.Context, thread, to string) error {
			err := change(ctx, thread, to)
			if calls--; calls < 0 {
				died()
			}
			return err
		}
		_, err := b.claimer.Claim(dying, anonymous, ann)
		require.Error(t, err)
		b.claimer.ChangeOwner = change
		b.sweep()
		threads, _ := b.has(anonymous)
		require.NotZero(t, threads, "its request may still run")
		b.began(2 * time.Minute)
		b.sweep()
		b.requireAllOf(ann, 1)
		require.NotZero(t, must.Have(b.store.SessionGeneration(t.Context(), anonymous))(t), "the cookie is revoked")
	}
}

// An upload may have begun before the cookie was revoked.
func TestSweepMovesWhatIsStoredAfterAClaimUntilTheClaimEnds(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.Zero(t, must.Have(b.claimer.Claim(t.Context(), anonymous, ann))(t).Left)
	b.requireAllOf(ann, 1)
	b.upload()
	b.began(2 * time.Minute)
	b.sweep()
	b.requireAllOf(ann, 2)
	b.upload()
	b.began(time.Hour)
	b.sweep()
	b.requireAllOf(ann, 3)
	require.Empty(t, must.Have(b.store.Claims(t.Context(), time.Now(), "", 10))(t))
}

// The API process of a message may have died while it sent it.
func TestClaimMovesNothingWhileAMessageIsBeingSent(t *testing.T) {
	t.Parallel()
	b := open(t)
	_, _, _, err := b.store.InsertTurn(t.Context(), chat.Turn{ID: uuid.NewString(), Owner: anonymous, ThreadID: b.threads[1],
		Content: chat.Content{Message: "hello"}, CreatedAt: time.Now()})
	require.NoError(t, err)
	require.Equal(t, claims.MovedCounts{Left: 2}, must.Have(b.claimer.Claim(t.Context(), anonymous, ann))(t))
	threads, documents := b.has(anonymous)
	require.Equal(t, []int{2, 1}, []int{threads, documents})
	require.Empty(t, must.Have(b.store.Claims(t.Context(), time.Now().Add(time.Hour), "", 10))(t))
}

func TestTheFirstOfTwoAccountsGetsTheData(t *testing.T) {
	t.Parallel()
	b := open(t)
	must.Have(b.store.BeginClaim(t.Context(), anonymous, ann, time.Now()))(t)
	require.Equal(t, claims.MovedCounts{}, must.Have(b.claimer.Claim(t.Context(), anonymous, bob))(t))
	must.Have(b.claimer.Claim(t.Context(), anonymous, ann))(t)
	b.requireAllOf(ann, 1)
}
