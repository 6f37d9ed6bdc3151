package chat

import "slices"

// Agent is the name of an agent.
type Agent string

// The default agents of dialects.
const (
	AgentDocuments Agent = "documents"
	AgentAssistant Agent = "assistant"
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

// Names lists the names of the agents.
func (a Agents) Names() []string {
	names := make([]string, len(a))
	for i, x := range a {
		names[i] = string(x.Name)
	}
	return names
}
