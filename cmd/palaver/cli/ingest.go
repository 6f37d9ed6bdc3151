package cli

import (
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/config"
)

// owner is the owner of the documents.
func (i ingestCmd) owner() (string, error) {
	switch {
	case i.Public && i.Owner != "":
		return "", &config.Error{Variable: "--owner", Problem: "public documents have no owner; use either --public or --owner"}
	case i.Public:
		return chat.PublicOwner, nil
	case i.Owner == "" || i.Owner == chat.PublicOwner:
		return "", &config.Error{Variable: "--owner", Problem: "required: the user id that the documents belong to, or use --public"}
	}
	return i.Owner, nil
}
