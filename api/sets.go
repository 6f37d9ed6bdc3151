package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

const maxSetName = 200

type setJSON struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	DocIDs []string `json:"doc_ids"`
}

func showSet(v chat.DocumentSet) setJSON {
	ids := v.DocIDs
	if ids == nil {
		ids = []string{}
	}
	return setJSON{ID: v.ID, Name: v.Name, DocIDs: ids}
}

func (s *server) listSets(c *gin.Context) error {
	page, err := readPage(c, 50, 200, s.Store.ListSets)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, listOf(page, showSet))
}

type setBody struct {
	Name   string   `json:"name"`
	DocIDs []string `json:"doc_ids"`
}

// readSet reads {name, doc_ids}; the caller must be able to see the documents.
func (s *server) readSet(c *gin.Context) (chat.DocumentSet, error) {
	var b setBody
	if err := request.Decode(c, &b); err != nil {
		return chat.DocumentSet{}, err
	}
	var p dialect.Problems
	v := chat.DocumentSet{Owner: libraryOf(c.Request.Context(), identity.Of(c).ID), Name: chat.OneLine(b.Name), DocIDs: p.UUIDs("doc_ids", b.DocIDs)}
	p.Text("name", v.Name, 1, maxSetName)
	if err := p.Err(); err != nil {
		return v, err
	}
	return v, s.visible(c, "doc_ids", v.DocIDs)
}

// visible checks that the caller can see all of the documents.
func (s *server) visible(c *gin.Context, field string, ids []string) error {
	return s.checkVisible(c.Request.Context(), identity.Of(c).ID, field, ids)
}

// checkVisible refuses ids of documents that an owner cannot see.
func (s *server) checkVisible(ctx context.Context, owner, field string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := s.Store.DocumentsByID(ctx, owner, ids)
	if err != nil {
		return err
	}
	if len(found) < len(ids) {
		return problem.InvalidField(field, messages.FieldDocument)
	}
	return nil
}

func (s *server) createSet(c *gin.Context) error {
	v, err := s.readSet(c)
	if err != nil {
		return err
	}
	v.ID = uuid.NewString()
	if err := s.limits.Insert(identity.Of(c)).CreateSet(c.Request.Context(), v); err != nil {
		return err
	}
	return respond(c, http.StatusCreated, showSet(v))
}

func (s *server) updateSet(c *gin.Context, id string) error {
	v, err := s.readSet(c)
	if err != nil {
		return err
	}
	v.ID = id
	if err := s.Store.UpdateSet(c.Request.Context(), v); err != nil {
		return err
	}
	return respond(c, http.StatusOK, showSet(v))
}

func (s *server) deleteSet(c *gin.Context, id string) error {
	return respondEmpty(c, s.Store.DeleteSet(c.Request.Context(), libraryOf(c.Request.Context(), identity.Of(c).ID), id))
}
