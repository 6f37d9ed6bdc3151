// Package embedded runs Palaver's servers inside one process: a Temporal server on
// SQLite with its Web UI and, for other processes, a NATS server. Everything
// listens on the loopback interface only.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/guard"
)

// Namespace is the Temporal namespace that exists from the start.
const Namespace = "default"

// Options configures the servers. The zero value is a server in memory on free
// ports, for tests.
type Options struct {
	Dir          string       // folder for Temporal's database; empty: in memory
	TemporalPort int          // gRPC; 0: any free port
	UI           bool         // serve the Web UI
	UIPort       int          // 0: any free port
	UIHosts      *guard.Hosts // host names that the Web UI accepts; nil: loopback only
	UIWrite      bool         // the Web UI may change workflows
	Codec        string       // URL of the codec that decrypts payloads for the Web UI; empty: none
	NATSPort     int          // 0: no NATS
	NATSToken    string       // token that clients of NATS need; required with NATSPort
	// ServerDefaults keeps Temporal's default limits, as a production server may
	// have them.
	ServerDefaults bool
	Log            *slog.Logger // nil: silent
}

// Server holds the running servers.
type Server struct {
	temporal *temporalServer
	ui       *uiServer
	nats     *natsServer // nil: none
}

// Start starts the servers and returns when they are ready. On an error it leaves
// nothing running; a port in use is a *PortError.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	// The servers exit the process when they cannot listen: check first.
	for _, p := range []struct {
		variable string
		port     int
	}{{"TEMPORAL_PORT", o.TemporalPort}, {"TEMPORAL_UI_PORT", o.UIPort}, {"NATS_PORT", o.NATSPort}} {
		if p.port != 0 {
			if err := free(p.variable, p.port); err != nil {
				return nil, err
			}
		}
	}
	s := &Server{}
	if err := s.start(ctx, o); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, o Options) (err error) {
	if o.NATSPort != 0 {
		if s.nats, err = startNATS(o); err != nil {
			return err
		}
	}
	if s.temporal, err = startTemporal(ctx, o); err != nil {
		return err
	}
	if o.UI {
		s.ui, err = startUI(o, s.temporal.address)
	}
	return err
}

// TemporalAddress returns host:port of Temporal's gRPC endpoint.
func (s *Server) TemporalAddress() string { return s.temporal.address }

// UIAddress returns host:port of the Web UI; empty when it does not run.
func (s *Server) UIAddress() string {
	if s.ui == nil {
		return ""
	}
	return s.ui.address
}

// NATSURL returns the URL of NATS for other processes; empty when it does not run.
func (s *Server) NATSURL() string {
	if s.nats == nil {
		return ""
	}
	return s.nats.server.ClientURL()
}

// Bus returns the message bus: NATS, or memory when there is no other process.
func (s *Server) Bus() (bus.Bus, error) {
	if s.nats == nil {
		return bus.NewLocal(), nil
	}
	nc, err := s.nats.connect()
	if err != nil {
		return nil, err
	}
	return bus.FromConn(nc), nil
}

// Stop stops the servers, the last started first. Writes that Temporal acknowledged
// are on disk; running workflows continue after the next Start.
func (s *Server) Stop() {
	if s.ui != nil {
		s.ui.stop()
	}
	if s.temporal != nil {
		s.temporal.stop()
	}
	if s.nats != nil {
		s.nats.stop()
	}
}

// PortError is a port that is already in use.
type PortError struct {
	Variable string // the variable that sets the port
	Port     int
	Err      error
}

func (e *PortError) Error() string {
	return fmt.Sprintf("%s: port %d is in use; stop the program that uses it or choose another port", e.Variable, e.Port)
}

func (e *PortError) Unwrap() error { return e.Err }

func free(variable string, port int) error {
	l, err := net.Listen("tcp", local(port))
	if err != nil {
		return &PortError{Variable: variable, Port: port, Err: err}
	}
	return l.Close()
}

func local(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

const loopback = "127.0.0.1"

// answers waits until something accepts connections at address.
func answers(ctx context.Context, address string) error {
	var dialer net.Dialer
	for {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
