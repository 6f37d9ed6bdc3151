package fullstack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Sentences that the requirements specify word for word.
const (
	imported        = "I've imported 'Liquidity circular.md' into your knowledge base. You can now ask me questions about it."
	alreadyThere    = "That document is already in your knowledge base. I can answer questions about it."
	notShared       = "I couldn't access that file. Please make sure it's shared with 'Anyone with the link' and try again."
	malformed       = "That doesn't look like a valid Google Drive link. Please paste a link that looks like: https://drive.google.com/file/d/..."
	rateLimited     = "Google Drive is temporarily limiting requests. Please try again in a few minutes."
	networkTrouble  = "I had trouble downloading that file. Please check your internet connection and try again."
	takesLonger     = "The import is taking longer than expected. The document may still be processing in the background."
	stillProcessing = "That document is still being processed. It should be ready for questions in a moment."
)

// circularFile is a file for the Drive server of the tests.
var circularFile = drivetest.File{Name: "Liquidity circular.md", MIME: "text/markdown", Content: []byte(circular)}

func driveID(n int) string { return fmt.Sprintf("1AbC-dEf_GhIjKlMnOpQr%04d", n) }

func driveLink(id string) string { return "https://drive.google.com/file/d/" + id + "/view" }

// withDrive returns options with which a program imports from the Drive server d, without
// retries.
func withDrive(d *drivetest.Server, more ...stacktest.Option) []stacktest.Option {
	return append([]stacktest.Option{
		stacktest.Flag("chat-model-provider", "offline"), stacktest.Flag("google-api-key", drivetest.Key), stacktest.Flag("google-drive-base-url", d.URL),
		stacktest.Flag("import-retry-budget", "1ns"),
	}, more...)
}

// importSteps returns the messages of the imports' status events.
func importSteps(events []event) (steps []string) {
	for _, e := range events {
		if e.Type == "status" && e.Node == "import" {
			steps = append(steps, e.Message)
		}
	}
	return steps
}

type importRow struct {
	ID, URL, Name, State, Outcome, Code, Message string
	SourceType                                   string `json:"source_type"`
	DocumentID                                   string `json:"document_id"`
	Chunks                                       int
}

// imports returns the imports of the conversation, newest first.
func (c *talk) imports() []importRow {
	c.t.Helper()
	var list struct{ Imports []importRow }
	c.do(http.StatusOK, http.MethodGet, "/api/imports?conversation_id="+c.thread, nil, &list)
	return list.Imports
}

// imported returns the titles of the caller's imported documents.
func (c *talk) imported() (titles []string) {
	c.t.Helper()
	var list struct {
		Items []struct {
			Title      string
			SourceType string `json:"source_type"`
			Public     bool
		}
	}
	c.do(http.StatusOK, http.MethodGet, "/api/documents", nil, &list)
	for _, d := range list.Items {
		if d.SourceType != "upload" && !d.Public {
			titles = append(titles, d.Title)
		}
	}
	return titles
}

// waitForImport waits until the newest import has one of the states.
func (c *talk) waitForImport(states ...string) (row importRow) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		if list := c.imports(); len(list) > 0 {
			row = list[0]
		}
		return slices.Contains(states, row.State)
	}, waitTimeout, 20*time.Millisecond, "the newest import must reach one of the states %v", states)
	return row
}

// Rules M5, M6.
func TestImportScenarios(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "60s"))...)
	last4 := 0
	put := func(f drivetest.File) string {
		last4++
		id := driveID(last4)
		drive.Put(id, f)
		return id
	}
	run := func(name string, test func(t *testing.T, c *talk)) {
		t.Run(name, func(t *testing.T) { test(t, newTalk(t, func() string { return s.URL }, s.NewUser())) })
	}

	run("Detect Google Drive file link", func(t *testing.T, c *talk) {
		events := c.ask("https://drive.google.com/file/d/"+put(circularFile)+"/view?usp=sharing", nil)
		require.Equal(t, imported, last(events).Response)
		row := c.imports()[0]
		require.Equal(t, "google_drive", row.SourceType)
		require.Equal(t, "ready", row.State)
	})
	run("Detect Google Drive open link format", func(t *testing.T, c *talk) {
		require.Equal(t, imported, last(c.ask("(https://drive.google.com/open?id="+put(circularFile)+").", nil)).Response)
	})
	run("Detect Google Docs, Sheets and Slides links", func(t *testing.T, c *talk) {
		for kind, path := range map[string]string{"document": "document", "spreadsheet": "spreadsheets", "presentation": "presentation"} {
			f := drivetest.File{Name: "Plan of " + kind, MIME: "application/vnd.google-apps." + kind, Content: []byte("Name,Ratio\nBank,8.5\n")}
			events := c.ask("Import https://docs.google.com/"+path+"/d/"+put(f)+"/edit#gid=0", nil)
			require.Contains(t, last(events).Response, "I've imported 'Plan of "+kind+"'")
		}
	})
	run("Multiple links in single message", func(t *testing.T, c *talk) {
		other := circularFile
		other.Name = "Second.md"
		first, second, private := put(circularFile), put(other), put(drivetest.File{Fault: drivetest.NotShared})
		events := c.ask("Import "+driveLink(first)+", "+driveLink(second)+" and "+driveLink(private), nil)
		steps := importSteps(events)
		require.Equal(t, []string{
			"Checking access to the file...", "Downloading document: Liquidity circular.md...", "Processing document into chunks...",
			"Document imported successfully! It has 1 chunks and is ready for questions.",
			"Checking access to the file...", "Downloading document: Second.md...", "Processing document into chunks...",
			"Document imported successfully! It has 1 chunks and is ready for questions.",
			"Checking access to the file...",
		}, steps)
		said := last(events).Response
		require.Contains(t, said, imported)
		require.Contains(t, said, "I've imported 'Second.md'")
		require.Contains(t, said, notShared)
		require.ElementsMatch(t, []string{"Liquidity circular", "Second"}, c.imported())
	})
	run("Non-Google Drive links ignored", func(t *testing.T, c *talk) {
		events := c.ask("Thanks for https://example.com/a", object{"agent": "assistant"})
		require.Empty(t, importSteps(events))
		require.Equal(t, "response", last(events).Type)
		require.Empty(t, c.imports())
	})
	run("Import Google Drive document via chat", func(t *testing.T, c *talk) {
		events := c.ask(driveLink(put(circularFile)), object{"agent": "assistant"})
		require.Equal(t, imported, last(events).Response)
		var d struct {
			SourceType string `json:"source_type"`
			SourceURL  string `json:"source_url"`
			Chunks     int
		}
		c.do(http.StatusOK, http.MethodGet, "/api/documents/"+c.imports()[0].DocumentID, nil, &d)
		require.Equal(t, "google_drive", d.SourceType)
		require.NotZero(t, d.Chunks)
		require.Contains(t, d.SourceURL, "https://drive.google.com/file/d/")
	})
	run("Import tool reports accessibility error", func(t *testing.T, c *talk) {
		for _, fault := range []drivetest.Fault{drivetest.Unauthorized, drivetest.NotShared, drivetest.NotFound, drivetest.LoginPage} {
			f := circularFile
			f.Fault = fault
			require.Equal(t, notShared, last(c.ask(driveLink(put(f)), nil)).Response)
		}
		require.Equal(t, "response", last(c.ask("Hello", nil)).Type, "the chat continues")
	})
	run("Import tool handles duplicate document", func(t *testing.T, c *talk) {
		id := put(circularFile)
		require.Equal(t, imported, last(c.ask(driveLink(id), nil)).Response)
		require.Equal(t, alreadyThere, last(c.ask("https://drive.google.com/open?id="+id, nil)).Response)
		require.Len(t, c.imported(), 1)
	})
	run("Import tool reports progress", func(t *testing.T, c *talk) {
		events := c.ask(driveLink(put(circularFile)), nil)
		require.Equal(t, []string{"Checking access to the file...", "Downloading document: Liquidity circular.md...",
			"Processing document into chunks...", "Document imported successfully! It has 1 chunks and is ready for questions."}, importSteps(events))
	})
	run("Query newly imported document", func(t *testing.T, c *talk) {
		events := c.ask(driveLink(put(circularFile))+" What liquidity coverage ratio must a bank hold?", nil)
		end := last(events)
		require.Equal(t, "response", end.Type, "%+v", end)
		require.Contains(t, end.Response, "100 percent")
		require.Equal(t, []string{c.imports()[0].DocumentID}, docsOf(end)[:1])
		require.Equal(t, "Liquidity circular", end.Citations[0].Title)
	})
	run("Confirm document readiness", func(t *testing.T, c *talk) {
		require.Equal(t, imported, last(c.ask("Please import "+driveLink(put(circularFile)), nil)).Response)
		end := last(c.ask("What liquidity coverage ratio must a bank hold?", nil))
		require.Contains(t, end.Response, "100 percent")
	})
	run("List recently imported documents", func(t *testing.T, c *talk) {
		c.ask(driveLink(put(circularFile)), nil)
		for _, agent := range []string{"documents", "assistant"} {
			said := last(c.ask("What documents have I imported?", object{"agent": agent})).Response
			require.Contains(t, said, "Liquidity circular.md (Google Drive, "+time.Now().Format("2006-01-"))
		}
		elsewhere := newTalk(t, c.url, c.client)
		require.NotContains(t, last(elsewhere.ask("What documents have I imported?", nil)).Response, "Liquidity circular")
	})
	run("Invalid Google Drive URL format", func(t *testing.T, c *talk) {
		before := len(drive.Calls())
		require.Equal(t, malformed, last(c.ask("https://drive.google.com/file/d/x", nil)).Response)
		require.Len(t, drive.Calls(), before)
		require.Empty(t, c.imports())
	})
	run("Google Drive API rate limit", func(t *testing.T, c *talk) {
		for _, fault := range []drivetest.Fault{drivetest.RateLimit403, drivetest.RateLimit429} {
			require.Equal(t, rateLimited, last(c.ask(driveLink(put(drivetest.File{Fault: fault})), nil)).Response)
		}
		require.Contains(t, s.Logged(), "import was rate-limited by its source")
	})
	run("Network error during import", func(t *testing.T, c *talk) {
		for _, fault := range []drivetest.Fault{drivetest.ServerError, drivetest.Cut, drivetest.WrongLength, drivetest.Damaged} {
			f := circularFile
			f.Fault = fault
			require.Equal(t, networkTrouble, last(c.ask(driveLink(put(f)), nil)).Response)
		}
		require.Contains(t, s.Logged(), "unexpected EOF")
		require.Empty(t, c.imported())
	})
	run("File too large", func(t *testing.T, c *talk) {
		f := circularFile
		f.Size = 60 << 20
		id := put(f)
		require.Equal(t, "That file is too large to import (60MB). The maximum file size is 50MB.", last(c.ask(driveLink(id), nil)).Response)
		require.NotContains(t, drive.Calls(), "download "+id)
	})
	run("A changed file replaces its old version", func(t *testing.T, c *talk) {
		id := put(circularFile)
		c.ask(driveLink(id), nil)
		changed := circularFile
		changed.Content, changed.Modified = bytes.ReplaceAll(circularFile.Content, []byte("100 percent"), []byte("120 percent")), time.Now()
		drive.Put(id, changed)
		require.Contains(t, last(c.ask("Import it again: "+driveLink(id), nil)).Response, "It replaces the old one.")
		require.Len(t, c.imported(), 1)
		end := last(c.ask("What liquidity coverage ratio must a bank hold?", nil))
		require.Contains(t, end.Response, "120 percent")
		var again importRow
		c.do(http.StatusAccepted, http.MethodPost, "/api/documents/"+c.imports()[0].DocumentID+"/reimport", nil, &again)
		require.Equal(t, "google_drive", again.SourceType)
	})
	run("Names of files are one clean line", func(t *testing.T, c *talk) {
		f := circularFile
		f.Name = strings.Repeat("long name ", 400) + "/../../etc/passwd.md"
		require.Contains(t, last(c.ask(driveLink(put(f)), nil)).Response, "I've imported 'long name long name")
		require.NotContains(t, c.imported()[0], "/")
		require.Less(t, len(c.imported()[0]), 310)
	})
	run("An archive that unpacks without end is not read", func(t *testing.T, c *talk) {
		f := drivetest.File{Name: "Bomb.docx", MIME: "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
		f.Content = []byte(zipped(t, "[Content_Types].xml", listOfParts("wordprocessingml.document.main"),
			"_rels/.rels", relationTo("r1", "officeDocument", "word/document.xml"),
			"word/document.xml", strings.Repeat("<w:p>", 60<<20)))
		require.Equal(t, "The document is too large to be read.", last(c.ask(driveLink(put(f)), nil)).Response)
		require.Equal(t, "unreadable", c.imports()[0].Code)
	})
	run("A file that is larger than it said is not read to its end", func(t *testing.T, c *talk) {
		f := circularFile
		f.Fault = drivetest.Endless
		require.Equal(t, "That file is too large to import (more than 50MB). The maximum file size is 50MB.", last(c.ask(driveLink(put(f)), nil)).Response)
		require.Empty(t, c.imported())
	})
	run("A link to a private address is not read", func(t *testing.T, c *talk) {
		require.Equal(t, "I can only read pages at public addresses.", last(c.ask("read https://127.0.0.1:1/secret", nil)).Response)
	})
	run("Two imports at once are one document", func(t *testing.T, c *talk) {
		id := put(circularFile)
		release := drive.Hold("metadata " + id)
		var rows [2]importRow
		for n := range rows {
			c.do(http.StatusAccepted, http.MethodPost, "/api/imports", object{"url": driveLink(id)}, &rows[n])
		}
		release()
		var outcomes []string
		require.Eventually(t, func() bool {
			var list struct{ Imports []importRow }
			c.do(http.StatusOK, http.MethodGet, "/api/imports", nil, &list)
			outcomes = nil
			for _, i := range list.Imports {
				if i.State == "ready" {
					outcomes = append(outcomes, i.Outcome)
				}
			}
			return len(outcomes) == 2
		}, waitTimeout, 20*time.Millisecond)
		require.ElementsMatch(t, []string{"imported", "duplicate"}, outcomes)
		require.Len(t, c.imported(), 1)
	})
}

// Rule M7.
func TestImportThatTakesLongGoesOnInTheBackground(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	release := drive.Hold("download " + driveID(1))
	defer release()
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "1s"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())

	t.Log("Import tool timeout")
	require.Equal(t, takesLonger, last(c.ask(driveLink(driveID(1)), nil)).Response)
	t.Log("Document processing incomplete")
	require.Equal(t, stillProcessing, last(c.ask("What does the document say?", nil)).Response)
	release()
	c.waitForImport("ready")
	events := c.ask("What liquidity coverage ratio must a bank hold?", nil)
	var notices []string
	for _, e := range events {
		if e.Type == "notice" {
			notices = append(notices, e.Message)
		}
	}
	require.Equal(t, []string{imported}, notices, "the conversation has a notice about the import")
	require.Contains(t, last(events).Response, "100 percent")
	for _, e := range c.ask("And what of stress tests?", nil) {
		require.NotEqual(t, "import", e.Code, "the import is reported once")
	}
}

func TestSlowDownloadEndsWithItsTimeout(t *testing.T) {
	drive := drivetest.New(t)
	slow := circularFile
	slow.Fault = drivetest.Slow
	drive.Put(driveID(1), slow)
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-timeout", "1s"), stacktest.Flag("import-wait", "60s"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	require.Equal(t, "That file took too long to download. Please try again in a few minutes.", last(c.ask(driveLink(driveID(1)), nil)).Response)
	require.Empty(t, c.imported())
}

// While an import runs, a question that is not about its document is answered.
// Rule M8.
func TestOpenImportDoesNotBlockOtherQuestions(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), drivetest.File{Name: "Harbour rules.md", MIME: "text/markdown", Content: []byte(harbour)})
	release := drive.Hold("download " + driveID(1))
	defer release()
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "500ms"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	c.upload("Liquidity circular", circular)
	require.Equal(t, takesLonger, last(c.ask(driveLink(driveID(1)), nil)).Response)
	for question, want := range map[string]string{
		"What does it say?":                                     stillProcessing,
		"Summarize the Harbour rules":                           stillProcessing,
		"What liquidity coverage ratio must a bank hold in it?": stillProcessing,
	} {
		require.Equal(t, want, last(c.ask(question, nil)).Response, question)
	}
	require.Contains(t, last(c.ask("What liquidity coverage ratio must a bank hold?", nil)).Response, "100 percent")
	require.NotEqual(t, stillProcessing, last(c.ask("Is it met by government bonds?", nil)).Response, "the question is about the ratio, not about the import")
}

// The question does not mention the document that is being imported, but no other document
// has an answer.
// Rule M8.
func TestQuestionThatOnlyAnOpenImportCanAnswerIsToldToWait(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), drivetest.File{Name: "Notice 12.md", MIME: "text/markdown", Content: []byte(harbour)})
	release := drive.Hold("download " + driveID(1))
	defer release()
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "500ms"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	doc := c.upload("Liquidity circular", circular)
	require.Equal(t, takesLonger, last(c.ask(driveLink(driveID(1)), nil)).Response)
	const question = "When does the harbour master close the lighthouse?"
	require.Equal(t, stillProcessing, last(c.ask(question, nil)).Response)
	elsewhere := newTalk(t, c.url, c.client)
	require.NotEqual(t, stillProcessing, last(elsewhere.ask(question, nil)).Response, "the import belongs to another conversation")
	require.NotEqual(t, stillProcessing, last(c.ask(question, object{"tagged_doc_ids": []string{doc}})).Response, "the person tagged another document")

	others := c.ask("What liquidity coverage ratio must a bank hold?", nil)
	require.Contains(t, last(others).Response, "100 percent")
	require.True(t, slices.ContainsFunc(others, func(e event) bool { return e.Code == "documents_processing" }), "a notice says that documents are still being processed")
	release()
	c.waitForImport("ready")
	require.Contains(t, last(c.ask(question, nil)).Response, "at 22 hours")
}

// Rule M7.
func TestImportOfAStoppedTurnIsReportedInALaterTurn(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	release := drive.Hold("download " + driveID(1))
	defer release()
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "60s"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	page := c.send(driveLink(driveID(1)), nil)
	page.until(func(e event) bool { return e.Node == "import" && strings.HasPrefix(e.Message, "Downloading") })
	require.Equal(t, "cancelling", c.stop(nil))
	require.Equal(t, "cancelled", page.until(terminal).Type)
	release()
	c.waitForImport("ready")
	told := 0
	for range 2 {
		for _, e := range c.ask("What liquidity coverage ratio must a bank hold?", nil) {
			if e.Type == "notice" && e.Code == "import" {
				require.Equal(t, imported, e.Message)
				told++
			}
		}
	}
	require.Equal(t, 1, told, "the import is reported once")
}

// Each call of a tool shows its steps before its result, to viewers and in the log, however
// quick the import is.
func TestQuickImportsShowEachStepBeforeTheResult(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	s := stacktest.Start(t, withDrive(drive, stacktest.Flag("import-wait", "60s"))...)
	c := newTalk(t, func() string { return s.URL }, s.NewUser())
	const turns, links = 2, 10
	for turn := range turns {
		var message []string
		for n := range links {
			f := circularFile
			f.Name = fmt.Sprintf("Circular %d of %d.md", n+1, turn+1)
			f.Content = append(slices.Clone(f.Content), f.Name...)
			id := driveID(turn*links + n)
			drive.Put(id, f)
			message = append(message, driveLink(id))
		}
		live := c.ask("Import "+strings.Join(message, " and "), nil)
		logged := c.attach("turn_id=" + last(live).TurnID).all()
		for name, events := range map[string][]event{"live": live, "log": logged} {
			running, done := "", 0
			var steps []string
			for _, e := range events {
				switch {
				case e.Type == "tool_call":
					running, steps = e.ID, nil
				case e.Type == "status" && e.Node == "import":
					require.Equal(t, running, e.CallID, "%s: %q belongs to the call that runs", name, e.Message)
					steps = append(steps, e.Message)
				case e.Type == "tool_result":
					require.Equal(t, running, e.CallID)
					require.Len(t, steps, 4, name)
					require.Contains(t, steps[3], "Document imported successfully!", name)
					running, done = "", done+1
				}
			}
			require.Equal(t, links, done, name)
		}
	}
}

// A client of the MCP server imports a document, with its progress, and lists it.
// Rule M1.
func TestMCPClientImportsADocumentAndListsIt(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	drive.Put(driveID(2), drivetest.File{Fault: drivetest.NotShared})
	s := stacktest.Start(t, withDrive(drive)...)
	client := s.NewUser()
	newTalk(t, func() string { return s.URL }, client).imports() // the first request sets the user's cookie
	var mu sync.Mutex
	var steps []string
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			steps = append(steps, r.Params.Message)
		},
	}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: client}, nil)
	require.NoError(t, err)
	defer session.Close()
	call := func(tool string, arguments map[string]any) (string, bool) {
		t.Helper()
		params := &sdk.CallToolParams{Name: tool, Arguments: arguments}
		params.SetProgressToken("import")
		result := must.Have(session.CallTool(t.Context(), params))(t)
		return result.Content[0].(*sdk.TextContent).Text, result.IsError
	}
	for _, want := range []string{imported, alreadyThere} {
		said, isError := call("import_document", map[string]any{"url": driveLink(driveID(1))})
		require.Equal(t, want, said)
		require.False(t, isError)
	}
	for link, want := range map[string]string{driveLink(driveID(2)): notShared, "https://drive.google.com/file/d/x": malformed} {
		said, isError := call("import_document", map[string]any{"url": link})
		require.Contains(t, said, want)
		require.True(t, isError)
	}
	said, isError := call("list_imports", map[string]any{})
	require.False(t, isError)
	require.Contains(t, said, "Liquidity circular.md (Google Drive, ")
	found, _ := call("search_documents", map[string]any{"query": "liquidity coverage ratio"})
	require.Contains(t, found, "100 percent")
	mu.Lock()
	defer mu.Unlock()
	require.Subset(t, steps, []string{"Checking access to the file...", "Downloading document: Liquidity circular.md...",
		"Processing document into chunks...", "Document imported successfully! It has 1 chunks and is ready for questions."})
}

// Rule W12.
func TestImportKilledInAnyPhaseEndsOnceWithOneDocument(t *testing.T) {
	t.Parallel()
	for _, held := range []string{"metadata", "download", "embedding"} {
		t.Run(held, func(t *testing.T) {
			t.Parallel()
			drive, model := drivetest.New(t), llmtest.New(t)
			drive.Put(driveID(1), drivetest.File{Name: "Harbour rules.md", MIME: "text/markdown", Content: []byte(harbour)}) // no sample document has this text
			call := held + " " + driveID(1)
			release := drive.Hold(call)
			defer release()
			embeddings := llmtest.Match{Kind: llmtest.Embeddings, Contains: harbour}
			if held == "embedding" {
				model.On(embeddings, llmtest.Answer{Delay: time.Hour})
			}
			p := stacktest.StartProcess(t, append(withDrive(drive, stacktest.Model(model.URL)), stacktest.Flag("embedding-model-name", "hashed"))...)
			c := newTalk(t, func() string { return p.URL }, p.Client)
			page := c.send(driveLink(driveID(1)), nil)
			require.Eventually(t, func() bool {
				return slices.Contains(drive.Calls(), call) || held == "embedding" && model.Count(embeddings) > 0
			}, waitTimeout, 20*time.Millisecond)
			require.Contains(t, map[string][]string{"metadata": {"looking"}, "download": {"downloading"}, "embedding": {"reading", "indexing"}}[held], c.imports()[0].State)
			p.Kill()
			page.close()
			release()
			model.On(embeddings, llmtest.Answer{})
			p.Start()
			require.Equal(t, "google_drive", c.waitForImport("ready").SourceType)
			require.Equal(t, "imported", c.imports()[0].Outcome)
			require.Len(t, c.imported(), 1)
			require.Len(t, c.imports(), 1)
		})
	}
}

// The process is killed when the document is processed and the last step is about to store
// the import's end.
func TestImportKilledInItsLastStepEndsOnceWithOneDocument(t *testing.T) {
	t.Parallel()
	url, drive := pgtest.Database(t), drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	download := drive.Hold("download " + driveID(1))
	defer download()
	p := stacktest.StartProcess(t, append(withDrive(drive), stacktest.Flag("database-url", url))...)
	c := newTalk(t, func() string { return p.URL }, p.Client)
	page := c.send(driveLink(driveID(1)), nil)
	c.waitForImport("downloading")

	const lock = "20260116"
	pgtest.Exec(t, url,
		"CREATE FUNCTION hold_end() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock("+lock+"); RETURN NEW; END'",
		"CREATE TRIGGER hold_end BEFORE UPDATE ON imports FOR EACH ROW WHEN (NEW.state = 'ready') EXECUTE FUNCTION hold_end()")
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	must.Have(conn.Exec(t.Context(), "SELECT pg_advisory_lock("+lock+")"))(t)
	download()
	require.Eventually(t, func() (held bool) {
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT exists (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory')`).Scan(&held))
		return held
	}, waitTimeout, 20*time.Millisecond)
	require.Equal(t, []string{"Liquidity circular"}, c.imported())
	require.NotContains(t, []string{"ready", "failed"}, c.imports()[0].State)
	p.Kill()
	page.close()
	must.Have(conn.Exec(t.Context(), "SELECT pg_advisory_unlock("+lock+")"))(t)
	p.Start()
	row := c.waitForImport("ready")
	require.Equal(t, "imported", row.Outcome)
	require.NotZero(t, row.Chunks)
	require.Len(t, c.imported(), 1)
	require.Len(t, c.imports(), 1)
	require.Equal(t, 1, count(drive.Calls(), "download "+driveID(1)), "nothing is downloaded again")
}

func count(list []string, wanted string) (n int) {
	for _, s := range list {
		if s == wanted {
			n++
		}
	}
	return n
}
