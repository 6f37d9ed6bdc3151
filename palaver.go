// Package palaver lets you build your own palaver program: a main function that adds
// tools, agents, document types, import sources, dialects and model providers to the
// command palaver.
//
//	func main() { os.Exit(palaver.Main(os.Args[1:], palaver.WithTool(tool), palaver.WithAgent(agent))) }
//
// Give every process of an installation (API, worker, operators' commands) the same
// options. docs/extending.md walks through an example.
//
// The exported API of this package is stable: it changes only with a note in
// docs/upgrades.md. The same holds for package llm, which model providers use, and for
// Main of standalone/program. Dialects use further packages, which docs/extending.md lists.
// They change more often, with the same note.
package palaver

import (
	"context"
	"fmt"
	"os"

	"github.com/palaver-chat/palaver/app/cli"
	"github.com/palaver-chat/palaver/app/service"
)

// Option adds something to a program. The program does not start with an option that
// cannot be used, because its name is taken or a field is missing. The error names it.
type Option func(*service.Additions)

// Main is the command palaver with additions: serve, api, worker, and what operators need
// (palaver --help). It runs the command in args until it is done, or gets SIGINT or
// SIGTERM, and returns the exit code: 0 for success, 2 for an invalid setting, 3 for a dry
// run of repair that found something, 1 for any other error, which it prints.
func Main(args []string, options ...Option) int {
	additions, err := service.Collect(options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "palaver:", err)
		return 1
	}
	return cli.Main(args, additions)
}

// Run is like Main, for a program that handles signals and errors itself. It returns when
// the command is done or ctx ends.
func Run(ctx context.Context, args []string, options ...Option) error {
	additions, err := service.Collect(options)
	if err != nil {
		return err
	}
	return cli.Run(ctx, args, additions)
}

// WithTool adds a tool. An agent may call it if the agent's Tools function allows the name.
func WithTool(t Tool) Option {
	return func(a *service.Additions) { a.Tools = append(a.Tools, t) }
}

// WithAgent adds an agent. Clients name it in a message; the page's menu offers it after
// the product's own.
func WithAgent(agent Agent) Option {
	return func(a *service.Additions) { a.Agents = append(a.Agents, agent.agent()) }
}

// WithDocumentType adds a type of document that can be uploaded, imported and ingested.
func WithDocumentType(t DocumentType) Option {
	return func(a *service.Additions) { a.DocumentTypes = append(a.DocumentTypes, t) }
}

// WithImportSource adds a place that documents are imported from. Links to it are recognised
// in messages, in the page and by POST /api/imports, and are imported without being asked
// for, like links to Google Drive.
func WithImportSource(s ImportSource) Option {
	return func(a *service.Additions) { a.ImportSources = append(a.ImportSources, s) }
}

// WithDialect adds a wire format of HTTP clients. Its routes have the API's sign-in, limits,
// timeouts and error handling, and are described in /openapi.json.
func WithDialect(d Dialect) Option {
	return func(a *service.Additions) { a.Dialects = append(a.Dialects, d) }
}

// WithModel adds a model provider: CHAT_MODEL_PROVIDER may have its name, which has at
// most 40 characters of a-z, 0-9 and -. The function is called once at the start of a
// process, and must not open a connection. If the model implements llm.Painter and its
// Info names an image model, the tool generate_image uses it.
func WithModel(name string, make func(ModelSettings) (Model, error)) Option {
	return func(a *service.Additions) { a.Models = append(a.Models, service.ModelProvider{Name: name, New: make}) }
}
