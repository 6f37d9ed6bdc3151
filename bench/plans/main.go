// Command plans measures the calls of a turn, of retrieval and of the lists on a large Postgres
// database, and counts the rows of large tables that they read without an index. It exits with
// 1 if there are any.
//
//	make bench-plans     # 306,000 chunks, 600,000 messages
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/stack"
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
	server, err := stack.StartPostgres(ctx, stack.PostgresSettings{"maintenance_work_mem": "512MB"}) // for the index of vectors
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
	if err := store.IndexVectors(ctx); err != nil {
		return err
	}
	var chunks, messages int64
	if err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM messages)`).Scan(&chunks, &messages); err != nil {
		return err
	}
	fmt.Printf("%d owners, %d chunks, %d messages, stored in %s; vectors: %s\n\n%-32s %10s %10s %s\n", owners, chunks, messages, time.Since(began).Round(time.Second), store.VectorSearch(), "call", "p50", "p95", "rows read without an index")
	var scans []string
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
		if after > before {
			scans = append(scans, c.name)
		}
		fmt.Printf("%-32s %10s %10s %d\n", c.name, took[len(took)/2].Round(10*time.Microsecond), took[len(took)*95/100].Round(10*time.Microsecond), after-before)
	}
	if len(scans) > 0 {
		return fmt.Errorf("these read a large table without an index: %s", strings.Join(scans, ", "))
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
		{"VisibleDocuments", func(ctx context.Context, o int) error {
			found, err := s.VisibleDocuments(ctx, of(o))
			return some(len(found), err)
		}},
		{"DocumentsByID", func(ctx context.Context, o int) error {
			found, err := s.DocumentsByID(ctx, of(o), []string{pgtest.FilledDocument(o, 1), pgtest.FilledDocument(o, 2)})
			return some(len(found), err)
		}},
		{"DocumentText", func(ctx context.Context, o int) error {
			text, err := s.DocumentText(ctx, of(o), pgtest.FilledDocument(o, 1))
			return some(len(text), err)
		}},
		{"DocumentChunks", func(ctx context.Context, o int) error {
			found, err := s.DocumentChunks(ctx, of(o), pgtest.FilledDocument(o, 1), 50)
			return some(len(found), err)
		}},
		{"WordCounts", func(ctx context.Context, o int) error { return counts(ctx, s, of(o)) }},
		{"WordCounts, 6,000 passages", func(ctx context.Context, _ int) error { return counts(ctx, s, of(pgtest.FilledLibrary)) }},
		{"SearchText", func(ctx context.Context, o int) error { return text(ctx, s, of(o), nil) }},
		{"SearchText in documents", func(ctx context.Context, o int) error {
			return text(ctx, s, of(o), []string{pgtest.FilledDocument(o, 1), pgtest.FilledDocument(o, 2)})
		}},
		{"SearchText, 6,000 passages", func(ctx context.Context, _ int) error { return text(ctx, s, of(pgtest.FilledLibrary), nil) }},
		{"SearchVector", func(ctx context.Context, o int) error { return meaning(ctx, s, of(o)) }},
		{"SearchVector, 6,000 passages", func(ctx context.Context, _ int) error { return meaning(ctx, s, of(pgtest.FilledLibrary)) }},
	}
}

// some checks that a call found what there is.
func some(found int, err error) error {
	if err == nil && found == 0 {
		err = errors.New("it found nothing")
	}
	return err
}

const word = "word3" // a tenth of all passages have it

func counts(ctx context.Context, s db.Store, owner string) error {
	found, _, err := s.WordCounts(ctx, owner, []string{word})
	return some(found[word], err)
}

func text(ctx context.Context, s db.Store, owner string, docs []string) error {
	hits, err := s.SearchText(ctx, owner, []db.Word{{Text: word}}, docs, 10)
	return some(len(hits), err)
}

func meaning(ctx context.Context, s db.Store, owner string) error {
	hits, err := s.SearchVector(ctx, owner, []float32{1, -1, 1, -1}, nil, 10)
	return some(len(hits), err)
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
