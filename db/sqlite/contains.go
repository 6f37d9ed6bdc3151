package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// palaver_contains(text, folded) reports whether text contains folded in any case:
// SQLite's own lower() supports only ASCII.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_contains", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, ok := args[0].(string)
		part, too := args[1].(string)
		if !ok || !too {
			return nil, fmt.Errorf("palaver_contains: %T and %T are not texts", args[0], args[1])
		}
		return strings.Contains(record.Fold(text), part), nil
	})
}
