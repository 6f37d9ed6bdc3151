// Package bus is the message bus. It carries token deltas, reports of running activities,
// new log entries and stop announcements over core NATS. Messages may be lost: readers recover from
// the log and the drafts.
package bus

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Delta is a few tokens of the piece of text being written. Offset counts the
// characters (runes) of the piece before Text; Attempt rises when the piece is
// restarted.
type Delta struct {
	TurnID  string `json:"turn_id"`
	Piece   int    `json:"piece"`
	Attempt int    `json:"attempt"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
	// Reasoning: the text is what the model thinks before the piece, with offsets of its own.
	Reasoning bool `json:"reasoning,omitempty"`
	// Logged is how many entries the turn's log has before the piece; 0 means unknown.
	Logged int `json:"logged,omitempty"`
}

// Progress is a report of a running activity, which has stored it.
type Progress struct {
	TurnID string `json:"turn_id"`
	chat.Report
	// Logged is how many entries the turn's log has before the activity's own.
	Logged int `json:"logged,omitempty"`
}

// End is the log of a settled turn. Only its owner may see it.
type End struct {
	Owner  string       `json:"owner,omitempty"`
	Events []chat.Event `json:"events,omitempty"`
}

// Bus publishes and subscribes. Publishing never blocks and reports no error:
// a disconnected Bus drops messages. Safe for concurrent use.
type Bus interface {
	PublishDelta(d Delta)
	PublishProgress(p Progress)
	// PublishLog delivers entries of the turn's log that Temporal has recorded. The
	// entries are consecutive and hold no texts.
	PublishLog(turnID string, entries []chat.Entry)
	// Hint says that the turn's log has at least n entries. A follower that has fewer
	// queries the workflow.
	Hint(turnID string, n int)
	// Retrying says that the turn's model call has failed for the n-th time in a row and is
	// retried.
	Retrying(turnID string, n int)
	// Settled says that the turn has ended and its whole log is in the database. end is that
	// log, or empty if followers are to read it.
	Settled(turnID string, end End)
	// AnnounceStop tells the process that runs a streaming activity of the turn to
	// cancel it.
	AnnounceStop(turnID string)
	// ThreadChanged says that the thread has given the turn its place. Clients with
	// follow=thread wait for it.
	ThreadChanged(threadID, turnID string)

	// Subscribe delivers a turn's signals until ctx ends, then closes the channel.
	// When the channel's buffer is full, messages are dropped.
	Subscribe(ctx context.Context, turnID string) (<-chan Signal, error)
	// SubscribeStops delivers the turn's stop announcement, including one received
	// earlier. It does not wait for the network.
	SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error)
	// SubscribeThread delivers the ids of turns that were given their place in a thread.
	SubscribeThread(ctx context.Context, threadID string) (<-chan string, error)

	// Watched asks every process whether a client follows the turn there. It waits
	// briefly for a yes; an error means that the processes could not be asked.
	Watched(ctx context.Context, turnID string) (bool, error)
	// AnswerWatched answers that question for this process until ctx ends. watched is
	// called from other goroutines and must not block.
	AnswerWatched(ctx context.Context, watched func(turnID string) bool) error

	// Ready reports whether the bus works as configured.
	Ready() bool
	// Connected reports whether messages are delivered now.
	Connected() bool
	Close()
}

// Signal is one message to a turn's followers: a delta, a report of a running activity,
// entries of the log, a hint (N > 0), a retry of a model call (Retry > 0), or the end.
type Signal struct {
	Delta    *Delta       `json:"delta,omitempty"`
	Progress *Progress    `json:"progress,omitempty"`
	N        int          `json:"n,omitempty"`
	Log      []chat.Entry `json:"log,omitempty"`
	Retry    int          `json:"retry,omitempty"`
	Settled  bool         `json:"settled,omitempty"`
	End      End          `json:"end,omitzero"`
}
