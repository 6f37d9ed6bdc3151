package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
)

// The revision of MCP that tools/list and tools/call follow here.
const rpcProtocol = "2025-06-18"

// codeServer marks errors that are worth a retry.
const codeServer = -32000

// RPCRequest is a JSON-RPC request.
type RPCRequest struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// RPCResponse is the response to an RPCRequest.
type RPCResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// RPC serves the plain form of MCP: one JSON-RPC 2.0 request, one response. An
// invalid request gets a JSON-RPC error with status 200. Callers without access, or
// with too many open streams, get a plain HTTP error.
func (s *Server) RPC(c *gin.Context) error {
	raw, err := request.Body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	out := newResponse(c.Writer, " ") // white space before JSON is ignored
	defer out.close()
	in := callOf(c, out)
	c.Header("Content-Type", "application/json")
	reply, isCall := s.answerRPC(in, raw)
	if !isCall {
		c.Status(http.StatusAccepted)
		return nil
	}
	answer, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	_, _ = out.Write(answer)
	return nil
}

// answerRPC runs one request; a notification gets no response.
func (s *Server) answerRPC(in *call, raw []byte) (out RPCResponse, isCall bool) {
	out = RPCResponse{Version: "2.0", ID: json.RawMessage("null")}
	refuse := func(code int64, message string) (RPCResponse, bool) {
		out.Error = &jsonrpc.Error{Code: code, Message: message}
		return out, true
	}
	var req RPCRequest
	switch raw = bytes.TrimSpace(raw); {
	case !json.Valid(raw):
		return refuse(jsonrpc.CodeParseError, "The body is not JSON.")
	case dialect.CheckSize(raw) != nil:
		return refuse(jsonrpc.CodeInvalidRequest, "The body has too many values, or is nested too deeply.")
	case raw[0] == '[':
		return refuse(jsonrpc.CodeInvalidRequest, "Batches are not supported.")
	case json.Unmarshal(raw, &req) != nil || req.Version != "2.0" || req.Method == "" || !rpcID(req.ID):
		return refuse(jsonrpc.CodeInvalidRequest, "The body is not a JSON-RPC 2.0 request.")
	case req.ID == nil:
		return out, false
	}
	out.ID = req.ID
	switch req.Method {
	case "initialize":
		out.Result = map[string]any{
			"protocolVersion": rpcProtocol, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": name, "version": Version}, "instructions": instructions,
		}
	case "ping":
		out.Result = struct{}{}
	case "tools/list":
		list := make([]*sdk.Tool, len(offers))
		for i, o := range offers {
			list[i] = o.tool
		}
		out.Result = map[string]any{"tools": list}
	case "tools/call":
		result, err := s.callRPC(in, req.Params)
		if err != nil {
			out.Error = s.rpcError(err, in.id)
			break
		}
		out.Result = result
	default:
		return refuse(jsonrpc.CodeMethodNotFound, "There is no such method.")
	}
	return out, true
}

// checkMessage validates a message to MCP's streamable HTTP. Unlike at /mcp/rpc it
// may be a response, which has no method. Batches were removed from the protocol, and
// the SDK would answer only their first message.
func checkMessage(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return problem.Invalid("body", "must be valid JSON")
	}
	if err := dialect.CheckSize(raw); err != nil {
		return err
	}
	if raw[0] == '[' {
		return problem.Invalid("body", "must be one JSON-RPC 2.0 message, not a batch")
	}
	var m RPCRequest
	if json.Unmarshal(raw, &m) != nil || m.Version != "2.0" || !rpcID(m.ID) {
		return problem.Invalid("body", "must be a JSON-RPC 2.0 message")
	}
	if m.Params != nil && m.Params[0] != '{' && string(m.Params) != "null" {
		return problem.Invalid("params", "must be an object")
	}
	return nil
}

// rpcID reports whether id is absent, a string, a number or null.
func rpcID(id json.RawMessage) bool {
	return id == nil || id[0] != '{' && id[0] != '[' && id[0] != 't' && id[0] != 'f'
}

func (s *Server) callRPC(in *call, params json.RawMessage) (*sdk.CallToolResult, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := dialect.Decode(params, &call); err != nil {
		return nil, problem.Invalid("params", "must be an object with name and arguments")
	}
	for _, o := range offers {
		if o.tool.Name == call.Name {
			return s.runOffer(in, o, call.Arguments, func(string) {})
		}
	}
	return nil, problem.Invalid("name", "is not a tool of this server")
}

// rpcError converts an error to a JSON-RPC error. Its data has the fields of
// docs/errors.md.
func (s *Server) rpcError(err error, requestID string) *jsonrpc.Error {
	p := s.describe(err)
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: p.Message.Text + problemsOf(p)}
	switch {
	case p.Status == http.StatusInternalServerError:
		e.Code = jsonrpc.CodeInternalError
	case p.Status > http.StatusInternalServerError || p.Status == http.StatusTooManyRequests:
		e.Code = codeServer
	}
	data := map[string]any{"code": p.Code, "request_id": requestID}
	p.Message.Put(data)
	p.AddRetryAfter(data)
	if len(p.Details) > 0 {
		data["details"] = p.Details
	}
	e.Data, _ = json.Marshal(data) // cannot fail: it has strings only
	return e
}
