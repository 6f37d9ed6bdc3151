package service

import (
	"net/http"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/internal/payload"
)

// withCodec adds Temporal's remote codec to the API's handler if any encryption key is set.
// The codec is not part of the API: only operators and Temporal's tools use it.
func withCodec(cfg *config.Config, api http.Handler) (http.Handler, error) {
	keys, err := payload.NewKeys(cfg.PayloadEncryptionKey)
	if err != nil || !keys.Any() {
		return api, err
	}
	endpoint := payload.Endpoint{Keys: keys, Token: cfg.CodecToken, Exposed: cfg.Exposed(), Origins: cfg.UIOrigins()}
	mux := http.NewServeMux()
	mux.Handle("/", api)
	for _, path := range []string{payload.Path, payload.Path + "/"} {
		mux.Handle(path, cfg.Hosts().Handler(endpoint.Handler()))
	}
	return mux, nil
}
