// Package cli is the command palaver: its flags and its subcommands. It is a package
// of its own so that full-stack tests can call it.
package cli

import (
	"cmp"
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
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/memlimit"
)

type grammar struct {
	config.Config

	VersionFlag kong.VersionFlag `name:"version" help:"Print version, commit and date."`

	Serve       serveCmd       `cmd:"" help:"Page, API and worker in one process."`
	API         apiCmd         `cmd:"" name:"api" help:"Page and API only."`
	Worker      workerCmd      `cmd:"" help:"Worker only."`
	Ingest      ingestCmd      `cmd:"" help:"Load documents and wait until they are ready."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database's schema up to date, or move a SQLite database into Postgres."`
	Backup      backupCmd      `cmd:"" help:"Back up the data folder into one file, also while Palaver runs. Not for Postgres."`
	Restore     restoreCmd     `cmd:"" help:"Restore a backup into the data folder. Stop Palaver first."`
	Repair      repairCmd      `cmd:"" help:"Settle turns and documents whose workflow was lost. Workers do it, too."`
	DeleteUser  deleteUserCmd  `cmd:"" name:"delete-user" help:"List or delete the data of a user."`
	Prune       pruneCmd       `cmd:"" help:"List or delete data older than ANONYMOUS_RETENTION, CONVERSATION_RETENTION, IMPORT_RETENTION and AUDIT_RETENTION. Workers delete it daily."`
	Usage       usageCmd       `cmd:"" help:"List the tables and owners that use the most space, and the progress of the search index."`
	Feedback    feedbackCmd    `cmd:"" help:"Print the feedback on answers as JSON lines or CSV."`
	ExportUser  exportUserCmd  `cmd:"" name:"export-user" help:"Export all data of a user into a zip archive."`
	Token       tokenCmd       `cmd:"" help:"Manage personal keys, with which other programs act as a user."`
	Audit       auditCmd       `cmd:"" help:"Print the audit log."`
	MCPKeys     mcpKeysCmd     `cmd:"" name:"mcp-keys" help:"Print the key with which each MCP server verifies its tokens."`
	MCPTools    mcpToolsCmd    `cmd:"" name:"mcp-tools" help:"Connect to each MCP server, and list its tools and what of them is not used."`
	MoveThreads moveThreadsCmd `cmd:"" name:"move-threads" help:"Move open threads to WORKFLOW_VERSION and wait until all are moved. Run it before a rollback to an older release."`
	Show        showCmd        `cmd:"" help:"Print the state of a thread, with its open question."`
	Resume      resumeCmd      `cmd:"" help:"Answer the open question of a thread."`
	Cancel      cancelCmd      `cmd:"" help:"Stop the turn of a thread."`
	Health      healthCmd      `cmd:"" help:"Check whether this host's API or worker is running, for container health checks."`
	Version     versionCmd     `cmd:"" help:"Print version, commit and date."`
	EnvExample  envExampleCmd  `cmd:"" name:"env-example" help:"Print .env.example."`
}

type (
	serveCmd   struct{}
	apiCmd     struct{}
	workerCmd  struct{}
	migrateCmd struct {
		From string `placeholder:"sqlite:PATH" help:"SQLite file to move. No process may use it, and no turn may be open."`
		To   string `placeholder:"postgres://…" help:"Empty Postgres database as the target. Default: DATABASE_URL."`
	}
	ingestCmd struct {
		Public bool     `help:"Make the documents visible to everyone."`
		Owner  string   `help:"User id that the documents belong to; required without --public."`
		Paths  []string `arg:"" type:"existingpath" name:"path" help:"Files, or folders with files (${document_types})."`
	}
	deleteUserCmd struct {
		ID  string `arg:"" help:"User id: the subject of the user's token, or the id from /api/me."`
		Yes bool   `help:"Delete it permanently."`
	}
	pruneCmd struct {
		Yes bool `help:"Delete it permanently."`
	}
	usageCmd struct {
		Owners int `default:"20" help:"Number of owners to list."`
	}
	feedbackCmd struct {
		Since string `placeholder:"24h" help:"Only feedback given or changed since a time such as 2026-05-01T12:00:00Z, or a duration before now."`
		CSV   bool   `name:"csv" help:"Print CSV for a spreadsheet."`
		Texts bool   `help:"Include the question and the answer."`
	}
	moveThreadsCmd struct{}
	versionCmd     struct{}
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
	memlimit.CollectLess()
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
	opened := &parts{}
	defer opened.close()
	for _, provider := range opened.providers() {
		if err := command.BindSingletonProvider(provider); err != nil {
			return err
		}
	}
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
		to := cmp.Or(m.To, cfg.DatabaseURL)
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

func (versionCmd) Run() error {
	_, err := fmt.Println(build.Read())
	return err
}

func (envExampleCmd) Run() error {
	_, err := fmt.Print(config.EnvExample())
	return err
}
