package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/palaver-chat/palaver/tools"
)

// rpc sends JSON-RPC 2.0 by HTTP POST: one request, one answer, no session. Closing the connection
// cancels a request.
type rpc struct {
	url         string
	base        http.RoundTripper
	credentials credentials
}

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type rpcResponse struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc.Error  `json:"error"`
}

func (r *rpc) list(ctx context.Context, owner string) ([]*sdk.Tool, error) {
	return pages(func(cursor string) (*sdk.ListToolsResult, error) {
		raw, err := r.send(ctx, owner, uuid.NewString(), "tools/list", &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		var page sdk.ListToolsResult
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, errors.New("the list of tools cannot be read")
		}
		return &page, nil
	})
}

// call runs a tool.
func (r *rpc) call(ctx context.Context, c tools.Call, tool string, _ func()) (*sdk.CallToolResult, error) {
	raw, err := r.send(ctx, c.Owner, c.ID, "tools/call", &sdk.CallToolParams{Meta: sdk.Meta{callKey: c.ID}, Name: tool, Arguments: arguments(c)})
	if err != nil {
		return nil, err
	}
	var result sdk.CallToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	return &result, nil
}

func (r *rpc) close() {}

// send posts a request and reads its result. A JSON-RPC error is returned as *jsonrpc.Error,
// whatever its HTTP status.
func (r *rpc) send(ctx context.Context, owner, id, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(rpcRequest{Version: "2.0", ID: id, Method: method, Params: params})
	if err != nil {
		return nil, &notConnected{err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, &notConnected{err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := newClient(sender{r.base, r.credentials, owner}).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if refused(res.StatusCode) {
		return nil, refusal(res)
	}
	raw, err := io.ReadAll(&limitedBody{res.Body, maxBody})
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return r.result(res, raw, id)
}

func (r *rpc) result(res *http.Response, raw []byte, id string) (json.RawMessage, error) {
	var answer rpcResponse
	fixed := repair(raw)
	isJSON := fixed != nil && json.Unmarshal(fixed, &answer) == nil
	switch {
	case isJSON && answer.Error != nil:
		return nil, answer.Error
	case res.StatusCode/100 == 4 || res.StatusCode/100 == 3:
		return nil, refusal(res)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", res.StatusCode)
	case !isJSON || answer.Result == nil:
		return nil, errors.New("the answer is not JSON-RPC")
	}
	var echoed string
	if json.Unmarshal(answer.ID, &echoed) != nil || echoed != id {
		return nil, errors.New("the answer is for another request")
	}
	return answer.Result, nil
}
