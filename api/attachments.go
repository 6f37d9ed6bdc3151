package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/pictures"
)

// Limits of a picture, and of a caller's pictures that no message uses yet.
const (
	maxPicture       = pictures.MaxBytes
	maxUnused        = 64
	maxUnusedBytes   = 128 << 20
	unusedRetryAfter = time.Hour // some unused pictures are removed by then
)

var (
	errPictureSize   = problem.TooLarge("The picture is larger than the 10 MB allowed.")
	errPictureSides  = problem.TooLarge("The picture has more pixels than allowed.")
	errPictureKind   = problem.Unsupported("Unsupported image type. Use JPEG, PNG or WebP.")
	errPictureUnused = problem.TooMany("Too many pictures have been uploaded and not sent. Send some of them, or try again later.", unusedRetryAfter)
)

type attachmentJSON struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

func showAttachment(id string) attachmentJSON { return attachmentJSON{id, chat.AttachmentURL(id)} }

// createAttachment stores an uploaded picture. It belongs to no conversation until a
// message uses it.
func (s *server) createAttachment(c *gin.Context) error {
	raw, err := readPicture(c)
	if err != nil {
		return err
	}
	a := chat.Attachment{ID: uuid.NewString(), Owner: identity.Of(c).ID}
	if err := s.keepPicture(c.Request.Context(), a, raw); err != nil {
		return err
	}
	c.JSON(http.StatusCreated, showAttachment(a.ID))
	return nil
}

// keepPicture stores a picture that no message uses yet.
func (s *server) keepPicture(ctx context.Context, a chat.Attachment, raw []byte) error {
	kind, err := pictureType(raw)
	if err != nil {
		return err
	}
	number, size, err := s.Store.UnusedAttachments(ctx, a.Owner)
	if err != nil {
		return err
	}
	if number >= maxUnused || size+int64(len(raw)) > maxUnusedBytes {
		return errPictureUnused
	}
	a.MIME, a.Bytes = kind, len(raw)
	return s.Store.PutAttachment(ctx, a, raw)
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

// readPicture reads the part "file" and stops at the size limit.
func readPicture(c *gin.Context) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "multipart/form-data" {
		return nil, problem.Unsupported("The body must be multipart/form-data with a file.")
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
			raw, err := readPicturePart(part)
			if err == nil {
				request.BodyReceived(c)
			}
			return raw, err
		}
	}
}

func readPicturePart(part *multipart.Part) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(part, maxPicture+1))
	switch {
	case err != nil:
		return nil, pictureError(err)
	case len(raw) > maxPicture:
		return nil, errPictureSize
	case len(raw) == 0:
		return nil, problem.Invalid("file", "is empty")
	}
	return raw, nil
}

func pictureError(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) {
		return errPictureSize
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
