package activities

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/tools"
)

// What the tests of this package need beside its exported names. They are in a package of
// their own, because testkit/activitytest imports this one.

type Handover = handover

const (
	FirstBackoff   = firstBackoff
	MaxSettleTries = maxSettleTries
	ToolTries      = toolTries
	MaxReport      = maxReport
	MaxReports     = maxReports
)

var (
	ErrAttemptUnknown   = errAttemptUnknown
	ErrHeartbeatTimeout = errHeartbeatTimeout
)

func (s Stage) Rounds(texts map[string]string) []Round { return s.rounds(texts) }

func (k *Kit) Save(ctx context.Context, ref *TurnRef) (chat.Turn, bool, error) {
	return k.save(ctx, ref)
}

func (a *Activities) RunTool(ctx context.Context, t tools.Tool, c tools.Call) (tools.Result, error) {
	return a.runTool(ctx, t, c)
}

// Wait waits for the titles that are being written.
func (t *Titles) Wait() { t.running.Wait() }
