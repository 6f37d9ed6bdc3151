package activities

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/language"
)

const (
	// maxReports bounds the reports of one activity. Each is an entry of the turn's log.
	maxReports = 200
	// maxReport bounds the text of a report, in characters.
	maxReport = 1000
	// The timeout of storing a report. One that is not stored is stored with the next one, or
	// with the result.
	reportTimeout = 3 * time.Second
)

// progress records what a running activity shows people: each report becomes a text of the
// turn, then followers see it, and the activity returns the nodes of all reports with its
// result. The workflow adds them to the log before the result.
//
// An attempt that is repeated reports the same in the same order, so a report that an
// earlier attempt has stored is not recorded again. Safe for concurrent use.
type progress struct {
	activities *Activities
	ctx        context.Context
	watch      *Watch
	ref        TurnRef
	of         string
	call       bool

	mu      sync.Mutex
	made    int           // reports of this attempt
	nodes   []chat.Node   // of the reports that are stored
	pending []chat.Report // not stored yet
	closed  bool
}

// recordProgress begins to record the reports of a tool call (call is true and of is its id),
// or of an agent's step. texts are those of the turn now.
func (a *Activities) recordProgress(ctx context.Context, w *Watch, ref TurnRef, of string, call bool, texts map[string]string) *progress {
	return &progress{activities: a, ctx: ctx, watch: w, ref: ref, of: of, call: call, nodes: reportedNodes(texts, of)}
}

// reportedNodes returns the nodes of the stored reports of an activity.
func reportedNodes(texts map[string]string, of string) (nodes []chat.Node) {
	for _, r := range chat.Reports(texts, of) {
		nodes = append(nodes, r.Node)
	}
	return nodes
}

// report records one report.
func (p *progress) report(node chat.Node, message messages.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	n := len(p.nodes) + len(p.pending) + 1
	if p.closed || p.made < n || p.made > maxReports || p.watch.checkLease() != nil {
		return
	}
	p.pending = append(p.pending, chat.Report{Of: p.of, Call: p.call, N: n, Node: node, Coded: message.Coded, Text: reportable(message.Text)})
	ctx, cancel := context.WithTimeout(p.ctx, reportTimeout)
	defer cancel()
	if err := p.activities.PutTexts(ctx, p.ref, reportTexts(p.pending)...); err != nil {
		if p.ctx.Err() == nil {
			p.activities.LogOf(p.ref).Warn("storing a report failed; it is stored with the next one or with the result", "of", p.of, "n", n, "error", err)
		}
		return
	}
	for _, r := range p.pending {
		p.nodes = append(p.nodes, r.Node)
		p.activities.Bus.PublishProgress(bus.Progress{TurnID: p.ref.TurnID, Report: r, Logged: p.ref.Logged})
	}
	p.pending = nil
}

// end ends the recording. It returns the nodes of all reports, and the texts that must be
// stored with the result.
func (p *progress) end() (nodes []chat.Node, unstored []db.Text) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	nodes = p.nodes
	for _, r := range p.pending {
		nodes = append(nodes, r.Node)
	}
	return nodes, reportTexts(p.pending)
}

func reportTexts(reports []chat.Report) (texts []db.Text) {
	for _, r := range reports {
		b, _ := json.Marshal(r) // texts and numbers cannot fail
		texts = append(texts, db.Text{Key: r.Key(), Text: string(b)})
	}
	return texts
}

// reportable makes a report's text valid UTF-8 and bounded.
func reportable(text string) string {
	return language.Truncate(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""), maxReport)
}
