package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// inside are hosts that lead to the server itself, to its network or to a metadata service.
var inside = []string{
	"127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.1", "0x7f.1", "2130706433", "0177.0.0.1",
	"127.0.0.1.", "①②⑦.⓪.⓪.①", "169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "224.0.0.1",
}

// privateImports requests imports from the hosts of inside. None may become a document,
// and none may connect to a listener on this machine.
func (t *target) privateImports(ctx context.Context) (tries, got int, _ error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	var reached atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p, err := t.person()
	if err != nil {
		return 0, 0, err
	}
	for i, host := range inside {
		if i%10 == 9 { // a caller has at most 20 open imports
			if p, err = t.person(); err != nil {
				return tries, got, err
			}
		}
		for _, where := range []string{host + ":" + port, host} {
			tries++
			through, err := p.imports(ctx, "https://"+where+"/latest/meta-data")
			if err != nil {
				return tries, got, err
			}
			if through {
				got++
			}
		}
	}
	return tries, got + int(reached.Load()), nil
}

// imports requests an import of a link and reports whether it becomes a document.
func (p *person) imports(ctx context.Context, link string) (bool, error) {
	body, err := json.Marshal(map[string]string{"url": link})
	if err != nil {
		return false, err
	}
	status, raw, err := p.send(ctx, "POST", "/api/imports", string(body), nil)
	if err != nil || status == http.StatusBadRequest {
		return false, err
	}
	if status != http.StatusAccepted {
		return false, fmt.Errorf("import: status %d: %s", status, raw)
	}
	var begun struct{ ID string }
	if err := json.Unmarshal([]byte(raw), &begun); err != nil {
		return false, err
	}
	for ctx.Err() == nil {
		_, raw, err := p.send(ctx, "GET", "/api/imports", "", nil)
		if err != nil {
			return false, err
		}
		var list struct{ Imports []struct{ ID, State string } }
		if err := json.Unmarshal([]byte(raw), &list); err != nil {
			return false, err
		}
		for _, i := range list.Imports {
			if i.ID == begun.ID && (i.State == "ready" || i.State == "failed") {
				return i.State == "ready", nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false, ctx.Err()
}

// boardChanges is CHANGE_RATE_LIMIT's default.
const boardChanges = 120

// boardFlood creates boards from one address, each as a new person.
func (t *target) boardFlood(ctx context.Context) (tries, got int, _ error) {
	taken := 0
	for range boardChanges + 40 {
		p := &person{&http.Client{Timeout: 30 * time.Second}, t}
		status, _, err := p.send(ctx, "POST", "/api/discoveries", `{"title":"Marzipan"}`, nil)
		if err != nil {
			return tries, got, err
		}
		tries++
		if status == http.StatusCreated {
			taken++
		}
	}
	return tries, max(0, taken-boardChanges), nil
}

const (
	largeUploads = 10
	largeUpload  = 48 << 20
	addressQuota = 256 << 20 // QUOTA_PER_ADDRESS's default
	// settleMemory is how long to wait, after the uploads, before the peak memory is read.
	settleMemory = 20 * time.Second
)

// uploadFlood sends large files from one address at the same time, each as a new person.
// The server may accept at most the address's quota, and its peak memory must stay below
// maxMemory.
func (t *target) uploadFlood(ctx context.Context) (tries, got int, _ error) {
	content := bytes.Repeat([]byte("The marzipan is private, and this sentence is one of many.\n"), largeUpload/59)
	var group sync.WaitGroup
	var taken, failed atomic.Int64
	for i := range largeUploads {
		group.Go(func() {
			p := &person{&http.Client{Timeout: 2 * time.Minute}, t}
			res, err := p.upload(ctx, "/api/documents", file{"large" + strconv.Itoa(i) + ".txt", content})
			if err != nil {
				return // the server rejected the file before it was sent completely
			}
			_ = res.Body.Close()
			switch {
			case res.StatusCode == http.StatusAccepted:
				taken.Add(1)
			case res.StatusCode == http.StatusInternalServerError: // 429 and 503 ask for a retry
				failed.Add(1)
			}
		})
	}
	group.Wait()
	select {
	case <-time.After(settleMemory):
	case <-ctx.Done():
		return largeUploads, 0, ctx.Err()
	}
	got = int(failed.Load()) + max(0, int(taken.Load())-addressQuota/len(content))
	most, err := stack.PeakMemory(t.pid)
	if most > maxMemory {
		got++
	}
	return largeUploads, got, err
}
