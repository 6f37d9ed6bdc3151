// Command palaver plays one role of a deployment against an external Temporal
// and NATS: serve (API and worker), api, worker, ingest, migrate or delete-user.
// The one-process program of make run is in the module standalone.
package main

import (
	"os"

	"github.com/palaver-chat/palaver"
)

func main() { os.Exit(palaver.Main(os.Args[1:])) }
