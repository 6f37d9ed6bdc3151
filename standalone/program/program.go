// Package program is the main function of the one-process program: settings,
// servers and roles, startup message and shutdown.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/standalone/embedded"
)

// Settings are the flags and variables of the one-process program.
type Settings struct {
	config.Config
	config.Embedded

	Version kong.VersionFlag `help:"Print version, commit and date."`

	OnlyInfra bool `help:"Run Temporal, its Web UI and NATS only, for separate palaver api and palaver worker processes; needs NATS_PORT."`
	// TemporalDefaults keeps Temporal's default limits, as a production server may
	// have them.
	TemporalDefaults bool `hidden:""`
}

// Validate reports the first setting that is not allowed.
func (s *Settings) Validate() error {
	if err := errors.Join(s.Config.Validate(), s.Embedded.Validate()); err != nil {
		return err
	}
	if s.OnlyInfra && s.NATSPort == 0 {
		return &config.Error{Variable: "NATS_PORT", Problem: "needed with --only-infra, so that other processes can connect; usually 4222"}
	}
	if s.NATSPort != 0 && s.NATSToken == "" {
		return &config.Error{Variable: "NATS_TOKEN", Problem: "needed with NATS_PORT, because other users of this machine can reach the port; give the other processes the same"}
	}
	return nil
}

const description = "Palaver in one process: page, API and worker with an embedded Temporal, its Web UI and SQLite. " +
	"Settings come from flags, the environment or a file .env in the working folder."

// Parse reads the settings from .env, the environment and args, for a program with
// additions.
func Parse(args []string, additions service.Additions, options ...kong.Option) (*Settings, error) {
	if len(args) == 1 && args[0] == "version" { // as palaver has it; this program has no other command
		args = []string{"--version"}
	}
	s := Settings{Config: config.Config{OwnProviders: additions.Providers()}}
	_, err := config.Parse(&s, args, append([]kong.Option{kong.Name("palaver-standalone"), kong.Description(description), kong.Vars{"version": build.Read().String()}}, options...)...)
	return &s, err
}

const startTimeout = time.Minute

// Main runs the program, with what options add to it, until SIGINT or SIGTERM and
// returns its exit code: 0 after a clean stop, 2 for an invalid setting, 1 for any
// other error. docs/extending.md shows its use.
func Main(args []string, stdout, stderr io.Writer, options ...palaver.Option) int {
	began := time.Now()
	collectLess()
	defer startWithLargerStacks()()
	additions, err := service.Collect(options)
	if err != nil {
		return printError(stderr, err)
	}
	settings, err := Parse(args, additions, kong.Writers(stdout, stderr))
	if err != nil {
		return printError(stderr, err)
	}
	log := settings.Logger(stderr)
	slog.SetDefault(log)
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer restore()

	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	stack, err := Start(starting, settings, additions, log)
	if err != nil {
		if ctx.Err() != nil {
			return 0
		}
		return printError(stderr, err)
	}
	defer stack.Stop()
	fmt.Fprint(stdout, stack.banner(time.Since(began)))

	select {
	case <-ctx.Done():
		restore() // a second signal ends the process at once
		stack.Drain()
		fmt.Fprintln(stdout, "Palaver stops; running turns continue after the next start.")
		return 0
	case err := <-stack.Failed():
		return printError(stderr, err)
	}
}

// printError prints an error in one line and returns the exit code.
func printError(w io.Writer, err error) int {
	fmt.Fprintln(w, "palaver:", err)
	var setting *config.Error
	var usage *kong.ParseError
	var port *embedded.PortError
	if errors.As(err, &setting) || errors.As(err, &usage) || errors.As(err, &port) {
		return config.ExitUsage
	}
	return 1
}

// collectLess runs the garbage collector less often below gcMemory: five programs
// share this process, and throughput rises by a tenth. GOGC and GOMEMLIMIT
// override it.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(gcMemory)
	}
}

const gcMemory = 1 << 30 // bytes
