package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

type hitJSON struct {
	DocID   string  `json:"doc_id"`
	Title   string  `json:"title"`
	ChunkID string  `json:"chunk_id"`
	Score   float64 `json:"score"`
	Text    string  `json:"text"`
	Start   int     `json:"start"`
	End     int     `json:"end"`
}

type searchJSON struct {
	Hits []hitJSON `json:"hits"`
	// Embedding is present while some documents are searched by words only, because they
	// have no vectors of the embedding model yet.
	Embedding *embeddingJSON `json:"embedding,omitempty"`
}

type embeddingJSON struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// search returns passages, ranked as in answers.
func (s *server) search(c *gin.Context) error {
	var p dialect.Problems
	q := strings.TrimSpace(request.Query(c, &p, "q", request.MaxQuery))
	if q == "" && len(p) == 0 {
		p.Say("q", messages.FieldEmpty)
	}
	k := 10
	if text := c.Query("k"); text != "" {
		k = request.Number(&p, "k", text, 1, 50)
	}
	var ids []string
	for _, part := range c.QueryArray("doc_ids") { // repeated, or one list with commas
		for one := range strings.SplitSeq(part, ",") {
			if one = strings.TrimSpace(one); one != "" {
				ids = append(ids, one)
			}
		}
	}
	ids = p.UUIDs("doc_ids", ids)
	if err := p.Err(); err != nil {
		return err
	}
	if err := ofConversation(c); err != nil {
		return err
	}
	if err := s.visible(c, "doc_ids", ids); err != nil {
		return err
	}
	found, err := s.paidSearch(c.Request.Context(), identity.Of(c), q, ids, k)
	if err != nil {
		return err
	}
	progress, err := s.embedding(c.Request.Context(), identity.Of(c).ID)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, searchJSON{showHits(found), progress})
}

// embedding returns how many of the owner's documents have vectors; nil when all have
// them, or when no embedding model is configured.
func (s *server) embedding(ctx context.Context, owner string) (*embeddingJSON, error) {
	if s.Model.Embedding == "" {
		return nil, nil
	}
	done, total, err := s.Store.EmbeddingProgress(ctx, owner, s.Model.Embedding)
	if err != nil || done == total {
		return nil, err
	}
	return &embeddingJSON{done, total}, nil
}

// paidSearch searches. If the search calls an embedding model, it counts against the
// caller's limits.
func (s *server) paidSearch(ctx context.Context, who identity.Caller, q string, ids []string, k int) ([]chat.Hit, error) {
	if s.Model.Embedding != "" {
		if err := s.limits.AdmitPaid(ctx, who, "searches"); err != nil {
			return nil, err
		}
	}
	counting, metered := llm.WithMeter(ctx)
	found, err := s.Search.Search(counting, who.ID, q, ids, k)
	s.limits.Spend(ctx, who, metered.Usage())
	return found, err
}

func showHits(found []chat.Hit) []hitJSON {
	hits := make([]hitJSON, 0, len(found))
	for _, h := range found {
		hits = append(hits, hitJSON{DocID: h.DocID, Title: h.Title, ChunkID: h.ID, Score: h.Score, Text: h.Text, Start: h.Start, End: h.End})
	}
	return hits
}

// paramConversation lets lists and searches see the documents of a conversation.
var paramConversation = openapi.Param{Name: "conversation_id", About: "A conversation, whose documents are listed, or searched beside those of the library."}
