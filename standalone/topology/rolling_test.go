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

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/internal/payload"
	"github.com/palaver-chat/palaver/workflows"
)

// rollEncryption follows the table of docs/deploy.md: each step restarts every process in
// turn. Meanwhile people talk in conversations that began before the first step.
func (s *system) rollEncryption(ctx context.Context) (string, error) {
	for range people {
		p, err := s.newPerson(ctx)
		if err != nil {
			return "", err
		}
		s.people = append(s.people, p)
	}
	first, second := strings.Repeat("1", payload.ShortestKey), strings.Repeat("2", payload.ShortestKey)
	steps := [][]string{{payload.Plain, first}, {first}, {first, second}, {second, first}, {payload.Plain, second, first}}
	turns := 0
	for i, keys := range steps {
		n, err := s.roll(ctx, i == 0, "PAYLOAD_ENCRYPTION_KEY="+strings.Join(keys, ","))
		if err != nil {
			return "", fmt.Errorf("step %d: %w", i+1, err)
		}
		turns += n
		if err := s.checkPayloads(ctx, keys[0] != payload.Plain); err != nil {
			return "", fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	again := 0
	for _, p := range s.people {
		again += p.again
	}
	return fmt.Sprintf("%d times %d processes, while encryption was turned on, its key replaced, and turned off; %d turns, none lost and none twice, %d messages sent again", len(steps), len(s.roles), turns, again), nil
}

// roll restarts every process in turn with the settings while people talk. It returns the
// number of turns.
func (s *system) roll(ctx context.Context, draining bool, settings ...string) (turns int, err error) {
	if draining {
		if err := s.restartAPIs(ctx); err != nil {
			return 0, err
		}
	}
	s.settings = settings
	stop := s.talk(ctx)
	err = s.restartEach(ctx, draining)
	turns, failed := stop()
	if err := errors.Join(err, failed); err != nil {
		return turns, err
	}
	if turns == 0 {
		return 0, errors.New("no turn ran")
	}
	return turns, s.checkAll(ctx)
}

// restartAPIs restarts the API processes with DRAIN_DELAY set.
func (s *system) restartAPIs(ctx context.Context) error {
	s.settings = []string{"DRAIN_DELAY=" + drainDelay.String()}
	for _, r := range s.apis() {
		if err := r.stop(); err != nil {
			return err
		}
		if err := s.startRole(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// restartEach restarts every process in turn. After each restart it waits for one answer
// per person, so that turns run during the next one.
func (s *system) restartEach(ctx context.Context, draining bool) error {
	for _, r := range s.roles {
		end := r.stop
		if draining && r.name == "api" {
			end = func() error { return r.drain(ctx) }
		}
		if err := end(); err != nil {
			return err
		}
		if err := s.startRole(ctx, r); err != nil {
			return err
		}
		before := s.count()
		if err := await(ctx, "wait for answers after a restart", func() bool { return s.count() >= before+len(s.people) }); err != nil {
			return err
		}
	}
	return nil
}

// drain stops an API process and checks that it still serves requests for DRAIN_DELAY
// after its readiness fails.
func (r *role) drain(ctx context.Context) error {
	began := time.Now()
	ended := make(chan error, 1)
	program := r.program
	go func() { ended <- r.stop() }()
	unready := func() bool {
		status, down, err := r.probe(ctx, "/readyz")
		return err == nil && status == http.StatusServiceUnavailable && slices.Contains(down, "process")
	}
	if err := await(ctx, "wait until readiness fails", unready); err != nil {
		return errors.Join(err, <-ended)
	}
	if status, _, err := r.probe(ctx, "/api/config"); err != nil || status != http.StatusOK {
		return errors.Join(fmt.Errorf("while draining, a request got %d", status), err, <-ended)
	}
	select {
	case <-program.Exited():
		return fmt.Errorf("it ended %s after SIGTERM", time.Since(began))
	default:
	}
	if err := <-ended; err != nil {
		return err
	}
	if took := time.Since(began); took < drainDelay {
		return fmt.Errorf("it ended %s after SIGTERM, before DRAIN_DELAY", took)
	}
	return nil
}

// checkPayloads starts a conversation and checks that all payloads of its history are
// encrypted, or that none is.
func (s *system) checkPayloads(ctx context.Context, encrypted bool) error {
	talker := s.people[0]
	fresh := &person{system: s, user: talker.user, doc: talker.doc, thread: uuid.NewString()}
	if err := fresh.say(ctx, "inquire"); err != nil {
		return err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: s.temporal.address, Logger: quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	counts := map[bool]int{}
	events := c.GetWorkflowHistory(ctx, workflows.ThreadWorkflowID(fresh.thread), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		if err := countPayloads(ctx, e, counts); err != nil {
			return err
		}
	}
	if counts[encrypted] == 0 || counts[!encrypted] > 0 {
		return fmt.Errorf("a new history has %d encrypted and %d plain payloads", counts[true], counts[false])
	}
	return nil
}

func countPayloads(ctx context.Context, e *historypb.HistoryEvent, counts map[bool]int) error {
	return proxy.VisitPayloads(ctx, e, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads {
				counts[string(p.GetMetadata()["encoding"]) == "binary/encrypted"]++
			}
			return payloads, nil
		},
	})
}
