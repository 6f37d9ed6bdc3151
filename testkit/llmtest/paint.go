package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"net/http"
)

func (s *Server) images(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string `json:"model"`
		Prompt string `json:"prompt"`
		N      int    `json:"n"`
		Size   string `json:"size"`
	}
	body, ok := readBody(w, r, &in)
	if !ok {
		return
	}
	req := Request{Kind: Images, Path: r.URL.Path, Model: in.Model, Body: body, LastUser: in.Prompt,
		Authorization: r.Header.Get("Authorization"), IdempotencyKey: r.Header.Get("Idempotency-Key")}
	s.record(req)
	a := s.answer(req, "")
	p := &player{w: w, r: r, req: req, a: a}
	switch {
	case a.Status != 0 || a.Body != "":
		p.play()
		return
	case !p.pause(a.Delay) || !p.gate(0):
		s.recordDisconnect(req)
		return
	case a.Silence:
		<-r.Context().Done()
		s.recordDisconnect(req)
		return
	case a.Cut:
		panic(http.ErrAbortHandler)
	case in.Prompt == "":
		fail(w, http.StatusBadRequest, "missing required parameter: 'prompt'")
		return
	}
	reply := map[string]any{"created": 1, "data": []any{map[string]any{"b64_json": base64.StdEncoding.EncodeToString(Picture(in.Prompt))}}}
	if !a.NoUsage {
		reply["usage"] = map[string]any{"input_tokens": len(in.Prompt)/4 + 1, "output_tokens": 1056, "total_tokens": len(in.Prompt)/4 + 1057}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(reply)
}

// Picture returns the PNG that this server generates for a prompt: 8×8 pixels in
// a colour derived from the prompt.
func Picture(prompt string) []byte {
	h := fnv.New32a()
	h.Write([]byte(prompt))
	sum := h.Sum32()
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, color.RGBA{byte(sum), byte(sum >> 8), byte(sum >> 16), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil { // into memory
		panic(err)
	}
	return b.Bytes()
}
