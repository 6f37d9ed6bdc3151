package record

import (
	"encoding/base64"
	"encoding/json"
	"math"

	"github.com/palaver-chat/palaver/db"
)

// Cursor is a place in a list ordered by First, then At, then ID, all descending.
type Cursor struct {
	First bool `json:"f,omitempty"` // pinned; most lists have nothing pinned

	At int64  `json:"t"`
	ID string `json:"i,omitempty"`
}

func (c Cursor) String() string {
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads a cursor; "" is the beginning of the list.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{First: true, At: math.MaxInt64}, nil
	}
	var c Cursor
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return Cursor{}, db.ErrBadCursor
	}
	return c, nil
}

// Page converts rows, which were read with a limit one higher than limit, to a page.
func Page[Row, Item any](rows []Row, limit int, convert func(Row) Item, at func(Row) Cursor) db.Page[Item] {
	p := db.Page[Item]{Items: make([]Item, 0, min(len(rows), limit))}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = at(rows[limit-1]).String()
	}
	for _, row := range rows {
		p.Items = append(p.Items, convert(row))
	}
	return p
}

// Clamp keeps a limit between 1 and most.
func Clamp(limit, most int) int { return min(max(limit, 1), most) }
