package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// toolServers are the names of MCP servers. Each space allows one of them.
var toolServers = []string{"even", "odd"}

func serverOf(space int) string { return toolServers[space%len(toolServers)] }

// toolOf is the name of a server's tool in a prompt.
func toolOf(server string) string { return server + "__note" }

// startTools starts the MCP servers. Nobody calls their tools: a prompt that offers one shows
// whether the space allows it.
func startTools() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var in struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(out, "not JSON-RPC", http.StatusBadRequest)
			return
		}
		var result any
		if in.Method == "tools/list" {
			result = object{"tools": []object{{"name": "note", "description": "Makes a note.", "inputSchema": object{"type": "object"}}}}
		}
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(object{"jsonrpc": "2.0", "id": in.ID, "result": result})
	}))
}

// serverSettings is the value of MCP_SERVERS.
func serverSettings(url string) string {
	var all []object
	for _, name := range toolServers {
		all = append(all, object{"name": name, "transport": "rpc", "url": url + "/" + name, "approve": "ask"})
	}
	b, _ := json.Marshal(all) // texts
	return string(b)
}

// offered judges which tools a prompt for a message in a space offers.
func (w *world) offered(prompt string, t turn) {
	for _, server := range toolServers {
		if t.space < 0 || !strings.Contains(prompt, `"`+toolOf(server)+`"`) {
			continue
		}
		w.mu.Lock()
		if server == serverOf(t.space) {
			w.legal++
			w.reached["a tool that the space allows"]++
		} else {
			w.leaks = append(w.leaks, "a prompt in space "+strconv.Itoa(t.space)+" offers "+toolOf(server))
		}
		w.mu.Unlock()
	}
}
