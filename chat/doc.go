// Package chat has the types that workflows, activities, stores and dialects share.
// Of our packages it imports only chat/messages and knows no wire format, SQL or Temporal.
package chat
