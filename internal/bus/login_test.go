package bus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/testkit/must"
)

// startServerWithAccounts starts a server that accepts users of one account by their JWT, as
// Synadia Cloud does, and returns the content of such a user's .creds file.
func startServerWithAccounts(t *testing.T) (ns *server.Server, credentials string) {
	t.Helper()
	operator, account, user := pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateUser)
	accountClaims := jwt.NewAccountClaims(public(t, account))
	accountJWT := must.Have(accountClaims.Encode(operator))(t)
	userJWT := must.Have(jwt.NewUserClaims(public(t, user)).Encode(account))(t)
	seed := must.Have(user.Seed())(t)
	file := must.Have(jwt.FormatUserConfig(userJWT, seed))(t)
	accounts := &server.MemAccResolver{}
	require.NoError(t, accounts.Store(public(t, account), accountJWT))
	ns = startServer(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, TrustedKeys: []string{public(t, operator)}, AccountResolver: accounts})
	return ns, string(file)
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	p := must.Have(create())(t)
	return p
}

func public(t *testing.T, p nkeys.KeyPair) string {
	t.Helper()
	key := must.Have(p.PublicKey())(t)
	return key
}

func TestConnectWithCredentialsAsTextAndAsAFile(t *testing.T) {
	ns, credentials := startServerWithAccounts(t)
	require.True(t, bus.IsCredentials(credentials))
	path := filepath.Join(t.TempDir(), "user.creds")
	require.NoError(t, os.WriteFile(path, []byte(credentials), 0o600))
	for name, login := range map[string]bus.Login{"text": {Credentials: credentials}, "file": {Credentials: path}} {
		t.Run(name, func(t *testing.T) {
			b := must.Have(bus.Connect(ns.ClientURL(), login))(t)
			defer b.Close()
			require.True(t, b.Ready())
			turn := uuid.NewString()
			signals := must.Have(b.Subscribe(t.Context(), turn))(t)
			b.Hint(turn, 3)
			require.Equal(t, bus.Signal{N: 3}, receive(t, signals))
		})
	}
	b, err := bus.Connect(ns.ClientURL(), bus.Login{Token: "0123456789abcdef"})
	if err == nil {
		defer b.Close()
		require.False(t, b.Ready(), "a token is no user of an account")
	}
}
