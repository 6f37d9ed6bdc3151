package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/tools"
)

// wantsSignIn reports whether err means that the server wants a person's own access token, and
// remembers that.
func (s *server) wantsSignIn(err error) bool {
	var status *statusError
	if s.tokens == nil || !errors.As(err, &status) || status.code != http.StatusUnauthorized {
		return false
	}
	// A server that gets our tokens may check them with another key.
	if s.personal && !s.cfg.OAuth.Wanted && !strings.Contains(status.challenge, "resource_metadata") {
		return false
	}
	s.signIn.Store(true)
	return true
}

// needsScope returns the result of a call that was refused because the person has not permitted enough,
// and records what they have to permit. nil: it was refused for another reason, or asking them once
// more would not help.
func (s *server) needsScope(ctx context.Context, owner string, refusal error) *tools.Result {
	var status *statusError
	if s.tokens == nil || owner == "" || s.cfg.OAuth.Scope != "" || !errors.As(refusal, &status) {
		return nil
	}
	scope := status.missingScope()
	if scope == "" || len(scope) > maxNoted {
		return nil
	}
	scope = clean(scope, maxNoted)
	again, err := s.tokens.NeedScope(ctx, owner, ProviderPrefix+s.cfg.Name, scope)
	if err != nil {
		s.log.Warn("recording the scope that a call needs failed", "owner", owner, "error", err)
	}
	if !again {
		return nil
	}
	result := tools.Failed(messages.ToolScope.With(messages.Params{"server": s.cfg.Name, "scope": scope}))
	return &result
}

// notConnected is the result of a call for a person who has not connected an account.
func (s *server) notConnected() tools.Result {
	return tools.Failed(messages.ToolConnect.With(messages.Params{"server": s.cfg.Name}))
}

// ownTools are the tools that servers list for each owner.
type ownTools struct {
	mu      sync.Mutex
	lists   map[string]ownList
	listing singleflight.Group
}

type ownList struct {
	tools []tools.Tool
	at    time.Time
	err   error
}

const (
	ownListWait = 5 * time.Second // for a list that is not known yet
	ownListLife = time.Hour       // of a list that nobody reads
	failedRetry = time.Minute
)

// toolsOf returns the tools of an owner. Those of a server that wants OAuth are known when the owner has
// connected an account; before that, one tool stands for them, so that the model can say so.
func (s *server) toolsOf(ctx context.Context, owner string) []tools.Tool {
	s.mu.Lock()
	shared := s.tools
	s.mu.Unlock()
	if !s.signIn.Load() || owner == "" {
		return shared
	}
	connected, err := s.tokens.Connected(ctx, owner, ProviderPrefix+s.cfg.Name)
	if err != nil {
		s.log.Warn("reading whether a person has connected an account failed", "error", err)
		return shared
	}
	if connected {
		list := s.listFor(ctx, owner)
		if list.err == nil || len(list.tools) > 0 {
			return list.tools
		}
		connected = !s.wantsSignIn(list.err)
		if said := s.needsScope(ctx, owner, list.err); said != nil && len(shared) == 0 {
			return []tools.Tool{s.connectTool(*said)}
		}
	}
	if connected {
		return shared
	}
	s.own.mu.Lock()
	delete(s.own.lists, owner) // the next account may be another one
	s.own.mu.Unlock()
	if len(shared) == 0 {
		return []tools.Tool{s.connectTool(s.notConnected())}
	}
	return shared
}

// connectTool stands for the tools of a server until the person has connected an account.
func (s *server) connectTool(said tools.Result) tools.Tool {
	return tools.Tool{
		Name: toolName(s.cfg.Name, "connect"),
		Description: "Stands for the tools of " + s.cfg.Name + ", which need the person's own account there. It is not connected, or permits too little. " +
			"Call this when the person asks for something in " + s.cfg.Name + ": it says how the person connects the account.",
		Schema: json.RawMessage(anyObject), Approval: tools.Never, Server: s.cfg.Name, Timeout: tools.DefaultTimeout,
		Run: func(context.Context, tools.Call) (tools.Result, error) { return said, nil },
	}
}

// listFor returns an owner's list, which is read again in the background when it is old.
func (s *server) listFor(ctx context.Context, owner string) ownList {
	s.own.mu.Lock()
	known, ok := s.own.lists[owner]
	s.own.mu.Unlock()
	life := s.pace.refresh
	if known.err != nil {
		life = min(life, failedRetry)
	}
	if ok && time.Since(known.at) < life {
		return known
	}
	read := s.own.listing.DoChan(owner, func() (any, error) { return s.readList(owner, known), nil })
	if ok && known.err == nil {
		return known
	}
	wait, cancel := context.WithTimeout(ctx, ownListWait)
	defer cancel()
	select {
	case got := <-read:
		return got.Val.(ownList)
	case <-wait.Done():
		return ownList{tools: known.tools, err: wait.Err()}
	}
}

func (s *server) readList(owner string, before ownList) ownList {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	found, err := s.link.list(ctx, owner)
	list := ownList{tools: before.tools, at: time.Now(), err: err}
	if err == nil {
		list.tools, _ = s.offer(found)
		s.noteChanges(before.tools, list.tools)
	} else {
		s.log.Warn("listing the tools of a person's account failed", "owner", owner, "error", s.brief(err))
	}
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if s.own.lists == nil {
		s.own.lists = map[string]ownList{}
	}
	for other, l := range s.own.lists {
		if time.Since(l.at) > ownListLife {
			delete(s.own.lists, other)
		}
	}
	s.own.lists[owner] = list
	return list
}
