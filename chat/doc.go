// Package chat is Palaver's vocabulary: the words in which workflows,
// activities, stores and dialects speak to each other. Plain Go; it imports
// nothing of ours and no wire format, SQL or Temporal leaks into it.
package chat
