package sqlite

import (
	"database/sql/driver"
	"fmt"

	"modernc.org/sqlite"
)

// palaver_words(sz) is the number of terms of an entry of the full-text index. sz comes
// from the entry's row in the index's docsize table: one varint for each column.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("palaver_words", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		sizes, ok := args[0].([]byte)
		if !ok {
			return nil, fmt.Errorf("palaver_words: %T is not a blob", args[0])
		}
		return indexedWords(sizes), nil
	})
}

// indexedWords adds up SQLite's varints, which begin with the highest bits. Each has fewer
// than five bytes.
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
