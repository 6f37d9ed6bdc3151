package pgtest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/relay"
)

// Proxy is a link to a database that tests can silence, like a dead machine or a network
// partition, and reset.
type Proxy struct {
	*relay.Link
	URL string
}

// NewProxy starts a proxy to the server of a database's URL. It ends with t.
func NewProxy(t testing.TB, database string) *Proxy {
	t.Helper()
	server, err := url.Parse(database)
	require.NoError(t, err)
	link, err := relay.New(server.Host)
	require.NoError(t, err)
	t.Cleanup(link.Close)
	return &Proxy{link, With(database, func(u *url.URL) { u.Host = link.Address() })}
}
