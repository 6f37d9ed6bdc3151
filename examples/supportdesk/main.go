// Command supportdesk is the support desk in one process, with an embedded Temporal and
// SQLite: go run . starts it.
package main

import (
	"os"

	"example.com/supportdesk/desk"
	"github.com/palaver-chat/palaver/standalone/program"
)

func main() {
	os.Exit(program.Main(os.Args[1:], os.Stdout, os.Stderr, desk.Options(desk.Files{Dir: "tickets"})...))
}
