package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// A promise is a parsed OpenAPI document, against which a server's responses are
// checked. All clients of a server share one.
type promise struct {
	raw    []byte
	doc    *openapi3.T
	router routers.Router

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by JSON pointer in the document
	seen     map[string]bool               // "GET /api/me 200", "NativeEvent status"
}

// read has the documents of all servers so far. There are few, because most servers have
// the same document.
var (
	readLock sync.Mutex
	read     = map[string]*promise{}
)

func readPromise(t testing.TB, raw []byte) *promise {
	t.Helper()
	readLock.Lock()
	defer readLock.Unlock()
	p := read[string(raw)]
	if p == nil {
		p = newPromise(t, raw)
		read[string(raw)] = p
	}
	return p
}

func newPromise(t testing.TB, raw []byte) *promise {
	t.Helper()
	p := &promise{raw: raw, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
	p.compiler.AssertFormat()
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = p.compiler.AddResource(place, plain)
	}
	if err == nil {
		p.doc, err = openapi3.NewLoader().LoadFromData(raw)
	}
	if err == nil {
		err = p.doc.Validate(t.Context())
	}
	if err == nil {
		p.router, err = gorillamux.NewRouter(p.doc)
	}
	require.NoError(t, err)
	return p
}

const place = "openapi.json"

// holds parses text and checks it against the schema at a JSON pointer in the document.
// The error says how it differs.
func (p *promise) holds(at, text string) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	schema := p.schemas[at]
	if schema == nil {
		var err error
		if schema, err = p.compiler.Compile(place + at); err != nil {
			return nil, err
		}
		p.schemas[at] = schema
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return v, schema.Validate(v)
}

func (p *promise) saw(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[what] = true
}

// placed returns the JSON pointer of a place in the document.
func placed(parts ...string) string {
	for i, s := range parts {
		parts[i] = url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return "#/" + strings.Join(parts, "/")
}

// checked is the transport of the tests' clients. Every response, and every request that
// the server accepted, must match the document.
type checked struct {
	t testing.TB
	*promise
}

func (k checked) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	route, params, err := k.router.FindRoute(r)
	if err != nil { // a path of the page, an unknown path, HEAD or OPTIONS, which the document does not list
		if res.StatusCode < 400 && r.Method != http.MethodHead && r.Method != http.MethodOptions && (strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/mcp")) {
			k.t.Errorf("%s %s is not in the document: %v", r.Method, r.URL.Path, err)
		}
		return res, nil
	}
	k.saw(fmt.Sprintf("%s %s %d", r.Method, route.Path, res.StatusCode))
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		ExcludeRequestBody: true, ExcludeResponseBody: true, // those are checked here, by JSON Schema alone
	}}
	if res.StatusCode < 400 && route.Path != "/mcp/rpc" { // a JSON-RPC error has status 200
		k.request(in, body)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options}
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		k.t.Errorf("%s %s: %v", r.Method, route.Path, err)
		return res, nil
	}
	k.response(route, res)
	return res, nil
}

// request checks a request that the server accepted.
func (k checked) request(in *openapi3filter.RequestValidationInput, body []byte) {
	what := in.Request.Method + " " + in.Route.Path
	if err := openapi3filter.ValidateRequest(in.Request.Context(), in); err != nil {
		k.t.Errorf("%s was accepted, but %v", what, err)
	}
	known := in.Route.Operation.RequestBody
	switch {
	case len(body) == 0 && (known == nil || !known.Value.Required):
	case known == nil:
		k.t.Errorf("%s was accepted with a body that the document does not describe: %s", what, body)
	case known.Value.Content.Get(in.Request.Header.Get("Content-Type")) == nil:
		k.t.Errorf("%s was accepted with the content type %s", what, in.Request.Header.Get("Content-Type"))
	case strings.HasPrefix(in.Request.Header.Get("Content-Type"), "application/json"):
		at := placed("paths", in.Route.Path, strings.ToLower(in.Request.Method), "requestBody", "content", "application/json", "schema")
		if _, err := k.holds(at, string(body)); err != nil {
			k.t.Errorf("%s was accepted, but %v: %s", what, err, body)
		}
	}
}

// response makes the body be checked while it is read.
func (k checked) response(route *routers.Route, res *http.Response) {
	known := route.Operation.Responses.Status(res.StatusCode)
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if kind == "" || len(known.Value.Content) == 0 {
		return
	}
	what := route.Method + " " + route.Path
	media := known.Value.Content.Get(kind)
	switch {
	case media == nil:
		k.t.Errorf("%s: the content type is %s", what, kind)
	case kind == "text/event-stream":
		res.Body = &checkedStream{ReadCloser: res.Body, checked: k, at: media.Schema.Ref}
	case media.Schema != nil:
		at := placed("paths", route.Path, strings.ToLower(route.Method), "responses", strconv.Itoa(res.StatusCode), "content", kind, "schema")
		if known.Ref != "" {
			at = known.Ref + "/content/" + url.PathEscape(strings.ReplaceAll(kind, "/", "~1")) + "/schema"
		}
		res.Body = &checkedBody{ReadCloser: res.Body, checked: k, what: what, at: at}
	}
}

// checkedBody checks JSON when all of it has been read.
type checkedBody struct {
	io.ReadCloser
	checked
	what, at string
	text     []byte
}

func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text = append(b.text, p[:n]...)
	if err == io.EOF {
		if _, err := b.holds(b.at, string(b.text)); err != nil {
			b.t.Errorf("%s answers %s, but %v", b.what, b.text, err)
		}
	}
	return n, err
}

// checkedStream checks the data lines of a stream as they are read.
type checkedStream struct {
	io.ReadCloser
	checked
	at   string
	line []byte
}

func (s *checkedStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.line = append(s.line, p[:n]...)
	for {
		line, rest, whole := bytes.Cut(s.line, []byte("\n"))
		if !whole {
			return n, err
		}
		s.line = rest
		if data, is := bytes.CutPrefix(line, []byte("data: ")); is && string(data) != "[DONE]" {
			s.event(string(data))
		}
	}
}

func (s *checkedStream) event(data string) {
	v, err := s.holds(s.at, data)
	if err != nil {
		s.t.Errorf("a stream sends %s, but %v", data, err)
		return
	}
	if e, ok := v.(map[string]any); ok {
		s.saw(strings.TrimPrefix(s.at, "#/components/schemas/") + " " + kindOf(e["type"], e["phase"]))
	}
}

// kindOf names the kind of an event. A LangGraph meta event that starts a stream is a kind
// of its own.
func kindOf(kind, phase any) string {
	if phase == "start" {
		return fmt.Sprint(kind, " start")
	}
	return fmt.Sprint(kind)
}

// missing returns what the document describes and no response had: successes of
// operations, and kinds of events.
func (p *promise) missing() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	want := func(what string) {
		if !p.seen[what] {
			out = append(out, what)
		}
	}
	for path, item := range p.doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				if status < "400" {
					want(method + " " + path + " " + status)
				}
			}
		}
	}
	for name, s := range p.doc.Components.Schemas {
		if !strings.HasSuffix(name, "Event") {
			continue
		}
		for _, one := range s.Value.OneOf {
			var phase any
			if field := one.Value.Properties["phase"]; field != nil {
				phase = field.Value.Enum[0]
			}
			var kind any // events of chat completions have no type
			if field := one.Value.Properties["type"]; field != nil {
				kind = field.Value.Const
			}
			want(name + " " + kindOf(kind, phase))
		}
	}
	slices.Sort(out)
	return out
}
