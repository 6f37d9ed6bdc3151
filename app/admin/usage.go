package admin

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/palaver-chat/palaver/db"
)

// usageStore is what Usage needs of the store.
type usageStore interface {
	db.Upkeep
	IndexProgress(ctx context.Context) (done, total int, err error)
}

// Usage lists on out which tables and which owners use the most space, and how many documents
// the rules of this release have indexed.
func Usage(ctx context.Context, store usageStore, owners int, out io.Writer) error {
	tables, err := store.UsageByTable(ctx)
	if err != nil {
		return err
	}
	who, err := store.UsageByOwner(ctx, owners)
	if err != nil {
		return err
	}
	indexed, documents, err := store.IndexProgress(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	sum := int64(0)
	fmt.Fprintln(w, "table\ton disk")
	for _, t := range tables {
		sum += t.Bytes
		if t.Bytes > 0 {
			fmt.Fprintf(w, "%s\t%s\n", t.Table, size(t.Bytes))
		}
	}
	fmt.Fprintf(w, "all\t%s\n\n", size(sum))
	fmt.Fprintln(w, "owner\tfiles\tmessages\tconversations\tturns\tdocuments\tpictures")
	for _, o := range who {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", o.Owner, size(o.Bytes), size(o.MessageBytes), o.Threads, o.Turns, o.Documents, o.Pictures)
	}
	fmt.Fprintf(w, "\nsearch index\t%d of %d documents are up to date\n", indexed, documents)
	return w.Flush()
}

// size writes a number of bytes with a unit, in powers of 1000.
func size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes)/1000, 0
	for ; value >= 999.95 && unit < 3; unit++ {
		value /= 1000
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[unit])
}
