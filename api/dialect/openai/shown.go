package openai

import (
	"sync"

	"github.com/palaver-chat/palaver/api/identity"
)

// shown remembers which questions this process has shown to which client of this
// dialect. A client of another process, or after a restart, is shown the question again.
var shown shownCalls

type shownCalls struct {
	mu    sync.Mutex
	known map[shownCall]bool
}

type shownCall struct{ owner, credential, question string }

// maxShown limits the questions that are remembered.
const maxShown = 10_000

func callShownTo(who identity.Caller, question string) shownCall {
	return shownCall{who.ID, who.By.String() + who.Key, question}
}

func (s *shownCalls) add(who identity.Caller, question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= maxShown {
		s.known = map[shownCall]bool{}
	}
	s.known[callShownTo(who, question)] = true
}

func (s *shownCalls) has(who identity.Caller, question string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[callShownTo(who, question)]
}
