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

// A turn's trace is named by the turn's id, so that every process that ever
// works for the turn adds to the same one: nothing has to be handed on, and
// neither a question to a person nor a crash splits it. The turn's own span is
// written last, when it is settled; its id follows from the turn's, too, so that
// its children can name it before.

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

// within makes ctx's next span a child of the turn's span.
func within(ctx context.Context, ref activities.TurnRef) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceOf(ref.TurnID), SpanID: spanOf(ref.TurnID), TraceFlags: trace.FlagsSampled, Remote: true,
	}))
}

// begun is when the turn was made: its id is a UUID of version 7, which says so.
func begun(turnID string) (time.Time, bool) {
	id, err := uuid.Parse(turnID)
	if err != nil || id.Version() != 7 {
		return time.Time{}, false
	}
	sec, nsec := id.Time().UnixTime()
	return time.Unix(sec, nsec), true
}

type turnKey struct{}

// turnIDs makes ids at random, but for the turn's own span.
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
