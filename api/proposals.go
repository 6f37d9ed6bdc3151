package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/boards/board"
)

type proposalBody struct {
	ID     string       `json:"id"`
	Tool   string       `json:"tool"`
	Params board.Params `json:"params"`
}

// propose stores a change that a person has to confirm. The caller chooses the id, so
// that sending the same proposal again changes nothing.
func (s *server) propose(c *gin.Context) error {
	var body proposalBody
	if err := request.Decode(c, &body); err != nil {
		return err
	}
	var p dialect.Problems
	p.Text("id", body.ID, 1, dialect.MaxID)
	p.ID("id", body.ID)
	if err := p.Err(); err != nil {
		return err
	}
	return s.answerChange(c, http.StatusCreated, func(b *board.Board) (board.Result, error) {
		if err := s.source(c, &body.Params); err != nil {
			return board.Result{}, err
		}
		return board.Result{}, b.Propose(body.ID, "", body.Tool, body.Params, time.Now().UTC())
	})
}

type boardDecisionBody struct {
	Decision     string        `json:"decision"`
	Params       *board.Params `json:"params"`
	AllowSimilar bool          `json:"allow_similar"`
	Overwrite    bool          `json:"overwrite"`
}

// boardDecisionJSON is a change with the state of the proposal.
type boardDecisionJSON struct {
	Status board.State `json:"status"`
	boardChangeJSON
}

// decideProposal applies or drops a proposal, once. A failure is kept with the
// proposal, so that a card can show it after a reload.
func (s *server) decideProposal(c *gin.Context) error {
	var body boardDecisionBody
	if err := request.Decode(c, &body); err != nil {
		return err
	}
	if body.Decision != "confirm" && body.Decision != "cancel" {
		return problem.Invalid("decision", "must be confirm or cancel")
	}
	d := board.Decision{Confirm: body.Decision == "confirm", Params: body.Params, Similar: body.AllowSimilar, Changed: body.Overwrite}
	answer := boardDecisionJSON{Status: board.Cancelled}
	if d.Confirm {
		answer.Status = board.Applied
	}
	_, revision, err := s.changeBoard(c, func(b *board.Board) (bool, error) {
		r, err := b.Decide(c.Param("tool_call_id"), d, time.Now().UTC())
		answer.boardChangeJSON = showChange(b, r)
		return true, err
	})
	if err != nil {
		return err
	}
	answer.Revision = revision
	c.Header("ETag", etag(revision))
	return respond(c, http.StatusOK, answer)
}
