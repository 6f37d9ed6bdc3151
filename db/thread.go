package db

import "context"

type threadKey struct{}

// InThread returns a context in which VisibleDocuments and searches of all documents also see
// those that belong to the thread, and ListDocuments sees only these. A copy of a conversation
// sees those that its messages name, while the original is shared.
func InThread(ctx context.Context, threadID string) context.Context {
	return context.WithValue(ctx, threadKey{}, threadID)
}

// ThreadOf returns the thread of InThread; "" without one.
func ThreadOf(ctx context.Context) string {
	id, _ := ctx.Value(threadKey{}).(string)
	return id
}
