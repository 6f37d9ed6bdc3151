package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// ThreadName checks a client's own thread id: 1 to 128 characters of A-Z a-z 0-9 _ . : -
func (p *Problems) ThreadName(field, s string) string {
	if !Plain(s) {
		p.Add(field, "must have 1 to 128 characters of A-Z a-z 0-9 _ . : -")
		return ""
	}
	return s
}

// Plain reports whether s is 1 to 128 characters of A-Z a-z 0-9 _ . : -
func Plain(s string) bool {
	if s == "" || len(s) > MaxID {
		return false
	}
	for _, b := range []byte(s) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("_.:-", b) >= 0:
		default:
			return false
		}
	}
	return true
}

// AttachmentID returns the id in a reference: chatbot://<id>, or the URL that serves the attachment,
// with or without a host.
func AttachmentID(ref string) (id string, ok bool) {
	id, ok = strings.CutPrefix(ref, "chatbot://")
	if !ok {
		_, id, ok = strings.Cut(ref, "/api/attachments/")
	}
	return id, ok && Plain(id)
}

// Attachments checks the form of the ids of a message's pictures and returns each once.
func (p *Problems) Attachments(field string, ids []string) []string {
	var out []string
	for _, id := range ids {
		if !Plain(id) {
			p.Say(field, messages.FieldAttachment)
			return nil
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
		if len(out) > chat.MaxAttachments {
			p.Add(field, "must have at most "+strconv.Itoa(chat.MaxAttachments)+" pictures")
			return nil
		}
	}
	return out
}
