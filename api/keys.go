package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/accesskey"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

type keyJSON struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`    // left out: never
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // left out: never
	SpaceID   string     `json:"space_id,omitempty"`   // it works in this space only
}

type keysJSON struct {
	Items []keyJSON `json:"items"`
}

// newKeyJSON has the key itself, which no other response has.
type newKeyJSON struct {
	keyJSON
	Key string `json:"key"`
}

type keyBody struct {
	Name string `json:"name"`
	Days int    `json:"days"` // until it expires; 0: it does not expire
	// SpaceID binds the key to a space of the caller. It is revoked when they leave the space.
	SpaceID string `json:"space_id"`
}

func showKey(k db.Key) keyJSON {
	return keyJSON{k.ID, k.Name, k.CreatedAt.UTC(), optionalTime(k.UsedAt), optionalTime(k.ExpiresAt), k.Space}
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (s *server) listKeys(c *gin.Context) error {
	list, err := s.Store.Keys(c.Request.Context(), identity.Of(c).ID)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, keysJSON{showAll(list, showKey)})
}

func (s *server) createKey(c *gin.Context) error {
	who := identity.Of(c)
	var b keyBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	if err := s.limits.AdmitProfile(c.Request.Context(), who); err != nil {
		return err
	}
	var key string
	var k db.Key
	create := func(who identity.Caller) (_ chat.Space, err error) {
		key, k, err = accesskey.Create(c.Request.Context(), s.Store, accesskey.New{Owner: who.ID, Anonymous: who.Anonymous, Name: b.Name, Days: b.Days, Space: b.SpaceID})
		return chat.Space{}, err
	}
	var err error
	if b.SpaceID == "" {
		_, err = create(who)
	} else {
		_, err = s.space(c, b.SpaceID, create)
	}
	switch {
	case errors.Is(err, accesskey.ErrName):
		return problem.Invalid("name", "must have 1 to 100 characters")
	case errors.Is(err, accesskey.ErrDays):
		return problem.Invalid("days", "must be from 0 to 3650")
	case errors.Is(err, accesskey.ErrMany):
		return limits.Quota(messages.QuotaKeys.With(messages.Params{"limit": accesskey.MaxPerOwner}))
	case err != nil:
		return err
	}
	s.Audit.Record(entry(who, audit.KeyCreated, keyDetail(k)))
	return respond(c, http.StatusCreated, newKeyJSON{showKey(k), key})
}

func keyDetail(k db.Key) map[string]any {
	detail := map[string]any{"key": k.ID}
	if k.Space != "" {
		detail["space"] = k.Space
	}
	return detail
}

func (s *server) revokeKey(c *gin.Context, id string) error {
	who := identity.Of(c)
	if err := s.Store.DeleteKey(c.Request.Context(), who.ID, id); err != nil {
		return err
	}
	s.Audit.Record(entry(who, audit.KeyRevoked, map[string]any{"key": id}))
	return respondEmpty(c, nil)
}
