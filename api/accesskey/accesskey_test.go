package accesskey

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
)

type memory struct{ keys []db.Key }

func (m *memory) CreateKey(_ context.Context, k db.Key) error {
	if len(m.keys) >= db.MaxKeys {
		return &db.Exceeded{Bound: db.BoundKeys}
	}
	m.keys = append(m.keys, k)
	return nil
}

func TestAKeyIsStoredAsItsDigestOnly(t *testing.T) {
	m := &memory{}
	key, k, err := Create(t.Context(), m, New{Owner: "ann", Anonymous: true, Name: "  Open\nWebUI ", Days: 30})
	require.NoError(t, err)
	require.True(t, Is(key))
	require.GreaterOrEqual(t, len(key), 48)
	require.Equal(t, []db.Key{k}, m.keys)
	require.Equal(t, Digest(key), k.Digest)
	require.NotContains(t, k.Digest+k.ID+k.Name, strings.TrimPrefix(key, prefix))
	require.Equal(t, "Open WebUI", k.Name)
	require.Equal(t, 30*24*time.Hour, k.ExpiresAt.Sub(k.CreatedAt))
	again, _, err := Create(t.Context(), m, New{Owner: "ann", Anonymous: true, Name: "second", Days: 0})
	require.NoError(t, err)
	require.NotEqual(t, key, again)
	require.Zero(t, m.keys[1].ExpiresAt)
}

func TestInvalidKeysAreRefused(t *testing.T) {
	m := &memory{}
	for name, want := range map[string]error{"": ErrName, " \n": ErrName, strings.Repeat("x", 101): ErrName, "a\x00b": ErrName} {
		_, _, err := Create(t.Context(), m, New{Owner: "ann", Anonymous: false, Name: name, Days: 0})
		require.ErrorIs(t, err, want, "%q", name)
	}
	for _, days := range []int{-1, MaxDays + 1} {
		_, _, err := Create(t.Context(), m, New{Owner: "ann", Anonymous: false, Name: "x", Days: days})
		require.ErrorIs(t, err, ErrDays)
	}
	m.keys = make([]db.Key, MaxPerOwner)
	_, _, err := Create(t.Context(), m, New{Owner: "ann", Anonymous: false, Name: "x", Days: 0})
	require.ErrorIs(t, err, ErrMany)
	require.False(t, Is("eyJhbGciOiJIUzI1NiJ9.e30.x"))
}
