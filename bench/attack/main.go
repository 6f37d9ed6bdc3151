// Command attack starts Palaver on loopback and attacks it as strangers would: through
// other hosts, other sites, other people's ids, forged tokens, hostile bodies, slow
// bodies and floods. It prints a table of the attacks, and fails if any got through.
//
//	go run ./bench/attack -server bin/palaver-standalone
//
// The load is small: a few thousand requests, and half a minute of idle connections
// (-slow=false skips these).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// jwtSecret signs the tokens of the attacked server.
const jwtSecret = "a secret that only this attack has"

func main() {
	server := flag.String("server", "bin/palaver-standalone", "server program to start")
	slow := flag.Bool("slow", true, "hold connections open without sending the rest of a request")
	only := flag.String("only", "", "only the attacks whose names contain this")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := run(ctx, *server, *only, *slow); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server, only string, slow bool) error {
	dir, err := os.MkdirTemp("", "palaver-attack-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	port, ui, err := twoPorts()
	if err != nil {
		return err
	}
	p, err := stack.Run(dir, []string{"PORT=" + port, "TEMPORAL_PORT=0", "TEMPORAL_UI_PORT=" + ui, "PALAVER_DATA_DIR=" + dir,
		"LOG_LEVEL=error", "CHAT_MODEL_PROVIDER=offline", "SUPABASE_JWT_SECRET=" + jwtSecret, "MAX_TURNS_PER_CALLER=4"}, server, "--import-retry-budget=1ns")
	if err != nil {
		return err
	}
	defer p.Stop()
	t := &target{url: "http://127.0.0.1:" + port, ui: "http://127.0.0.1:" + ui, pid: p.Pid()}
	if err := p.Answers(ctx, t.url+"/readyz"); err != nil {
		return err
	}
	attacks := []attack{
		{"requests to other hosts (page, API, /mcp, Web UI)", "421", t.otherHosts},
		{"requests of other sites that change something", "403", t.otherSites},
		{"forged, expired and foreign tokens", "401", t.forgedTokens},
		{"other people's ids on every route", "as unknown ids", t.wrongOwners},
		{"hostile bodies on every route", "no 5xx", t.hostileBodies},
		{"queries and ids with NULs, paths, quotes and line breaks on every route", "no 5xx", t.hostileIDs},
		{"forged and returned cookies", "another person", t.forgedCookies},
		{"exports of other people", "nothing of theirs", t.foreignExports},
		{"uploads under hostile names, SVG as a picture", "inert", t.hostileNames},
		{"zip bombs, entities and broken files as uploads", "not unpacked, memory bounded", t.bombUploads},
		{"imports from this host, its network and metadata services", "no document, no connection", t.privateImports},
		{"160 boards made in a row by one address", "at most 120 taken", t.boardFlood},
		{"40 messages at once by one address", "at most 10 taken", t.flood},
		{"forged headers of proxies, users and addresses", "no one else, no more taken", t.forgedHeaders},
	}
	if slow {
		attacks = append(attacks,
			attack{"65 connections that announce a body and send none", "closed", t.slowBodies},
			attack{"130 connections that do not end their headers (API, Web UI)", "closed", t.slowHeaders})
	}
	attacks = append(attacks, attack{"10 uploads of 48 MB at once by one address", "within its quota, memory bounded", t.uploadFlood})
	attacks = slices.DeleteFunc(attacks, func(a attack) bool { return !strings.Contains(a.name, only) })
	failed := table(ctx, attacks)
	if most, err := stack.PeakMemory(t.pid); err == nil {
		fmt.Printf("\nThe server has had at most %d MB of memory.\n", most>>20)
	}
	return failed
}

// attack is one kind of attack and the result that it must have.
type attack struct {
	name, want string
	run        func(context.Context) (tries, got int, err error) // got: tries that got through
}

func table(ctx context.Context, attacks []attack) (failed error) {
	fmt.Println("| attack | tries | must be | got through |\n| --- | --- | --- | --- |")
	for _, a := range attacks {
		tries, got, err := a.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("| %s | %d | %s | %d |\n", a.name, tries, a.want, got)
		if got > 0 {
			failed = errors.Join(failed, fmt.Errorf("%s: %d of %d got through", a.name, got, tries))
		}
	}
	return failed
}

// twoPorts returns two free ports on loopback.
func twoPorts() (one, other string, _ error) {
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		ports[i] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	return ports[0], ports[1], nil
}
