package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync"

	"modernc.org/sqlite"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// palaver_words(sz) is the number of terms of an entry of the full-text index. sz comes
// from the entry's row in the index's docsize table: one varint for each column.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_words", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		sizes, ok := args[0].([]byte)
		if !ok {
			return nil, fmt.Errorf("palaver_words: %T is not a blob", args[0])
		}
		return indexedWords(sizes), nil
	})
}

// indexedWords adds up SQLite's varints, which begin with the highest bits. Each has fewer
// than five bytes.
func indexedWords(sizes []byte) (words int64) {
	var size int64
	for _, b := range sizes {
		size = size<<7 | int64(b&0x7f)
		if b&0x80 == 0 {
			words, size = words+size, 0
		}
	}
	return words
}

// tokenizer splits words into the terms of the full-text index. SQLite splits only texts
// that it indexes, so the tokenizer has an index in memory, from which it rolls back.
type tokenizer struct {
	pool        *sql.DB
	index, read *sql.Stmt

	mu    sync.Mutex
	known map[string][]string // the terms of recent words
}

// Limits of the words whose terms are kept, for about 1 MB.
const (
	maxKnownWords = 10_000
	maxKnownWord  = 64 // bytes
)

// tokenize must be the tokenizer of chunk_index.
const tokenize = `porter unicode61 remove_diacritics 2`

func openTokenizer(ctx context.Context) (*tokenizer, error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1) // every connection has its own memory
	t := &tokenizer{pool: pool}
	_, err = pool.ExecContext(ctx, `CREATE VIRTUAL TABLE said USING fts5 (text, content = '', tokenize = '`+tokenize+`');
		CREATE VIRTUAL TABLE said_terms USING fts5vocab ('said', 'instance')`)
	if err == nil {
		t.index, err = pool.PrepareContext(ctx, `INSERT INTO said (rowid, text) SELECT key + 1, value FROM json_each(?1)`)
	}
	if err == nil {
		t.read, err = pool.PrepareContext(ctx, `SELECT doc - 1, term FROM said_terms ORDER BY doc, offset`)
	}
	return t, err
}

// wordTerm is a term and the word that it comes from, as its place in a list.
type wordTerm struct {
	word int
	term string
}

// terms returns the terms of words, in their order.
func (t *tokenizer) terms(ctx context.Context, words []string) (terms []wordTerm, err error) {
	split, missing := t.find(words)
	if len(missing) > 0 {
		found, err := t.split(ctx, missing)
		if err != nil {
			return nil, err
		}
		t.keep(missing, found)
		for i, word := range missing {
			split[word] = found[i]
		}
	}
	for i, word := range words {
		for _, term := range split[word] {
			terms = append(terms, wordTerm{i, term})
		}
	}
	return terms, nil
}

// find returns the terms of the words that are known, and the other words, each once.
func (t *tokenizer) find(words []string) (split map[string][]string, missing []string) {
	split = make(map[string][]string, len(words))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, word := range words {
		if _, seen := split[word]; seen {
			continue
		}
		terms, known := t.known[word]
		split[word] = terms
		if !known {
			missing = append(missing, word)
		}
	}
	return split, missing
}

func (t *tokenizer) keep(words []string, terms [][]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, word := range words {
		if len(word) > maxKnownWord {
			continue
		}
		if t.known == nil || len(t.known) >= maxKnownWords {
			t.known = map[string][]string{}
		}
		t.known[word] = terms[i]
	}
}

// split has SQLite split each word. It ignores the cancellation of ctx: that would close
// the connection and lose the tables.
func (t *tokenizer) split(ctx context.Context, words []string) ([][]string, error) {
	ctx = context.WithoutCancel(ctx)
	tx, err := t.pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // nothing is kept
	if _, err := tx.StmtContext(ctx, t.index).ExecContext(ctx, record.Strings(words)); err != nil {
		return nil, err
	}
	rows, err := tx.StmtContext(ctx, t.read).QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	terms := make([][]string, len(words))
	for rows.Next() {
		var word int
		var term string
		if err := rows.Scan(&word, &term); err != nil {
			return nil, err
		}
		terms[word] = append(terms[word], term)
	}
	return terms, rows.Err()
}

// distinct returns the terms without repeats.
func distinct(terms []wordTerm) (list []string) {
	seen := map[string]bool{}
	for _, t := range terms {
		if !seen[t.term] {
			seen[t.term] = true
			list = append(list, t.term)
		}
	}
	return list
}
