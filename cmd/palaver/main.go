// Command palaver runs one role of a deployment (serve, api or worker) or an operators'
// command (see palaver --help) with an external Temporal and NATS.
// The one-process program of make run is in the module standalone.
package main

import (
	"os"

	"github.com/palaver-chat/palaver"
)

func main() { os.Exit(palaver.Main(os.Args[1:])) }
