// Package admin has the commands of operators, except serving: loading documents, deleting
// users, repairing, moving threads and stores.
package admin

import (
	"fmt"
	"io"
)

func say(out io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format, args...)
	return err
}
