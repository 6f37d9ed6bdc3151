// Package stream carries what is ephemeral: token deltas, new entries of turns'
// logs, and stop announcements, over core NATS. Losing a message costs nothing:
// logs and drafts make it up.
package stream

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Delta is a bit of the piece of text being written. Offset counts characters
// (runes) of the piece before Text; Attempt rises when the piece is begun anew.
type Delta struct {
	TurnID  string `json:"turn_id"`
	Piece   int    `json:"piece"`
	Attempt int    `json:"attempt"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
	// Logged is how many entries the turn's log has before the piece; 0: not known.
	Logged int `json:"logged,omitempty"`
}

// Bus publishes and subscribes. Publishing never blocks and reports no error:
// a Bus that is away drops. Safe for concurrent use.
type Bus interface {
	PublishDelta(d Delta)
	// PublishLog delivers entries of the turn's log that Temporal has recorded. They
	// follow each other and hold no texts.
	PublishLog(turnID string, entries []chat.Entry)
	// Hint says that the turn's log has at least n entries: who lacks some asks the
	// workflow.
	Hint(turnID string, n int)
	// Settled says that the turn is over and its whole log is in the database.
	Settled(turnID string)
	// AnnounceStop tells the process that runs a streaming activity of the turn
	// that its context is cancelled.
	AnnounceStop(turnID string)
	// ThreadChanged says that a turn of the thread has taken its place (follow=thread
	// waits on it).
	ThreadChanged(threadID, turnID string)

	// Subscribe delivers a turn's signals until ctx ends, then closes
	// the channel. Its buffer is bounded: when it is full, messages are dropped.
	Subscribe(ctx context.Context, turnID string) (<-chan Signal, error)
	// SubscribeStops delivers the turn's stop announcement, also one that came
	// before. It does not wait for the network.
	SubscribeStops(ctx context.Context, turnID string) (<-chan struct{}, error)
	// SubscribeThread delivers ids of turns of a thread that have taken their place.
	SubscribeThread(ctx context.Context, threadID string) (<-chan string, error)

	// Watched asks every process whether somebody follows the turn there. It waits
	// a moment for a yes; an error means that they could not be asked.
	Watched(ctx context.Context, turnID string) (bool, error)
	// AnswerWatched has this process answer that question until ctx ends. watched
	// is called from other goroutines and must not block.
	AnswerWatched(ctx context.Context, watched func(turnID string) bool) error

	// Ready reports whether the bus is as it should be.
	Ready() bool
	// Connected reports whether messages flow now.
	Connected() bool
	Close()
}

// Signal is one message to a turn's followers: a delta, entries of the log, a
// hint (N > 0), or the end.
type Signal struct {
	Delta   *Delta       `json:"delta,omitempty"`
	N       int          `json:"n,omitempty"`
	Log     []chat.Entry `json:"log,omitempty"`
	Settled bool         `json:"settled,omitempty"`
}
