package sqlite

import (
	"database/sql/driver"
	"fmt"

	"modernc.org/sqlite"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// palaver_fold is for queries that search texts as they stand: SQLite's own
// lower() knows ASCII only.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_fold", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, ok := args[0].(string)
		if !ok {
			return nil, fmt.Errorf("palaver_fold: %T is no text", args[0])
		}
		return record.Fold(text), nil
	})
}
