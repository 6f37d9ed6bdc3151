package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"github.com/palaver-chat/palaver/db/internal/record"
)

// palaver_said reports whether a text, folded, contains another that is folded
// already: SQLite's own lower() knows ASCII only.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_said", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, ok := args[0].(string)
		part, too := args[1].(string)
		if !ok || !too {
			return nil, fmt.Errorf("palaver_said: %T and %T are no texts", args[0], args[1])
		}
		return strings.Contains(record.Fold(text), part), nil
	})
}
