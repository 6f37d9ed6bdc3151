package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

const owner = "user-1"

// testBundle is one set of activities on a real SQLite store, with a scripted
// model, bus, search and web.
type testBundle struct {
	*Activities
	t      *testing.T
	store  *faultyStore
	model  *scriptedModel
	bus    *recordingBus
	search *recordingSearch
	web    *fakeWeb
	env    *testsuite.TestActivityEnvironment
	info   *activityInfo
	thread string
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	store := litetest.Store(t)
	b := &testBundle{
		t: t, store: &faultyStore{Store: store}, model: &scriptedModel{t: t}, bus: newRecordingBus(), search: &recordingSearch{}, web: &fakeWeb{},
		info: &activityInfo{attempt: 1}, thread: uuid.NewString(),
	}
	b.Activities = &Activities{
		Store: b.store, Model: b.model, Bus: b.bus, Search: b.search, Web: b.web, RetryBudget: 45 * time.Second,
		DocumentTypes: extract.All(),
		Agents:        chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant, AnswersUnsaved: true}},
		Log:           slog.New(slog.DiscardHandler),
		Heartbeat: func(ctx context.Context, _ []byte, details ...any) error {
			activity.RecordHeartbeat(ctx, details...) // to the environment's listener
			return nil
		},
		Now: func() time.Time { return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) },
	}
	b.env = b.newEnv(worker.Options{})
	return b
}

func (b *testBundle) newEnv(o worker.Options) *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	o.Interceptors = append(o.Interceptors, b.info)
	env.SetWorkerOptions(o)
	env.RegisterActivity(b.Activities)
	return env
}

// run executes an activity as a worker would.
func run[R any](b *testBundle, fn any, arg any) (R, error) {
	var out R
	v, err := b.env.ExecuteActivity(fn, arg)
	if err == nil && v.HasValue() {
		require.NoError(b.t, v.Get(&out))
	}
	return out, err
}

func must[R any](b *testBundle, fn any, arg any) R {
	b.t.Helper()
	out, err := run[R](b, fn, arg)
	require.NoError(b.t, err)
	return out
}

// doc stores a ready document.
func (b *testBundle) doc(title, text string) string { return b.docOf(owner, title, text) }

func (b *testBundle) docOf(owner, title, text string) string {
	b.t.Helper()
	ctx := context.Background()
	d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: title, Status: chat.DocProcessing, Format: "txt", Bytes: int64(len(text)), CreatedAt: time.Now()}
	require.NoError(b.t, b.store.CreateDocument(ctx, d, []byte(text)))
	require.NoError(b.t, b.store.StoreText(ctx, owner, d.ID, text, chunk.ForDocument(d.ID, text), nil))
	return d.ID
}

// upload stores a document that is still to be ingested.
func (b *testBundle) upload(title, sourceType string, raw []byte) string {
	b.t.Helper()
	d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: title, Status: chat.DocProcessing, Format: sourceType, Bytes: int64(len(raw)), CreatedAt: time.Now()}
	require.NoError(b.t, b.store.CreateDocument(context.Background(), d, raw))
	return d.ID
}

func (b *testBundle) set(name string, docs ...string) string {
	b.t.Helper()
	s := chat.DocumentSet{ID: uuid.NewString(), Owner: owner, Name: name, DocIDs: docs}
	require.NoError(b.t, b.store.CreateSet(context.Background(), s))
	return s.ID
}

func (b *testBundle) insert(c chat.Content) TurnRef {
	b.t.Helper()
	if c.Agent == "" {
		c.Agent = chat.AgentDocuments
	}
	id := uuid.NewString()
	_, _, _, err := b.store.InsertTurn(context.Background(), chat.Turn{
		ID: id, ThreadID: b.thread, Owner: owner, ClientTurnID: "client-" + id, StreamRunID: "run-" + id,
		Content: c, ContentHash: c.Hash(), CreatedAt: time.Now(),
	})
	require.NoError(b.t, err)
	return TurnRef{Owner: owner, ThreadID: b.thread, TurnID: id}
}

// begin inserts a turn and begins it.
func (b *testBundle) begin(c chat.Content) TurnRef {
	b.t.Helper()
	ref := b.insert(c)
	ref.Parent = must[Begun](b, b.BeginTurn, ref).Parent
	return ref
}

func (b *testBundle) say(message string) TurnRef { return b.begin(chat.Content{Message: message}) }

// exchange is a whole turn: a message, an answer, and the documents it was about.
func (b *testBundle) exchange(message, answer string, docs ...string) TurnRef {
	b.t.Helper()
	ref := b.say(message)
	require.NoError(b.t, b.store.PutText(context.Background(), owner, ref.TurnID, chat.PieceKey(1), answer))
	must[Settled](b, b.Settle, Ending{
		TurnRef: ref, Status: chat.TurnCompleted, DocIDs: docs,
		Log: []chat.Entry{{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)}},
	})
	return ref
}

func (b *testBundle) texts(ref TurnRef) map[string]string {
	b.t.Helper()
	texts, err := b.store.Texts(context.Background(), owner, ref.TurnID)
	require.NoError(b.t, err)
	return texts
}

// scriptedModel returns the test's answers to structured calls, in order, and
// streams by the test's function.
type scriptedModel struct {
	t       *testing.T
	mu      sync.Mutex
	answers []any // an answer to marshal, or an error
	asked   []llm.Request
	stream  func(ctx context.Context, emit func(string) error) error
	title   func(ctx context.Context, emit func(string) error) error // streams titles
	reply   llm.Reply                                                // of streams, without the usage
	vision  bool
	offline bool
	window  int // ContextTokens
	embed   func(texts []string) ([][]float32, error)
}

func (m *scriptedModel) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

func (m *scriptedModel) last() llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

var oneCall = chat.Usage{TokensIn: 10, TokensOut: 2, CostUSD: 0.5, Calls: 1}

func (m *scriptedModel) Structured(_ context.Context, r llm.Request, _ llm.Schema, out any) (chat.Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	if len(m.answers) == 0 {
		m.t.Errorf("no answer is scripted for call %d (%s)", len(m.asked), r.Task)
		return chat.Usage{}, llm.ErrUnparseable
	}
	answer := m.answers[0]
	m.answers = m.answers[1:]
	if err, ok := answer.(error); ok {
		return oneCall, err
	}
	raw, err := json.Marshal(answer)
	require.NoError(m.t, err)
	return oneCall, json.Unmarshal(raw, out)
}

func (m *scriptedModel) Stream(ctx context.Context, r llm.Request, emit func(string) error) (llm.Reply, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	reply := m.reply
	m.mu.Unlock()
	reply.Usage = oneCall
	if r.Task == llm.TaskTitle {
		return reply, m.title(ctx, emit)
	}
	return reply, m.stream(ctx, emit)
}

// meterTexts counts texts as a model does that embeds them.
func meterTexts(ctx context.Context, texts []string) {
	for _, text := range texts {
		llm.Meter(ctx, chat.Usage{TokensIn: llm.EstimateTokens(text)})
	}
}

func (m *scriptedModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.embed == nil {
		return nil, llm.ErrNoEmbeddings
	}
	meterTexts(ctx, texts)
	return m.embed(texts)
}

func (m *scriptedModel) Info() llm.Info {
	info := llm.Info{Provider: "scripted", Name: "scripted", Vision: m.vision, Offline: m.offline, ContextTokens: m.window}
	if m.embed != nil {
		info.Embedding = "scripted"
	}
	return info
}

// recordingBus records deltas and lets a test announce stops.
type recordingBus struct {
	bus.Noop
	mu        sync.Mutex
	deltas    []bus.Delta
	logs      [][]chat.Entry
	progress  []bus.Progress
	stops     chan struct{}
	announced []string
}

func newRecordingBus() *recordingBus { return &recordingBus{stops: make(chan struct{}, 1)} }

func (b *recordingBus) PublishDelta(d bus.Delta) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deltas = append(b.deltas, d)
}

func (b *recordingBus) PublishLog(_ string, entries []chat.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.logs = append(b.logs, entries)
}

func (b *recordingBus) PublishProgress(p bus.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress = append(b.progress, p)
}

func (b *recordingBus) AnnounceStop(turnID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.announced = append(b.announced, turnID)
}

func (b *recordingBus) SubscribeStops(context.Context, string) (<-chan struct{}, error) {
	return b.stops, nil
}

func (b *recordingBus) published() []bus.Delta {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]bus.Delta(nil), b.deltas...)
}

// recordingSearch returns the test's selection and records the query.
type recordingSearch struct {
	selection retrieval.Selection
	query     string
	docs      []string
	action    chat.Action
}

func (*recordingSearch) Respell(_ context.Context, _, query string, _ []string) (string, error) {
	return query, nil
}

func (s *recordingSearch) Select(_ context.Context, _ string, action chat.Action, query string, docs []string, _ ...chat.Document) (retrieval.Selection, error) {
	s.query, s.docs, s.action = query, docs, action
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

// faultyStore is the real store with faults and hooks for tests.
type faultyStore struct {
	db.Store
	mu             sync.Mutex
	putFails       func(key string) error // nil: none
	readTexts      func()                 // called before texts are read; nil: nothing
	drafted        func(db.Draft) error
	settled        func(db.Settlement) error
	unavailable    atomic.Bool  // every call fails with ErrUnavailable
	availableAfter atomic.Int32 // failed drafts until it is available again; 0: never
}

func (s *faultyStore) PutText(ctx context.Context, owner, turnID, key, text string) error {
	if s.unavailable.Load() {
		return db.ErrUnavailable
	}
	s.mu.Lock()
	fails := s.putFails
	s.mu.Unlock()
	if fails != nil {
		if err := fails(key); err != nil {
			return err
		}
	}
	return s.Store.PutText(ctx, owner, turnID, key, text)
}

func (s *faultyStore) Texts(ctx context.Context, owner, turnID string) (map[string]string, error) {
	if s.readTexts != nil {
		s.readTexts()
	}
	return s.Store.Texts(ctx, owner, turnID)
}

func (s *faultyStore) KeepText(ctx context.Context, owner, turnID, key, text string) (string, error) {
	if s.unavailable.Load() {
		return "", db.ErrUnavailable
	}
	s.mu.Lock()
	fails := s.putFails
	s.mu.Unlock()
	if fails != nil {
		if err := fails(key); err != nil {
			return "", err
		}
	}
	return s.Store.KeepText(ctx, owner, turnID, key, text)
}

func (s *faultyStore) PutTexts(ctx context.Context, owner, turnID string, texts []db.Text) error {
	if s.unavailable.Load() {
		return db.ErrUnavailable
	}
	s.mu.Lock()
	fails := s.putFails
	s.mu.Unlock()
	for _, t := range texts {
		if fails != nil {
			if err := fails(t.Key); err != nil {
				return err
			}
		}
	}
	return s.Store.PutTexts(ctx, owner, turnID, texts)
}

func (s *faultyStore) SaveDraft(ctx context.Context, owner string, d db.Draft) error {
	if s.unavailable.Load() {
		if s.availableAfter.Load() > 0 && s.availableAfter.Add(-1) == 0 {
			s.unavailable.Store(false)
		}
		return db.ErrUnavailable
	}
	s.mu.Lock()
	drafted := s.drafted
	s.mu.Unlock()
	if drafted != nil {
		if err := drafted(d); err != nil {
			return err
		}
	}
	return s.Store.SaveDraft(ctx, owner, d)
}

func (s *faultyStore) Settle(ctx context.Context, e db.Settlement) (db.Settled, error) {
	if s.unavailable.Load() {
		return db.Settled{}, db.ErrUnavailable
	}
	if s.settled != nil {
		if err := s.settled(e); err != nil {
			return db.Settled{}, err
		}
	}
	return s.Store.Settle(ctx, e)
}

// activityInfo fakes an activity's attempt, start time and heartbeat timeout.
type activityInfo struct {
	interceptor.WorkerInterceptorBase
	attempt   int32
	ago       time.Duration // time since the attempt began
	scheduled time.Duration // time between scheduling and the attempt
	heartbeat time.Duration // the heartbeat timeout
}

func (i *activityInfo) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &inbound{info: i}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	info *activityInfo
}

func (i *inbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	o := &outbound{info: i.info}
	o.Next = out
	return i.Next.Init(o)
}

type outbound struct {
	interceptor.ActivityOutboundInterceptorBase
	info *activityInfo
}

func (o *outbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.Attempt = o.info.attempt
	info.StartedTime = time.Now().Add(-o.info.ago)
	info.ScheduledTime = info.StartedTime.Add(-o.info.scheduled)
	info.HeartbeatTimeout = o.info.heartbeat
	return info
}

func ptr[T any](v T) *T { return &v }
