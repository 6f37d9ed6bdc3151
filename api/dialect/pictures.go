package dialect

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// PicturesOf returns the pictures of turns' messages by turn id, each list in the message's
// order, without deleted ones.
func PicturesOf(ctx context.Context, rows Rows, owner string, logs map[string]TurnLog) (map[string][]chat.Attachment, error) {
	var ids []string
	for _, l := range logs {
		ids = append(ids, l.Turn.Content.Attachments...)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := rows.AttachmentsByID(ctx, owner, ids)
	if err != nil {
		return nil, err
	}
	kept := make(map[string]chat.Attachment, len(list))
	for _, a := range list {
		kept[a.ID] = a
	}
	pictures := map[string][]chat.Attachment{}
	for turn, l := range logs {
		for _, id := range l.Turn.Content.Attachments {
			if a, there := kept[id]; there {
				pictures[turn] = append(pictures[turn], a)
			}
		}
	}
	return pictures, nil
}
