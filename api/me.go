package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/audit"
)

const maxProfile = 200

type meJSON struct {
	ID        string `json:"id"`
	Anonymous bool   `json:"anonymous"`
	// What the caller's token says; left out if it does not.
	Name   string   `json:"name,omitempty"`
	Email  string   `json:"email,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Admin  bool     `json:"admin,omitempty"` // may use /api/admin
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
	b.Industry, b.Location, b.Instructions = strings.TrimSpace(b.Industry), strings.TrimSpace(b.Location), strings.TrimSpace(b.Instructions)
	var p dialect.Problems
	p.Text("industry", b.Industry, 0, maxProfile)
	p.Text("location", b.Location, 0, maxProfile)
	p.Text("instructions", b.Instructions, 0, chat.MaxInstructions)
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
	return respond(c, http.StatusOK, meJSON{who.ID, who.Anonymous, who.Name, who.Email, who.Groups, who.Admin, p, uses})
}

// endSessions signs a caller out, here or elsewhere. Only a browser's own cookie is
// replaced by a new one.
func (s *server) endSessions(c *gin.Context) error {
	who, which := identity.Of(c), c.Query("which")
	switch {
	case which != "" && which != "this" && which != "others" && which != "all":
		return problem.Invalid("which", "must be this, others or all")
	case which == "others" && who.By != credential.Cookie:
		return problem.Invalid("which", "must be this or all: only callers with a cookie keep it")
	case which == "others" || which == "all":
		if err := s.identity.EndSessions(c, who, which == "others"); err != nil {
			return err
		}
		s.Audit.Record(entry(who, audit.SessionsEnded, map[string]any{"which": which}))
		s.Log.Info("sessions ended", "request_id", request.ID(c), "which", which)
	default:
		s.identity.SignOut(c)
	}
	return respondEmpty(c, nil)
}
