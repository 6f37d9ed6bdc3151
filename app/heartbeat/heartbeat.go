// Package heartbeat shows whether the worker processes of a host are alive: each renews a
// file in the data folder, and Check reads the ages of these files.
package heartbeat

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Pattern matches the files in the data folder.
const Pattern = "worker-*.alive"

const (
	period = 3 * time.Second
	// MaxAge is how long after its last heartbeat a worker counts as alive.
	MaxAge = 10 * time.Second
	// forgetAfter is the age at which files of other hosts are removed: such hosts, for
	// example containers, may no longer exist.
	forgetAfter = time.Hour
)

// ErrNone means that no worker of this host has used the folder.
var ErrNone = errors.New("the data folder has no heartbeat file of a worker on this host")

// Start renews the heartbeat file of this process until stop is called. The file stays, so
// that Check knows that there was a worker.
func Start(dir string, log *slog.Logger) (stop func(), _ error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	forget(dir, host)
	path := filepath.Join(dir, prefix(host)+strconv.Itoa(os.Getpid())+".alive")
	if err := touch(path); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		failing := false
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			err := touch(path)
			if err != nil && !failing {
				log.Warn("renewing the heartbeat file failed; palaver health worker does not see this process", "error", err)
			}
			failing = err != nil
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	}), nil
}

// Check returns nil if a worker of this host is alive, ErrNone if no worker of this host has
// a file, and else an error with the age of the last heartbeat.
func Check(dir string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	newest, found := time.Duration(0), false
	for _, age := range files(dir, prefix(host)+"*.alive") {
		if !found || age < newest {
			newest, found = age, true
		}
	}
	switch {
	case !found:
		return ErrNone
	case newest > MaxAge:
		return fmt.Errorf("the last heartbeat of a worker on this host is %s old", newest.Round(time.Second))
	}
	return nil
}

func prefix(host string) string { return "worker-" + host + "-" }

// touch sets the file's times to this process's clock: a network file system may have
// another one.
func touch(path string) error {
	now := time.Now()
	err := os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(path, nil, 0o600)
	}
	return err
}

func forget(dir, host string) {
	for path, age := range files(dir, Pattern) {
		own, _ := filepath.Match(prefix(host)+"*.alive", filepath.Base(path))
		if age > forgetAfter || own && age > MaxAge {
			_ = os.Remove(path) // a worker that is still alive makes the file again
		}
	}
}

// files returns the ages of the files whose names match the pattern.
func files(dir, pattern string) map[string]time.Duration {
	ages := map[string]time.Duration{}
	paths, _ := filepath.Glob(filepath.Join(dir, pattern)) // a host's name has no special characters of patterns
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			ages[path] = time.Since(info.ModTime())
		}
	}
	return ages
}
