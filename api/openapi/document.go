package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

const aboutAPI = `Palaver's HTTP API. It supports several dialects (wire formats). Clients of different dialects can follow, stop and continue the same conversation.

**Streams** are server-sent events. Each data line contains one event of the schema. Comment lines (": ping") keep the connection open. A stream ends when the turn ends or asks a question. The AI SDK and LangGraph dialects add a last line "data: [DONE]".

**Errors** before a stream starts are JSON (schema Error) with an HTTP status. Later errors are error events of the dialect. To retry a failed turn, send its message with a new client_turn_id: the old one returns the failed turn.

Every response has the header X-Request-Id. The server uses the id that the client sends, if it has 1 to 64 characters of A-Z a-z 0-9 _ . : -`

// API is what a document describes.
type API struct {
	Version    string
	Anonymous  bool   // a caller without credentials gets a cookie
	Cookie     string // its name
	Proxy      string // the header with a proxy's secret
	Error      any    // JSON of every error
	Operations []Operation
	Nested     []Shape            // shapes inside bodies
	Events     map[string][]Shape // of the data lines of each kind of stream, by schema name
	Schemas    map[string]any     // further ones by name
	Words      map[string]Word    // of one schema (Schema.field), or all fields with the name
	Prefixes   map[string]string  // prefixes of schema names by the import path of the types' package; other packages have none
	Renamed    map[string]string  // schema names by TypeName, for types whose own names would collide or say too little
}

// Document is a document with its ETag.
type Document struct {
	Raw     []byte
	ETag    string
	Schemas []string // their names
}

// Document makes the document. It panics on types that cannot be described: all of them
// are in this repository.
func (a API) Document() (Document, error) {
	d := &documentBuilder{schemas: a.newSchemas()}
	d.doc = &openapi3.T{
		OpenAPI: "3.1.0",
		Info:    &openapi3.Info{Title: "Palaver", Version: a.Version, Description: aboutAPI, License: &openapi3.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}},
		Servers: openapi3.Servers{{URL: "/"}},
		Paths:   openapi3.NewPaths(),
		Components: &openapi3.Components{Schemas: d.schemas.made, Responses: openapi3.ResponseBodies{}, Headers: documentedHeaders(),
			SecuritySchemes: a.securitySchemes()},
		Security: a.security(),
	}
	for _, nested := range a.Nested {
		d.schemas.body(nested)
	}
	for name, shapes := range a.Events {
		d.schemas.events(name, shapes)
	}
	for name, v := range a.Schemas {
		d.schemas.made[name] = d.schemas.of(v)
	}
	d.failures(a.Error)
	for _, o := range a.Operations {
		d.add(o)
	}
	for _, name := range d.schemas.unions {
		delete(d.schemas.made, name)
	}
	d.schemas.describe(a.Words)
	raw, err := json.Marshal(d.doc)
	sum := sha256.Sum256(raw)
	return Document{raw, `"` + hex.EncodeToString(sum[:16]) + `"`, slices.Sorted(maps.Keys(d.schemas.made))}, err
}

// Serve answers with the document; clients may cache and revalidate it.
func (d Document) Serve(c *gin.Context) error {
	c.Header("Content-Type", "application/json; charset=utf-8")
	c.Header("Cache-Control", "public, max-age=300")
	c.Header("ETag", d.ETag)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(d.Raw))
	return nil
}

// documentBuilder builds the document.
type documentBuilder struct {
	doc     *openapi3.T
	schemas *schemas
}

// refusal describes an error status.
type refusal struct {
	status      int
	name, about string
}

var refusals = []refusal{
	{http.StatusBadRequest, "BadRequest", "The request has invalid fields. details lists them."},
	{http.StatusUnauthorized, "Unauthorized", "The request has no valid token."},
	{http.StatusForbidden, "Forbidden", "The caller may not do this, or the request comes from another site."},
	{http.StatusNotFound, "NotFound", "The caller has no resource with this id."},
	{http.StatusMethodNotAllowed, "MethodNotAllowed", "The path does not support this method. The header Allow lists the supported ones."},
	{http.StatusConflict, "Conflict", "A turn is running (on_busy reject), or the client_turn_id was used with different content."},
	{http.StatusPreconditionFailed, "PreconditionFailed", "The stored version has changed since it was read."},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The body is larger than allowed."},
	{http.StatusUnsupportedMediaType, "UnsupportedType", "The body's media type is not supported."},
	{http.StatusTooManyRequests, "TooManyRequests", "A rate limit or a quota is reached. Retry-After says when to retry."},
	{http.StatusInternalServerError, "Internal", "An internal error."},
	{http.StatusServiceUnavailable, "Unavailable", "A required service is unavailable."},
}

func (d *documentBuilder) failures(v any) {
	body := openapi3.NewContentWithJSONSchemaRef(d.schemas.of(v))
	for _, r := range refusals {
		res := openapi3.NewResponse().WithDescription(r.about).WithContent(body)
		res.Headers = headersOf("X-Request-Id")
		switch r.status {
		case http.StatusTooManyRequests:
			res.Headers = headersOf("X-Request-Id", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
		case http.StatusMethodNotAllowed: // the MCP library answers in plain text
			res.Headers, res.Content = headersOf("X-Request-Id", "Allow"), nil
		}
		d.doc.Components.Responses[r.name] = &openapi3.ResponseRef{Value: res}
	}
}

// statuses returns the statuses of an operation's errors.
func (o Operation) statuses() []int {
	all := append([]int{http.StatusInternalServerError}, o.Errors...)
	if o.Open {
		return all
	}
	all = append(all, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable) // 400: a space is named that the route does not work in
	if o.InSpace != chat.NoMember {
		all = append(all, http.StatusNotFound)
	}
	if o.Body != nil || o.File {
		all = append(all, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if strings.Contains(o.Route, ":") {
		all = append(all, http.StatusBadRequest, http.StatusNotFound)
	}
	if len(o.Query)+len(o.Headers) > 0 {
		all = append(all, http.StatusBadRequest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	pathParam  = regexp.MustCompile(`:([a-z_]+)`)
	notForName = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

func (d *documentBuilder) add(o Operation) {
	method, path, _ := strings.Cut(o.Route, " ")
	op := openapi3.NewOperation()
	op.Summary, op.Tags = o.About, []string{o.Group}
	if o.Takes != 0 {
		op.Description = "Credentials: " + o.Takes.String() + "."
	}
	if o.Admin {
		op.Description = "For administrators only (ADMIN_GROUPS)."
	}
	op.OperationID = strings.Trim(notForName.ReplaceAllString(strings.ToLower(method)+path, "_"), "_")
	if o.Open {
		op.Security = openapi3.NewSecurityRequirements()
	}
	for _, m := range pathParam.FindAllStringSubmatch(path, -1) {
		op.AddParameter(openapi3.NewPathParameter(m[1]).WithSchema(openapi3.NewStringSchema()))
	}
	for _, p := range o.Query {
		op.AddParameter(p.describe(openapi3.NewQueryParameter(p.Name)))
	}
	if o.InSpace != chat.NoMember {
		o.Headers = append(slices.Clip(o.Headers), Param{Name: "X-Space-Id", About: "The space in which the request works. Without it: the caller's own documents and conversations."})
	}
	for _, p := range o.Headers {
		op.AddParameter(p.describe(openapi3.NewHeaderParameter(p.Name)))
	}
	if o.Body != nil || o.File {
		op.RequestBody = &openapi3.RequestBodyRef{Value: d.body(o)}
	}
	op.Responses = openapi3.NewResponsesWithCapacity(8)
	for _, a := range o.Answers {
		op.Responses.Set(strconv.Itoa(a.Status), &openapi3.ResponseRef{Value: d.answer(a)})
	}
	for _, status := range o.statuses() {
		i := slices.IndexFunc(refusals, func(r refusal) bool { return r.status == status })
		if o.Error != nil {
			res := openapi3.NewResponse().WithDescription(refusals[i].about).WithContent(openapi3.NewContentWithJSONSchemaRef(d.schemas.of(o.Error)))
			op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: res})
			continue
		}
		op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Ref: "#/components/responses/" + refusals[i].name})
	}
	d.doc.AddOperation(pathParam.ReplaceAllString(path, "{$1}"), method, op)
}

func (p Param) describe(to *openapi3.Parameter) *openapi3.Parameter {
	s := openapi3.NewStringSchema()
	switch {
	case p.Most > 0:
		s = openapi3.NewIntegerSchema().WithMin(float64(p.Least)).WithMax(float64(p.Most))
	case p.List:
		s = openapi3.NewArraySchema().WithItems(s)
	case p.Enum != nil:
		s.Enum = p.Enum
	}
	return to.WithDescription(p.About).WithRequired(p.Required).WithSchema(s)
}

func (d *documentBuilder) body(o Operation) *openapi3.RequestBody {
	content := openapi3.Content{}
	if o.Body != nil {
		content["application/json"] = openapi3.NewMediaType().WithSchemaRef(d.schemas.body(o.Body))
	}
	if o.File {
		form := openapi3.NewObjectSchema().WithProperty("file", &openapi3.Schema{Extensions: map[string]any{"contentMediaType": "application/octet-stream"}})
		form.Required = []string{"file"}
		if o.Body != nil {
			form.WithProperty("title", openapi3.NewStringSchema())
		}
		content["multipart/form-data"] = openapi3.NewMediaType().WithSchema(form)
	}
	return openapi3.NewRequestBody().WithContent(content).WithRequired(!o.BodyOptional)
}

func (d *documentBuilder) answer(a Answer) *openapi3.Response {
	content := openapi3.Content{}
	if a.JSON != nil {
		content["application/json"] = openapi3.NewMediaType().WithSchemaRef(d.schemas.of(a.JSON))
	}
	if a.Events != "" {
		content[sse.ContentType] = openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef(componentSchemas+a.Events, nil))
	}
	for _, media := range strings.Fields(a.Media) {
		content[media] = openapi3.NewMediaType()
	}
	res := openapi3.NewResponse().WithDescription(http.StatusText(a.Status)).WithContent(content)
	res.Headers = headersOf(append([]string{"X-Request-Id"}, a.Headers...)...)
	return res
}

func documentedHeaders() openapi3.Headers {
	out := openapi3.Headers{}
	for name, about := range map[string]string{
		"X-Request-Id":        "The request's id, which is also in the log.",
		"X-Thread-Id":         "The conversation's id, a UUID.",
		"X-Turn-Id":           "The turn's id, a UUID.",
		"X-Stream-Run-Id":     "The client's id of the request.",
		"ETag":                "The resource's version.",
		"Allow":               "The methods that the path supports.",
		"Retry-After":         "Seconds to wait before a retry.",
		"RateLimit-Limit":     "The number of requests allowed in the window.",
		"RateLimit-Remaining": "The number of requests left in the window.",
		"RateLimit-Reset":     "Seconds until the window is reset.",
	} {
		h := &openapi3.Header{Parameter: openapi3.Parameter{Description: about, Schema: openapi3.NewSchemaRef("", openapi3.NewStringSchema())}}
		out[name] = &openapi3.HeaderRef{Value: h}
	}
	return out
}

func headersOf(names ...string) openapi3.Headers {
	out := openapi3.Headers{}
	for _, name := range names {
		out[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
	}
	return out
}

func (a API) securitySchemes() openapi3.SecuritySchemes {
	return openapi3.SecuritySchemes{
		"bearer": {Value: openapi3.NewJWTSecurityScheme().WithDescription("A Supabase token. sub is the user's id.")},
		"cookie": {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("cookie").WithName(a.Cookie).
			WithDescription("Set for anonymous callers.")},
		"proxy": {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("header").WithName(a.Proxy).
			WithDescription("The secret of a trusted proxy. The header userid has the user's id.")},
	}
}

// security returns the accepted credentials. Unless tokens are required, a caller
// without credentials gets a cookie.
func (a API) security() openapi3.SecurityRequirements {
	all := openapi3.SecurityRequirements{{"bearer": {}}, {"proxy": {}}}
	if a.Anonymous {
		all = append(all, openapi3.SecurityRequirement{"cookie": {}}, openapi3.SecurityRequirement{})
	}
	return all
}
