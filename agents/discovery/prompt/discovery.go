// Package prompt builds the prompts about discovery boards.
package prompt

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

//go:embed discovery.md
var instructions string

const (
	// themeLength is how much of an item's text a summary of the board has.
	themeLength = 200
	// Limits of a prompt, in characters: of the themes, and of the items in full.
	maxThemes    = 40_000
	maxFullItems = 80_000
)

// Discovery is the system message of the agent of a discovery board. Above threshold
// items it has a summary of the board, and only the items of full with their whole text.
func Discovery(b *board.Board, full []string, threshold int, summary string, today time.Time) llm.Message {
	about := boardInFull(b, b.Items)
	if len(b.Items) > threshold {
		about = boardInShort(b, full)
	}
	system := strings.TrimSpace(instructions) + "\n\nToday is " + today.Format("Monday, 2 January 2006") + ".\n\n" + about
	return llm.Message{Role: llm.System, Text: prompt.WithSummary(system, summary)}
}

// boardInFull returns the board with the whole text of items, as JSON.
func boardInFull(b *board.Board, items []board.Item) string {
	return "The board as it is now:\n" + boardBlock("board", struct {
		Title string     `json:"title"`
		Goal  string     `json:"goal"`
		Items []fullItem `json:"items"`
	}{b.Title, b.Goal, fullItems(items)})
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

func fullItems(items []board.Item) []fullItem {
	out, size := []fullItem{}, 0
	for _, i := range items {
		if size += len(i.Version.Text); size > maxFullItems {
			i.Version.Text = prompt.Shorten(i.Version.Text, themeLength)
		}
		out = append(out, fullItem{i.ID, string(i.Kind), i.Title, i.Type, i.Version.Text, i.Related, i.Status, len(i.Stale) > 0, documentOf(i)})
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

// boardInShort returns a summary of a large board, with the whole text of the items in full.
func boardInShort(b *board.Board, full []string) string {
	type theme struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	s := struct {
		Title         string         `json:"title"`
		Goal          string         `json:"goal"`
		Counts        map[string]int `json:"counts"`
		RestOnNothing int            `json:"items_that_rest_on_nothing"`
		Unused        int            `json:"items_that_nothing_rests_on"`
		Stale         int            `json:"stale_items"`
		ChainsByDepth map[string]int `json:"items_by_depth_of_their_chain"`
		Themes        []theme        `json:"themes"`
	}{Title: b.Title, Goal: b.Goal, Counts: map[string]int{}, ChainsByDepth: map[string]int{}, Themes: []theme{}}
	shape := b.Shape()
	s.RestOnNothing, s.Unused, s.Stale = len(shape.Orphans), len(shape.Unused), len(shape.Stale)
	for depth, n := range shape.Depths {
		s.ChainsByDepth[fmt.Sprint(depth)] = n
	}
	each := maxThemes / max(len(b.Items), 1)
	for _, i := range b.Items {
		s.Counts[string(i.Kind)+"s"]++
		s.Themes = append(s.Themes, theme{i.ID, prompt.Shorten(strings.Join(strings.Fields(i.Version.Text), " "), min(themeLength, each))})
	}
	out := fmt.Sprintf("The board has %d items, more than are shown in full. In short:\n", len(b.Items)) + boardBlock("board_summary", s)
	var named []board.Item
	for _, i := range b.Items {
		if slices.ContainsFunc(full, func(id string) bool { return strings.EqualFold(id, i.ID) }) {
			named = append(named, i)
		}
	}
	if len(named) > 0 {
		out += "\n\nThe items that the message is about, in full:\n" + boardBlock("board_items", fullItems(named))
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

// maxImported limits the messages of an imported chat in a prompt.
const maxImported = 20

// Imported returns the last messages of a chat that came with the board.
func Imported(history []board.Message) []llm.Message {
	var out []llm.Message
	for _, m := range history[max(0, len(history)-maxImported):] {
		said := prompt.Message(chat.Message{Role: m.Role, Content: m.Content}, prompt.MaxRecent)
		if said.Role != "" && strings.TrimSpace(said.Text) != "" {
			out = append(out, said)
		}
	}
	return out
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
