package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/activities"
)

// A turn's trace id is derived from the turn's id. So all processes that work on the turn
// add to the same trace without passing a context, and neither a question to a person nor a
// crash splits it. The turn's own span is written last, when the turn is settled. Its id is
// derived from the turn's id, too, so that its children can refer to it earlier.

func traceOf(turnID string) trace.TraceID {
	if id, err := uuid.Parse(turnID); err == nil {
		return trace.TraceID(id)
	}
	sum := sha256.Sum256([]byte(turnID))
	return trace.TraceID(sum[:16])
}

func spanOf(turnID string) trace.SpanID {
	sum := sha256.Sum256([]byte("turn " + turnID))
	return trace.SpanID(sum[:8])
}

// withTurnSpan makes ctx's next span a child of the turn's span.
func withTurnSpan(ctx context.Context, ref activities.TurnRef) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceOf(ref.TurnID), SpanID: spanOf(ref.TurnID), TraceFlags: trace.FlagsSampled, Remote: true,
	}))
}

// createdAt returns the time in the turn's id, a UUIDv7.
func createdAt(turnID string) (time.Time, bool) {
	id, err := uuid.Parse(turnID)
	if err != nil || id.Version() != 7 {
		return time.Time{}, false
	}
	sec, nsec := id.Time().UnixTime()
	return time.Unix(sec, nsec), true
}

type turnKey struct{}

// turnIDs makes random ids, except for the turn's own span.
type turnIDs struct{}

var _ sdktrace.IDGenerator = turnIDs{}

func (turnIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if turnID, ok := ctx.Value(turnKey{}).(string); ok {
		return traceOf(turnID), spanOf(turnID)
	}
	var t trace.TraceID
	_, _ = rand.Read(t[:]) // never fails
	return t, newSpanID()
}

func (turnIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newSpanID() (s trace.SpanID) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}
