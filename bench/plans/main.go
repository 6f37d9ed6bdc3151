// Command plans measures the statements of a turn and of the lists on a large Postgres
// database, and counts the rows that they read without an index.
//
//	go run ./bench/plans -owners 5000     # 300,000 chunks, 600,000 messages
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/internal/dbtest/pgtest"
	"github.com/palaver-chat/palaver/internal/stack"
)

func main() {
	owners := flag.Int("owners", 5000, "owners")
	times := flag.Int("times", 50, "calls of each method")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := run(ctx, *owners, *times); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, owners, times int) (err error) {
	server, err := stack.StartPostgres(ctx, nil)
	if err != nil {
		return err
	}
	defer server.Stop()
	url, err := server.Database(ctx, "palaver")
	if err != nil {
		return err
	}
	store, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	began := time.Now()
	if err := pgtest.Fill(ctx, conn, owners); err != nil {
		return err
	}
	var chunks, messages int64
	if err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM messages)`).Scan(&chunks, &messages); err != nil {
		return err
	}
	fmt.Printf("%d owners, %d chunks, %d messages, stored in %s\n\n%-22s %10s %10s %s\n", owners, chunks, messages, time.Since(began).Round(time.Second), "call", "p50", "p95", "rows read without an index")
	for _, c := range calls(store) {
		before, err := scanned(ctx, conn)
		if err != nil {
			return err
		}
		var took []time.Duration
		for n := range times {
			start := time.Now()
			if err := c.run(ctx, 1+(n*7919)%owners); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			took = append(took, time.Since(start))
		}
		time.Sleep(1200 * time.Millisecond) // a connection reports what it has read at most once a second
		if err := store.Ping(ctx); err != nil {
			return err
		}
		after, err := scanned(ctx, conn)
		if err != nil {
			return err
		}
		slices.Sort(took)
		fmt.Printf("%-22s %10s %10s %d\n", c.name, took[len(took)/2].Round(10*time.Microsecond), took[len(took)*95/100].Round(10*time.Microsecond), after-before)
	}
	return nil
}

// scanned returns the number of rows of large tables that sequential scans have read.
func scanned(ctx context.Context, conn *pgx.Conn) (rows int64, err error) {
	err = conn.QueryRow(ctx, `SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables
		WHERE relname IN ('chunks', 'chunk_vectors', 'messages', 'turns', 'turn_events', 'stream_runs', 'conversations', 'documents', 'document_texts')`).Scan(&rows)
	return rows, err
}

type call struct {
	name string
	run  func(ctx context.Context, owner int) error
}

func calls(s *postgres.Store) []call {
	of := pgtest.FilledOwner
	return []call{
		{"ListConversations", func(ctx context.Context, o int) error {
			_, err := s.ListConversations(ctx, of(o), "", "", 50)
			return err
		}},
		{"search conversations", func(ctx context.Context, o int) error {
			_, err := s.ListConversations(ctx, of(o), "ratio", "", 50)
			return err
		}},
		{"Conversation", func(ctx context.Context, o int) error {
			_, err := s.Conversation(ctx, of(o), pgtest.FilledThread(o, 7))
			return err
		}},
		{"History", func(ctx context.Context, o int) error {
			_, err := s.History(ctx, of(o), pgtest.FilledThread(o, 7), pgtest.FilledTurn(o, 7, 3), "", 50)
			return err
		}},
		{"Events", func(ctx context.Context, o int) error {
			_, err := s.Events(ctx, of(o), pgtest.FilledTurn(o, 7, 3), 0)
			return err
		}},
		{"ListDocuments", func(ctx context.Context, o int) error {
			_, err := s.ListDocuments(ctx, of(o), "", 50)
			return err
		}},
		{"ListSets", func(ctx context.Context, o int) error {
			_, err := s.ListSets(ctx, of(o), "", 50)
			return err
		}},
		{"Stored", func(ctx context.Context, o int) error {
			_, err := s.Stored(ctx, of(o), "")
			return err
		}},
		{"a turn's rows", func(ctx context.Context, o int) error { return turn(ctx, s, of(o)) }},
	}
}

// turn inserts a turn into a new conversation, starts it and settles it.
func turn(ctx context.Context, s db.Store, owner string) error {
	at := time.Now()
	t := chat.Turn{ID: uuid.NewString(), Owner: owner, ThreadID: uuid.NewString(), ClientTurnID: uuid.NewString(), StreamRunID: uuid.NewString(),
		Status: chat.TurnAccepted, CreatedAt: at, Content: chat.Content{Message: "What is the ratio?"}}
	if _, _, _, err := s.InsertTurn(ctx, t); err != nil {
		return err
	}
	end := db.Settlement{Owner: owner, ThreadID: t.ThreadID, TurnID: t.ID, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted, Text: "It is 100 percent.",
		Terminal: chat.Event{N: 1, Type: chat.EventResponse, TurnID: t.ID, ThreadID: t.ThreadID, Response: &chat.Response{Text: "It is 100 percent."}}, At: at}
	_, err := s.Settle(ctx, end)
	return err
}
