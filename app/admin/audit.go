package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/palaver-chat/palaver/db"
)

// auditPage is how many entries are read at once.
const auditPage = 500

// PrintAudit prints the matching entries, oldest first, as a table or as JSON lines.
func PrintAudit(ctx context.Context, store db.AuditLog, filter db.AuditFilter, asJSON bool, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	print := func(e db.AuditEntry) error { return auditRow(table, e) }
	if asJSON {
		lines := json.NewEncoder(out)
		print = func(e db.AuditEntry) error { return lines.Encode(e) }
	} else if _, err := fmt.Fprintln(table, "TIME\tKIND\tTIMES\tOWNER\tCHANNEL\tADDRESS\tDETAIL"); err != nil {
		return err
	}
	for after := int64(0); ; {
		page, err := store.AuditEntries(ctx, filter, after, auditPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := print(e); err != nil {
				return err
			}
			after = e.ID
		}
		if len(page) < auditPage {
			return table.Flush()
		}
	}
}

func auditRow(out io.Writer, e db.AuditEntry) error {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", e.At.Format(time.RFC3339), e.Kind, e.Times, dash(e.Owner), dash(e.Channel), dash(e.Address), detail)
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
