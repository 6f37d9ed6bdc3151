// Package board has the rules of a discovery board: five columns of items, each of which
// builds on items of the column before. A Board is a plain value: the methods change it
// and say what they changed; the caller reads and stores it.
package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat/messages"
)

// Limits of a board.
const (
	MaxItems     = 2000
	MaxText      = 8000 // characters of an item
	MaxTitle     = 200  // characters of a board's title or an input's
	MaxGoal      = 4000 // characters
	MaxRelations = 100  // of one item
	MaxName      = 60   // characters of a type or a status
	MaxVersions  = 100  // of one item; the oldest are forgotten
	MaxQuote     = 1000 // characters of a citation's quote
	MaxBytes     = 4 << 20
	maxChanges   = 200 // that can be undone
	maxProposals = 500
)

// Kind is a column of the board.
type Kind string

// Kinds of items, in the order of the columns.
const (
	Input          Kind = "input"
	Fact           Kind = "fact"
	Insight        Kind = "insight"
	Recommendation Kind = "recommendation"
	Output         Kind = "output"
)

// Kinds are the columns in order.
var Kinds = []Kind{Input, Fact, Insight, Recommendation, Output}

var letters = map[Kind]string{Input: "I", Fact: "F", Insight: "N", Recommendation: "R", Output: "O"}

// OutputTypes are the types of outputs.
var OutputTypes = []string{"report", "presentation", "action_plan", "brief"}

// Letter is the first letter of the ids of a column.
func (k Kind) Letter() string { return letters[k] }

// Before is the column that items of k build on; empty for inputs.
func (k Kind) Before() Kind {
	if i := slices.Index(Kinds, k); i > 0 {
		return Kinds[i-1]
	}
	return ""
}

// Author is who wrote a version.
type Author string

// Authors of versions.
const (
	Person    Author = "person"
	Assistant Author = "assistant" // proposed by it, confirmed by a person
	Imported  Author = "import"
)

// Board is one discovery. Its JSON is how it is stored; File is the one that people
// export and import.
type Board struct {
	Title   string       `json:"title"`
	Goal    string       `json:"goal"`
	Items   []Item       `json:"items"`             // of all columns, each column in the order of its numbers
	Given   map[Kind]int `json:"given"`             // the highest number that was given in a column; no number is given twice
	Changes []Change     `json:"changes,omitempty"` // changes that can be undone, oldest first
	// LastChange is the number of the last change. It is never given twice on a board, also
	// after its content was replaced.
	LastChange int        `json:"last_change,omitempty"`
	Proposals  []Proposal `json:"proposals,omitempty"` // of the assistant, oldest first
	// Sent are items that a message refers to and that are not on the client's board of that
	// message (ReadContext). No other board has them.
	Sent    []Item    `json:"sent,omitempty"`
	History []Message `json:"history,omitempty"` // the chat
	Extra   Fields    `json:"extra,omitempty"`   // the unknown fields of an imported file
}

// Item is one entry of a column.
type Item struct {
	ID      string   `json:"id"` // "F-1"
	Kind    Kind     `json:"kind"`
	Title   string   `json:"title,omitempty"`   // of an input
	Type    string   `json:"type,omitempty"`    // of an input or an output
	Related []string `json:"related,omitempty"` // ids of items in the column before
	Status  string   `json:"status,omitempty"`  // any text, such as "draft"; empty: none
	// DocumentID is the document of the library that an input stands for.
	DocumentID string    `json:"document_id,omitempty"`
	Citation   *Citation `json:"citation,omitempty"` // the passage of a document that the item rests on
	// Stale has the ids of the items whose change or removal has made this one out of date,
	// until somebody clears it.
	Stale   []string  `json:"stale,omitempty"`
	Version Version   `json:"version"`           // the present text
	Earlier []Version `json:"earlier,omitempty"` // oldest first
	Extra   Fields    `json:"extra,omitempty"`
}

// Citation is the passage of a document that an item rests on. It stays with the item when
// the item's text changes.
type Citation struct {
	DocumentID string `json:"document_id"`
	Title      string `json:"title,omitempty"` // of the document, when it was cited
	ChunkID    string `json:"chunk_id,omitempty"`
	Quote      string `json:"quote"` // word for word as in the document
	// Start and End count characters of the document's text; both 0: unknown.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Version is a text that an item has, or had.
type Version struct {
	N    int       `json:"n"` // from 1
	Text string    `json:"text"`
	By   Author    `json:"by"`
	At   time.Time `json:"at"`
	Who  string    `json:"who,omitempty"` // the id of the person, on a board of a space
}

// Message is one of the chat about the board.
type Message struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"` // user or assistant
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	CreatedAt  string     `json:"created_at,omitempty"` // as it was imported
	References []string   `json:"references,omitempty"` // ids of items
}

// ToolCall is a proposal in the form that the chat shows.
type ToolCall struct {
	ID     string          `json:"id,omitempty"`
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
	Status string          `json:"status"`
}

// Fields are unknown fields of a file; they are kept as they are.
type Fields map[string]json.RawMessage

// Invalid says what is wrong with one field of a change.
type Invalid struct {
	Field, Problem string
}

func (e *Invalid) Error() string { return e.Field + " " + e.Problem }

func invalid(field, format string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(format, args...)}
}

// Errors of changes.
var (
	ErrNoItem     = errors.New(messages.ReasonNoItem.Text)
	ErrNoChange   = errors.New("there is nothing to undo by this number")
	ErrBuiltOn    = errors.New("something was built on this change since, so it cannot be undone")
	ErrNoProposal = errors.New("the board has no such proposal")
)

// Find returns an item by its id, whose case does not matter; nil when there is none.
func (b *Board) Find(id string) *Item {
	for i := range b.Items {
		if strings.EqualFold(b.Items[i].ID, id) {
			return &b.Items[i]
		}
	}
	return nil
}

// Column returns the items of one column.
func (b *Board) Column(k Kind) (items []Item) {
	for _, item := range b.Items {
		if item.Kind == k {
			items = append(items, item)
		}
	}
	return items
}

// Downstream returns the ids of all items that build on one, directly or not, in the
// order of the columns.
func (b *Board) Downstream(id string) (ids []string) {
	reached := map[string]bool{id: true}
	for _, k := range Kinds {
		for _, item := range b.Items {
			if item.Kind == k && !reached[item.ID] && slices.ContainsFunc(item.Related, func(r string) bool { return reached[r] }) {
				reached[item.ID] = true
				ids = append(ids, item.ID)
			}
		}
	}
	return ids
}

// nextID gives the next number of a column.
func (b *Board) nextID(k Kind) string {
	if b.Given == nil {
		b.Given = map[Kind]int{}
	}
	b.Given[k]++
	return k.Letter() + "-" + strconv.Itoa(b.Given[k])
}

// remember makes sure that an id from a file or a request is not given again.
func (b *Board) remember(k Kind, id string) {
	if n, ok := number(k, id); ok {
		if b.Given == nil {
			b.Given = map[Kind]int{}
		}
		b.Given[k] = max(b.Given[k], n)
	}
}

// number reads the number of an id of a column.
func number(k Kind, id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, k.Letter()+"-")
	if !ok || len(digits) > 9 || strings.HasPrefix(digits, "0") || strings.HasPrefix(digits, "+") {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// related checks relations: each must be an item of the column before. It drops repeats.
func (b *Board) related(k Kind, field string, ids []string) ([]string, error) {
	if len(ids) > MaxRelations {
		return nil, invalid(field, "must have at most %d entries", MaxRelations)
	}
	var out []string
	for _, id := range ids {
		item := b.Find(strings.TrimSpace(id))
		switch {
		case item == nil:
			return nil, invalid(field, "names %s, which is not on the board", short(id))
		case k == Input:
			return nil, invalid(field, "must be empty: an input builds on nothing")
		case item.Kind != k.Before():
			return nil, invalid(field, "names %s, but %s builds on %s", item.ID, withArticle(k), plural(k.Before()))
		case !slices.Contains(out, item.ID):
			out = append(out, item.ID)
		}
	}
	return out, nil
}

func withArticle(k Kind) string {
	if strings.ContainsRune("aeiou", rune(k[0])) {
		return "an " + string(k)
	}
	return "a " + string(k)
}

func plural(k Kind) string { return string(k) + "s" }

// text trims a text and checks that it can be stored: its length in characters and its
// encoding. An error is an *Invalid about the field.
func text(field, s string, least, most int) (string, error) {
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		return "", invalid(field, "must be UTF-8")
	case strings.ContainsRune(s, 0):
		return "", invalid(field, "must not contain the NUL character")
	case n < least:
		return "", invalid(field, "must not be empty")
	case n > most:
		return "", invalid(field, "must have at most %d characters", most)
	}
	return s, nil
}

// line is text for a single line: it replaces white space, and so line breaks, by blanks.
func line(field, s string, least, most int) (string, error) {
	return text(field, strings.Join(strings.Fields(s), " "), least, most)
}

// short quotes a text of the caller for an error message, cut to 40 characters.
func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}

var idWord = regexp.MustCompile(`(?i)\b[IFNRO]-[1-9][0-9]{0,8}\b`)

// idsIn returns the ids in a text, in capitals.
func idsIn(text string) []string {
	return idWord.FindAllString(strings.ToUpper(text), -1)
}
