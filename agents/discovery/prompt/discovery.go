// Package prompt builds the prompts about discovery boards.
package prompt

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed discovery.md
var instructions string

//go:embed documents.md
var aboutDocuments string

// Limits of items in a prompt, in characters.
const (
	themeLength = 200  // of an item in a summary
	maxSent     = 8000 // of an item that the message refers to and the board does not have
)

// Request is what the prompt of the agent of a discovery board is made of.
type Request struct {
	Board *board.Board
	// References are the ids of the items that the message refers to, Named those in its text.
	References, Named []string
	Documents         bool // the tools about documents are offered
	Threshold         int  // a board with more items is summarized
	Room              int  // for the board, in tokens
	Summary           string
	Today             time.Time
}

// Discovery returns the system message. cut is the length to which texts of items were cut, in
// characters, because the whole board has no room; 0: none was.
func Discovery(r Request) (message llm.Message, cut int) {
	rules := strings.TrimSpace(instructions)
	if r.Documents {
		rules += "\n" + strings.TrimSpace(aboutDocuments)
	}
	about, cut := r.board()
	system := rules + "\n\nToday is " + r.Today.Format("Monday, 2 January 2006") + ".\n\nCurrent Discovery:\nTitle: " + llm.Data(chat.OneLine(r.Board.Title)) +
		"\nGoal: " + llm.Data(chat.OneLine(r.Board.Goal)) + "\n\n" + about + r.referred()
	return llm.Message{Role: llm.System, Text: prompt.WithSummary(system, r.Summary)}, cut
}

// board returns the board in full, or in short, with texts as long as fit.
func (r Request) board() (string, int) {
	full := map[string]bool{}
	for _, id := range slices.Concat(r.References, r.Named) {
		full[strings.ToUpper(id)] = true
	}
	render := func(length int) string { return r.inShort(full, length) }
	if len(r.Board.Items) <= r.Threshold {
		render = r.inFull
	}
	longest := themeLength
	for _, i := range r.Board.Items {
		longest = max(longest, utf8.RuneCountInString(i.Version.Text))
	}
	if whole := render(longest); llm.EstimateTokens(whole) <= r.Room {
		return whole, 0
	}
	length := sort.Search(longest, func(n int) bool { return llm.EstimateTokens(render(n+1)) > r.Room })
	return render(length), max(1, length)
}

// inFull returns the board with the whole texts of its items, at most length characters each.
func (r Request) inFull(length int) string {
	return "The board as it is now:\n" + boardBlock("board", struct {
		Items []fullItem `json:"items"`
	}{fullItems(r.Board.Items, length)})
}

// referred says which items the message refers to.
func (r Request) referred() string {
	if len(r.References) == 0 {
		return ""
	}
	type item struct {
		ID     string `json:"id"`
		Column string `json:"column,omitempty"`
		Text   string `json:"text,omitempty"`
		Gone   bool   `json:"not_on_the_board,omitempty"`
	}
	var items []item
	for _, id := range r.References {
		at := func(i board.Item) bool { return strings.EqualFold(i.ID, id) }
		if on := r.Board.Find(id); on != nil {
			items = append(items, item{ID: on.ID})
		} else if i := slices.IndexFunc(r.Board.Sent, at); i >= 0 {
			sent := r.Board.Sent[i]
			items = append(items, item{sent.ID, string(sent.Kind), prompt.Shorten(sent.Version.Text, maxSent), true})
		} else {
			items = append(items, item{ID: id, Gone: true})
		}
	}
	return "\n\nThe items that the analyst refers to in the message:\n" + boardBlock("referenced_items", items)
}

type fullItem struct {
	ID      string   `json:"id"`
	Column  string   `json:"column"`
	Title   string   `json:"title,omitempty"`
	Type    string   `json:"type,omitempty"`
	Text    string   `json:"text"`
	RestsOn []string `json:"rests_on,omitempty"`
	Status  string   `json:"status,omitempty"`
	Stale   bool     `json:"stale,omitempty"`
	// Document is the id of the document that an input is, or that an item cites.
	Document string `json:"document,omitempty"`
}

func fullItems(items []board.Item, length int) []fullItem {
	out := []fullItem{}
	for _, i := range items {
		out = append(out, fullItem{i.ID, string(i.Kind), i.Title, i.Type, prompt.Shorten(i.Version.Text, length), i.Related, i.Status, len(i.Stale) > 0, documentOf(i)})
	}
	return out
}

// documentOf returns the id of the document that an item is, or that it cites.
func documentOf(i board.Item) string {
	if i.Citation != nil {
		return i.Citation.DocumentID
	}
	return i.DocumentID
}

// inShort returns a summary of a large board: the beginning of each item, and the whole texts
// of the items in full; of none more than length characters.
func (r Request) inShort(full map[string]bool, length int) string {
	type theme struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	b := r.Board
	s := struct {
		Counts        map[string]int `json:"counts"`
		RestOnNothing int            `json:"items_that_rest_on_nothing"`
		Unused        int            `json:"items_that_nothing_rests_on"`
		Stale         int            `json:"stale_items"`
		ChainsByDepth map[string]int `json:"items_by_depth_of_their_chain"`
		Themes        []theme        `json:"themes"`
	}{Counts: map[string]int{}, ChainsByDepth: map[string]int{}, Themes: []theme{}}
	shape := b.Shape()
	s.RestOnNothing, s.Unused, s.Stale = len(shape.Orphans), len(shape.Unused), len(shape.Stale)
	for depth, n := range shape.Depths {
		s.ChainsByDepth[fmt.Sprint(depth)] = n
	}
	var named []board.Item
	for _, i := range b.Items {
		s.Counts[string(i.Kind)+"s"]++
		s.Themes = append(s.Themes, theme{i.ID, prompt.Shorten(strings.Join(strings.Fields(i.Version.Text), " "), min(themeLength, length))})
		if full[strings.ToUpper(i.ID)] {
			named = append(named, i)
		}
	}
	out := fmt.Sprintf("The board has %d items, more than are shown in full. In short:\n", len(b.Items)) + boardBlock("board_summary", s)
	if len(named) > 0 {
		out += "\n\nThe items that the message is about, in full:\n" + boardBlock("board_items", fullItems(named, length))
	}
	return out
}

func boardBlock(name string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("{}")
	}
	return "<" + name + ">\n" + llm.Data(string(b)) + "\n</" + name + ">"
}

// Imported returns the last messages of the chat that came with a board, with what became of
// their proposals, as many as fit into room tokens. dropped: there are more.
func Imported(history []board.Message, room int) (out []llm.Message, dropped bool) {
	for _, m := range slices.Backward(history) {
		said := prompt.Message(chat.Message{Role: m.Role, Content: m.Content}, prompt.MaxEarlier)
		if said.Text = strings.TrimSpace(said.Text + proposals(m.ToolCalls)); said.Role == "" || said.Text == "" {
			continue
		}
		if room -= llm.EstimateTokens(said.Text) + 4; room < 0 {
			dropped = true
			break
		}
		out = append(out, said)
	}
	slices.Reverse(out)
	return out, dropped
}

func proposals(calls []board.ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "\n(You proposed %s %s. Status: %s.)", c.Tool, prompt.Shorten(string(c.Params), themeLength*5), cmp.Or(c.Status, string(board.Pending)))
	}
	return b.String()
}

// outcomes tell the model what became of its proposals.
var outcomes = map[board.State]string{
	board.Pending:   "The person has not decided yet. The board has not changed.",
	board.Applied:   "The person has confirmed it, and the board has changed.",
	board.Cancelled: "The person has dropped it. The board has not changed.",
	board.Failed:    "It does not fit the board, which has not changed: ",
	board.Overtaken: "A later proposal about the same item has overtaken it. The board has not changed.",
}

// Outcomes replaces the results of earlier proposals by what has become of them since.
func Outcomes(before []llm.Message, b *board.Board) []llm.Message {
	for i := range before {
		if p := slices.IndexFunc(b.Proposals, func(p board.Proposal) bool { return p.ID == before[i].CallID }); p >= 0 {
			before[i].Text = outcomes[b.Proposals[p].State]
			if b.Proposals[p].State == board.Failed {
				before[i].Text += llm.Data(b.Proposals[p].Reason)
			}
		}
	}
	return before
}

// BoardFacts converts a board for the facts of a request.
func BoardFacts(b *board.Board) *llm.Board {
	out := &llm.Board{Title: b.Title, Goal: b.Goal}
	for _, i := range b.Items {
		out.Items = append(out.Items, llm.BoardItem{ID: i.ID, Column: string(i.Kind), Title: i.Title, Type: i.Type, Text: i.Version.Text,
			RestsOn: i.Related, Status: i.Status, Stale: len(i.Stale) > 0, Document: documentOf(i)})
	}
	return out
}
