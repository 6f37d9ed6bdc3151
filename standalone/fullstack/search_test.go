package fullstack

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// tavily serves a web search that finds one page.
func tavily(t *testing.T) (url string, searches *atomic.Int32) {
	searches = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		searches.Add(1)
		_ = json.NewEncoder(w).Encode(object{"results": []object{{
			"title": "Gazette", "url": "https://gazette.example/2026/12", "score": 0.9,
			"content": "The harbour toll rises to 14 euros a ship from May 2026.",
		}}})
	}))
	t.Cleanup(s.Close)
	return s.URL, searches
}

func TestWebSearchAnswersWhatDocumentsDoNotAndCitesTheURL(t *testing.T) {
	t.Parallel()
	url, searches := tavily(t)
	_, model, c := scripted(t, stacktest.Flag("tavily-api-key", "key"), stacktest.Flag("tavily-base-url", url))
	doc := c.upload("Liquidity circular", circular)
	model.On(llmtest.Match{Schema: "web_query"}, llmtest.JSON(object{"query": "harbour toll 2026"}))
	model.On(llmtest.Match{Kind: llmtest.Stream, Func: func(r llmtest.Request) bool { return strings.Contains(string(r.Body), "harbour toll rises") }},
		llmtest.Text("The toll rises to 14 euros [1]."))
	events := c.ask("What is the latest harbour toll for ships?", object{"action": "inquire"})
	end := last(events)
	require.Equal(t, "response", end.Type, "%+v", end)
	require.EqualValues(t, 1, searches.Load())
	var said bool
	for _, e := range events {
		said = said || e.Node == "web_search" && e.Message == `Searching online "harbour toll 2026"`
	}
	require.True(t, said)
	require.NotEmpty(t, end.Citations)
	web := end.Citations[len(end.Citations)-1]
	require.Equal(t, "web", web.Source)
	require.Equal(t, "https://gazette.example/2026/12", web.URL)
	require.Contains(t, "The harbour toll rises to 14 euros a ship from May 2026.", web.Quote)

	// A question that the documents answer fully causes no search.
	events = c.ask("What is the current liquidity coverage ratio a bank must hold at the end of every business day?", object{"tagged_doc_ids": []string{doc}, "action": "inquire"})
	require.Equal(t, "response", last(events).Type)
	require.EqualValues(t, 1, searches.Load())
}

func TestEmbeddingsFindPassagesWithoutCommonWords(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.Flag("embedding-model-name", "hashed"))
	doc := c.upload("Liquidity circular", circular)
	require.NotZero(t, model.Count(llmtest.Match{Kind: llmtest.Embeddings}), "passages are embedded at ingest")
	var hits struct {
		Hits []struct {
			DocID string `json:"doc_id"`
			Text  string
		}
	}
	c.do(http.StatusOK, http.MethodGet, "/api/search?q=liquidity+coverage+ratio&doc_ids="+doc, nil, &hits)
	require.NotEmpty(t, hits.Hits)
	require.Equal(t, doc, hits.Hits[0].DocID)
	before := model.Count(llmtest.Match{Kind: llmtest.Embeddings})
	require.Equal(t, "response", last(c.ask("What is the ratio?", object{"action": "inquire"})).Type)
	require.Greater(t, model.Count(llmtest.Match{Kind: llmtest.Embeddings}), before, "questions are embedded too")
}
