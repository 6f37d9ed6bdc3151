package service

import (
	"context"

	"github.com/palaver-chat/palaver/documents/ingest"
)

// startEmbedding embeds the documents that have no vectors of the configured model. It
// runs at every start of a worker: the model changes only with a restart.
func (p *Process) startEmbedding(ctx context.Context) {
	if p.parts.Model.Info().Embedding == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	if err := ingest.StartEmbed(ctx, p.parts.Temporal); err != nil {
		p.parts.Log.Warn("starting to embed documents without vectors failed; the next start tries again", "error", err)
	}
}
