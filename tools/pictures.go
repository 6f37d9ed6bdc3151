package tools

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// Pictures keeps what tools draw.
type Pictures interface {
	PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error
	AttachmentsByID(ctx context.Context, owner string, ids []string) ([]chat.Attachment, error)
}

// pictureNamespace makes the id of a picture from the call that drew it.
var pictureNamespace = uuid.MustParse("0b0c6f0e-4b8e-5d53-8f0a-3c1c7be1a2d4")

// PictureID is the id of the picture that a call draws: always the same one.
func PictureID(callID string) string { return uuid.NewSHA1(pictureNamespace, []byte(callID)).String() }

const keepAgain = 250 * time.Millisecond

// KeepPicture stores a picture that a call has brought and may not bring again:
// it waits for a database that is away as long as the call may take.
func KeepPicture(ctx context.Context, pictures Pictures, a chat.Attachment, data []byte) error {
	for {
		err := pictures.PutAttachment(ctx, a, data)
		if !errors.Is(err, db.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(keepAgain):
		}
	}
}
