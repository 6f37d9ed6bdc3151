package storm

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/testkit/process"
)

// backup is an archive that palaver backup has made.
type backup struct {
	file   string
	began  time.Time
	claims map[*user]int // at the beginning
}

// backingUp kills everything while a backup is made, which must complete.
func backingUp(ctx context.Context, f *fleet, _ int) (func(context.Context) error, error) {
	b := &backup{file: filepath.Join(filepath.Dir(f.data), fmt.Sprintf("backup%d.tar.gz", len(f.backups))), began: time.Now(), claims: f.claims()}
	f.backups = append(f.backups, b)
	f.afterwards(ctx, startTimeout, "backup", func(ctx context.Context) error { return f.run(ctx, "backup", "--to", b.file) })
	pause(ctx, rand.N(time.Second))
	killAll(f.processes()...)
	return f.restart, nil
}

func (f *fleet) claims() map[*user]int {
	all := map[*user]int{}
	for _, u := range f.users {
		u.mu.Lock()
		all[u] = u.claims
		u.mu.Unlock()
	}
	return all
}

// run runs a command of the program palaver.
func (f *fleet) run(ctx context.Context, args ...string) error {
	p := f.workers[0].program
	command := exec.CommandContext(ctx, p.Path, args...)
	command.Env = append(process.Env("PALAVER_DATA_DIR="+f.data), p.Env...)
	command.Dir = filepath.Dir(f.data)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("palaver %s: %w: %s", args[0], err, bytes.TrimSpace(said))
	}
	return nil
}

// checkBackup restores the last backup. Turns that had ended before it began must be there,
// those that were open must end, and each thread must go on. Users who have claimed since are
// left out: they have their threads no more.
func (s *storm) checkBackup(ctx context.Context) error {
	if len(s.backups) == 0 {
		return nil
	}
	b := s.backups[len(s.backups)-1]
	s.logf("restoring the last backup")
	killAll(s.processes()...)
	if err := s.run(ctx, "restore", b.file); err != nil {
		s.report.violation("backup", "%v", err)
		return nil
	}
	if err := s.restart(ctx); err != nil {
		return err
	}
	claims := s.claims()
	var wg sync.WaitGroup
	for _, p := range s.people {
		if claims[p.user] != b.claims[p.user] || claims[p.user]%2 == 1 {
			continue
		}
		wg.Go(func() {
			if err := s.checkRestored(ctx, p, b); err != nil {
				s.report.violation("backup", "thread %d after the restore: %v", p.index, err)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (s *storm) checkRestored(ctx context.Context, p *person, b *backup) error {
	before := p.turns
	if err := p.last(ctx); err != nil {
		return err
	}
	if err := p.rest(ctx, s.options.Timeout/4); err != nil {
		return err
	}
	said, active, err := p.messages(ctx)
	if err != nil {
		return err
	}
	if active != "" {
		return fmt.Errorf("turn %s never ends", active)
	}
	s.checkSaved(b, before, said)
	return nil
}

// checkSaved looks for the turns that had ended before a backup began.
func (s *storm) checkSaved(b *backup, turns []*turn, said []message) {
	for _, t := range turns {
		if !t.abandoned && t.ended() && t.at[len(t.at)-1].Before(b.began) {
			s.checkHistory(t, said)
		}
	}
}
