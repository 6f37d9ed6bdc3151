package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

// Limits of what a link shows.
const (
	maxSharedMessages = 2000
	maxSharedBytes    = 1 << 20
	sharedAtOnce      = 500
)

// maxShareToken is more than the length of any token. Longer input is not hashed.
const maxShareToken = 100

type shareJSON struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt string `json:"created_at"`
}

type sharesJSON struct {
	Items []shareJSON `json:"items"`
}

// newShareJSON has the link itself, which no other response has.
type newShareJSON struct {
	shareJSON
	Path     string `json:"path"`     // of the page that shows it
	Messages int    `json:"messages"` // that it shows
}

type shareBody struct {
	Head string `json:"head"` // of the branch that is shared; empty: the newest
}

// readHead reads a shareBody and returns the turn that ends the branch.
func readHead(c *gin.Context) (turn string, err error) {
	var b shareBody
	if err := request.Decode(c, &b); err != nil {
		return "", err
	}
	var p dialect.Problems
	p.ID("head", b.Head)
	return chat.TurnOf(b.Head), p.Err()
}

// sharedJSON is what anybody with the link can read.
type sharedJSON struct {
	Title     string          `json:"title"`
	CreatedAt string          `json:"created_at"`
	Messages  json.RawMessage `json:"messages"`
}

// sharedMessage is a message of a link's copy. It has no ids.
type sharedMessage struct {
	Role       string           `json:"role"` // user or assistant
	Text       string           `json:"text"`
	CreatedAt  string           `json:"created_at"`
	Citations  []sharedCitation `json:"citations,omitempty"`
	Unverified []string         `json:"unverified,omitempty"`
}

type sharedCitation struct {
	N      int    `json:"n"`
	Source string `json:"source"` // document or web
	Title  string `json:"title"`
	Page   int    `json:"page,omitempty"` // on which the quote begins, from 1
	Quote  string `json:"quote"`
	URL    string `json:"url,omitempty"`
}

func showShare(s db.Share) shareJSON { return shareJSON{s.ID, s.Title, dialect.Stamp(s.CreatedAt)} }

func (s *server) listShares(c *gin.Context, id string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	if _, err := s.Store.Conversation(ctx, owner, id); err != nil {
		return err
	}
	list, err := s.Store.Shares(ctx, owner)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(one db.Share) bool { return one.ThreadID != id })
	return respond(c, http.StatusOK, sharesJSON{showAll(list, showShare)})
}

// createShare makes a link to a copy of the settled messages of a branch.
func (s *server) createShare(c *gin.Context, id string) error {
	if !s.sharing() {
		return problem.NotFound
	}
	head, err := readHead(c)
	if err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	v, err := s.Store.Conversation(ctx, who.ID, id)
	if err != nil {
		return err
	}
	if v.Space != "" {
		sp, err := s.thisSpace(ctx, who)
		if err != nil {
			return err
		}
		if !sp.Links || v.Space != sp.ID {
			return s.refusedSpace(c.FullPath(), who, v.Space, errSpaceLink)
		}
	}
	if err := s.limits.AdmitChange(ctx, who, "shares"); err != nil {
		return err
	}
	shared, scope, err := s.sharedMessages(ctx, who.ID, id, head)
	if err != nil {
		return err
	}
	if len(scope) > 0 {
		return s.refusedSpace(c.FullPath(), who, scope[0], errSpaceLink)
	}
	content, err := json.Marshal(shared)
	if err != nil {
		return err
	}
	switch {
	case len(shared) == 0:
		return problem.InvalidField("id", messages.FieldNoAnswer)
	case len(content) > maxSharedBytes || len(shared) > maxSharedMessages:
		return problem.TooLarge(messages.ConversationTooLarge)
	}
	token := rand.Text() + rand.Text()
	share := db.Share{ID: uuid.NewString(), Owner: who.ID, ThreadID: id, Digest: accesskey.Digest(token), Title: v.Title, Content: content,
		CreatedAt: s.now().Truncate(time.Microsecond)}
	if err := s.Store.CreateShare(ctx, share); err != nil {
		return err
	}
	s.Audit.Record(entry(who, audit.ShareCreated, map[string]any{"conversation": id, "share": share.ID}))
	return respond(c, http.StatusCreated, newShareJSON{showShare(share), "/s/" + token, len(shared)})
}

// sharedMessages returns the settled messages of a branch, oldest first, as others may
// read them. It returns maxSharedMessages+1 messages if there are too many. scope are the spaces
// that a conversation in none has read.
func (s *server) sharedMessages(ctx context.Context, owner, thread, head string) (_ []sharedMessage, scope []string, _ error) {
	open, err := s.Store.OpenTurns(ctx, owner, thread)
	if err != nil {
		return nil, nil, err
	}
	var all []chat.Message
	for before := ""; len(all) <= maxSharedMessages; before = all[0].ID {
		h, err := s.Store.History(ctx, owner, thread, head, before, sharedAtOnce)
		if err != nil {
			return nil, nil, err
		}
		all = append(h.Messages, all...)
		if len(h.Messages) < sharedAtOnce {
			break
		}
	}
	out := []sharedMessage{}
	for _, m := range all {
		if chat.Home(m.Space) == "" {
			scope = append(scope, chat.SpacesIn(m.Space)...)
		}
		isOpen := slices.ContainsFunc(open, func(t chat.Turn) bool { return t.ID == m.TurnID })
		if one, ok := shared(m); ok && !isOpen {
			out = append(out, one)
		}
	}
	return out[:min(len(out), maxSharedMessages+1)], scope, nil
}

// servedPicture matches a picture in an answer. Only its owner can load it, so a shared
// copy has its alternative text instead.
var servedPicture = regexp.MustCompile(`!\[([^\]\n]*)\]\(/api/attachments/[^()\s]*\)`)

// shared returns what others may read of a message. ok is false for messages that only
// the owner may read (notices, unanswered questions and tool approvals) and for messages
// without text.
func shared(m chat.Message) (_ sharedMessage, ok bool) {
	var about struct {
		Kind       string             `json:"kind"`
		Type       chat.InterruptType `json:"interrupt_type"`
		Outcome    chat.Outcome       `json:"outcome"`
		Citations  []chat.Citation    `json:"citations"`
		Unverified []string           `json:"unverified"`
	}
	if b, err := json.Marshal(m.Metadata); err == nil {
		_ = json.Unmarshal(b, &about) // fields of another shape are left out
	}
	out := sharedMessage{Role: m.Role, Text: servedPicture.ReplaceAllString(m.Content, "$1"), CreatedAt: dialect.Stamp(m.CreatedAt)}
	if m.Role == "system" {
		if about.Kind != "question" || about.Outcome != chat.OutcomeAnswered || about.Type == chat.ToolApproval {
			return out, false
		}
		out.Role = "assistant"
	}
	for _, cited := range about.Citations {
		out.Citations = append(out.Citations, sharedCitation{N: cited.N, Source: string(cited.Source), Title: cited.Title, Page: cited.Page, Quote: cited.Quote, URL: cited.URL})
	}
	out.Unverified = about.Unverified
	return out, out.Text != ""
}

func (s *server) revokeShare(c *gin.Context, id string) error {
	share, err := request.PathID(c, "share_id")
	if err != nil {
		return err
	}
	who := identity.Of(c)
	if err := s.Store.DeleteShare(c.Request.Context(), who.ID, id, share); err != nil {
		return err
	}
	s.Audit.Record(entry(who, audit.ShareRevoked, map[string]any{"conversation": id, "share": share}))
	return respondEmpty(c, nil)
}

// readShared returns a shared copy to anybody who has its token. It reads no cookie and no
// other token.
func (s *server) readShared(c *gin.Context) error {
	c.Header("X-Robots-Tag", "noindex, nofollow")
	if err := s.limits.AdmitVisit(c.Request.Context(), s.identity.AddressOf(c.Request), c.Writer.Header()); err != nil {
		return err
	}
	token := c.Param("token")
	if !s.sharing() || len(token) > maxShareToken {
		return problem.NotFound
	}
	share, err := s.Store.ShareByDigest(c.Request.Context(), accesskey.Digest(token))
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, sharedJSON{share.Title, dialect.Stamp(share.CreatedAt), share.Content})
}

// sharing reports whether conversations can be shared by links (SHARED_LINKS).
func (s *server) sharing() bool { return s.Config.Features[FeatureSharedLinks] }
