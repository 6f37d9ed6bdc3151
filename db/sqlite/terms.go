package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"modernc.org/sqlite"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// palaver_words(sz) is the number of terms of an entry of the full-text index. sz is
// that of its docsize table: one varint for each column.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_words", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		sizes, ok := args[0].([]byte)
		if !ok {
			return nil, fmt.Errorf("palaver_words: %T is not a blob", args[0])
		}
		return indexedWords(sizes), nil
	})
}

// indexedWords adds up SQLite's varints, which begin with the highest bits. A size
// has less than five bytes.
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

// tokenizer splits words into the terms of the full-text index. SQLite does that only
// for what is indexed, so it has an index in memory that never keeps anything.
type tokenizer struct {
	pool        *sql.DB
	index, read *sql.Stmt
}

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

// terms are the terms of words. It ignores ctx's end, which would close the connection
// and lose the tables.
func (t *tokenizer) terms(ctx context.Context, words []string) (terms []wordTerm, err error) {
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
	for rows.Next() {
		var w wordTerm
		if err := rows.Scan(&w.word, &w.term); err != nil {
			return nil, err
		}
		terms = append(terms, w)
	}
	return terms, rows.Err()
}

// distinct are the terms without repeats.
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
