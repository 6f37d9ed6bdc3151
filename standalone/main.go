// Command palaver-standalone is Palaver in one process: page, API and worker
// with an embedded Temporal, its Web UI and SQLite. make run starts it.
package main

import (
	"os"

	"github.com/palaver-chat/palaver/standalone/program"
)

func main() { os.Exit(program.Main(os.Args[1:], os.Stdout, os.Stderr)) }
