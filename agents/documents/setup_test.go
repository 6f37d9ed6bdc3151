package documents

import (
	"context"
	"testing"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
)

const (
	owner = activitytest.Owner
	leave = activitytest.Leave
)

type bundle struct {
	*activitytest.Fixture
	*Activities
	search *recordingSearch
	web    *fakeWeb
}

func setup(t *testing.T) *bundle {
	t.Helper()
	f := activitytest.New(t)
	b := &bundle{Fixture: f, search: &recordingSearch{}, web: &fakeWeb{}}
	b.Activities = &Activities{Kit: f.Kit, Search: b.search, Web: b.web}
	f.Add(b.Activities)
	return b
}

func run[R any](b *bundle, activity any, args ...any) (R, error) {
	return activitytest.Run[R](b.Fixture, activity, args...)
}

func must[R any](b *bundle, activity any, args ...any) R {
	b.T.Helper()
	return activitytest.Must[R](b.Fixture, activity, args...)
}

// understand finds the action by rules, else by the model.
func (b *bundle) understand(ref activities.TurnRef) Intent {
	b.T.Helper()
	if in := must[*Intent](b, b.IntentByRules, ref); in != nil {
		return *in
	}
	return must[Intent](b, b.InferIntent, ref)
}

// resolve finds the documents by rules, else by the model.
func (b *bundle) resolve(ref activities.TurnRef, action chat.Action) Docs {
	b.T.Helper()
	return must[Docs](b, b.InferDocs, ref, action)
}

// question is a turn about one document, with the request for its answer.
type question struct {
	activitytest.Step
	WriteRequest
}

// question begins a turn about a new document with that text.
func (b *bundle) question(message, text string) question {
	b.T.Helper()
	d := b.Doc("Leave Policy", text)
	return question{
		activitytest.Step{TurnRef: b.Say(message), Stage: activities.Stage{Piece: 1}},
		WriteRequest{Action: chat.Inquire, DocIDs: []string{d}, ChunkIDs: []string{d + ".0"}},
	}
}

// write writes the first piece of an answer.
func (b *bundle) write(ref activities.TurnRef, r WriteRequest) activities.ModelResult {
	b.T.Helper()
	return b.writeStep(question{activitytest.Step{TurnRef: ref, Stage: activities.Stage{Piece: 1}}, r})
}

// writeStep writes the next piece.
func (b *bundle) writeStep(q question) activities.ModelResult {
	b.T.Helper()
	return must[activities.ModelResult](b, b.Write, q.TurnRef, q.Stage, q.WriteRequest)
}

// recordingSearch returns the test's selection and records the query.
type recordingSearch struct {
	selection retrieval.Selection
	query     string
	docs      []string
}

func (*recordingSearch) Respell(_ context.Context, _, query string, _ []string) (string, error) {
	return query, nil
}

func (s *recordingSearch) Select(_ context.Context, _ string, _ chat.Action, query string, docs []string, _ ...chat.Document) (retrieval.Selection, error) {
	s.query, s.docs = query, docs
	return s.selection, nil
}

type fakeWeb struct {
	on    bool
	pages []tools.WebHit
	err   error
	query string
}

func (w *fakeWeb) Configured() bool { return w.on }

func (w *fakeWeb) Search(_ context.Context, query string) ([]tools.WebHit, error) {
	w.query = query
	return w.pages, w.err
}
