package activities

import "context"

// IngestNow does the work of Ingest outside of Temporal, once and for a caller
// who waits: palaver ingest. What it returns, the document's row explains.
func IngestNow(ctx context.Context, a *Activities, r IngestRequest) error { return a.ingest(ctx, r) }
