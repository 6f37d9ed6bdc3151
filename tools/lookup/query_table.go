package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/documents/tables/query"
	"github.com/palaver-chat/palaver/tools"
)

const (
	maxDescribed = 20 // tables of which a document's columns are shown
	sampleRows   = 2
)

// QueryTable runs a SELECT over the tables of a document.
func QueryTable(library Library) tools.Tool {
	return tools.Tool{
		Name: "query_table",
		Description: "Compute over the tables of one document with a SELECT of SQLite: count, add up, filter, sort and join rows. First call it without sql: it shows the tables, t1, t2 and so on, with their columns and types. " +
			"Dates are texts like 2026-05-01; each table has " + query.RowColumn + ". Returns the result and the passages with the rows behind it, which answers cite.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"},
				"sql": {"type": "string", "maxLength": 4000, "description": "One SELECT, for example SELECT count(*), sum(amount) FROM t1 WHERE status = 'open'"}
			},
			"required": ["document"],
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: withPassages("query_table", library, func(ctx context.Context, in struct {
			documentArgument
			SQL string `json:"sql"`
		}, doc chat.Document, all []chat.Hit) (tools.Result, error) {
			return queried(ctx, doc, all, in.SQL)
		}),
	}
}

func queried(ctx context.Context, doc chat.Document, all []chat.Hit, sql string) (tools.Result, error) {
	texts := make([]string, len(all))
	for i, h := range all {
		if texts[i] = h.Text; i+1 < len(all) && all[i+1].Start > h.End+1 { // a blank line ends a table
			texts[i] += "\n"
		}
	}
	joined := tables.Join(texts)
	found := tables.Find(joined.Text)
	switch {
	case len(found) == 0:
		return tools.Result{Content: title(doc) + " has no table."}, nil
	case strings.TrimSpace(sql) == "":
		return tools.Result{Content: described(doc, found)}, nil
	}
	r, err := query.Run(ctx, found, sql)
	switch {
	case err != nil:
		return tools.Result{}, err
	case r.Refused != "":
		return tools.Failed(messages.Plain(r.Refused + "\n" + described(doc, found))), nil
	}
	note := markdown(r)
	var behind []chat.Hit
	rows := 0
	for table, numbers := range r.Sources {
		for _, n := range numbers {
			if n < 0 || n >= len(found[table].Rows) {
				continue
			}
			rows++
			h := all[joined.Part(found[table].Rows[n].Start)]
			if len(behind) < maxPassages && !slices.ContainsFunc(behind, func(o chat.Hit) bool { return o.ID == h.ID }) {
				behind = append(behind, h)
			}
		}
	}
	if len(behind) == 0 {
		return tools.Result{Content: note + "\nWhich rows these are from is not known: select " + query.RowColumn + " from one table, or find the rows with find_in_document, to cite them."}, nil
	}
	return passages(behind, fmt.Sprintf("%s\nComputed from %d rows of %s, which stand in these passages.", note, rows, title(doc))), nil
}

// markdown writes a result as a Markdown table.
func markdown(r query.Result) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(r.Columns)
	b.WriteString("|" + strings.Repeat(" --- |", len(r.Columns)) + "\n")
	for _, row := range r.Rows {
		line(row)
	}
	switch {
	case len(r.Rows) == 0:
		b.WriteString("(no rows)\n")
	case r.More:
		fmt.Fprintf(&b, "(the first %d rows)\n", len(r.Rows))
	}
	return b.String()
}

// described shows the tables of a document with their columns.
func described(doc chat.Document, found []tables.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tables in %s:\n", len(found), title(doc))
	for i, t := range found[:min(len(found), maxDescribed)] {
		fmt.Fprintf(&b, "t%d: %s, %d rows\n", i+1, chat.OneLine(strings.Trim(t.Heading+"; "+t.Caption, "; ")), len(t.Rows))
		names := query.Names(t)
		for c, col := range t.Columns {
			var values []string
			for _, row := range t.Rows[:min(len(t.Rows), sampleRows)] {
				values = append(values, shortName(row.Cells[c].Text))
			}
			fmt.Fprintf(&b, "  %s (%s): %s, e.g. %s\n", names[c], strings.TrimSpace(string(col.Kind)+" "+col.Unit), shortName(col.Name), strings.Join(values, "; "))
		}
		written, texts := query.Written(t)
		for i, c := range written {
			fmt.Fprintf(&b, "  %s (text): %s as it is written\n", texts[i], names[c])
		}
	}
	return b.String()
}
