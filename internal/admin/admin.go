// Package admin is what operators do from the command line beside serving: loading
// documents, deleting users, repairing, moving threads and stores.
package admin

import (
	"fmt"
	"io"
)

func say(out io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format, args...)
	return err
}
