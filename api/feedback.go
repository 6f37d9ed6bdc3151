package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/db"
)

// maxReason is the limit of a reason for a rating, in characters.
const maxReason = 1000

// Values of a rating.
const (
	ratingUp   = "up"
	ratingDown = "down"
)

type feedbackJSON struct {
	TurnID    string `json:"turn_id"`
	Rating    string `json:"rating"` // up or down
	Reason    string `json:"reason,omitempty"`
	Shared    bool   `json:"shared,omitempty"` // administrators may read the question and the answer
	UpdatedAt string `json:"updated_at"`
}

type feedbackListJSON struct {
	Items []feedbackJSON `json:"items"`
}

type feedbackBody struct {
	Rating string `json:"rating"`
	Reason string `json:"reason"`
	Shared bool   `json:"shared"`
}

func showFeedback(f db.Feedback) feedbackJSON {
	rating := ratingDown
	if f.Good {
		rating = ratingUp
	}
	return feedbackJSON{f.TurnID, rating, f.Reason, f.Shared, dialect.Stamp(f.UpdatedAt)}
}

func (s *server) listFeedback(c *gin.Context, id string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	if err := s.checkOwner(ctx, owner, id); err != nil {
		return err
	}
	list, err := s.Store.Feedback(ctx, owner, id)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, feedbackListJSON{showAll(list, showFeedback)})
}

// putFeedback stores what the caller thinks of an answer, in place of what they thought
// before.
func (s *server) putFeedback(c *gin.Context) error {
	thread, turn, err := ratedTurn(c)
	if err != nil {
		return err
	}
	var b feedbackBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	var p dialect.Problems
	down := p.Choice("rating", b.Rating, ratingUp, ratingDown)
	if b.Rating == "" && len(p) == 0 {
		p.Add("rating", "is missing")
	}
	b.Reason = strings.TrimSpace(b.Reason)
	p.Text("reason", b.Reason, 0, maxReason)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	if err := s.limits.AdmitChange(ctx, who, "feedback"); err != nil {
		return err
	}
	f := db.Feedback{Owner: who.ID, ThreadID: thread, TurnID: turn, Good: !down, Reason: b.Reason, Shared: b.Shared, UpdatedAt: s.now()}
	if err := s.Store.PutFeedback(ctx, f); err != nil {
		return err
	}
	return respond(c, http.StatusOK, showFeedback(f))
}

func (s *server) deleteFeedback(c *gin.Context) error {
	thread, turn, err := ratedTurn(c)
	if err != nil {
		return err
	}
	return respondEmpty(c, s.Store.DeleteFeedback(c.Request.Context(), identity.Of(c).ID, thread, turn))
}

// ratedTurn reads the ids of the conversation and the turn from the path.
func ratedTurn(c *gin.Context) (thread, turn string, err error) {
	if thread, err = request.PathID(c, "id"); err == nil {
		turn, err = request.PathID(c, "turn_id")
	}
	return thread, turn, err
}
