package telemetry

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
)

// Search wraps a searcher so that its selections are traced.
func Search(s documents.Searcher, t *Traces) documents.Searcher {
	if t == nil {
		return s
	}
	return &search{Searcher: s, traces: t}
}

type search struct {
	documents.Searcher
	traces *Traces
}

func (s *search) Select(ctx context.Context, owner string, action chat.Action, query string, docIDs []string, known ...chat.Document) (retrieval.Selection, error) {
	ctx, span := s.traces.tracer.Start(ctx, "retrieval", trace.WithAttributes(
		kind(kindRetriever),
		attribute.String("gen_ai.operation.name", "retrieval"),
		attribute.Int("palaver.documents_in_scope", len(docIDs)),
	))
	defer span.End()
	found, err := s.Searcher.Select(ctx, owner, action, query, docIDs, known...)
	span.SetAttributes(
		attribute.Int("palaver.passages", len(found.Hits)),
		attribute.String("palaver.retrieval_confidence", string(found.Confidence)),
		attribute.Float64("palaver.retrieval_score", found.Score),
	)
	if s.traces.content {
		span.SetAttributes(attribute.String("input.value", shorten(query)))
		for i, h := range found.Hits {
			if i == maxPassages {
				break
			}
			key := "retrieval.documents." + strconv.Itoa(i) + ".document."
			span.SetAttributes(attribute.String(key+"id", h.ID), attribute.String(key+"content", shorten(h.Text)))
		}
	}
	ended(span, err)
	return found, err
}

// maxPassages is how many of a selection's passages a span shows.
const maxPassages = 20
