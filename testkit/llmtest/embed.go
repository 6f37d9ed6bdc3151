package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

const dimensions = 64

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	body, ok := readBody(w, r, &in)
	if !ok {
		return
	}
	var texts []string
	if json.Unmarshal(in.Input, &texts) != nil {
		var one string
		if json.Unmarshal(in.Input, &one) != nil {
			fail(w, http.StatusBadRequest, "input must be text")
			return
		}
		texts = []string{one}
	}
	req := Request{Kind: Embeddings, Path: r.URL.Path, Model: in.Model, Body: body,
		LastUser: strings.Join(texts, "\n"), Authorization: r.Header.Get("Authorization")}
	s.record(req)
	a := s.answer(req, "")
	p := &player{w: w, r: r, req: req, a: a}
	switch {
	case a.Status != 0 || a.Body != "":
		p.play()
		return
	case !p.pause(a.Delay):
		s.recordDisconnect(req)
		return
	}
	data := make([]any, len(texts))
	for i, t := range texts {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": Vector(t)}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": in.Model, "data": data,
		"usage": map[string]any{"prompt_tokens": len(in.Input) / 4, "total_tokens": len(in.Input) / 4}})
}

// Vector returns this server's embedding of a text: a hashed bag of words of
// length 1, so that texts with common words are near each other.
func Vector(text string) []float32 {
	v := make([]float32, dimensions)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(strings.Trim(word, ".,;:!?\"'()")))
		sum := h.Sum32()
		sign := float32(1)
		if sum&1 == 1 {
			sign = -1
		}
		v[(sum>>1)%dimensions] += sign
	}
	var norm float64
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0], norm = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}
