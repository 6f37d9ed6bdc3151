package record

import (
	"encoding/json"

	"github.com/palaver-chat/palaver/chat"
)

// EncodePages writes pages as a column keeps them: JSON [[page, first character], …].
func EncodePages(pages []chat.PageStart) string {
	if len(pages) == 0 {
		return ""
	}
	pairs := make([][2]int, len(pages))
	for i, p := range pages {
		pairs[i] = [2]int{p.Page, p.Start}
	}
	out, _ := json.Marshal(pairs) // numbers always encode
	return string(out)
}

// Pages reads what EncodePages has written; nothing when it cannot be read.
func Pages(column string) []chat.PageStart {
	var pairs [][2]int
	if column == "" || json.Unmarshal([]byte(column), &pairs) != nil {
		return nil
	}
	pages := make([]chat.PageStart, len(pairs))
	for i, p := range pairs {
		pages[i] = chat.PageStart{Page: p[0], Start: p[1]}
	}
	return pages
}
