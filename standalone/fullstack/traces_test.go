package fullstack

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// collected holds the spans that a trace collector received.
type collected struct {
	mu    sync.Mutex
	spans []*tracepb.Span
}

func newCollector(t *testing.T) (*collected, string) {
	t.Helper()
	c := &collected{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var batch collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(raw, &batch) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range batch.ResourceSpans {
			for _, in := range of.ScopeSpans {
				c.spans = append(c.spans, in.Spans...)
			}
		}
	}))
	t.Cleanup(server.Close)
	return c, server.URL
}

// of returns the spans of a turn's trace, by name.
func (c *collected) of(turnID string) map[string]*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == strings.ReplaceAll(turnID, "-", "") {
			found[s.Name] = s
		}
	}
	return found
}

func stringAttribute(of []*commonpb.KeyValue, key string) string {
	for _, a := range of {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func TestTurnHasOneTraceAcrossAQuestionAndACrash(t *testing.T) {
	traces, url := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	model := llmtest.New(t)
	p := stacktest.StartProcess(t, stacktest.Model(model.URL))
	c := newTalk(t, func() string { return p.URL }, p.Client)
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, unsure)
	asked := last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}}))
	require.Equal(t, "interrupt", asked.Type)
	require.Eventually(t, func() bool { return traces.of(asked.TurnID)["intent_resolver"] != nil }, waitTimeout, 10*time.Millisecond)
	p.Kill()
	p.Start()
	require.Equal(t, "response", last(c.resume(chat.ActionChoice, "inquire")).Type)
	require.Eventually(t, func() bool { return traces.of(asked.TurnID)["turn"] != nil }, waitTimeout, 10*time.Millisecond)

	spans := traces.of(asked.TurnID)
	turn := spans["turn"]
	require.Empty(t, turn.ParentSpanId)
	for _, node := range []string{"intent_resolver", "inquire"} {
		require.Contains(t, spans, node)
		require.Equal(t, turn.SpanId, spans[node].ParentSpanId, node)
		require.LessOrEqual(t, turn.StartTimeUnixNano, spans[node].StartTimeUnixNano, node)
		require.GreaterOrEqual(t, turn.EndTimeUnixNano, spans[node].EndTimeUnixNano, node)
	}
	require.Contains(t, spans, "retrieval")
	resumed := slices.IndexFunc(turn.Events, func(e *tracepb.Span_Event) bool { return e.Name == "resumed" })
	require.GreaterOrEqual(t, resumed, 0)
	require.Equal(t, "inquire", stringAttribute(turn.Events[resumed].Attributes, "palaver.answer.option"))
	require.Equal(t, "low", stringAttribute(spans["intent_resolver"].Attributes, "palaver.intent_confidence"))
	require.Contains(t, stringAttribute(spans["intent_resolver"].Attributes, "output.value"), `"likely"`)
	calls := 0
	for name := range spans {
		if strings.HasPrefix(name, "chat ") {
			calls++
		}
	}
	require.Positive(t, calls)
}
