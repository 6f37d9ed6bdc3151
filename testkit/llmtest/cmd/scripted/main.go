// Command scripted serves the scripted model for benchmarks and for trials
// without a provider: set LLM_BASE_URL to the URL that it prints.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/palaver-chat/palaver/testkit/llmtest"
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.String("port", "4011", "port to listen on; 0 picks a free one")
	var pace llmtest.Pace
	flag.DurationVar(&pace.Structured, "structured", 0, "time before a structured answer")
	flag.DurationVar(&pace.FirstToken, "first-token", 0, "time before the first token of a streamed answer")
	flag.DurationVar(&pace.PerToken, "per-token", 0, "time between tokens")
	flag.IntVar(&pace.Tokens, "tokens", 0, "tokens of a streamed answer; 0: a short quotation")
	flag.BoolVar(&pace.Stamped, "stamped", false, "put the time of sending into each token")
	flag.Parse()

	s, err := llmtest.Listen(net.JoinHostPort(*host, *port), pace)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
	fmt.Println(s.URL)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	s.Close()
}
