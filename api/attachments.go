package api

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
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
	body, err := s.receivePicture(c)
	if err != nil {
		return err
	}
	defer body.Close()
	raw, release, err := s.load(c.Request.Context(), body)
	if err != nil {
		return err
	}
	defer release()
	who := identity.Of(c)
	a := chat.Attachment{ID: uuid.NewString(), Owner: who.ID}
	if err := s.keepPicture(c.Request.Context(), who, a, raw); err != nil {
		return err
	}
	c.JSON(http.StatusCreated, showAttachment(a.ID))
	return nil
}

// keepPicture stores a picture that no message uses yet.
func (s *server) keepPicture(ctx context.Context, who identity.Caller, a chat.Attachment, raw []byte) error {
	kind, err := pictureType(raw)
	if err != nil {
		return err
	}
	a.MIME, a.Bytes = kind, len(raw)
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

// receivePicture receives the part "file" of the form, up to the size limit.
func (s *server) receivePicture(c *gin.Context) (*request.Spooled, error) {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "multipart/form-data" {
		return nil, problem.Unsupported(messages.PictureBody)
	}
	if c.Request.ContentLength > maxPicture+formOverhead {
		return nil, errPictureSize
	}
	request.AllowUpload(c, uploadTimeout)
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxPicture+formOverhead)
	form, err := c.Request.MultipartReader()
	if err != nil {
		return nil, problem.Invalid("body", "must be multipart/form-data")
	}
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, problem.Invalid("file", "is missing")
		case err != nil:
			return nil, pictureError(err)
		case part.FormName() == "file":
			body, err := s.receivePicturePart(part)
			if err == nil {
				request.BodyReceived(c)
			}
			return body, err
		}
	}
}

func (s *server) receivePicturePart(part *multipart.Part) (*request.Spooled, error) {
	body, err := request.Spool(part, s.Config.TempDir, maxPicture)
	switch {
	case errors.Is(err, request.ErrTooLong):
		return nil, errPictureSize
	case err != nil:
		return nil, pictureError(err)
	case body.Size == 0:
		return nil, problem.InvalidField("file", messages.FieldFileEmpty)
	}
	return body, nil
}

func pictureError(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) {
		return errPictureSize
	}
	if errors.As(err, new(*fs.PathError)) { // of the temporary file
		return err
	}
	return problem.Invalid("body", "must be complete multipart/form-data")
}

// getAttachment serves a picture of the caller's. It never changes under its id, so
// browsers may cache it, separately for each caller.
func (s *server) getAttachment(c *gin.Context) error {
	id := c.Param("id")
	if !dialect.Plain(id) {
		return problem.NotFound
	}
	a, raw, err := s.Store.Attachment(c.Request.Context(), identity.Of(c).ID, id)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "private, max-age=31536000, immutable")
	c.Header("Vary", "Authorization, Cookie, Userid")
	c.Header("Content-Disposition", "inline")
	c.Header("Content-Length", strconv.Itoa(len(raw)))
	c.Data(http.StatusOK, a.MIME, raw)
	return nil
}
