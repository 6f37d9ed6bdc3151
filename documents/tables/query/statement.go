package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// quoted matches what is no code of a statement: strings, names in quotes and comments.
var quoted = lazyregexp.New(`(?s)'(?:[^']|'')*'|"(?:[^"]|"")*"|` + "`[^`]*`" + `|\[[^\]]*\]|--[^\n]*|/\*.*?\*/`)

var (
	begins    = lazyregexp.New(`(?is)^\s*(?:select|with)\b`)
	forbidden = lazyregexp.New(`(?i)\b(?:attach|detach|pragma\w*|insert|update|delete|replace\s+into|drop|create|alter|vacuum|reindex|load_extension|readfile|writefile|fts\w*|sqlite_\w+|dbstat|zeroblob|randomblob)\b`)
)

const maxStatement = 4_000 // characters

// code returns a statement with ~ in the place of strings and names in quotes, and spaces in that of
// comments.
func code(sql string) string {
	return quoted.ReplaceAllStringFunc(sql, func(s string) string {
		if strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*") {
			return strings.Repeat(" ", len(s))
		}
		return strings.Repeat("~", len(s))
	})
}

// refuse says why a statement is not run; "" if it may be: it must be one SELECT that reads only.
func refuse(sql string) string {
	bare := strings.TrimRight(code(sql), "; \t\r\n")
	switch {
	case len(sql) > maxStatement:
		return "The statement is too long."
	case !begins.MatchString(bare):
		return "Only one SELECT can be run."
	case strings.Contains(bare, ";"):
		return "Only one statement can be run."
	case forbidden.MatchString(bare):
		return "A SELECT may only read the tables: " + forbidden.FindString(bare) + " cannot be used."
	}
	return ""
}

var notName = lazyregexp.New(`[^\pL\pN]+`)

// Names returns the names of a table's columns in SQL: letters, digits and _, each once.
func Names(t tables.Table) []string {
	seen := map[string]bool{RowColumn: true}
	var out []string
	for i, c := range t.Columns {
		name := strings.Trim(notName.ReplaceAllString(strings.ToLower(c.Name), "_"), "_")
		if name == "" || name[0] >= '0' && name[0] <= '9' {
			name = strings.TrimSuffix("c_"+name, "_")
		}
		for base, n := name, 2; seen[name]; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		if len(name) > 60 {
			name = "column_" + strconv.Itoa(i+1)
		}
		seen[name] = true
		out = append(out, name)
	}
	return out
}

// Written returns the columns of numbers or dates of which some cells say more than their values, such
// as the version "6.06 LTS" below "5.10", and the names of the columns of texts that have them as they
// are written.
func Written(t tables.Table) (columns []int, names []string) {
	taken := Names(t)
	for c, col := range t.Columns {
		if col.Kind == tables.Text || !saysMore(t, c) {
			continue
		}
		name := taken[c] + "_text"
		for slices.Contains(taken, name) {
			name += "_2"
		}
		taken = append(taken, name)
		columns, names = append(columns, c), append(names, name)
	}
	return columns, names
}

// saysMore reports whether a column has cells of different words, or a word in the place of a value.
func saysMore(t tables.Table, c int) bool {
	said := map[string]bool{}
	for _, row := range t.Rows {
		cell := row.Cells[c]
		switch number := t.Columns[c].Kind == tables.Number; {
		case number && cell.IsNumber:
			said[words(cell.Text)] = true
		case (number || cell.Day.IsZero()) && words(cell.Text) != "":
			return true
		}
	}
	return len(said) > 1
}

// words returns the letters of a cell.
func words(cell string) string { return notLetters.ReplaceAllString(cell, "") }

var notLetters = lazyregexp.New(`[^\pL]+`)

var (
	joins     = lazyregexp.New(`(?i)\b(?:join|with|union|intersect|except)\b`)
	fromPart  = lazyregexp.New(`(?i)\s*\bfrom\s+t(\d+)\b`)
	severalOf = lazyregexp.New(`(?i)^\s*(?:(?:as\s+)?\w+\s*)?,`)
	endOfFrom = lazyregexp.New(`(?i)\b(?:group\s+by|having|order\s+by|limit|window)\b`)
	ofSeveral = lazyregexp.New(`(?i)\b(?:distinct|group\s+by|having|window|over)\b|\b(?:count|sum|total|avg|min|max|\w*group_\w+|string_agg)\s*\(`)
)

// behind returns a statement that selects the rows of a table that a simple statement reads, in its
// last column, and the number of the table, from 0; "" for one with several tables or with a SELECT
// within it. Of a statement that computes nothing over several rows they are the rows of its result.
func behind(sql string) (statement string, table int) {
	bare := code(sql)
	m := fromPart.FindStringSubmatchIndex(bare)
	if m == nil || strings.Count(strings.ToLower(bare), "select") != 1 || joins.MatchString(bare) || severalOf.MatchString(bare[m[1]:]) {
		return "", 0
	}
	n, err := strconv.Atoi(bare[m[2]:m[3]])
	if err != nil {
		return "", 0
	}
	end := len(strings.TrimRight(bare, "; \t\r\n"))
	if !ofSeveral.MatchString(bare) {
		return sql[:m[0]] + ", " + RowColumn + sql[m[0]:end], n - 1
	}
	if cut := endOfFrom.FindStringIndex(bare[m[1]:end]); cut != nil {
		end = m[1] + cut[0]
	}
	return "SELECT DISTINCT " + RowColumn + sql[m[0]:end] + " LIMIT 200", n - 1
}
