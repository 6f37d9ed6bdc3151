package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/chat"
)

const aboutAPI = `Palaver's HTTP interface. One engine speaks several dialects; a conversation begun in one can be watched, stopped or continued in another.

**Streams** are server-sent events: each data line holds one of the schema's events, comment lines (": ping") keep the line open, and a stream ends with the turn or with a question to a person. The AI SDK and LangGraph dialects add a last line "data: [DONE]".

**Errors** before a stream begins are JSON (schema Error) with the status; after that they are the dialect's own error event. A failed turn is tried again as a new one, with another client_turn_id: the same one returns the turn that has failed.

Every answer carries X-Request-Id; one that the caller sends (1 to 64 characters A-Z a-z 0-9 _ . : -) is kept.`

// openAPI is the document with its ETag.
type openAPI struct {
	raw  []byte
	etag string
}

func newOpenAPI(auth string, agents chat.Agents) (openAPI, error) {
	d := &documented{schemas: newSchemas()}
	d.doc = &openapi3.T{
		OpenAPI: "3.1.0",
		Info:    &openapi3.Info{Title: "Palaver", Version: mcpVersion, Description: aboutAPI, License: &openapi3.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}},
		Servers: openapi3.Servers{{URL: "/"}},
		Paths:   openapi3.NewPaths(),
		Components: &openapi3.Components{Schemas: d.schemas.made, Responses: openapi3.ResponseBodies{}, Headers: documentedHeaders(),
			SecuritySchemes: securitySchemes()},
		Security: securityOf(auth),
	}
	for _, nested := range slices.Concat(dialect.Nested, aisdk.Nested, langgraph.Nested) {
		d.schemas.body(nested)
	}
	d.schemas.events(nativeEvents, native.Events)
	d.schemas.events(uiEvents, aisdk.Events)
	d.schemas.events(langGraphEvents, langgraph.Events)
	d.schemas.events(agentV2Events, agentv2.Events)
	d.schemas.made[mcpMessages] = openapi3.NewSchemaRef("", &openapi3.Schema{
		AnyOf: openapi3.SchemaRefs{d.schemas.of(rpcResponse{}), d.schemas.body(rpcRequest{})}})
	d.failures()
	for _, o := range operations {
		d.add(o)
	}
	delete(d.schemas.made, "UIChunk") // the union type of all chunks; no schema refers to it
	d.schemas.describe(agents)
	raw, err := json.Marshal(d.doc)
	sum := sha256.Sum256(raw)
	return openAPI{raw, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
}

// serve answers GET /openapi.json; clients may cache and revalidate it.
func (d openAPI) serve(c *gin.Context) error {
	c.Header("Content-Type", "application/json; charset=utf-8")
	c.Header("Cache-Control", "public, max-age=300")
	c.Header("ETag", d.etag)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(d.raw))
	return nil
}

// documented builds the document.
type documented struct {
	doc     *openapi3.T
	schemas *schemas
}

// refusal describes an error status.
type refusal struct {
	status      int
	name, about string
}

var refusals = []refusal{
	{http.StatusBadRequest, "BadRequest", "The request has fields that cannot be used; details names them."},
	{http.StatusUnauthorized, "Unauthorized", "A valid token is needed."},
	{http.StatusForbidden, "Forbidden", "Not for this caller, or from another site."},
	{http.StatusNotFound, "NotFound", "There is nothing of the caller's by that id."},
	{http.StatusMethodNotAllowed, "MethodNotAllowed", "The path knows other methods; Allow names them."},
	{http.StatusConflict, "Conflict", "A turn runs (on_busy reject), or the client_turn_id was used with other content."},
	{http.StatusPreconditionFailed, "PreconditionFailed", "Another version has been stored meanwhile."},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The body is larger than allowed."},
	{http.StatusUnsupportedMediaType, "UnsupportedType", "The body is of a type that is not read here."},
	{http.StatusTooManyRequests, "TooManyRequests", "Too much at once, or in a short time; Retry-After says when to come back."},
	{http.StatusInternalServerError, "Internal", "Something went wrong on our side."},
	{http.StatusServiceUnavailable, "Unavailable", "Something that is needed cannot be reached right now."},
}

func (d *documented) failures() {
	body := openapi3.NewContentWithJSONSchemaRef(d.schemas.of(errorJSON{}))
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
func (o operation) statuses() []int {
	all := append([]int{http.StatusInternalServerError}, o.errors...)
	if o.open {
		return all
	}
	all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable)
	if o.body != nil || o.file {
		all = append(all, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if strings.Contains(o.route, ":") {
		all = append(all, http.StatusBadRequest, http.StatusNotFound)
	}
	if len(o.query)+len(o.headers) > 0 {
		all = append(all, http.StatusBadRequest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	pathParam  = regexp.MustCompile(`:([a-z_]+)`)
	notForName = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

func (d *documented) add(o operation) {
	method, path, _ := strings.Cut(o.route, " ")
	op := openapi3.NewOperation()
	op.Summary, op.Tags = o.about, []string{o.group}
	op.OperationID = strings.Trim(notForName.ReplaceAllString(strings.ToLower(method)+path, "_"), "_")
	if o.open {
		op.Security = openapi3.NewSecurityRequirements()
	}
	for _, m := range pathParam.FindAllStringSubmatch(path, -1) {
		op.AddParameter(openapi3.NewPathParameter(m[1]).WithSchema(openapi3.NewStringSchema()))
	}
	for _, p := range o.query {
		op.AddParameter(p.describe(openapi3.NewQueryParameter(p.name)))
	}
	for _, p := range o.headers {
		op.AddParameter(p.describe(openapi3.NewHeaderParameter(p.name)))
	}
	if o.body != nil || o.file {
		op.RequestBody = &openapi3.RequestBodyRef{Value: d.body(o)}
	}
	op.Responses = openapi3.NewResponsesWithCapacity(8)
	for _, a := range o.answers {
		op.Responses.Set(strconv.Itoa(a.status), &openapi3.ResponseRef{Value: d.answer(a)})
	}
	for _, status := range o.statuses() {
		i := slices.IndexFunc(refusals, func(r refusal) bool { return r.status == status })
		op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Ref: "#/components/responses/" + refusals[i].name})
	}
	d.doc.AddOperation(pathParam.ReplaceAllString(path, "{$1}"), method, op)
}

func (p param) describe(to *openapi3.Parameter) *openapi3.Parameter {
	s := openapi3.NewStringSchema()
	switch {
	case p.most > 0:
		s = openapi3.NewIntegerSchema().WithMin(float64(p.least)).WithMax(float64(p.most))
	case p.list:
		s = openapi3.NewArraySchema().WithItems(s)
	case p.enum != nil:
		s.Enum = p.enum
	}
	return to.WithDescription(p.about).WithRequired(p.required).WithSchema(s)
}

func (d *documented) body(o operation) *openapi3.RequestBody {
	content := openapi3.Content{}
	if o.body != nil {
		content["application/json"] = openapi3.NewMediaType().WithSchemaRef(d.schemas.body(o.body))
	}
	if o.file {
		form := openapi3.NewObjectSchema().WithProperty("file", &openapi3.Schema{Extensions: map[string]any{"contentMediaType": "application/octet-stream"}})
		form.Required = []string{"file"}
		if o.body != nil {
			form.WithProperty("title", openapi3.NewStringSchema())
		}
		content["multipart/form-data"] = openapi3.NewMediaType().WithSchema(form)
	}
	return openapi3.NewRequestBody().WithContent(content).WithRequired(!o.bodyOptional)
}

func (d *documented) answer(a success) *openapi3.Response {
	content := openapi3.Content{}
	if a.json != nil {
		content["application/json"] = openapi3.NewMediaType().WithSchemaRef(d.schemas.of(a.json))
	}
	if a.events != "" {
		content["text/event-stream"] = openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef(componentSchemas+a.events, nil))
	}
	if a.media != "" {
		content[a.media] = openapi3.NewMediaType()
	}
	res := openapi3.NewResponse().WithDescription(http.StatusText(a.status)).WithContent(content)
	res.Headers = headersOf(append([]string{"X-Request-Id"}, a.headers...)...)
	return res
}

func documentedHeaders() openapi3.Headers {
	out := openapi3.Headers{}
	for name, about := range map[string]string{
		"X-Request-Id":        "The request, as the log names it.",
		"X-Thread-Id":         "The conversation, a UUID.",
		"X-Turn-Id":           "The turn, a UUID.",
		"X-Stream-Run-Id":     "The request as its client names it.",
		"ETag":                "The version.",
		"Allow":               "The methods that the path knows.",
		"Retry-After":         "Seconds to wait.",
		"RateLimit-Limit":     "How many are allowed in the window.",
		"RateLimit-Remaining": "How many are left.",
		"RateLimit-Reset":     "Seconds until the window begins anew.",
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

func securitySchemes() openapi3.SecuritySchemes {
	return openapi3.SecuritySchemes{
		"bearer": {Value: openapi3.NewJWTSecurityScheme().WithDescription("A Supabase token; sub is the user.")},
		"cookie": {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("cookie").WithName(cookieName).
			WithDescription("Given out to anonymous callers.")},
		"proxy": {Value: openapi3.NewSecurityScheme().WithType("apiKey").WithIn("header").WithName(proxySecretHeader).
			WithDescription("A trusted proxy's secret; its header userid names the user.")},
	}
}

// securityOf returns the accepted credentials. Unless tokens are required, a caller
// without credentials gets a cookie.
func securityOf(auth string) openapi3.SecurityRequirements {
	all := openapi3.SecurityRequirements{{"bearer": {}}, {"proxy": {}}}
	if auth == AuthAnonymous {
		all = append(all, openapi3.SecurityRequirement{"cookie": {}}, openapi3.SecurityRequirement{})
	}
	return all
}
