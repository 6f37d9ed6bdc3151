package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

const maxProfile = 200

type meJSON struct {
	ID        string `json:"id"`
	Anonymous bool   `json:"anonymous"`
	chat.Profile
	// Limits are the limits that apply to the caller, and how much of each is used.
	Limits []limits.Use `json:"limits"`
}

func (s *server) me(c *gin.Context) error {
	who := identity.Of(c)
	p, err := s.Store.Profile(c.Request.Context(), who.ID)
	if err != nil {
		return err
	}
	return s.showMe(c, who, p)
}

// putMe replaces the caller's profile.
func (s *server) putMe(c *gin.Context) error {
	var b chat.Profile
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	b.Industry, b.Location = strings.TrimSpace(b.Industry), strings.TrimSpace(b.Location)
	var p dialect.Problems
	p.Text("industry", b.Industry, 0, maxProfile)
	p.Text("location", b.Location, 0, maxProfile)
	if err := p.Err(); err != nil {
		return err
	}
	who := identity.Of(c)
	if err := s.limits.AdmitProfile(c.Request.Context(), who); err != nil {
		return err
	}
	if err := s.Store.PutProfile(c.Request.Context(), who.ID, b); err != nil {
		return err
	}
	return s.showMe(c, who, b)
}

func (s *server) showMe(c *gin.Context, who identity.Caller, p chat.Profile) error {
	uses, err := s.limits.Uses(c.Request.Context(), who)
	if err != nil {
		return err
	}
	if uses == nil {
		uses = []limits.Use{}
	}
	return respond(c, http.StatusOK, meJSON{who.ID, who.Anonymous, p, uses})
}

// endSessions signs an anonymous caller out, here or elsewhere.
func (s *server) endSessions(c *gin.Context) error {
	who, which := identity.Of(c), c.Query("which")
	switch {
	case which != "" && which != "this" && which != "others" && which != "all":
		return problem.Invalid("which", "must be this, others or all")
	case which == "others" || which == "all":
		if !who.Anonymous { // only the issuer of a token, or the proxy, can end other sessions
			return problem.Invalid("which", "must be this: the server stores only the sessions of anonymous callers")
		}
		if err := s.identity.EndSessions(c, who.ID, which == "others"); err != nil {
			return err
		}
		s.Log.Info("sessions ended", "request_id", request.ID(c), "which", which)
	default:
		s.identity.SignOut(c)
	}
	return respondEmpty(c, nil)
}
