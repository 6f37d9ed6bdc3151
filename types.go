package palaver

import (
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/assistant"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/provider"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/workflows"
)

// Agent declares an agent.
type Agent struct {
	Name         string // used by clients and in histories: 1 to 40 characters of a-z, 0-9, _ and -, starting with a letter. Never change it.
	Label        string // in the page's menu, at most 60 characters
	Description  string // one line below the label, at most 200 characters
	Instructions string // the beginning of the model's system message, at most 20,000 characters; Palaver appends its rules about sources, tools and data
	// Tools reports whether the agent may call a tool, see OnlyTools; nil: every tool,
	// also those of MCP servers.
	Tools func(name string) bool
	// Checks read what the person has written, so that Answer can act on it; see Turn.Check.
	Checks map[string]Check
	// Activities are what Answer runs by name with Lookup, RunActivity and RunModelCall: functions of
	// type func(context.Context, TurnRef, args…) (result, error). Arguments and results are
	// stored in Temporal's history, so they must not contain what people wrote. An activity
	// may do I/O, may run more than once, and must return when its context ends.
	Activities map[string]any
	// Answer decides what happens in a turn; nil: the loop of the assistant, which calls the
	// model and the tools that it asks for until it has answered. See Turn.
	Answer func(*Turn) error
	// Version is 0 at first. Raise it whenever Answer changes the methods that it calls or
	// their order, and keep the old way for turns with an older Turn.Version: Temporal
	// replays them, even for a while after they have ended.
	Version int
}

func (a Agent) info() chat.AgentInfo {
	return chat.AgentInfo{
		Name: chat.Agent(a.Name), Label: a.Label, Description: a.Description, Instructions: a.Instructions,
		Tools: a.Tools, Checks: a.Checks, Version: a.Version,
	}
}

func (a Agent) agent() workflows.Agent {
	agent := assistant.Custom(a.info(), a.Answer)
	agent.Activities = a.Activities
	return agent
}

// Lookup runs one of the agent's activities that only reads or writes a database: first in the
// workflow task itself, and when that fails or takes longer than a second, as an activity of
// its own with retries for a minute. summary is shown in Temporal's Web UI.
func Lookup[T any](t *Turn, summary, activity string, args ...any) (T, error) {
	return workflows.Lookup[T](t, summary, activity, args...)
}

// RunActivity runs one of the agent's activities that may take long. It ends when the turn is stopped
// or its deadline passes.
func RunActivity[T any](t *Turn, summary, activity string, args ...any) (T, error) {
	return workflows.Call[T](t, summary, activity, args...)
}

// RunModelCall is RunActivity for an activity that calls a model: it counts against the turn's limits of
// steps.
func RunModelCall[T any](t *Turn, summary, activity string, args ...any) (T, error) {
	return workflows.CallModel[T](t, summary, activity, args...)
}

// OnlyTools returns a function for Agent.Tools: the agent may call these tools, and
// read_result, which reads the rest of their long results.
func OnlyTools(names ...string) func(name string) bool {
	return func(name string) bool { return name == tools.ReadResultName || slices.Contains(names, name) }
}

type (
	// Turn is the turn that an agent's Answer handles.
	Turn = workflows.Turn
	// Round is what one call of Turn.Round did.
	Round = workflows.Round
	// TurnRef names a turn to an activity: the ids of its owner, thread and turn.
	TurnRef = activities.TurnRef
	// Choice is one option of Turn.Choose.
	Choice = workflows.Choice
	// Check reads what a person wrote and returns a word about it, at most 64 letters,
	// digits, _, . and -. The word is stored in Temporal's history, so it must not contain
	// what the person wrote. A check may do I/O, and may run more than once.
	Check = chat.Check
	// Said is what a person has written so far.
	Said = chat.Said

	// Tool declares a tool. A tool with side effects runs once for each approval: Call.ID is
	// its idempotency key.
	Tool = tools.Tool
	// Call is one call of a tool.
	Call = tools.Call
	// Result is what a tool returns: at most 200,000 characters, of which the model reads
	// the first 16,000 at once.
	Result = tools.Result
	// Approval says whether a person is asked before a tool runs.
	Approval = tools.Approval

	// DocumentType declares a type of document. Uploads can contain anything: Read must use
	// bounded memory and return when its context ends. It runs again if its process dies.
	// One attempt to process a document may take 15 minutes. The text may have at most 50 MB.
	DocumentType = extract.Type
	// Unreadable is the error of DocumentType.Read for a file that has no readable text.
	Unreadable = extract.Unreadable

	// ImportSource declares a place that documents are imported from. Look and Fetch run in
	// worker processes, may run more than once, and must return when their context ends. Look
	// may take 15 seconds, Fetch as long as IMPORT_TIMEOUT. They return an *ImportError for a
	// failure that the person should read about; after any other error the import is retried
	// for a few seconds, and the person reads that the download failed.
	ImportSource = imports.Source
	// ImportLink is a link to a document of a source. The link's author is not trusted.
	ImportLink = links.Link
	// ImportRemote is what Look finds: a document at its source.
	ImportRemote = imports.Remote
	// ImportContent is what Fetch downloads.
	ImportContent = imports.Content
	// ImportError says why a document cannot be imported. Set Code and Cause, which is logged
	// and must hold no secrets. Imports with RateLimited, Network and Timeout are retried.
	ImportError = imports.Error

	// Dialect declares a wire format: its routes, the types of its bodies and events, and how
	// it shows errors. docs/extending.md describes what handlers use.
	Dialect = dialect.Dialect

	// Model is a language model; package llm documents what it must do.
	Model = llm.Model
	// ModelSettings are the settings of the group "Model", such as the key and the name.
	ModelSettings = provider.Config
)

// Whether a person is asked before a tool runs.
const (
	Never = tools.Never // runs without asking
	Ask   = tools.Ask   // the person approves or rejects
	Edit  = tools.Edit  // the person may change the arguments, too
)

// Values of ImportError.Code.
const (
	ImportNotShared     = imports.NotShared     // the person may not read it, or it does not exist
	ImportTooLarge      = imports.TooLarge      // set Size, if it is known, and Limit
	ImportRateLimited   = imports.RateLimited   // set RetryAfter, if it is known
	ImportNetwork       = imports.Network       // the source cannot be reached
	ImportUnsupported   = imports.Unsupported   // set Can, the types that can be imported
	ImportNotConfigured = imports.NotConfigured // this program has no access to the source
)

// Text is a message for Call.Report.
func Text(text string) messages.Message { return messages.Plain(text) }

// Failed is a result that tells the model what went wrong.
func Failed(why string) Result { return tools.Failed(messages.Plain(why)) }
