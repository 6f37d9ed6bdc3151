package main

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// script makes the model answer like one that understands everything: it answers what
// the case expects, if the prompt offers it. So the figures show the effect of the rules
// around a model. unknown means that the message names a document that does not exist.
func script(model *llmtest.Server, c testCase, docs []string, unknown bool) {
	model.Reset()
	model.On(llmtest.Match{Schema: llm.IntentSchema.Name, Func: func(r llmtest.Request) bool { return offersTalk(r) }}, llmtest.JSON(intentOf(c, true)))
	model.On(llmtest.Match{Schema: llm.IntentSchema.Name, Func: func(r llmtest.Request) bool { return !offersTalk(r) }}, llmtest.JSON(intentOf(c, false)))
	model.On(llmtest.Match{Schema: llm.DocResolutionSchema.Name}, llmtest.JSON(resolution(c, nil, unknown || len(docs) > 0)))
	model.On(llmtest.Match{Schema: llm.DocResolutionSchema.Name, Func: func(r llmtest.Request) bool {
		return !unknown && !slices.ContainsFunc(docs, func(id string) bool { return !strings.Contains(r.System, id) })
	}}, llmtest.JSON(resolution(c, docs, false)))
}

// offersTalk reports whether a request offers the model the action talk.
func offersTalk(r llmtest.Request) bool {
	return strings.Contains(r.System, "talk:")
}

func intentOf(c testCase, talk bool) map[string]any {
	action, confidence := c.action, "high"
	switch {
	case action == "talk" && !talk, action == "*" && c.question != "action_choice":
		action, confidence = string(chat.Inquire), "low"
	case action == "*":
		action = string(chat.Summarize)
	}
	if c.action == "*" && c.question != "action_choice" { // a question about documents: the verb determines the action
		confidence = "high"
		for verb, a := range map[string]chat.Action{"ompar": chat.Compare, "udit": chat.Audit, "heck": chat.Audit, "ummar": chat.Summarize, "tldr": chat.Summarize, "overview": chat.Summarize} {
			if strings.Contains(c.message, verb) {
				action = string(a)
			}
		}
	}
	multi := c.question == "action_choice" && strings.ContainsAny(c.message, " /")
	if c.question == "action_choice" && !multi {
		confidence = "low"
	}
	return map[string]any{"action": action, "confidence": confidence, "enable_web_search": false, "multi_action_detected": multi,
		"actions": []string{action, string(chat.Compare)}, "reasoning": "scripted"}
}

// resolution returns the model's answer about documents. Without ids the model finds no
// document; open means that the message names one.
func resolution(c testCase, ids []string, open bool) map[string]any {
	confidence, names := "high", []string{}
	if c.question == "doc_choice" {
		confidence = "medium"
	}
	if open && len(ids) == 0 {
		confidence, names = "low", []string{nameIn(c.message)}
	}
	if ids == nil {
		ids = []string{}
	}
	return map[string]any{"resolved_uuids": ids, "unresolved_names": names, "inference_confidence": confidence, "has_implicit_refs": false, "reasoning": "scripted"}
}

// nameIn returns the words after the verb, as a model that does not find a document
// would return its name.
func nameIn(message string) string {
	words := strings.Fields(strings.TrimRight(message, ".?!"))
	if len(words) < 2 {
		return message
	}
	return strings.TrimPrefix(strings.Join(words[1:], " "), "the ")
}
