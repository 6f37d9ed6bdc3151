package identity

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/db"
)

// oneKey has one key until it is revoked.
type oneKey struct {
	digest string
	read   func() // is called while the key is being read
}

func (o *oneKey) KeyByDigest(_ context.Context, digest string) (db.Key, error) {
	if digest != o.digest {
		return db.Key{}, db.ErrNotFound
	}
	o.read()
	return db.Key{ID: "k", Owner: "ann"}, nil
}

func (*oneKey) UseKey(context.Context, string, string, time.Time) error { return nil }

func TestKeyThatIsRevokedWhileItIsReadIsNotKept(t *testing.T) {
	t.Parallel()
	const key = "plv_x"
	store := &oneKey{digest: accesskey.Digest(key)}
	p := &personalKeys{store: store}
	store.read = func() {
		store.digest = ""
		p.Forget(accesskey.Digest(key))
	}
	_, err := p.caller(t.Context(), key)
	require.NoError(t, err, "the key was read before it was revoked")
	_, err = p.caller(t.Context(), key)
	require.Error(t, err)
}
