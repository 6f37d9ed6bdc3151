package activities

import "github.com/palaver-chat/palaver/chat"

// Missing returns the prompt for what an action still needs; "" when nothing is missing.
// Compare needs two documents, summarize one, audit a target and a text. The text may be a
// document, too: of two documents, the one that is named first is audited.
func Missing(action chat.Action, docs Docs) chat.PromptCode {
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

// Subject returns the document to audit when the person gave no text, and the documents to
// audit it against.
func Subject(action chat.Action, docs Docs) (subject string, targets []string) {
	if action != chat.Audit || docs.HasText || len(docs.IDs) < 2 {
		return "", docs.IDs
	}
	return docs.IDs[0], docs.IDs[1:]
}

// AsksAction reports whether the person has to choose the action.
func (in Intent) AsksAction() bool { return in.Multi || in.Confidence == chat.Low }

// AsksDoc reports whether the person has to choose among documents.
func (d Docs) AsksDoc() bool { return d.Confidence == chat.Medium && len(d.Suggested) > 1 }

// ActionNode returns the node that answers.
func ActionNode(action chat.Action) chat.Node {
	if action == chat.Talk {
		return chat.NodeModel
	}
	return chat.Node(action)
}

// The entries of the documents agent's log from its resolvers to its answer, in their
// order. Questions come between them.

// InferredEntries follow an inferred action.
func InferredEntries() []chat.Entry {
	return []chat.Entry{{Type: chat.EventStatus, Node: chat.NodeDocs}}
}

// DocsEntries follow the choice of documents.
func DocsEntries(docs Docs) []chat.Entry {
	if len(docs.IDs) == 0 {
		return nil
	}
	return []chat.Entry{{Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: docs.IDs}}
}

// ValidateEntries precede the questions for missing inputs.
func ValidateEntries(in Intent) []chat.Entry {
	entries := []chat.Entry{{Type: chat.EventStatus, Node: chat.NodeValidate}}
	if in.Action == chat.Compare && in.WebSearch {
		entries = append(entries, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeWebDropped})
	}
	return entries
}

// ActionEntries follow when nothing is missing.
func ActionEntries(action chat.Action) []chat.Entry {
	return []chat.Entry{{Type: chat.EventStatus, Node: ActionNode(action)}}
}

// RetrievedEntries follow the retrieval.
func RetrievedEntries(found Retrieved) (entries []chat.Entry) {
	if found.Processing {
		entries = append(entries, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeDocsProcessing})
	}
	if found.Unreadable {
		entries = append(entries, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeDocumentsExcluded})
	}
	if found.Partly {
		entries = append(entries, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeDocumentsPartly})
	}
	return entries
}

// GoesOn reports whether the answer can be written without a question, a second look
// for documents, or a web search.
func (r Resolved) GoesOn() bool {
	return r.Intent != nil && r.Docs != nil &&
		!r.Intent.AsksAction() && !r.Docs.AsksDoc() && !r.Docs.Unresolved &&
		Missing(r.Intent.Action, *r.Docs) == "" && !r.Intent.WebSearch
}
