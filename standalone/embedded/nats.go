package embedded

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const natsStartTimeout = 10 * time.Second

type natsServer struct {
	server *server.Server
	token  string
}

// startNATS starts a server for other processes of this machine. Other users of the
// machine can also reach its port, so clients need the token.
func startNATS(o Options) (*natsServer, error) {
	if o.NATSToken == "" {
		return nil, errors.New("set up NATS: it needs a token")
	}
	ns, err := server.NewServer(&server.Options{
		ServerName:    "palaver",
		Host:          loopback,
		Port:          o.NATSPort,
		Authorization: o.NATSToken,
		NoSigs:        true,
		NoLog:         true,
	})
	if err != nil {
		return nil, fmt.Errorf("set up NATS: %w", err)
	}
	ns.Start()
	s := &natsServer{server: ns, token: o.NATSToken}
	if !ns.ReadyForConnections(natsStartTimeout) {
		s.stop()
		return nil, errors.New("start NATS: not ready before the timeout")
	}
	return s, nil
}

func (s *natsServer) connect() (*nats.Conn, error) {
	nc, err := nats.Connect("", nats.InProcessServer(s.server), nats.Name("palaver"), nats.Token(s.token))
	if err != nil {
		return nil, fmt.Errorf("connect to the embedded NATS: %w", err)
	}
	return nc, nil
}

func (s *natsServer) stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
