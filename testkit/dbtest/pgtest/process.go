package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/testkit/process"
)

// Process is a server program that was started for tests.
type Process struct {
	*process.Process
	folder string // removed at the end
	signal os.Signal
	output bytes.Buffer
}

// Start starts command. Stop sends signal and removes folder.
func Start(command *exec.Cmd, folder string, signal os.Signal) (*Process, error) {
	p := &Process{folder: folder, signal: signal}
	command.Stdout, command.Stderr = &p.output, &p.output
	var err error
	if p.Process, err = process.Start(command); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

// Stop signals the process, waits for its end and removes its folder.
func (p *Process) Stop() {
	p.Process.Stop(p.signal, setupTimeout)
	_ = os.RemoveAll(p.folder)
}

// Ready waits until a connection to url succeeds.
func (p *Process) Ready(ctx context.Context, url string) error {
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-p.Exited():
			return fmt.Errorf("it ended: %s", lastLine(p.output.Bytes()))
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// OtherUser makes a user other than root the owner of folder, and returns the attributes to
// run a program as that user, for programs that refuse to run as root. nil when this process
// is not root.
func OtherUser(folder string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
			os.Chown(folder, int(uid), int(gid))
	}
	return nil, errors.New("no user but root to run it as")
}
