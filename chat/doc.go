// Package chat has the types that workflows, activities, stores and dialects share.
// It imports no other package of ours and knows no wire format, SQL or Temporal.
package chat
