package langgraph

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

const maxParts = 64 // of a message's content

type messageBody struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type partBody struct {
	Type  string  `json:"type"`
	Text  *string `json:"text"`
	Image *string `json:"image"`
}

// readMessage finds the new message, in the field message or the last of messages, and the name of the
// field with its content.
func readMessage(p *dialect.Problems, b streamBody) (message string, pictures []string, field string) {
	field, raw := "message", b.Message
	if last := len(b.Messages) - 1; absent(raw) && last >= 0 {
		field, raw = "messages["+strconv.Itoa(last)+"]", b.Messages[last]
	}
	if absent(raw) {
		p.Add("message", "is missing")
		return "", nil, field
	}
	var m messageBody
	if json.Unmarshal(raw, &m) != nil {
		p.Add(field, "must have a role and content")
		return "", nil, field
	}
	if m.Role != "" && m.Role != "human" && m.Role != "user" {
		p.Add(field+".role", "must be human")
	}
	field += ".content"
	message, pictures = readContent(p, field, m.Content)
	return message, pictures, field
}

// readContent reads a text, or a list of texts and pictures. Pictures need no text.
func readContent(p *dialect.Problems, field string, raw json.RawMessage) (message string, pictures []string) {
	if absent(raw) || json.Unmarshal(raw, &message) != nil {
		var parts []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil || parts == nil {
			p.Add(field, "must be a text or a list of parts")
			return "", nil
		}
		var ok bool
		if message, pictures, ok = readParts(p, field, parts); !ok {
			return "", nil
		}
	}
	message = strings.TrimSpace(message)
	least := 1
	if len(pictures) > 0 {
		least = 0
	}
	p.Text(field, message, least, chat.MaxMessage)
	return message, pictures
}

func readParts(p *dialect.Problems, field string, parts []json.RawMessage) (message string, pictures []string, ok bool) {
	if len(parts) > maxParts {
		p.Add(field, "must have at most "+strconv.Itoa(maxParts)+" parts")
		return "", nil, false
	}
	var texts []string
	for i, raw := range parts {
		text, picture, bad := readPart(raw)
		if bad != nil {
			p.Add(field+"["+strconv.Itoa(i)+"]"+bad.Field, bad.Problem)
			return "", nil, false
		}
		if text != "" {
			texts = append(texts, text)
		}
		if picture != "" {
			pictures = append(pictures, picture)
		}
	}
	return strings.Join(texts, "\n"), pictures, true
}

// readPart reads {type:"text",text} or {type:"image",image}.
func readPart(raw json.RawMessage) (text, picture string, bad *dialect.Problem) {
	var part partBody
	if json.Unmarshal(raw, &part) != nil {
		return "", "", &dialect.Problem{Problem: "must be a text or an image part"}
	}
	switch part.Type {
	case "text":
		if part.Text == nil {
			return "", "", &dialect.Problem{Field: ".text", Problem: "is missing"}
		}
		return *part.Text, "", nil
	case "image":
		if part.Image != nil {
			if id, ok := dialect.AttachmentID(*part.Image); ok {
				return "", id, nil
			}
		}
		return "", "", &dialect.Problem{Field: ".image", Problem: "must be chatbot:// and the id of an attachment"}
	}
	return "", "", &dialect.Problem{Field: ".type", Problem: "must be text or image"}
}
