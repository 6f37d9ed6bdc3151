// Package cli is the command palaver: its flags and its subcommands. It is a package
// of its own so that full-stack tests can call it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/audit"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/memlimit"
)

type grammar struct {
	config.Config

	Version kong.VersionFlag `help:"Print version, commit and date."`

	Serve       serveCmd       `cmd:"" help:"Page, API and worker in one process."`
	API         apiCmd         `cmd:"" name:"api" help:"Page and API only."`
	Worker      workerCmd      `cmd:"" help:"Worker only."`
	Ingest      ingestCmd      `cmd:"" help:"Load documents and wait until they are ready."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database's schema up to date, or move a SQLite database into Postgres."`
	Backup      backupCmd      `cmd:"" help:"Copy the data folder into one file, also while Palaver runs. Not for Postgres."`
	Restore     restoreCmd     `cmd:"" help:"Put the files of a backup into the data folder; stop Palaver first."`
	Repair      repairCmd      `cmd:"" help:"Settle turns and documents whose workflow was lost; workers do it, too."`
	DeleteUser  deleteUserCmd  `cmd:"" name:"delete-user" help:"List the data of a user, or delete it."`
	Prune       pruneCmd       `cmd:"" help:"List what is older than ANONYMOUS_RETENTION, CONVERSATION_RETENTION, IMPORT_RETENTION and AUDIT_RETENTION allow, or remove it; workers do it, too, once a day."`
	Usage       usageCmd       `cmd:"" help:"List which tables and which owners use the most space."`
	Feedback    feedbackCmd    `cmd:"" help:"Print what people think of answers: JSON lines, or CSV."`
	ExportUser  exportUserCmd  `cmd:"" name:"export-user" help:"Write all data of a user into a zip archive."`
	Token       tokenCmd       `cmd:"" help:"Personal keys with which other programs act for a user."`
	Audit       auditCmd       `cmd:"" help:"Print the audit log."`
	MCPKeys     mcpKeysCmd     `cmd:"" name:"mcp-keys" help:"Print the key with which each MCP server checks the tokens that it is sent."`
	MoveThreads moveThreadsCmd `cmd:"" name:"move-threads" help:"Make open threads follow WORKFLOW_VERSION, and wait until all do; run it before a rollback to an older release."`
	Health      healthCmd      `cmd:"" help:"Succeed if this host's API or worker is running; for container health checks."`
	EnvExample  envExampleCmd  `cmd:"" name:"env-example" help:"Print .env.example."`
}

type (
	serveCmd   struct{}
	apiCmd     struct{}
	workerCmd  struct{}
	migrateCmd struct {
		From string `placeholder:"sqlite:PATH" help:"SQLite file to move from. No process may use it, and no turn may be open."`
		To   string `placeholder:"postgres://…" help:"Empty Postgres database to move to; default: DATABASE_URL."`
	}
	ingestCmd struct {
		Public bool     `help:"Make the documents visible to everyone."`
		Owner  string   `help:"User id that the documents belong to; required without --public."`
		Paths  []string `arg:"" type:"existingpath" name:"path" help:"Files, or folders with files (${document_types})."`
	}
	deleteUserCmd struct {
		ID  string `arg:"" help:"User id: the subject of their token, or the id that /api/me returns."`
		Yes bool   `help:"Delete it permanently."`
	}
	pruneCmd struct {
		Yes bool `help:"Remove it permanently."`
	}
	usageCmd struct {
		Owners int `default:"20" help:"How many owners to list."`
	}
	feedbackCmd struct {
		Since string `placeholder:"24h" help:"Only feedback that was given or changed since then: a duration before now, or a time such as 2026-05-01T12:00:00Z."`
		CSV   bool   `name:"csv" help:"CSV for a spreadsheet."`
		Texts bool   `help:"Include the question and the answer."`
	}
	moveThreadsCmd struct{}
	envExampleCmd  struct{}
)

// Main runs the command in args until it is done, or gets SIGINT or SIGTERM. It prints
// an error in one line, and returns the exit code: 0 for success, 2 for an invalid
// setting, 3 for a dry run of repair that found something, 1 for any other error.
func Main(args []string, additions service.Additions) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	memlimit.FollowContainer()
	err := Run(ctx, args, additions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "palaver:", err)
	}
	return exitCode(err)
}

// Run runs the command in args until it is done or ctx ends. It logs to stderr, and sets
// the default logger.
func Run(ctx context.Context, args []string, additions service.Additions) error {
	c := grammar{Config: config.Config{OwnProviders: additions.Providers()}}
	command, err := config.Parse(&c, args, kong.Name("palaver"), kong.Description(description),
		kong.Vars{"document_types": messages.And(additions.Types().Labels()), "audit_kinds": strings.Join(audit.Kinds, ", "), "version": build.Read().String()})
	if err != nil {
		return err
	}
	log := c.Logger(os.Stderr)
	slog.SetDefault(log)
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(&c.Config, log, additions)
}

const description = "A durable chat backend: every conversation is a Temporal workflow. " +
	"Settings come from flags, the environment or a file .env in the working folder."

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var setting *config.Error
	var usage *kong.ParseError
	var own exitError
	if errors.As(err, &own) {
		return own.code
	}
	if errors.As(err, &setting) || errors.As(err, &usage) {
		return config.ExitUsage
	}
	return 1
}

func (serveCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, additions service.Additions) error {
	return service.Run(ctx, cfg, log, service.Serve, additions)
}

func (apiCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, additions service.Additions) error {
	return service.Run(ctx, cfg, log, service.API, additions)
}

func (workerCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger, additions service.Additions) error {
	return service.Run(ctx, cfg, log, service.Worker, additions)
}

func (m migrateCmd) Run(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	if m.From != "" {
		to := m.To
		if to == "" {
			to = cfg.DatabaseURL
		}
		return admin.MoveStore(ctx, m.From, to, os.Stdout)
	}
	if m.To != "" {
		return errors.New("--to requires --from")
	}
	store, err := service.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	log.Info("database schema is up to date")
	return store.Close()
}

func (envExampleCmd) Run() error {
	_, err := fmt.Print(config.EnvExample())
	return err
}
