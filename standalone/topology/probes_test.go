//go:build long

package topology

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/testkit/relay"
)

// probes disconnects each dependency and kills a worker, and reads the probes of all
// processes. It returns a summary.
func (s *system) probes(ctx context.Context) (string, error) {
	for _, f := range []struct {
		part   string // as /readyz names it
		link   *relay.Link
		status int
	}{
		{"stream", s.links.nats, http.StatusOK},
		{"database", s.links.database, http.StatusServiceUnavailable},
		{"temporal", s.links.temporal, http.StatusServiceUnavailable},
	} {
		if err := s.without(ctx, f.part, f.link, f.status); err != nil {
			return "", fmt.Errorf("without %s: %w", f.part, err)
		}
	}
	took, err := s.killWorker(ctx)
	if err != nil {
		return "", fmt.Errorf("dead worker: %w", err)
	}
	return fmt.Sprintf("without NATS the processes stay ready, without the database or Temporal they do not; a dead worker was reported after %s", took.Round(time.Millisecond)), s.checkAll(ctx)
}

// without cuts a link, waits until the readiness of all processes has the status want and
// names part, and restores the link.
func (s *system) without(ctx context.Context, part string, link *relay.Link, want int) error {
	link.Cut()
	err := s.awaitProbes(ctx, want, part)
	if err == nil && want == http.StatusOK {
		err = s.people[0].say(ctx, "inquire")
	}
	link.Restore()
	return errors.Join(err, s.awaitProbes(ctx, http.StatusOK, ""))
}

// awaitProbes waits until /readyz of every process has the status want and names part as
// down, or no part when part is "". After that /healthz must still be 200.
func (s *system) awaitProbes(ctx context.Context, want int, part string) error {
	for _, r := range s.roles {
		var last string
		err := await(ctx, r.name, func() bool {
			status, down, err := r.probe(ctx, "/readyz")
			last = fmt.Sprintf("%d, down: %s, %v", status, strings.Join(down, " "), err)
			return err == nil && status == want && (part == "" && len(down) == 0 || slices.Contains(down, part))
		})
		if err != nil {
			return fmt.Errorf("%w; the last probe: %s", err, last)
		}
		if status, _, err := r.probe(ctx, "/healthz"); err != nil || status != http.StatusOK {
			return errors.Join(fmt.Errorf("liveness of %s: status %d", r.name, status), err)
		}
	}
	return nil
}

// killWorker kills a worker; the other one answers meanwhile.
func (s *system) killWorker(ctx context.Context) (took time.Duration, err error) {
	dead := s.workers()[0]
	if err := s.health(ctx, dead); err != nil {
		return 0, fmt.Errorf("before it was killed: %w", err)
	}
	dead.program.Kill()
	began := time.Now()
	if err := await(ctx, "palaver health worker reports it", func() bool { return s.health(ctx, dead) != nil }); err != nil {
		return 0, err
	}
	took = time.Since(began)
	if err := s.people[0].say(ctx, "inquire"); err != nil {
		return 0, err
	}
	dead.program = nil
	return took, s.startAll(ctx)
}
