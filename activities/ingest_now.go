package activities

import "context"

// IngestNow does the work of Ingest outside of Temporal, once, for the command
// palaver ingest. The document's row has the result.
func IngestNow(ctx context.Context, a *Activities, r IngestRequest) error { return a.ingest(ctx, r) }
