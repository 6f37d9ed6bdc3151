package activitytest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/chunk"
)

// Leave is the text of a document.
const Leave = "Staff get 25 days of leave a year. Unused days lapse on 31 March."

// Doc stores a ready document.
func (f *Fixture) Doc(title, text string) string { return f.DocOf(Owner, title, text) }

// DocOf is Doc for another owner.
func (f *Fixture) DocOf(owner, title, text string) string {
	f.T.Helper()
	id := f.upload(owner, title, "txt", []byte(text))
	f.Index(owner, id, text)
	return id
}

// Upload stores a document that is still processing.
func (f *Fixture) Upload(title, format string, raw []byte) string {
	f.T.Helper()
	return f.upload(Owner, title, format, raw)
}

func (f *Fixture) upload(owner, title, format string, raw []byte) string {
	f.T.Helper()
	d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: title, Status: chat.DocProcessing, Format: format, Bytes: int64(len(raw)), CreatedAt: time.Now()}
	require.NoError(f.T, f.Store.CreateDocument(context.Background(), d, raw))
	return d.ID
}

// Index makes a document ready.
func (f *Fixture) Index(owner, id, text string) {
	f.T.Helper()
	require.NoError(f.T, f.Store.StoreText(context.Background(), owner, id, text, chunk.ForDocument(id, text), nil))
}

// Set stores a set of documents.
func (f *Fixture) Set(name string, docs ...string) string {
	f.T.Helper()
	s := chat.DocumentSet{ID: uuid.NewString(), Owner: Owner, Name: name, DocIDs: docs}
	require.NoError(f.T, f.Store.CreateSet(context.Background(), s))
	return s.ID
}

// Insert stores a turn that has not begun.
func (f *Fixture) Insert(c chat.Content) activities.TurnRef {
	f.T.Helper()
	if c.Agent == "" {
		c.Agent = chat.AgentDocuments
	}
	id := uuid.NewString()
	_, _, _, err := f.Store.InsertTurn(context.Background(), chat.Turn{
		ID: id, ThreadID: f.Thread, Owner: Owner, ClientTurnID: "client-" + id, StreamRunID: "run-" + id,
		Content: c, ContentHash: c.Hash(), CreatedAt: time.Now(),
	})
	require.NoError(f.T, err)
	return activities.TurnRef{Owner: Owner, ThreadID: f.Thread, TurnID: id}
}

// Begin inserts a turn and begins it.
func (f *Fixture) Begin(c chat.Content) activities.TurnRef {
	f.T.Helper()
	ref := f.Insert(c)
	begun := Must[activities.BeginResult](f, f.BeginTurn, ref)
	ref.Parent, ref.Model = begun.Parent, begun.Model
	return ref
}

// Say begins a turn of the documents agent.
func (f *Fixture) Say(message string) activities.TurnRef {
	f.T.Helper()
	return f.Begin(chat.Content{Message: message})
}

// Step is the next model call of a turn.
type Step struct {
	activities.TurnRef
	activities.Stage
}

// Ask begins a turn of the assistant.
func (f *Fixture) Ask(message string) Step {
	f.T.Helper()
	return f.AskWith(chat.Content{Message: message})
}

// AskWith is Ask with more than a message.
func (f *Fixture) AskWith(c chat.Content) Step {
	f.T.Helper()
	c.Agent = chat.AgentAssistant
	return Step{TurnRef: f.Begin(c), Stage: activities.Stage{Piece: 1}}
}

// Written1 is the log of a turn with one piece of text.
var Written1 = []chat.Entry{{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)}}

// Exchange is a whole turn: a message, an answer, and the documents it was about.
func (f *Fixture) Exchange(message, answer string, docs ...string) activities.TurnRef {
	f.T.Helper()
	ref := f.Say(message)
	f.Put(ref, chat.PieceKey(1), answer)
	f.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Outcome: activities.Outcome{DocIDs: docs}, Log: Written1})
	return ref
}

// End settles a turn.
func (f *Fixture) End(e activities.Ending) activities.SettleResult {
	f.T.Helper()
	return Must[activities.SettleResult](f, f.Settle, e)
}

// TalkAtLength adds n exchanges of 2,000 characters each, and returns the last turn.
func (f *Fixture) TalkAtLength(n int) (last activities.TurnRef) {
	f.T.Helper()
	for i := range n {
		last = f.Exchange(fmt.Sprintf("Message %d. ", i)+strings.Repeat("a", 1000), fmt.Sprintf("Answer %d. ", i)+strings.Repeat("b", 1000))
	}
	return last
}

// Texts returns the texts of a turn.
func (f *Fixture) Texts(ref activities.TurnRef) map[string]string {
	f.T.Helper()
	texts, err := f.Store.Texts(context.Background(), Owner, ref.TurnID)
	require.NoError(f.T, err)
	return texts
}

// Put stores a text of a turn.
func (f *Fixture) Put(ref activities.TurnRef, key, text string) {
	f.T.Helper()
	require.NoError(f.T, f.Store.PutText(context.Background(), Owner, ref.TurnID, key, text))
}

// PutJSON is Put for a value.
func (f *Fixture) PutJSON(ref activities.TurnRef, key string, value any) {
	f.T.Helper()
	f.Put(ref, key, JSON(value))
}

// JSON marshals a value.
func JSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Draft returns the draft of a turn's first piece.
func (f *Fixture) Draft(ref activities.TurnRef) string {
	f.T.Helper()
	d, err := f.Store.Draft(context.Background(), Owner, ref.TurnID, 1)
	require.NoError(f.T, err)
	return d.Text
}
