// Package query runs a SELECT of SQL over tables of a document, in a child process with limits of
// memory and time, on a SQLite that is in memory and reads no file.
package query

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/tables"
)

// Limits of a query.
const (
	MaxRows   = 100       // of a result
	MaxCells  = 2_000_000 // of the tables
	maxBytes  = 64 << 10  // of a result
	memory    = 768 << 20 // bytes
	allowance = 10 * time.Second
	inside    = 6 * time.Second // of the statement
	mode      = "query"
)

// RowColumn is a column of each table: the number of its row, from 1.
const RowColumn = "row_number"

// Result is the result of a query.
type Result struct {
	Columns []string
	Rows    [][]string
	More    bool // there are more rows
	// Sources are the rows behind the result, if they are known: of each table, by its number from 0, the
	// numbers of its rows, from 0.
	Sources map[int][]int
	// Refused says in a sentence of SQLite or ours why the statement was not run.
	Refused string
}

type request struct {
	Tables []tables.Table
	SQL    string
}

// Run runs one SELECT over tables that are called t1, t2 and so on, with their columns' names (Names)
// and RowColumn. A statement that cannot be run is no error: Refused says why.
func Run(ctx context.Context, all []tables.Table, sql string) (Result, error) {
	if why := refuse(sql); why != "" {
		return Result{Refused: why}, nil
	}
	cells := 0
	for _, t := range all {
		cells += len(t.Rows) * len(t.Columns)
	}
	if cells > MaxCells {
		return Result{Refused: fmt.Sprintf("The tables have more than %d cells.", MaxCells)}, nil
	}
	var in bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(request{all, sql}); err != nil {
		return Result{}, err
	}
	out, err := extract.Child(ctx, mode, memory, allowance, in.Bytes())
	var unreadable *extract.Unreadable
	switch {
	case errors.As(err, &unreadable):
		return Result{Refused: "The statement took too much time or memory. Ask for less."}, nil
	case err != nil:
		return Result{}, err
	}
	var r Result
	if err := gob.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil {
		return Result{}, fmt.Errorf("read the result of a query: %w", err)
	}
	return r, nil
}
