package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/internal/guard"
)

// Pages imports pages and files at public https addresses.
type Pages struct{ client *http.Client }

// NewPages makes a source whose connections and redirects the guard checks.
func NewPages(g *guard.Guard) *Pages { return &Pages{g.Client()} }

// Source returns public addresses as a source. It imports all links of no other source.
func (p *Pages) Source() Source {
	return Source{Type: chat.SourceLink, Label: "link", Look: p.Look, Fetch: p.Fetch}
}

// Look asks for the size and the validator. Servers need not send them, and its status does
// not matter: Fetch decides.
func (p *Pages) Look(ctx context.Context, _ string, link links.Link) (Remote, error) {
	r := Remote{ExternalID: link.ExternalID, URL: link.URL}
	res, err := p.ask(ctx, http.MethodHead, link.URL)
	if err != nil {
		return Remote{}, err
	}
	_ = res.Body.Close()
	if res.StatusCode == http.StatusOK {
		r.Size, r.MediaType = max(0, res.ContentLength), res.Header.Get("Content-Type")
		r.Version = validator(res.Header)
	}
	return r, nil
}

func (p *Pages) Fetch(ctx context.Context, _ string, r Remote, limit int64) (Content, error) {
	res, err := p.ask(ctx, http.MethodGet, r.URL)
	if err != nil {
		return Content{}, err
	}
	defer res.Body.Close()
	if err := pageError(res); err != nil {
		return Content{}, err
	}
	raw, err := readBody(res, limit)
	if err != nil {
		return Content{}, withoutURL(err)
	}
	c := Content{MediaType: res.Header.Get("Content-Type"), Version: validator(res.Header), Raw: raw}
	if kind, _, _ := mime.ParseMediaType(c.MediaType); kind == "text/html" || kind == "application/xhtml+xml" {
		c.Title = pageTitle(raw, c.MediaType)
		return c, nil
	}
	c.Name = sentName(res)
	return c, nil
}

func (p *Pages) ask(ctx context.Context, method, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil || req.URL.Scheme != "https" {
		return nil, errors.New("the address is not an https one")
	}
	req.Header.Set("User-Agent", "Palaver")
	req.Header.Set("Accept", "text/html, text/*;q=0.9, application/pdf;q=0.9, */*;q=0.5")
	res, err := p.client.Do(req)
	return res, withoutURL(err)
}

// withoutURL removes the address from an error: it may hold a secret, which must not be
// logged.
func withoutURL(err error) error {
	var where *url.Error
	if errors.As(err, &where) {
		return where.Err
	}
	return err
}

// pageError makes an *Error of a status other than success.
func pageError(res *http.Response) error {
	cause := fmt.Errorf("status %d", res.StatusCode)
	switch {
	case res.StatusCode == http.StatusOK:
		return nil
	case res.StatusCode == http.StatusTooManyRequests:
		return &Error{Code: RateLimited, RetryAfter: retryAfter(res.Header, time.Now()), Cause: cause}
	case res.StatusCode >= 500, res.StatusCode == http.StatusRequestTimeout:
		return cause
	}
	return &Error{Code: NotShared, Cause: cause}
}

// sentName returns the file name that a server sends, or the end of the last address.
func sentName(res *http.Response) string {
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	return lastPart(res.Request.URL.String())
}

// titleSample is how much of a page is read to find its title, in bytes.
const titleSample = 256 << 10

// pageTitle returns the title of a page; empty when it has none.
func pageTitle(raw []byte, mediaType string) string {
	in, err := charset.NewReader(bytes.NewReader(raw[:min(len(raw), titleSample)]), mediaType)
	if err != nil {
		return ""
	}
	z := html.NewTokenizer(io.LimitReader(in, titleSample))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Title && z.Next() == html.TextToken {
				return string(z.Text())
			}
		}
	}
}
