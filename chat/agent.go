package chat

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Agent is the name of an agent.
type Agent string

// The default agents of dialects.
const (
	AgentDocuments Agent = "documents"
	AgentAssistant Agent = "assistant"
	// AgentDiscovery answers on the threads of discovery boards, and only there.
	AgentDiscovery Agent = "discovery"
)

// AgentInfo is what an agent's declaration (workflows.Agent) says to clients, to the
// page and to activities.
type AgentInfo struct {
	Name        Agent
	Label       string // as the page's menu shows it
	Description string // one line below the label
	// AnswersUnsaved: it can answer a message while the database is unavailable.
	AnswersUnsaved bool
	Tools          func(name string) bool // reports whether it may call the tool; nil: every tool
	// OnBoards: it answers on the threads of discovery boards, all messages there, and
	// nowhere else. It cannot be chosen.
	OnBoards bool
	// Instructions begin the system message of models, in place of the
	// assistant's instructions; empty: the assistant's.
	Instructions string
	// Version is recorded when a turn begins, so that the agent's code can tell turns
	// that began under an older one.
	Version int
	Checks  map[string]Check // by name
}

// Check reads what a person wrote and returns a short word about it, in which there is
// nothing that the person wrote: it enters Temporal's history.
type Check func(ctx context.Context, said Said) (string, error)

// Said is what a person has written so far.
type Said struct {
	Owner, ThreadID, TurnID string
	Message                 string
	Answers                 []string // to the agent's own questions in this turn, in order; for a choice, its label
	Earlier                 []string // messages and answers of the turns before this one, oldest first: the last ones
}

// Limits of an agent's declaration, in characters.
const (
	maxAgentLabel       = 60
	maxAgentDescription = 200
	maxInstructions     = 20_000
)

var agentName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// Validate reports why the declaration is invalid; nil when it is valid.
func (a AgentInfo) Validate() error {
	switch {
	case !agentName.MatchString(string(a.Name)):
		return errors.New("the name needs 1 to 40 of a-z, 0-9, _ and -, and begins with a letter")
	case a.Label == "" || utf8.RuneCountInString(a.Label) > maxAgentLabel:
		return fmt.Errorf("the label needs 1 to %d characters", maxAgentLabel)
	case utf8.RuneCountInString(a.Description) > maxAgentDescription:
		return fmt.Errorf("the description has more than %d characters", maxAgentDescription)
	case utf8.RuneCountInString(a.Instructions) > maxInstructions:
		return fmt.Errorf("the instructions have more than %d characters", maxInstructions)
	case a.Version < 0:
		return errors.New("the version is negative")
	}
	for name, check := range a.Checks {
		if !agentName.MatchString(name) || check == nil {
			return fmt.Errorf("the check %q needs a function, and a name of at most 40 of a-z, 0-9, _ and -", name)
		}
	}
	return nil
}

// MayCall reports whether the agent may call a tool.
func (a AgentInfo) MayCall(tool string) bool { return a.Tools == nil || a.Tools(tool) }

// Agents are the agents of a process. The page offers the first one first.
type Agents []AgentInfo

// Find returns the agent with the name; known is false when there is none.
func (a Agents) Find(name Agent) (info AgentInfo, known bool) {
	i := slices.IndexFunc(a, func(x AgentInfo) bool { return x.Name == name })
	if i < 0 {
		return AgentInfo{}, false
	}
	return a[i], true
}

// Chosen returns the agents that a message can name.
func (a Agents) Chosen() Agents {
	return slices.DeleteFunc(slices.Clone(a), func(x AgentInfo) bool { return x.OnBoards })
}

// Names lists the names of the agents.
func (a Agents) Names() []string {
	names := make([]string, len(a))
	for i, x := range a {
		names[i] = string(x.Name)
	}
	return names
}
