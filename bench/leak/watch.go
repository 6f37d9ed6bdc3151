package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// watchTraces starts a collector of traces. With TRACE_CONTENT=off no trace has a canary.
func (w *world) watchTraces() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			if unpacked, err := gzip.NewReader(r.Body); err == nil {
				in = unpacked
			}
		}
		b, _ := io.ReadAll(in) // what has arrived is judged
		w.traces.Add(1)
		w.none("a trace", string(b))
	}))
}

// none records every canary of a text that may have none.
func (w *world) none(what, text string) {
	at := word.FindStringIndex(text)
	if at == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaks = append(w.leaks, fmt.Sprintf("%s: …%q…", what, text[max(0, at[0]-60):min(len(text), at[1]+20)]))
}

// readTemporal judges all that Temporal has stored: payloads, memos and search attributes.
func (w *world) readTemporal(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "temporal*"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no database of Temporal", dir)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		w.temporal += len(b)
		w.none("Temporal's "+filepath.Base(file), string(b))
	}
	return err
}

// rowTables are read as a browser reads them through Supabase.
var rowTables = []string{"spaces", "space_members", "person_groups", "documents", "document_texts", "raw_documents", "chunks", "document_sets", "conversations", "turns", "messages", "turn_events", "turn_texts",
	"drafts", "summaries", "shares", "feedback", "attachments", "repos", "boards", "imports", "profiles", "access_keys", "audit_log"}

// reader is a role of Postgres that row-level security binds.
const reader = "palaver_leak_reader"

// openRows connects to the database, and makes the role that reads it.
func (w *world) openRows(ctx context.Context, database string) (stop func(), err error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	w.rows = conn
	stop = func() {
		ctx := context.WithoutCancel(ctx)
		_, _ = conn.Exec(ctx, "DROP OWNED BY "+reader+"; DROP ROLE "+reader, pgx.QueryExecModeSimpleProtocol) // the database is dropped next
		_ = conn.Close(ctx)
	}
	_, err = conn.Exec(ctx, "DO $$ BEGIN CREATE ROLE "+reader+"; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT USAGE ON SCHEMA public TO "+reader+"; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+reader, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		stop()
	}
	return stop, err
}

// readRows reads a table as a person through row-level security.
func (w *world) readRows(ctx context.Context, person int) {
	if w.rows == nil || person == nowhere {
		return
	}
	table := rowTables[w.rand(len(rowTables))]
	w.sent.Add(1)
	w.rowsLock.Lock()
	defer w.rowsLock.Unlock()
	from := time.Now()
	text, err := w.rowsOf(ctx, table, w.ids[person])
	if err != nil {
		if ctx.Err() == nil {
			w.mu.Lock()
			w.leaks = append(w.leaks, "reading "+table+" failed: "+err.Error())
			w.mu.Unlock()
		}
		return
	}
	w.judge("rows of "+table, fmt.Sprintf("table %s as person %d", table, person), person, everywhere, text, from, time.Now())
}

func (w *world) rowsOf(ctx context.Context, table, subject string) (string, error) {
	claims, _ := json.Marshal(object{"sub": subject, "role": "authenticated"}) // two texts
	tx, err := w.rows.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(ctx) }() // it has changed nothing
	if _, err := tx.Exec(ctx, "SELECT set_config('request.jwt.claims', $1, true)", string(claims)); err != nil {
		return "", err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL ROLE "+reader); err != nil {
		return "", err
	}
	rows, err := tx.Query(ctx, "SELECT x::text FROM "+table+" x")
	if err != nil {
		return "", err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(all, "\n"), err
}

// changeGroups puts a person into a random group, or into none. The new token counts from its
// first request on.
func (w *world) changeGroups(ctx context.Context, person int) error {
	w.changing.Lock()
	defer w.changing.Unlock()
	in := nowhere
	if w.rand(2) == 0 {
		in = w.rand(len(w.spaces))
	}
	return w.setGroups(ctx, person, in)
}

// setGroups makes a person a member of the group of one space only. The caller holds changing.
func (w *world) setGroups(ctx context.Context, person, in int) error {
	w.changes.Add(1)
	w.tokens[person].Lock() // no request with the token before is running
	now := time.Now()
	w.mu.Lock()
	was := w.group[person]
	w.group[person] = in
	if in != nowhere && was != in {
		key := seat{person, in}
		w.grouped[key] = append(w.grouped[key], span{from: now})
	}
	w.mu.Unlock()
	err := w.mustAs(ctx, person, w.token(person), "GET", "/api/me", nil, nil)
	if err == nil && was != nowhere && was != in {
		w.mu.Lock()
		spans := w.grouped[seat{person, was}]
		spans[len(spans)-1].to = time.Now()
		w.mu.Unlock()
	}
	w.tokens[person].Unlock()
	if err != nil || was == nowhere || was == in {
		return err
	}
	w.readAll(ctx, person, was, 6)
	return nil
}

// deletePerson deletes a person's account; what they read before is nobody's, and not theirs
// either when they sign in again.
func (w *world) deletePerson(ctx context.Context, person int) error {
	w.changing.Lock()
	defer w.changing.Unlock()
	if err := w.setGroups(ctx, person, nowhere); err != nil {
		return err
	}
	w.tokens[person].Lock()
	defer w.tokens[person].Unlock()
	var err error
	for range 5 { // after a 503 the same request continues
		if err = w.mustAs(ctx, person, w.token(person), "DELETE", "/api/me?confirm="+w.ids[person], nil, nil); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deleted[person] = now
	for key, spans := range w.members {
		if last := len(spans) - 1; key.person == person && last >= 0 && spans[last].to.IsZero() {
			spans[last].to = now
		}
	}
	return nil
}
