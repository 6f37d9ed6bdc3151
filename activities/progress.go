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

// Progress records what a running activity shows people: each report becomes a text of the
// turn, then followers see it, and the activity returns the nodes of all reports with its
// result. The workflow adds them to the log before the result.
//
// An attempt that is repeated reports the same in the same order, so a report that an
// earlier attempt has stored is not recorded again. Safe for concurrent use.
type Progress struct {
	kit   *Kit
	ctx   context.Context
	watch *Watch
	ref   TurnRef
	of    string
	call  bool

	mu      sync.Mutex
	made    int           // reports of this attempt
	nodes   []chat.Node   // of the reports that are stored
	pending []chat.Report // not stored yet
	closed  bool
}

// RecordProgress begins to record the reports of an agent's activity. texts are those of the
// turn now. The activity must return a Reporter.
func (k *Kit) RecordProgress(ctx context.Context, w *Watch, ref TurnRef, texts map[string]string) *Progress {
	return &Progress{kit: k, ctx: ctx, watch: w, ref: ref, of: ref.Step, nodes: reportedNodes(texts, ref.Step)}
}

// recordCall is RecordProgress for a tool call.
func (k *Kit) recordCall(ctx context.Context, w *Watch, r CallRequest, texts map[string]string) *Progress {
	return &Progress{kit: k, ctx: ctx, watch: w, ref: r.TurnRef, of: r.ID, call: true, nodes: reportedNodes(texts, r.ID)}
}

// Reporter is a result with the nodes of what its activity has reported (Progress.End).
type Reporter interface{ Reported() []chat.Node }

// reportedNodes returns the nodes of the stored reports of an activity.
func reportedNodes(texts map[string]string, of string) (nodes []chat.Node) {
	for _, r := range chat.Reports(texts, of) {
		nodes = append(nodes, r.Node)
	}
	return nodes
}

// Report records a status and shows it to people.
func (p *Progress) Report(node chat.Node, message messages.Message) {
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
	if err := p.kit.PutTexts(ctx, p.ref, reportTexts(p.pending)...); err != nil {
		if p.ctx.Err() == nil {
			p.kit.LogOf(p.ref).Warn("storing a report failed; it is stored with the next one or with the result", "of", p.of, "n", n, "error", err)
		}
		return
	}
	for _, r := range p.pending {
		p.nodes = append(p.nodes, r.Node)
		p.kit.Bus.PublishProgress(bus.Progress{TurnID: p.ref.TurnID, Report: r, Logged: p.ref.Logged})
	}
	p.pending = nil
}

// End ends the recording. It returns the nodes of all reports, and the texts that must be
// stored with the result.
func (p *Progress) End() (nodes []chat.Node, unstored []db.Text) {
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
