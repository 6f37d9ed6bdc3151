package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/palaver-chat/palaver/internal/stack"
)

// databases are in the order of docs/deploy.md: Palaver's is the last, so that its dump is
// the newest.
var databases = append(slices.Clone(stack.TemporalDatabases), database)

func (s *system) dump(name string) string { return filepath.Join(s.dir, name+".dump") }

// backup dumps the databases while people talk, restores them, and checks that every
// conversation continues. It returns a summary.
func (s *system) backup(ctx context.Context) (string, error) {
	kept, err := s.dumpWhileTalking(ctx)
	if err != nil {
		return "", err
	}
	if err := s.restore(ctx); err != nil {
		return "", err
	}
	later := 0
	for i, p := range s.people {
		if err := p.checkRestored(ctx, kept[i]); err != nil {
			return "", err
		}
		later += len(p.said()) - len(kept[i])
		if err := p.say(ctx, "inquire"); err != nil {
			return "", fmt.Errorf("after the restore: %w", err)
		}
	}
	return fmt.Sprintf("%d turns from before the backup are complete, later ones were settled or are missing (%d); every conversation continues", s.count()-later-len(s.people), later), nil
}

// dumpWhileTalking returns, for each person, the messages that were answered before the
// backup began.
func (s *system) dumpWhileTalking(ctx context.Context) (kept [][]string, err error) {
	stop := s.talk(ctx)
	before := s.count()
	err = await(ctx, "wait for answers before the backup", func() bool { return s.count() > before+len(s.people) })
	for _, p := range s.people {
		kept = append(kept, p.said())
	}
	for _, name := range databases {
		err = errors.Join(err, s.pg.Dump(ctx, name, s.dump(name)))
	}
	after := s.count()
	err = errors.Join(err, await(ctx, "wait for answers after the backup", func() bool { return s.count() > after }))
	_, failed := stop()
	return kept, errors.Join(err, failed)
}

// restore follows docs/deploy.md: it stops everything, restores the databases, and starts
// Temporal, the workers and the APIs.
func (s *system) restore(ctx context.Context) (err error) {
	for _, r := range s.roles {
		if err := r.stop(); err != nil {
			return err
		}
	}
	s.temporal.Stop()
	for _, name := range databases {
		if err := s.pg.Restore(ctx, name, s.dump(name)); err != nil {
			return err
		}
	}
	if s.temporal, err = s.startTemporal(ctx); err != nil {
		return err
	}
	s.links.temporal.To(s.temporal.Address)
	return s.startAll(ctx)
}

// checkRestored waits until open turns are settled. It checks that the conversation has
// every message of kept once, with its answer, and no other message twice.
func (p *person) checkRestored(ctx context.Context, kept []string) error {
	var messages []message
	var active bool
	var err error
	if e := await(ctx, "wait until open turns of the backup end", func() bool {
		messages, active, err = p.history(ctx)
		return err == nil && !active
	}); e != nil {
		return errors.Join(e, err)
	}
	var said []string
	for i, m := range messages {
		if m.Role != "user" {
			continue
		}
		if slices.Contains(said, m.Content) {
			return fmt.Errorf("the conversation has %q twice", m.Content)
		}
		if said = append(said, m.Content); slices.Contains(kept, m.Content) && (i+1 == len(messages) || messages[i+1].Role != "assistant") {
			return fmt.Errorf("%q has lost its answer", m.Content)
		}
	}
	if len(said) < len(kept) || !slices.Equal(said[:len(kept)], kept) {
		return fmt.Errorf("messages from before the backup are missing: %d of %d", len(said), len(kept))
	}
	return nil
}
