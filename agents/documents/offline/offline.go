// Package offline has what the engine without a model does for the documents agent. Rules
// find the action and the documents, and answers are sentences quoted from the passages.
package offline

import (
	"cmp"
	"strings"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/llm/offline/toolcall"
)

// Rules returns the rules of the documents agent.
func Rules() offline.Rules {
	return offline.Rules{
		Answers: map[llm.Task]func(llm.Facts) offline.Answer{
			llm.TaskInquire:   answer(Inquire),
			llm.TaskSummarize: answer(summarize),
			llm.TaskCompare:   answer(compare),
			llm.TaskAudit:     answer(audit),
			llm.TaskTalk:      func(f llm.Facts) offline.Answer { return offline.Answer{Text: talk(f), Language: string(voiceOf(f))} },
		},
		Structured: map[string]func(llm.Facts) any{
			llm.IntentSchema.Name:   func(f llm.Facts) any { return intent.Classify(f) },
			llm.WebQuerySchema.Name: func(f llm.Facts) any { return webQuery(f) },
		},
	}
}

// voice words answers in a language.
type voice string

// voiceOf returns the voice for the language of the question. A question that does not tell, such
// as "2024?", is in the language of the one before it.
func voiceOf(f llm.Facts) voice {
	if f.Language != "" {
		return voice(f.Language)
	}
	var names []string // in another language, maybe
	for _, d := range f.Documents {
		names = append(append(names, d.Title, d.Label), d.Names...)
	}
	return voice(cmp.Or(intent.LanguageOf(language.ReplaceNames(f.Message, names, " "), nil), intent.LanguageOf(f.Message, f.Recent)))
}

func (v voice) say(m messages.Message, values messages.Params) string { return m.In(string(v), values) }

// answer calls the tools that the message names, then answers an action and says what the
// tools returned.
func answer(action func(llm.Facts) string) func(llm.Facts) offline.Answer {
	return func(f llm.Facts) offline.Answer {
		text := intent.Instruction(f.Message)
		if calls := toolcall.Callable(toolcall.Requests(f, text, true)); len(calls) > 0 {
			return offline.Answer{Calls: calls}
		}
		lang := string(voiceOf(f))
		return offline.Answer{Text: strings.TrimSpace(action(f)) + toolcall.Outcomes(f, text, lang), Language: lang, Quotes: true}
	}
}

// pool is the sentences of a request's passages.
type pool struct {
	*excerpt.Pool
	lists map[string]itemList // of their documents, by byLead
}

func gather(passages []llm.Passage, normal func(string) string) pool {
	return pool{Pool: excerpt.Gather(passages, normal)}
}
