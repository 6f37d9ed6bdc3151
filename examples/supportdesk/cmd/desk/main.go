// Command desk is one process of the support desk in production: desk api, desk worker,
// and operators' commands, with Temporal, NATS and Postgres beside them.
package main

import (
	"os"

	"example.com/supportdesk/desk"
	"github.com/palaver-chat/palaver"
)

func main() {
	os.Exit(palaver.Main(os.Args[1:], desk.Options(desk.Files{Dir: "tickets"})...))
}
