package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever a client sends, it is never our fault.
func FuzzNoBodyIsA500(f *testing.F) {
	b := setup(f)
	h := b.server.routes()
	calls := []struct{ method, path string }{
		{"POST", "/api/chat"}, {"POST", "/api/chat/resume"}, {"POST", "/api/chat/cancel"}, {"PUT", "/api/me"},
		{"POST", "/api/conversations"}, {"PATCH", "/api/conversations/" + someThread}, {"POST", "/api/documents"},
		{"POST", "/api/document-sets"}, {"PUT", "/api/document-sets/" + someThread},
		{"POST", "/api/ui/chat"}, {"POST", "/api/ui/chat/" + someThread + "/stop"}, {"GET", "/api/ui/chat/x"}, {"GET", "/api/ui/chat/x/stream"},
		{"POST", "/api/agent/v2/stream"}, {"POST", "/api/agent/v2/resume"}, {"POST", "/api/agent/v2/stop"},
		{"POST", "/api/v1/chat/stream"}, {"POST", "/api/v1/chat/feedback"}, {"PUT", "/api/v1/threads/some-thread/repo"},
		{"GET", "/api/v1/chat/interrupt"}, {"GET", "/api/v1/threads/some-thread/repo"}, {"POST", "/api/attachments"},
		{"GET", "/api/search"}, {"GET", "/api/conversations"}, {"GET", "/api/documents"},
		{"GET", "/api/chat/history/" + someThread}, {"GET", "/api/chat/stream/" + someThread},
	}
	for _, seed := range []string{
		``, `{}`, `[]`, `null`, `{"message":"x"}`, `{"message":"\ud800\u0000"}`, `{"message":1}`,
		`{"message":"x","thread_id":"` + someThread + `","tagged_doc_ids":["` + someThread + `"],"tiptap_json":{"a":[[[]]]}}`,
		`{"thread_id":"` + someThread + `","resume_value":{"type":"cancel","value":null,"tiptap_json":{}}}`,
		`{"turn_id":"x","reason":"disconnect"}`, `{"title":"x","text":"y"}`, `{"name":"x","doc_ids":["` + someThread + `"]}`,
		`{"stream_run_id":"r"}`, `{"message":"x","session_id":"s","client_turn_id":"c","stream_run_id":"r"}`,
		`{"session_id":"s","resume_value":{"type":"tool_approval","decisions":[{"id":"c","decision":"approved","arguments":{"a":[]}}]}}`,
		`{"thread_id":"t","checkpoint_id":null,"message":{"role":"human","content":[{"type":"image","image":"chatbot://a"}]}}`,
		`{"thread_id":"t","approval_data":{"type":"answer","value":"x"}}`, `{"repo":{"messages":[]}}`, `thread_id=t&checkpoint_id=root`,
		`q=%FF&cursor=eyJ9&limit=3`, `head=root&before=x.m1&last_event_id=a.1`, `q=" OR * NEAR(&k=5`,
	} {
		for i := range calls {
			f.Add(i, seed)
		}
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		call := calls[((which%len(calls))+len(calls))%len(calls)]
		var r *http.Request
		if call.method == "GET" {
			r = httptest.NewRequestWithContext(t.Context(), "GET", call.path, nil)
			r.URL.RawQuery = text
		} else {
			r = httptest.NewRequestWithContext(t.Context(), call.method, call.path, strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%s %s %q: %d %s", call.method, call.path, text, w.Code, w.Body)
		}
	})
}
