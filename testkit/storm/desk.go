package storm

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// desk is an MCP server (JSON-RPC over POST) with one tool that has a side effect:
// it makes a note and records its tool call and time. Palaver sees it as two
// servers: "desk", which needs no approval, and "vault", which does.
type desk struct {
	url  string
	http *http.Server

	mu    sync.Mutex
	notes map[string][]time.Time // by tool call id
}

const noteTakes = 400 * time.Millisecond

func openDesk() (*desk, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the desk: %w", err)
	}
	d := &desk{url: "http://" + listener.Addr().String(), notes: map[string][]time.Time{}}
	d.http = &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.http.Serve(listener) }()
	return d, nil
}

func (d *desk) close() { _ = d.http.Close() }

// servers is the value of MCP_SERVERS.
func (d *desk) servers() string {
	return fmt.Sprintf(`[{"name":"desk","transport":"rpc","url":%q,"approve":"never"},{"name":"vault","transport":"rpc","url":%q,"approve":"ask"}]`, d.url+"/desk", d.url+"/vault")
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments struct{ Mark string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "not JSON-RPC", http.StatusBadRequest)
		return
	}
	var result any
	switch in.Method {
	case "tools/list":
		result = map[string]any{"tools": []any{map[string]any{
			"name": "note", "description": "Makes a note.",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"mark": map[string]any{"type": "string"}}, "required": []string{"mark"}},
		}}}
	case "tools/call":
		var call string
		_ = json.Unmarshal(in.ID, &call) // any other id has no tool call
		d.mu.Lock()
		d.notes[call] = append(d.notes[call], time.Now())
		d.mu.Unlock()
		pause(r.Context(), noteTakes) // a caller that disconnects changes nothing
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "Noted " + in.Params.Arguments.Mark}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": in.ID, "result": result})
}

// book is every note made so far, by tool call id.
func (d *desk) book() map[string][]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]time.Time{}
	for call, at := range d.notes {
		all[call] = slices.Clone(at)
	}
	return all
}
