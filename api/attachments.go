package api

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/pictures"
)

// maxPicture is the limit of a picture's bytes.
const maxPicture = pictures.MaxBytes

var (
	errPictureSize  = problem.TooLarge(messages.PictureTooLarge.With(messages.Params{"limit": maxPicture >> 20}))
	errPictureSides = problem.TooLarge(messages.PictureSides)
	errPictureKind  = problem.Unsupported(messages.PictureType)
)

type attachmentJSON struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

func showAttachment(id string) attachmentJSON { return attachmentJSON{id, chat.AttachmentURL(id)} }

// createAttachment stores an uploaded picture. It belongs to no conversation until a
// message uses it.
func (s *server) createAttachment(c *gin.Context) error {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "multipart/form-data" {
		return problem.Unsupported(messages.PictureBody)
	}
	u, err := s.receiveForm(c, maxPicture, errPictureSize)
	if err != nil {
		return err
	}
	defer u.body.Close()
	if u.body.Size == 0 {
		return problem.InvalidField("file", messages.FieldFileEmpty)
	}
	raw, release, err := s.load(c.Request.Context(), u.body)
	if err != nil {
		return err
	}
	defer release()
	who := identity.Of(c)
	a := chat.Attachment{ID: uuid.NewString(), Owner: who.ID}
	if err := s.keepPicture(c.Request.Context(), who, a, raw); err != nil {
		return err
	}
	return respond(c, http.StatusCreated, showAttachment(a.ID))
}

// keepPicture stores a picture that no message uses yet.
func (s *server) keepPicture(ctx context.Context, who identity.Caller, a chat.Attachment, raw []byte) error {
	kind, err := pictureType(raw)
	if err != nil {
		return err
	}
	a.MIME, a.Bytes, a.Space = kind, len(raw), db.SpaceOf(ctx)
	return s.limits.Insert(who).PutAttachment(ctx, a, raw)
}

// pictureType returns the media type that the bytes have.
func pictureType(raw []byte) (string, error) {
	kind, err := pictures.Type(raw)
	switch {
	case errors.Is(err, pictures.ErrSize):
		return "", errPictureSize
	case errors.Is(err, pictures.ErrSides):
		return "", errPictureSides
	case err != nil:
		return "", errPictureKind
	}
	return kind, nil
}

// getAttachment serves a picture of the caller's, or of a conversation that is shared with the
// space of the request. It never changes under its id, so browsers may cache the caller's own,
// separately for each caller.
func (s *server) getAttachment(c *gin.Context) error {
	id := c.Param("id")
	if !dialect.Plain(id) {
		return problem.NotFound
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	owner, cached := who.ID, "private, max-age=31536000, immutable"
	list, err := s.Store.AttachmentsByID(ctx, owner, []string{id})
	if err == nil && len(list) == 0 && db.SpaceOf(ctx) != "" {
		if owner, err = s.Store.AttachmentInSpace(ctx, who.ID, id); err == nil {
			cached = "no-store" // who leaves the space does not keep it
			list, err = s.Store.AttachmentsByID(ctx, owner, []string{id})
		}
	}
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return problem.NotFound
	}
	if owner == who.ID {
		if err := s.checkBoundPicture(ctx, who, list[0]); err != nil {
			return err
		}
	}
	c.Header("Cache-Control", cached)
	c.Writer.Header().Add("Vary", "Authorization, Cookie, Userid")
	c.Header("Content-Disposition", "inline")
	return s.send(c, list[0].MIME, int64(list[0].Bytes), func() ([]byte, error) {
		_, raw, err := s.Store.Attachment(ctx, owner, id)
		return raw, err
	})
}

// withoutShared leaves out ids of pictures of others that the caller reads in the space, for a
// message that is sent again in a copy of their conversation.
func (s *server) withoutShared(ctx context.Context, owner string, ids []string, own []chat.Attachment) (rest []string, _ error) {
	for _, id := range ids {
		if db.SpaceOf(ctx) != "" && !slices.ContainsFunc(own, func(a chat.Attachment) bool { return a.ID == id }) {
			if _, err := s.Store.AttachmentInSpace(ctx, owner, id); err == nil {
				continue
			} else if !notFound(err) {
				return nil, err
			}
		}
		rest = append(rest, id)
	}
	return rest, nil
}

// checkBoundPicture refuses a picture of the caller that is not of the space to which the
// caller's key is bound: its conversation is there, or it was uploaded there for one.
func (s *server) checkBoundPicture(ctx context.Context, who identity.Caller, a chat.Attachment) error {
	if a.ThreadID != "" {
		return s.checkBound(ctx, who, a.ThreadID)
	}
	if who.Space != "" && a.Space != who.Space {
		return s.refusedSpace("", who, a.Space, problem.NotFound)
	}
	return nil
}
