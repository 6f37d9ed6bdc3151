package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// Names of the tools for imports.
const (
	ImportDocumentName = "import_document"
	ListImportsName    = "list_imports"
)

const (
	maxImports = 100 // in a list
	maxTitle   = 200 // characters of a name
)

// ImportWait is how long a call waits for an import by default. After that the import goes
// on in the background.
const ImportWait = 30 * time.Second

// ImportStore has the methods of the store that the tools for imports need.
type ImportStore interface {
	imports.Store
	imports.Inserter
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
	Recent(ctx context.Context, owner, threadID, head string, n int) ([]chat.Message, error)
}

// ImportDocument imports a document from a link that the person has given. wait is how
// long a call waits for the end of the import; 0 means ImportWait.
func ImportDocument(jobs *imports.Jobs, store ImportStore, wait time.Duration) Tool {
	if wait <= 0 {
		wait = ImportWait
	}
	return Tool{
		Name: ImportDocumentName,
		Description: "Import a document into the person's knowledge base from a link that the person has given: a file in Google Drive, or a public https page or file. " +
			"Use it only when the person asks to import or read what the link leads to.",
		Schema: json.RawMessage(`{
			"type": "object", "required": ["url"],
			"properties": {"url": {"type": "string", "minLength": 1, "maxLength": 2048, "description": "The link, as the person wrote it"}},
			"additionalProperties": false
		}`),
		Approval: Never,
		Timeout:  wait + DefaultTimeout,
		Run: With("import_document", func(ctx context.Context, c Call, in struct {
			URL string `json:"url"`
		}) (Result, error) {
			given, err := givenByPerson(ctx, store, c, in.URL)
			if err != nil {
				return Result{}, err
			}
			if !given {
				return Failed(messages.ImportOnlyGiven), nil
			}
			return runImport(ctx, jobs, store, c, in.URL, wait)
		}),
	}
}

// recentMessages is the number of earlier messages of a conversation that are searched for
// a link.
const recentMessages = 40

// givenByPerson reports whether a person has written a link in the conversation. A link
// from a document is not accepted: the model could put what it has read into the link, and
// the document's author would receive it with the request.
func givenByPerson(ctx context.Context, store ImportStore, c Call, link string) (bool, error) {
	turn, err := store.Turn(ctx, c.Owner, c.TurnID)
	if err != nil || strings.Contains(turn.Content.Message, link) {
		return err == nil, err
	}
	recent, err := store.Recent(ctx, c.Owner, c.ThreadID, turn.Parent, recentMessages)
	for _, m := range recent {
		if m.Role == "user" && strings.Contains(m.Content, link) {
			return true, nil
		}
	}
	return false, err
}

// runImport begins an import and waits for its end. All attempts of a call share one
// import. Its end is announced in the conversation later, unless this call returns it: the
// import may take longer than the wait, or the turn may be stopped during the wait.
func runImport(ctx context.Context, jobs *imports.Jobs, store ImportStore, c Call, link string, wait time.Duration) (Result, error) {
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte("palaver import "+c.TurnID+" "+c.ID)).String()
	i, err := jobs.Begin(ctx, store, chat.Import{
		ID: id, Owner: c.Owner, ThreadID: c.ThreadID, TurnID: c.TurnID, URL: link, Announce: true, CreatedAt: time.Now()})
	var refused *imports.Error
	var exceeded *db.Exceeded
	switch {
	case errors.As(err, &refused):
		return Failed(refused.Message()), nil
	case errors.As(err, &exceeded):
		return Failed(messages.ImportTooManyRunning), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("import_document: %w", err)
	}
	following, cancel := context.WithDeadline(ctx, i.CreatedAt.Add(wait))
	defer cancel()
	i, err = jobs.Follow(following, c.Owner, id, func(step chat.Import) {
		if c.Report != nil {
			c.Report(chat.NodeImport, imports.Progress(step))
		}
	})
	if err == nil && i.State.Final() && ctx.Err() == nil {
		err = store.AnnounceImport(ctx, c.Owner, id, false)
	}
	if err != nil || ctx.Err() != nil {
		return Result{}, fmt.Errorf("import_document: %w", errors.Join(err, ctx.Err()))
	}
	ended := imports.Ended(i)
	return Result{Content: ended.Text, Coded: ended.Coded, IsError: i.State != chat.ImportReady}, nil
}

// ListImports lists what was imported in the conversation.
func ListImports(store ImportStore) Tool {
	return Tool{
		Name:        ListImportsName,
		Description: "List what the person has imported in this conversation: name, where from, when, and whether it is ready.",
		Schema:      json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`),
		Approval:    Never,
		Run: func(ctx context.Context, c Call) (Result, error) {
			list, err := store.ListImports(ctx, c.Owner, c.ThreadID, "", maxImports)
			if err != nil {
				return Result{}, fmt.Errorf("list_imports: %w", err)
			}
			turn, err := store.Turn(ctx, c.Owner, c.TurnID)
			if err != nil {
				return Result{}, fmt.Errorf("list_imports: %w", err)
			}
			return Result{Content: ListedImports(list, turn.Content.Location())}, nil
		},
	}
}

// ListedImports describes imports to a person or a model, with times of a place. A document
// that was imported more than once is listed once, and failures apart.
func ListedImports(list []chat.Import, place *time.Location) string {
	var ready, open, failed []string
	seen := map[string]bool{}
	for _, i := range list {
		if i.DocID != "" && seen[i.DocID] {
			continue
		}
		seen[i.DocID] = true
		name := i.Name
		name = cmp.Or(name, i.URL)
		line := fmt.Sprintf("- %s (%s, %s)", llm.Data(language.Truncate(chat.OneLine(name), maxTitle)), imports.SourceLabel(i.Source), i.CreatedAt.In(place).Format("2006-01-02 15:04 MST"))
		switch i.State {
		case chat.ImportReady:
			ready = append(ready, line)
		case chat.ImportFailed:
			failed = append(failed, line+": "+messages.Read(i.Message).Text)
		default:
			open = append(open, line)
		}
	}
	var parts []string
	for _, part := range []struct {
		head  string
		lines []string
	}{{"Imported documents:", ready}, {"Still being processed:", open}, {"Could not be imported:", failed}} {
		if len(part.lines) > 0 {
			parts = append(parts, part.head+"\n"+strings.Join(part.lines, "\n"))
		}
	}
	if len(parts) == 0 {
		return "Nothing has been imported."
	}
	return strings.Join(parts, "\n\n")
}
