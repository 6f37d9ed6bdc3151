package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func tavily(t *testing.T, handler http.HandlerFunc) *Tavily {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	web, err := NewTavily("tvly-secret", server.URL)
	require.NoError(t, err)
	return web
}

func TestSearchSendsTheQueryAndReadsThePages(t *testing.T) {
	web := tavily(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/search", r.URL.Path)
		require.Equal(t, "Bearer tvly-secret", r.Header.Get("Authorization"))
		var in tavilyRequest
		require.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		require.Equal(t, tavilyRequest{Query: "capital rules", MaxResults: MaxWebHits, SearchDepth: "basic"}, in)
		fmt.Fprint(w, `{"results":[{"title":"Rules\nnow","url":"https://bank.example/a","content":"Text.","score":0.9}]}`)
	})
	hits, err := web.Search(context.Background(), "capital rules")
	require.NoError(t, err)
	require.Equal(t, []WebHit{{Title: "Rules now", URL: "https://bank.example/a", Text: "Text.", Score: 0.9}}, hits)
}

func TestSearchKeepsOnlyCitablePagesWithinLimits(t *testing.T) {
	web := tavily(t, func(w http.ResponseWriter, _ *http.Request) {
		var rows []string
		for _, u := range []string{"http://plain.example", "javascript:alert(1)", "https://user:pw@x.example", "", "https://a.example", "https://a.example"} {
			rows = append(rows, fmt.Sprintf(`{"url":%q,"content":"text"}`, u))
		}
		rows = append(rows, `{"url":"https://empty.example","content":"  "}`,
			fmt.Sprintf(`{"url":"https://long.example","content":%q}`, strings.Repeat("ü", MaxWebText+5)))
		for i := range 10 {
			rows = append(rows, fmt.Sprintf(`{"url":"https://b%d.example","content":"text"}`, i))
		}
		fmt.Fprint(w, `{"results":[`+strings.Join(rows, ",")+`]}`)
	})
	hits, err := web.Search(context.Background(), "q")
	require.NoError(t, err)
	require.Len(t, hits, MaxWebHits)
	require.Equal(t, "https://a.example", hits[0].URL)
	require.Equal(t, "a.example", hits[0].Title)
	require.Equal(t, MaxWebText, utf8.RuneCountInString(hits[1].Text))
}

func TestSearchErrorsNeverHoldKeyQueryOrBody(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "body-text tvly-secret")
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		},
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "body-text") },
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.CopyN(w, endless{}, maxTavilyBody+10)
		},
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "body-text")
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tavily(t, handler).Search(context.Background(), "query-text")
			require.Error(t, err)
			for _, secret := range []string{"tvly-secret", "query-text", "body-text"} {
				require.NotContains(t, err.Error(), secret)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSearchEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{})
	web := tavily(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() { <-asked; cancel() }()
	_, err := web.Search(ctx, "q")
	require.ErrorIs(t, err, context.Canceled)
}

// Rule S14.
func TestTavilyWithoutAKeyIsNotConfigured(t *testing.T) {
	web, err := NewTavily("", "")
	require.NoError(t, err)
	require.False(t, web.Configured())
	_, err = web.Search(context.Background(), "q")
	require.ErrorContains(t, err, "not configured")
	require.False(t, (*Tavily)(nil).Configured())
}

func TestTavilyRefusesAMalformedAddress(t *testing.T) {
	for _, bad := range []string{"api.tavily.com", "ftp://x", "://", "https://"} {
		_, err := NewTavily("k", bad)
		require.ErrorContains(t, err, "TAVILY_BASE_URL", bad)
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte(`{"results":[{"url":"https://a.example","content":"x"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var a tavilyAnswer
		if json.Unmarshal(raw, &a) != nil {
			return
		}
		for _, h := range pages(a) {
			require.True(t, strings.HasPrefix(h.URL, "https://"))
			require.LessOrEqual(t, utf8.RuneCountInString(h.Text), MaxWebText)
			require.NotEmpty(t, h.Title)
		}
	})
}
