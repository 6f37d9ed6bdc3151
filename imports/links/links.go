// Package links finds links in messages. It recognises the links of Google Drive and of
// the sources that a program adds.
package links

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/xurls/v2"

	"github.com/palaver-chat/palaver/chat"
)

// Link is a link to something that can be imported.
type Link struct {
	Source chat.SourceType // SourceDrive, SourceLink, or that of a Place
	// ExternalID identifies the target at its source. It is the id of a file in Google
	// Drive, and the address elsewhere.
	ExternalID  string
	ResourceKey string // for Google Drive: files shared before 2021 need it
	// URL is the address in its usual form: a lower-case host, no user name, no fragment.
	URL string
}

// Errors of Parse.
var (
	// ErrMalformedDrive is the error of a link into Google Drive that does not name a
	// file.
	ErrMalformedDrive = errors.New("not the link of a file in Google Drive")
	// ErrNotALink is the error of anything else that cannot be imported.
	ErrNotALink = errors.New("not an https link")
)

// MaxLength is the length of the longest link that is accepted, in bytes.
const MaxLength = 2048

// FoundLink is a link in a message, or what looks like one.
type FoundLink struct {
	Text string // as in the message
	Link Link
	Err  error // of Parse
}

// inText matches links with a scheme, and links into Google Drive without one. The
// library leaves out punctuation and unbalanced brackets at the end.
var inText = mustMatch(`\bhttps?://|\b(?:drive|docs)\.google\.com/`)

func mustMatch(beginning string) *regexp.Regexp {
	re, err := xurls.StrictMatchingScheme(beginning)
	if err != nil {
		panic(err)
	}
	return re
}

// Find returns the links in a message in their order, each once. places are the added
// sources.
func Find(message string, places ...Place) []FoundLink {
	var out []FoundLink
	seen := map[Link]bool{}
	for _, text := range inText.FindAllString(message, -1) {
		link, err := Parse(text, places...)
		switch {
		case errors.Is(err, ErrNotALink):
			continue
		case err == nil:
			id := Link{Source: link.Source, ExternalID: link.ExternalID}
			if seen[id] {
				continue
			}
			seen[id] = true
		case slices.ContainsFunc(out, func(f FoundLink) bool { return f.Text == text }):
			continue
		}
		out = append(out, FoundLink{Text: text, Link: link, Err: err})
	}
	return out
}

// Parse reads one link. places are the added sources. The error is ErrMalformedDrive or
// ErrNotALink.
func Parse(text string, places ...Place) (Link, error) {
	u, err := parseURL(text)
	if err != nil {
		return Link{}, err
	}
	if target := behindRedirect(u); target != "" {
		if u, err = parseURL(target); err != nil {
			return Link{}, err
		}
	}
	if isDrive(u) {
		return driveLink(u)
	}
	for _, p := range places {
		if p.has(u) {
			return Link{Source: p.Source, ExternalID: u.String(), URL: u.String()}, nil
		}
	}
	if u.Scheme != "https" {
		return Link{}, ErrNotALink
	}
	address := u.String()
	return Link{Source: chat.SourceLink, ExternalID: address, URL: address}, nil
}

// parseURL reads an address in its usual form: a lower-case host, no fragment.
func parseURL(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxLength {
		return nil, ErrNotALink
	}
	if lower := strings.ToLower(text); strings.HasPrefix(lower, "drive.google.com/") || strings.HasPrefix(lower, "docs.google.com/") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return nil, ErrNotALink
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Host = strings.TrimSuffix(u.Host, "."); u.Hostname() == "" || strings.HasSuffix(u.Host, ".") {
		return nil, ErrNotALink
	}
	u.Fragment, u.RawFragment = "", ""
	u.Path = cmp.Or(u.Path, "/")
	return u, nil
}

// behindRedirect returns the address that a link copied from a Google document or mail
// leads to: those go through https://www.google.com/url?q=….
func behindRedirect(u *url.URL) string {
	if (u.Host != "www.google.com" && u.Host != "google.com") || u.Path != "/url" {
		return ""
	}
	query := u.Query()
	if q := query.Get("q"); q != "" {
		return q
	}
	return query.Get("url")
}
