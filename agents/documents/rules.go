package documents

import (
	"slices"

	"github.com/palaver-chat/palaver/chat"
)

// together corrects what was found about action and documents independently of each other.
func together(in Intent, docs Docs) (Intent, Docs) {
	few := len(docs.IDs) == 0 && !docs.Unresolved || in.Action != chat.Summarize && len(docs.IDs) < 2
	if in.ComparesSubjects && few && len(docs.Suggested) == 0 && !docs.HasText {
		in.Action = chat.Inquire
	}
	if in.Action == chat.Talk { // it needs no documents, and asks nothing about them
		docs = Docs{Confidence: chat.High, Called: docs.Called}
	}
	return in, docs
}

// offered returns the actions to choose from, at least two. One document cannot be compared.
func offered(likely []chat.Action, docs Docs) (out []chat.Action) {
	one := len(docs.IDs) == 1 && len(docs.Suggested) == 0 && !docs.Unresolved
	for i, a := range slices.Concat(likely, []chat.Action{chat.Inquire, chat.Summarize}) {
		if !(one && a == chat.Compare) && !slices.Contains(out, a) && (i < len(likely) || len(out) < 2) {
			out = append(out, a)
		}
	}
	return out
}

// missing returns the prompt for what an action still needs; "" when nothing is missing.
// Compare needs two documents, summarize one, audit a target and a text. The text may be a
// document, too: of two documents, the one that is named first is audited.
func missing(action chat.Action, docs Docs) chat.PromptCode {
	n := len(docs.IDs)
	switch action {
	case chat.Compare:
		switch n {
		case 0:
			return chat.PromptCompareNone
		case 1:
			return chat.PromptCompareTwo
		}
	case chat.Summarize:
		if n == 0 {
			return chat.PromptSummarizeDoc
		}
	case chat.Audit:
		if n == 0 {
			return chat.PromptAuditTarget
		}
		if n == 1 && !docs.HasText {
			return chat.PromptAuditText
		}
	}
	return ""
}

// auditSubject returns the document to audit when the person gave no text, and the documents to
// audit it against.
func auditSubject(action chat.Action, docs Docs) (subject string, targets []string) {
	if action != chat.Audit || docs.HasText || len(docs.IDs) < 2 {
		return "", docs.IDs
	}
	return docs.IDs[0], docs.IDs[1:]
}

// asksAction reports whether the person has to choose the action.
func (in Intent) asksAction() bool { return in.Multi || in.Confidence == chat.Low }

// asksDoc reports whether the person has to choose among documents.
// A question is searched in all of them.
func (d Docs) asksDoc(action chat.Action) bool {
	return d.Confidence == chat.Medium && len(d.Suggested) > 1 && action != chat.Inquire
}

// actionNode returns the node that answers.
func actionNode(action chat.Action) chat.Node {
	if action == chat.Talk {
		return chat.NodeModel
	}
	return chat.Node(action)
}
