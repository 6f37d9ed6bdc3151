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

// startReindexing indexes the documents again that an earlier release has indexed by other
// rules. It runs at every start of a worker: the rules change only with a release.
func (p *Process) startReindexing(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	outdated, err := p.parts.Store.DocumentsToIndex(ctx, "", 1)
	if err == nil && len(outdated) > 0 {
		err = ingest.StartIndex(ctx, p.parts.Temporal)
	}
	if err != nil {
		p.parts.Log.Warn("starting to index the documents of an earlier release failed; the next start tries again", "error", err)
	}
}
