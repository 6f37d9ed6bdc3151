package activities

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/tools"
)

// A tool that other people define is pinned: a remembered approval holds only for the
// definition that the person saw. The workflow compares names only, so it does not get the
// names of approved pinned tools. The model call itself marks calls that need no approval.

// remembered returns the approvals that hold for a model call's pinned tools: those of the
// branch, and those of the turn so far.
func (k *Kit) RememberedApprovals(ctx context.Context, ref TurnRef, texts map[string]string, offered []tools.Tool) ([]string, error) {
	asks := func(t tools.Tool) bool { return t.Pin != "" && t.Approval != tools.Never }
	if ref.Unsaved != nil || !slices.ContainsFunc(offered, asks) {
		return nil, nil
	}
	names, err := k.Store.Approvals(ctx, ref.Owner, ref.ThreadID, ref.Parent)
	if err != nil && !errors.Is(err, db.ErrNotFound) { // no branch: every tool needs approval
		return nil, err
	}
	for key := range texts {
		if name, is := strings.CutPrefix(key, chat.RememberedKey("")); is {
			names = append(names, name)
		}
	}
	return names, nil
}

// withoutPinned keeps the approvals of known tools that are not pinned. A name alone approves
// no pinned tool: its definition is not known.
func (k *Kit) withoutPinned(ctx context.Context, owner string, agent chat.Agent, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	info, _ := k.Agents.Find(agent)
	offered := k.toolsOf(ctx, owner, info)
	var own []string
	for _, name := range names {
		if slices.ContainsFunc(offered, func(t tools.Tool) bool { return t.Name == name && t.Pin == "" }) {
			own = append(own, name)
		}
	}
	return own
}
