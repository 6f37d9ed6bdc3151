// Package mcp makes the tools of external MCP servers available to agents: over streamable
// HTTP, over the standard streams of a child process, and over plain JSON-RPC 2.0 by HTTP
// POST. Everything from a server, including descriptions, is untrusted.
package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/tools"
)

// Transport is the protocol of a server.
type Transport string

const (
	HTTP  Transport = "http"  // MCP's streamable HTTP
	Stdio Transport = "stdio" // MCP over the standard streams of a child process
	RPC   Transport = "rpc"   // tools/list and tools/call as JSON-RPC 2.0 over POST
)

// Server is one entry of MCP_SERVERS.
type Server struct {
	Name      string
	Transport Transport
	URL       string            // http and rpc
	Headers   map[string]string // http and rpc: sent with every request
	Command   []string          // stdio: program and arguments
	Env       map[string]string // stdio: in addition to PATH and HOME
	Allow     []string          // names of the tools that are offered; nil: all
	Approve   tools.Approval
	Timeout   time.Duration // of one call
	OAuth     OAuthSettings // http and rpc
}

// OAuthSettings are the operator's settings for a server at which people connect their accounts.
type OAuthSettings struct {
	Wanted                 bool // the server wants OAuth; else the server is asked
	ClientID, ClientSecret string
	Scope                  string
}

// mayWantOAuth reports whether people may have accounts at a server: it is reached by HTTP, without
// credentials of the operator.
func (s *Server) mayWantOAuth() bool {
	for name := range s.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return false
		}
	}
	return s.Transport != Stdio
}

// Limits of a server's entry.
const (
	DefaultTimeout = 10 * time.Second
	longestTimeout = 10 * time.Minute
	maxServers     = 50
	maxServerName  = 24
)

// ValidServer reports whether an MCP server may have the name.
func ValidServer(name string) bool { return len(name) <= maxServerName && serverName.MatchString(name) }

// serverName leaves room for the tool's name and cannot contain "__", which separates the
// two.
var serverName = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

// entry is the JSON of a server in MCP_SERVERS.
type entry struct {
	Name      string            `json:"name"`
	Transport Transport         `json:"transport"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Command   words             `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Allow     []string          `json:"allow"`
	Approve   *tools.Approval   `json:"approve"`
	Timeout   *string           `json:"timeout"`
	OAuth     *struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		Scope        string `json:"scope"`
	} `json:"oauth"`
}

// words is a command: a list, or one text with words separated by blanks.
type words struct {
	list   []string
	quoted bool // the text has quotation marks, which only a shell would interpret
}

func (w *words) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		w.list, w.quoted = strings.Fields(text), strings.ContainsAny(text, `'"\`)
		return nil
	}
	if json.Unmarshal(raw, &w.list) != nil {
		return errors.New("command must be a text or a list of texts")
	}
	return nil
}

// Parse reads MCP_SERVERS. An error says which entry is invalid and what is allowed. It repeats
// names only, because headers and commands may hold secrets.
func Parse(raw string) ([]Server, error) {
	if strings.TrimSpace(raw) == "" {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(raw))
	var entries []json.RawMessage
	if d.Decode(&entries) != nil || d.Decode(new(any)) != io.EOF {
		return nil, errors.New(`not a JSON list; use [{"name":"files","transport":"stdio","command":["program","argument"]}, …]`)
	}
	if len(entries) > maxServers {
		return nil, fmt.Errorf("%d servers are too many; use at most %d", len(entries), maxServers)
	}
	servers := make([]Server, 0, len(entries))
	seen := map[string]bool{}
	for i, raw := range entries {
		s, err := parseEntry(raw)
		if err == nil && seen[strings.ToLower(s.Name)] {
			err = errors.New("the name is used twice")
		}
		if err != nil {
			return nil, fmt.Errorf("server %d%s: %w", i+1, called(s.Name), err)
		}
		seen[strings.ToLower(s.Name)] = true
		servers = append(servers, s)
	}
	return servers, nil
}

func called(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

func parseEntry(raw []byte) (Server, error) {
	var e entry
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Server{}, explain(err)
	}
	s := Server{Transport: e.Transport, URL: e.URL, Headers: e.Headers, Env: e.Env, Allow: e.Allow, Approve: tools.Ask, Timeout: DefaultTimeout}
	if len(e.Name) > maxServerName || !serverName.MatchString(e.Name) {
		return s, fmt.Errorf("name must be 1 to %d letters and digits, with single _ or - between them", maxServerName)
	}
	s.Name = e.Name
	s.Command = append(e.Command.list, e.Args...)
	if e.Approve != nil {
		s.Approve = *e.Approve
	}
	switch s.Approve {
	case tools.Never, tools.Ask, tools.Edit:
	default:
		return s, errors.New("approve must be never, ask or edit")
	}
	if e.Timeout != nil {
		var err error
		if s.Timeout, err = time.ParseDuration(*e.Timeout); err != nil || s.Timeout < 10*time.Millisecond || s.Timeout > longestTimeout {
			return s, fmt.Errorf("timeout must be a duration up to %s, such as 30s", longestTimeout)
		}
	}
	if s.Allow != nil && len(s.Allow) == 0 {
		return s, errors.New("allow must name a tool, or be left out to offer all")
	}
	if e.OAuth != nil {
		s.OAuth = OAuthSettings{Wanted: true, ClientID: e.OAuth.ClientID, ClientSecret: e.OAuth.ClientSecret, Scope: e.OAuth.Scope}
		switch {
		case !s.mayWantOAuth():
			return s, errors.New("oauth is for http and rpc, without the header Authorization")
		case s.OAuth.ClientID == "" && s.OAuth.ClientSecret != "":
			return s, errors.New("oauth.client_secret needs oauth.client_id")
		}
	}
	switch s.Transport {
	case Stdio:
		return s, s.checkStdio(e.Command.quoted)
	case HTTP, RPC:
		return s, s.checkURL()
	}
	return s, errors.New("transport must be http, stdio or rpc")
}

// explain describes an error in an entry's JSON without repeating a value.
func explain(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s must not be a %s", kind.Field, strings.Fields(kind.Value)[0])
	case errors.As(err, &kind):
		return errors.New("must be an object")
	case strings.HasPrefix(err.Error(), "json: unknown field"), strings.HasPrefix(err.Error(), "command must"):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return errors.New("is not valid JSON")
}

func (s *Server) checkStdio(quoted bool) error {
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return errors.New("stdio needs a command")
	case quoted:
		return errors.New(`command is not read by a shell; with quotation marks or backslashes write it as a list: ["program","argument"]`)
	case s.URL != "" || s.Headers != nil:
		return errors.New("url and headers are for http and rpc")
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return errors.New("env must map names of variables to texts")
		}
	}
	for _, word := range s.Command {
		if strings.Contains(word, "\x00") {
			return errors.New("command must not hold the NUL character")
		}
	}
	return nil
}

func (s *Server) checkURL() error {
	if s.Command != nil || s.Env != nil {
		return errors.New("command, args and env are for stdio")
	}
	u, err := url.Parse(s.URL)
	if err != nil || s.URL == "" {
		return errors.New("url must be an address that begins with http:// or https://")
	}
	if err := guard.CheckURL(u); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	for name, value := range s.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return errors.New("headers must map names of HTTP headers to one-line texts")
		}
	}
	return nil
}
