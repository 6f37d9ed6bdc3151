package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"

	"github.com/google/uuid"
)

// bind gives the manager of a space a key that is bound to it, and a picture elsewhere.
func (w *world) bind(ctx context.Context, in int) error {
	sp := &w.spaces[in]
	var made struct{ Key string }
	if err := w.must(ctx, sp.manager, nowhere, "POST", "/api/me/keys", object{"name": "bot", "space_id": sp.id}, &made); err != nil {
		return err
	}
	sp.key = made.Key
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "picture.png")
	if err == nil {
		err = png.Encode(part, image.NewGray(image.Rect(0, 0, 1, 1)))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", w.url+"/api/attachments", &body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+w.token(sp.manager))
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var picture struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&picture); err != nil || picture.ID == "" {
		return fmt.Errorf("uploading a picture: %d %w", res.StatusCode, err)
	}
	sp.picture = picture.ID
	return nil
}

// useKey calls a random route about a random space, or about a picture of its owner, with a key
// that is bound to a space.
func (w *world) useKey(ctx context.Context, in int) {
	sp := w.spaces[in]
	r := request{method: "GET", path: "/api/attachments/" + sp.picture}
	switch w.rand(4) {
	case 0:
	case 1:
		r = request{method: "POST", path: "/api/chat", body: object{"thread_id": uuid.NewString(), "message": w.question(sp.manager, in, ""), "attachments": []string{sp.picture}}}
	default:
		at := w.rand(len(w.spaces))
		if r = w.call(w.routes[w.rand(len(w.routes))], sp.manager, nowhere, w.target(at)); r.method != http.MethodGet {
			r.path, r.body, r.method = "/api/search?q=liquidity", nil, http.MethodGet // others read what it would change
		}
		if w.rand(2) == 0 {
			r.in = in
		}
		r.as, r.where, r.name = sp.manager, in, "a route with a key"
		r.bound, r.token = true, sp.key
		w.try(ctx, r)
		return
	}
	r.as, r.in, r.where, r.name, r.bound, r.token = sp.manager, nowhere, in, "a picture with a key", true, sp.key
	if status, _, _ := w.try(ctx, r); status < 300 && status > 0 {
		w.mu.Lock()
		w.leaks = append(w.leaks, fmt.Sprintf("%s %s: a key of space %d takes its owner's picture of elsewhere", r.method, r.path, in))
		w.mu.Unlock()
	}
}
