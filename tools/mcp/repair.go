package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Servers send messages that the SDK does not decode: one wrong field of one tool would make the
// whole server unavailable. So messages are repaired before the SDK reads them. What was removed from
// a tool travels with it, in its metadata.
const (
	removedKey = "palaver/removed"  // names of the tool's fields that could not be read
	leftOutKey = "palaver/left-out" // why the tool cannot be offered
)

type fields = map[string]json.RawMessage

var bom = []byte("\xef\xbb\xbf")

// repair returns a server's JSON-RPC message in the form that the SDK reads; nil if raw is none.
func repair(raw []byte) []byte {
	raw = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(raw), bom))
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	if raw[0] == '[' { // a batch: requests are sent one at a time, so it holds one answer
		return repairBatch(raw)
	}
	var m fields
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	_, isRequest := m["method"]
	result, hasResult := m["result"]
	problem, hasError := m["error"]
	if !isRequest && !hasResult && !hasError {
		return nil
	}
	m["jsonrpc"] = json.RawMessage(`"2.0"`)
	if isRequest {
		return encode(m)
	}
	if hasError && string(problem) == "null" {
		delete(m, "error")
		hasError = false
	}
	if hasError {
		delete(m, "result")
		m["error"] = repairError(problem)
	} else {
		m["result"] = repairResult(result)
	}
	var id string // the SDK's own ids are numbers
	if json.Unmarshal(m["id"], &id) == nil {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			m["id"] = encode(n)
		}
	}
	return encode(m)
}

func repairBatch(raw []byte) []byte {
	var list []fields
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, m := range list {
		if m["result"] != nil || m["error"] != nil {
			return repair(encode(m))
		}
	}
	return nil
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // values from valid JSON can be encoded
		return json.RawMessage("null")
	}
	return raw
}

// internalError is JSON-RPC's code for errors without one.
const internalError = -32603

func repairError(raw json.RawMessage) json.RawMessage {
	var said struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	if json.Unmarshal(raw, &said) != nil {
		said.Message = raw
	}
	var code int64
	if json.Unmarshal(said.Code, &code) != nil {
		code = internalError
	}
	fixed := map[string]any{"code": code, "message": textOf(said.Message)}
	if said.Data != nil {
		fixed["data"] = said.Data
	}
	return encode(fixed)
}

// textOf returns a JSON text without its quotation marks, and any other value as JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// repairResult repairs a result. Its fields say which method it answers.
func repairResult(raw json.RawMessage) json.RawMessage {
	var r fields
	if json.Unmarshal(raw, &r) != nil || r == nil {
		return encode(fields{"content": texts(textOf(raw))})
	}
	for _, name := range []string{"_meta", "resultType"} { // any result may have them
		if one := (fields{name: r[name]}); r[name] != nil && fit[sdk.CallToolResult](one) != nil {
			delete(r, name)
		}
	}
	switch {
	case has(r, "capabilities", "protocolVersion", "supportedVersions"):
		repairHandshake(r)
	case isToolList(r["tools"]):
		r["tools"] = repairTools(r["tools"])
		fit[sdk.ListToolsResult](r)
	case has(r, "content", "structuredContent", "isError"):
		repairContent(r)
	case len(r) > 0 && !has(r, "_meta", "resultType", "inputRequests"):
		return encode(fields{"content": texts(string(raw))}) // not MCP's form; a model can read it
	}
	return encode(r)
}

func has(o fields, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return o[name] != nil })
}

// texts returns content with one text; without any if the text is empty.
func texts(text string) json.RawMessage {
	if text == "null" || text == "" {
		return json.RawMessage("[]")
	}
	return encode([]any{map[string]string{"type": "text", "text": text}})
}

// fit removes what cannot be decoded as a field of T, and returns the names of what it removed.
func fit[T any](o fields) (removed []string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if json.Unmarshal(encode(fields{name: o[name]}), new(T)) != nil {
			delete(o, name)
			removed = append(removed, name)
		}
	}
	return removed
}

func repairHandshake(r fields) {
	var capabilities fields
	if json.Unmarshal(r["capabilities"], &capabilities) != nil || capabilities == nil {
		capabilities = fields{}
	}
	fit[sdk.ServerCapabilities](capabilities)
	r["capabilities"] = encode(capabilities)
	var version string
	if json.Unmarshal(r["protocolVersion"], &version) == nil && version != "" {
		r["protocolVersion"] = encode(knownVersion(version))
	}
	fit[sdk.InitializeResult](r)
	fit[sdk.DiscoverResult](r)
}

// knownVersion returns the newest version with a handshake that is not newer than what a server
// says, or the oldest one. Versions differ in little that tools need.
func knownVersion(said string) string {
	known := sdk.SupportedProtocolVersions() // newest first
	if slices.Contains(known, said) {
		return said
	}
	for _, v := range known {
		if v <= min(said, olderProtocol) {
			return v
		}
	}
	return known[len(known)-1]
}

func isToolList(raw json.RawMessage) bool {
	var list []struct {
		Name json.RawMessage `json:"name"`
	}
	if raw == nil || json.Unmarshal(raw, &list) != nil {
		return raw != nil && raw[0] == '[' // with something else than objects in it
	}
	return len(list) == 0 || slices.ContainsFunc(list, func(t struct {
		Name json.RawMessage `json:"name"`
	}) bool {
		return t.Name != nil
	})
}

func repairTools(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = nil
	}
	fixed := make([]fields, 0, len(list))
	for _, one := range list {
		var t fields
		if json.Unmarshal(one, &t) == nil && t != nil {
			repairTool(t)
			fixed = append(fixed, t)
		}
	}
	return encode(fixed)
}

func repairTool(t fields) {
	var name string
	if json.Unmarshal(t["name"], &name) != nil {
		t["name"] = encode(textOf(t["name"]))
	}
	var removed []string
	var hints fields
	if json.Unmarshal(t["annotations"], &hints) == nil && hints != nil {
		for _, hint := range fit[sdk.ToolAnnotations](hints) {
			removed = append(removed, "annotations."+hint)
		}
		t["annotations"] = encode(hints)
	}
	removed = append(removed, fit[sdk.Tool](t)...)
	var meta fields
	if json.Unmarshal(t["_meta"], &meta) != nil || meta == nil {
		meta = fields{}
	}
	delete(meta, removedKey)
	delete(meta, leftOutKey)
	if len(removed) > 0 {
		meta[removedKey] = encode(removed)
	}
	var execution struct {
		TaskSupport string `json:"taskSupport"`
	}
	if json.Unmarshal(t["execution"], &execution) == nil && execution.TaskSupport == "required" {
		meta[leftOutKey] = encode("it runs as a task only, which Palaver does not support")
	}
	if t["_meta"] != nil || len(meta) > 0 {
		t["_meta"] = encode(meta)
	}
}

// repairContent replaces content that cannot be read by a text that says so. If nothing can be read,
// the result is an error, because the model did not get what it asked for.
func repairContent(r fields) {
	var list []json.RawMessage
	if json.Unmarshal(r["content"], &list) != nil && r["content"] != nil {
		list = []json.RawMessage{r["content"]}
	}
	broken := 0
	for i, one := range list {
		var text string
		if json.Unmarshal(one, &text) == nil && string(one) != "null" {
			list[i] = encode(map[string]string{"type": "text", "text": text})
			continue
		}
		if json.Unmarshal(encode(map[string][]json.RawMessage{"content": {one}}), new(sdk.CallToolResult)) == nil && string(one) != "null" {
			continue
		}
		var item struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(one, &item)
		broken++
		list[i] = encode(map[string]string{"type": "text", "text": fmt.Sprintf("[content of type %.40q, which cannot be read]", item.Type)})
	}
	if list == nil {
		list = []json.RawMessage{}
	}
	r["content"] = encode(list)
	fit[sdk.CallToolResult](r)
	if broken > 0 && broken == len(list) && r["structuredContent"] == nil {
		r["isError"] = json.RawMessage("true")
	}
}
