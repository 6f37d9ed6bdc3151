package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// event is one server-sent event.
type event struct {
	Type    string `json:"type"`
	Node    string `json:"node,omitempty"`
	Message string `json:"message,omitempty"`
	Content string `json:"content,omitempty"`
	*answered
}

// streams maps a turn to the request that reads it.
type streams struct {
	mu   sync.Mutex
	open map[string]chan event
}

func newStreams() *streams { return &streams{open: map[string]chan event{}} }

// buffered is larger than the number of events in a turn.
const buffered = 1024

func (s *streams) follow(turn string) (events <-chan event, end func()) {
	c := make(chan event, buffered)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[turn] = c
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[turn] == c {
			delete(s.open, turn)
		}
	}
}

// of returns a function that sends events to the turn's current follower; without
// one, events are lost.
func (s *streams) of(turn string) func(event) {
	s.mu.Lock()
	c := s.open[turn]
	s.mu.Unlock()
	return func(e event) {
		select {
		case c <- e:
		default:
		}
	}
}

func routes(engine dbos.DBOSContext, a *agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /documents", func(w http.ResponseWriter, r *http.Request) {
		var d upload
		if !read(w, r, &d) {
			return
		}
		id, err := a.store.add(r.Context(), d)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
	})
	mux.HandleFunc("POST /turns", func(w http.ResponseWriter, r *http.Request) {
		var m message
		if !read(w, r, &m) {
			return
		}
		events, end := a.streams.follow(m.Turn)
		defer end()
		handle, err := dbos.RunWorkflow(engine, a.turn, m, dbos.WithWorkflowID(m.Turn))
		serve(w, events, handle, err)
	})
	mux.HandleFunc("POST /turns/{turn}/resume", func(w http.ResponseWriter, r *http.Request) {
		var answer struct{ Resume string }
		if !read(w, r, &answer) {
			return
		}
		turn := r.PathValue("turn")
		events, end := a.streams.follow(turn)
		defer end()
		handle, err := dbos.RetrieveWorkflow[answered](engine, turn)
		if err == nil {
			err = dbos.Send(engine, turn, answer.Resume, resumeTopic)
		}
		serve(w, events, handle, err)
	})
	return mux
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20)).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// serve streams a turn's events until it ends or asks.
func serve(w http.ResponseWriter, events <-chan event, handle dbos.WorkflowHandle[answered], err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	out := http.NewResponseController(w)
	send := func(e event) {
		b, err := json.Marshal(e)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
		_ = out.Flush() // an error means that the client disconnected
	}
	ended := make(chan event, 1)
	go func() {
		result, err := handle.GetResult()
		if err != nil {
			ended <- event{Type: "error", Message: err.Error()}
			return
		}
		ended <- event{Type: "response", answered: &result}
	}()
	for {
		select {
		case e := <-events:
			send(e)
			if e.Type == "interrupt" {
				return
			}
		case end := <-ended:
			for len(events) > 0 {
				send(<-events)
			}
			send(end)
			return
		}
	}
}
