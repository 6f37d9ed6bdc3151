package query

import (
	"context"
	"database/sql"
	"encoding/gob"
	"fmt"
	"os"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/tables"
)

// init lets every program that links this package be its own child process. It runs before main.
func init() {
	if extract.ChildMode() != mode {
		return
	}
	var r request
	err := gob.NewDecoder(os.Stdin).Decode(&r)
	var out Result
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), inside)
		defer cancel()
		if out, err = run(ctx, r); err != nil {
			out, err = Result{Refused: err.Error()}, nil
		}
	}
	if err == nil {
		err = gob.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run loads the tables and runs the statement.
func run(ctx context.Context, r request) (Result, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	for i, t := range r.Tables {
		if err := load(ctx, db, "t"+strconv.Itoa(i+1), t); err != nil {
			return Result{}, err
		}
	}
	for _, pragma := range []string{"PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA temp_store = MEMORY"} {
		if _, err := db.ExecContext(ctx, pragma); err != nil {
			return Result{}, err
		}
	}
	out, err := read(ctx, db, r.SQL)
	if err != nil {
		return Result{}, err
	}
	if statement, table := behind(r.SQL); statement != "" && table >= 0 && table < len(r.Tables) {
		if rows, err := read(ctx, db, statement); err == nil { // only the citations would be missing
			out.Sources = map[int][]int{table: numbers(rows)}
		}
	}
	return out, nil
}

func numbers(r Result) (out []int) {
	for _, row := range r.Rows {
		if n, err := strconv.Atoi(row[len(row)-1]); err == nil {
			out = append(out, n-1)
		}
	}
	return out
}

func load(ctx context.Context, db *sql.DB, name string, t tables.Table) error {
	types := map[tables.Kind]string{tables.Number: "REAL", tables.Date: "TEXT", tables.Text: "TEXT"}
	columns := []string{RowColumn + " INTEGER"}
	texts, names := Written(t)
	for i, n := range Names(t) {
		columns = append(columns, `"`+n+`" `+types[t.Columns[i].Kind])
	}
	for _, n := range names {
		columns = append(columns, `"`+n+`" TEXT`)
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after Commit
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+name+" VALUES (?"+strings.Repeat(", ?", len(t.Columns)+len(texts))+")")
	if err != nil {
		return err
	}
	for i, row := range t.Rows {
		values := []any{i + 1}
		for c, cell := range row.Cells {
			values = append(values, valueOf(t.Columns[c].Kind, cell))
		}
		for _, c := range texts {
			values = append(values, valueOf(tables.Text, row.Cells[c]))
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func valueOf(kind tables.Kind, cell tables.Cell) any {
	switch {
	case kind == tables.Number && cell.IsNumber:
		return cell.Number
	case kind == tables.Date && !cell.Day.IsZero():
		return cell.Day.String()
	case cell.Text == "" || kind != tables.Text:
		return nil
	}
	return cell.Text
}

// read returns the rows of a statement within the limits.
func read(ctx context.Context, db *sql.DB, statement string) (out Result, err error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	if out.Columns, err = rows.Columns(); err != nil {
		return out, err
	}
	size := 0
	for rows.Next() {
		if len(out.Rows) == MaxRows || size > maxBytes {
			out.More = true
			return out, nil
		}
		values := make([]any, len(out.Columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return out, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = written(*v.(*any))
			size += len(row[i])
		}
		out.Rows = append(out.Rows, row)
	}
	return out, rows.Err()
}

// written writes a value: numbers without an exponent.
func written(v any) string {
	const longest = 2_000 // bytes of a value
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case []byte:
		return string(x[:min(len(x), longest)])
	case string:
		return x[:min(len(x), longest)]
	}
	return fmt.Sprint(v)
}
