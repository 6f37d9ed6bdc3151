package connections

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/googletest"
)

// fixture has a person, ann, and the processes that share her accounts.
type fixture struct {
	*testing.T
	google *googletest.Server
	store  *sqlite.Store
	now    time.Time
	a      *Accounts
}

func setup(t *testing.T) *fixture {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "palaver.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	f := &fixture{T: t, google: googletest.New(t), store: store, now: time.Now()}
	f.a = f.process("first secret")
	return f
}

func (f *fixture) process(secrets ...string) *Accounts {
	f.Helper()
	var raw [][]byte
	for _, s := range secrets {
		raw = append(raw, []byte(s))
	}
	keys, err := NewKeys(raw...)
	require.NoError(f, err)
	a, err := New(Options{Store: f.store, Keys: keys, ClientID: googletest.ClientID, ClientSecret: googletest.ClientSecret,
		OAuthURL: f.google.URL, DriveURL: f.google.URL + "/drive/v3/", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(f, err)
	a.now = func() time.Time { return f.now }
	return a
}

// connect connects an account for ann.
func (f *fixture) connect() {
	f.Helper()
	page, cookie, err := f.a.Begin(f.Context(), Flow{Provider: Google, Owner: "ann", Redirect: "http://localhost/back"})
	require.NoError(f, err)
	flow, err := f.a.Open(cookie)
	require.NoError(f, err)
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := browser.Get(page)
	require.NoError(f, err)
	require.NoError(f, res.Body.Close())
	back, err := url.Parse(res.Header.Get("Location"))
	require.NoError(f, err)
	require.NoError(f, f.a.Finish(f.Context(), flow, Google, "", back.Query()))
}

func (f *fixture) token(a *Accounts) (string, bool) {
	f.Helper()
	token, ok, err := a.Token(f.Context(), "ann")
	require.NoError(f, err)
	return token, ok
}

func TestTokenIsUsedUntilItsEndAndThenRefreshed(t *testing.T) {
	f := setup(t)
	f.connect()
	first, ok := f.token(f.a)
	require.True(t, ok)
	again, _ := f.token(f.a)
	require.Equal(t, first, again)
	require.Zero(t, f.google.Refreshes())

	f.now = f.now.Add(time.Hour - minTokenLifetime + time.Second)
	second, ok := f.token(f.a)
	require.True(t, ok)
	require.NotEqual(t, first, second)
	require.Equal(t, "ann@example.com", f.google.Account(second))
}

func TestShortLivedTokenIsRefreshedOnceForEachUse(t *testing.T) {
	f := setup(t)
	f.google.Set(func(s *googletest.Settings) { s.Lifetime = time.Minute })
	f.connect()
	_, ok := f.token(f.a)
	require.True(t, ok)
	require.Equal(t, 1, f.google.Refreshes())
}

func TestTokenIsRefreshedOnceByAllProcesses(t *testing.T) {
	f := setup(t)
	f.connect()
	f.now = f.now.Add(2 * time.Hour)
	f.google.Set(func(s *googletest.Settings) { s.Lifetime = 24 * time.Hour })
	processes := []*Accounts{f.a, f.process("first secret")}
	tokens := make([]string, 8)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			token, ok, err := processes[i%2].Token(f.Context(), "ann")
			if err == nil && ok {
				tokens[i] = token
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, f.google.Refreshes())
	for _, token := range tokens {
		require.NotEmpty(t, token)
		require.Equal(t, tokens[0], token)
	}
}

func TestResealingLetsTheOldKeyBeDropped(t *testing.T) {
	f := setup(t)
	f.connect()
	before, err := f.store.Connection(t.Context(), "ann", Google)
	require.NoError(t, err)
	require.NoError(t, f.store.PutConnection(t.Context(), db.Connection{Owner: "eve", Provider: Google, Token: before.Token}, false)) // hers no key opens
	both := f.process("second secret", "first secret")
	for _, want := range []int{1, 0} {
		resealed, err := both.Reseal(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, resealed)
	}
	after, err := f.store.Connection(t.Context(), "ann", Google)
	require.NoError(t, err)
	require.Equal(t, before.UpdatedAt, after.UpdatedAt, "the token itself is the same")
	first, ok := f.token(both)
	require.True(t, ok)
	second, ok := f.token(f.process("second secret"))
	require.True(t, ok)
	require.Equal(t, first, second)
	require.Zero(t, f.google.Refreshes())
	_, ok = f.token(f.a)
	require.False(t, ok)
}

func TestAccountMustBeConnectedAgainAfterGoogleRevokedItsAccess(t *testing.T) {
	f := setup(t)
	f.connect()
	f.google.RevokeAll()
	f.now = f.now.Add(2 * time.Hour)
	_, ok := f.token(f.a)
	require.False(t, ok)
	list, err := f.a.List(t.Context(), "ann")
	require.NoError(t, err)
	require.True(t, list[0].Expired)
	_, ok = f.token(f.a)
	require.False(t, ok)
	require.Equal(t, 1, f.google.Refreshes(), "Google is not asked again")

	f.connect()
	_, ok = f.token(f.a)
	require.True(t, ok)
}

func TestFailedRefreshIsAnErrorAndKeepsTheConnection(t *testing.T) {
	f := setup(t)
	f.connect()
	f.now = f.now.Add(2 * time.Hour)
	f.google.Set(func(s *googletest.Settings) { s.Down = true })
	_, ok, err := f.a.Token(t.Context(), "ann")
	require.Error(t, err)
	require.False(t, ok)
	f.google.Set(func(s *googletest.Settings) { s.Down = false })
	_, ok = f.token(f.a)
	require.True(t, ok)
}

func TestDisconnectDuringARefreshIsNotUndone(t *testing.T) {
	f := setup(t)
	f.connect()
	f.now = f.now.Add(2 * time.Hour)
	f.google.Set(func(s *googletest.Settings) {
		s.BeforeRefresh = func() {
			_ = f.store.DeleteConnection(context.Background(), "ann", Google)
		}
	})
	_, ok := f.token(f.a)
	require.False(t, ok)
	_, err := f.store.Connection(t.Context(), "ann", Google)
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestStoredTokenIsReadableForItsOwnerAndWithItsKeyOnly(t *testing.T) {
	f := setup(t)
	f.connect()
	row, err := f.store.Connection(t.Context(), "ann", Google)
	require.NoError(t, err)

	stolen := row
	stolen.Owner = "bob"
	require.NoError(t, f.store.PutConnection(t.Context(), stolen, false))
	_, ok, err := f.a.Token(t.Context(), "bob")
	require.NoError(t, err)
	require.False(t, ok, "a token that was copied to another owner's row")

	_, ok = f.token(f.process("another secret"))
	require.False(t, ok)
	rotated := f.process("new secret", "first secret")
	_, ok = f.token(rotated)
	require.True(t, ok, "the old key still decrypts")
	f.now = f.now.Add(2 * time.Hour)
	_, ok = f.token(rotated)
	require.True(t, ok)
	_, ok = f.token(f.process("new secret"))
	require.True(t, ok, "the refreshed token is encrypted with the new key")
}

func TestFlowExpires(t *testing.T) {
	f := setup(t)
	_, cookie, err := f.a.Begin(f.Context(), Flow{Provider: Google, Owner: "ann", Redirect: "http://localhost/back"})
	require.NoError(t, err)
	flow, err := f.a.Open(cookie)
	require.NoError(t, err)
	f.now = f.now.Add(FlowTime + time.Second)
	err = f.a.Finish(t.Context(), flow, Google, "", url.Values{"state": {flow.State}, "code": {"x"}})
	var said *Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, Expired, said.Code)
	_, err = f.process("another secret").Open(cookie)
	require.ErrorAs(t, err, &said)
	require.Equal(t, Expired, said.Code)
}
