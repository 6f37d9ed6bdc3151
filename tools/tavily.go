package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/internal/language"
)

// TavilyURL is the service's own address.
const TavilyURL = "https://api.tavily.com"

// Limits of one search.
const (
	MaxWebHits    = 5
	MaxWebText    = 2000 // characters of one page's text
	maxWebTitle   = 200
	maxQuery      = 400 // Tavily's limit
	maxTavilyBody = 2 << 20
	tavilyTimeout = 10 * time.Second
)

// Tavily searches the web through api.tavily.com.
type Tavily struct {
	key, endpoint string
	client        *http.Client
}

var _ WebSearch = (*Tavily)(nil)

// NewTavily makes a client; without a key it is not Configured. An empty baseURL means
// TavilyURL; a malformed one is an error.
func NewTavily(key, baseURL string) (*Tavily, error) {
	baseURL = cmp.Or(baseURL, TavilyURL)
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("TAVILY_BASE_URL: %q is not an http or https address", baseURL)
	}
	return &Tavily{
		key:      key,
		endpoint: u.JoinPath("search").String(),
		client: &http.Client{
			Timeout:       tavilyTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key must not be sent to another host
		},
	}, nil
}

// Configured reports whether there is a key.
func (t *Tavily) Configured() bool { return t != nil && t.key != "" }

type tavilyRequest struct {
	Query       string `json:"query"`
	MaxResults  int    `json:"max_results"`
	SearchDepth string `json:"search_depth"`
}

type tavilyAnswer struct {
	Results []struct {
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Content string  `json:"content"`
		Score   float64 `json:"score"`
	} `json:"results"`
}

// Search returns at most MaxWebHits pages with https addresses.
func (t *Tavily) Search(ctx context.Context, query string) ([]WebHit, error) {
	if !t.Configured() {
		return nil, errors.New("web search: not configured")
	}
	body, err := json.Marshal(tavilyRequest{Query: language.Truncate(query, maxQuery), MaxResults: MaxWebHits, SearchDepth: "basic"})
	if err != nil {
		return nil, fmt.Errorf("web search: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("web search: malformed request")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+t.key)
	res, err := t.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("web search: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("web search: status %d", res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxTavilyBody+1))
	if err != nil {
		return nil, fmt.Errorf("web search: reading the answer: %w", err)
	}
	if len(raw) > maxTavilyBody {
		return nil, errors.New("web search: the answer is too large")
	}
	var answer tavilyAnswer
	if json.Unmarshal(raw, &answer) != nil {
		return nil, errors.New("web search: the answer is not the JSON expected")
	}
	return pages(answer), nil
}

// pages returns the results that can be cited: unique https addresses with text.
func pages(a tavilyAnswer) []WebHit {
	var hits []WebHit
	seen := map[string]bool{}
	for _, r := range a.Results {
		u, err := url.Parse(r.URL)
		text := strings.TrimSpace(strings.ToValidUTF8(r.Content, ""))
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || text == "" || seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		title := strings.Join(strings.Fields(strings.ToValidUTF8(r.Title, "")), " ")
		title = cmp.Or(title, u.Host)
		hits = append(hits, WebHit{Title: language.Truncate(title, maxWebTitle), URL: u.String(), Text: language.Truncate(text, MaxWebText), Score: r.Score})
		if len(hits) == MaxWebHits {
			break
		}
	}
	return hits
}
