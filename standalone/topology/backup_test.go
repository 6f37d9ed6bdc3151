//go:build long

package topology

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// databases are in the order of docs/deploy.md: Palaver's is the last, so that its dump is
// the newest.
var databases = append(slices.Clone(temporalDatabases), database)

// The sets of dumps. People talk while each is made, and between them.
const (
	older = "older"
	newer = "newer"
)

// restores are the rows of the table in docs/deploy.md: the set that each database is
// restored from, and the states of the conversations after that.
var restores = []struct {
	name              string
	temporal, palaver string
	states            map[string]state
}{
	{"the same set", older, older, before},
	{"Temporal older", older, newer, temporalOlder},
	{"Palaver older", newer, older, palaverOlder},
}

func (s *system) dump(set, name string) string { return filepath.Join(s.dir, set+"-"+name+".dump") }

// backup makes two sets of dumps while people talk, restores the databases from one set and
// from both, and checks each time what the table promises.
func (s *system) backup(ctx context.Context) (string, error) {
	c, err := s.newCases(ctx)
	if err != nil {
		return "", err
	}
	kept := map[string][][]string{}
	if kept[older], err = s.dumpWhileTalking(ctx, older); err != nil {
		return "", err
	}
	if err := c.goOn(ctx); err != nil {
		return "", err
	}
	if kept[newer], err = s.dumpWhileTalking(ctx, newer); err != nil {
		return "", err
	}
	c.answerAtOnce()
	for _, r := range restores {
		if err := s.restore(ctx, r.temporal, r.palaver); err != nil {
			return "", fmt.Errorf("%s: %w", r.name, err)
		}
		group, ctx := errgroup.WithContext(ctx)
		for i, p := range s.people {
			group.Go(func() error { return errors.Join(p.checkRestored(ctx, kept[r.palaver][i]), p.say(ctx, "inquire")) })
		}
		for name, p := range c.people {
			group.Go(func() error {
				if err := p.checkState(ctx, r.states[name]); err != nil {
					return fmt.Errorf("a conversation that %s: %w", name, err)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return "", fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return fmt.Sprintf("%d restores, of one set and with Temporal's or Palaver's databases older; %d conversations were as docs/deploy.md says, and each went on", len(restores), len(s.people)+len(c.people)), nil
}

// dumpWhileTalking makes a set of dumps. It returns, for each person, the messages that were
// answered before that.
func (s *system) dumpWhileTalking(ctx context.Context, set string) (kept [][]string, err error) {
	stop := s.talk(ctx)
	before := s.count()
	err = await(ctx, "wait for answers before the backup", func() bool { return s.count() > before+len(s.people) })
	for _, p := range s.people {
		kept = append(kept, p.said())
	}
	for _, name := range databases {
		err = errors.Join(err, s.pg.Dump(ctx, name, s.dump(set, name)))
	}
	after := s.count()
	err = errors.Join(err, await(ctx, "wait for answers after the backup", func() bool { return s.count() > after }))
	_, failed := stop()
	return kept, errors.Join(err, failed)
}

// restore follows docs/deploy.md: it stops everything, restores the databases from their
// sets, and starts Temporal, the workers and the APIs.
func (s *system) restore(ctx context.Context, temporal, palaver string) (err error) {
	var stopping errgroup.Group
	for _, r := range s.roles {
		stopping.Go(r.stop)
	}
	if err := stopping.Wait(); err != nil {
		return err
	}
	s.temporal.Stop()
	for _, name := range temporalDatabases {
		if err := s.pg.Restore(ctx, name, s.dump(temporal, name)); err != nil {
			return err
		}
	}
	if err := s.pg.Restore(ctx, database, s.dump(palaver, database)); err != nil {
		return err
	}
	if err := s.anHourLater(ctx); err != nil {
		return err
	}
	if s.temporal, err = s.startTemporal(ctx); err != nil {
		return err
	}
	s.links.temporal.To(s.temporal.address)
	return s.startAll(ctx)
}

// anHourLater sets the restored turns back by an hour, because real backups are old. For a
// minute, a turn that its open workflow does not know may still be on its way there.
func (s *system) anHourLater(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.databaseURL)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "UPDATE turns SET created_at = created_at - 3600 * 1000000::bigint")
	return errors.Join(err, conn.Close(ctx))
}

// checkRestored waits until open turns are settled. It checks that the conversation has
// every message of kept once, with its answer, and no other message twice.
func (p *person) checkRestored(ctx context.Context, kept []string) error {
	var c conversation
	var err error
	if e := await(ctx, "wait until open turns of the backup end", func() bool {
		c, err = p.history(ctx)
		return err == nil && c.Active == nil
	}); e != nil {
		return errors.Join(e, err)
	}
	var said []string
	for i, m := range c.Messages {
		if m.Role != "user" {
			continue
		}
		if slices.Contains(said, m.Content) {
			return fmt.Errorf("the conversation has %q twice", m.Content)
		}
		if said = append(said, m.Content); slices.Contains(kept, m.Content) && (i+1 == len(c.Messages) || c.Messages[i+1].Role != "assistant") {
			return fmt.Errorf("%q has lost its answer", m.Content)
		}
	}
	if len(said) < len(kept) || !slices.Equal(said[:len(kept)], kept) {
		return fmt.Errorf("messages from before the backup are missing: %d of %d", len(said), len(kept))
	}
	return nil
}
