// Package offline has what the engine without a model does for the agent of discovery boards.
package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/llm/offline/toolcall"
)

// columns are the columns of a board, in order.
var columns = []string{"input", "fact", "insight", "recommendation", "output"}

const (
	itemID  = `[IFNRO]-[1-9]\d{0,8}`
	itemIDs = itemID + `(?:\s*(?:,|and|&)\s*(?:and\s+)?` + itemID + `)*`
)

var (
	writtenID  = regexp.MustCompile(`(?i)[@\[]{1,2}(` + itemID + `)\]?`) // as people and answers write it
	anyItemID  = regexp.MustCompile(`(?i)\b` + itemID + `\b`)
	addRequest = regexp.MustCompile(`(?is)^(?:please\s+)?(?:add|create|propose)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:(fact|insight|recommendation)|(?:output\s*\(?\s*)?(report|presentation|action[ _]plan|brief)\s*\)?)` +
		`(?:\s+(?:from|on|based on)\s+(` + itemIDs + `))?\s*[:–-]\s*(.+?)(?:[\s,]+(?:from|based on)\s+(` + itemIDs + `)[.!]?)?$`)
	deleteRequest = regexp.MustCompile(`(?i)^(?:please\s+)?(?:delete|remove)\s+(?:the\s+)?(?:input|fact|insight|recommendation|output|item)?s?\s*(` + itemIDs + `)[.!]?$`)
	editRequest   = regexp.MustCompile(`(?is)^(?:please\s+)?(?:change|edit|reword|rewrite|update)\s+(?:the\s+)?(?:text\s+of\s+)?(?:(?:input|fact|insight|recommendation|output|item)\s+)?(` + itemID + `)\s*(?:\s(?:in)?to\b|:)\s*(.+)$`)

	asksStale   = regexp.MustCompile(`(?i)\b(stale|out[ -]of[ -]date|outdated)\b`)
	asksSource  = regexp.MustCompile(`(?i)\b(no|without|lack\w*|missing)\s+(an?\s+|any\s+|their\s+|its\s+)?(source|sources|basis|support|evidence|origin|input|inputs|fact|facts|insight|insights|recommendation|recommendations)\b|\borphan`)
	asksLinks   = regexp.MustCompile(`(?i)\b(connect\w*|relat\w*|link\w*)\b`)
	asksGaps    = regexp.MustCompile(`(?i)\b(missing|gaps?|incomplete|improve\w*|suggest\w*|next step\w*)\b`)
	asksSummary = regexp.MustCompile(`(?i)\b(summar\w*|overview|sum up|status|where (do )?we stand)\b`)
)

// Rules returns the rules of the agent.
func Rules() offline.Rules {
	return offline.Rules{Answers: map[llm.Task]func(llm.Facts) offline.Answer{llm.TaskDiscovery: func(f llm.Facts) offline.Answer {
		text, calls := answer(f)
		return offline.Answer{Text: text, Calls: toolcall.Numbered(calls)}
	}}}
}

// answer answers a message about a discovery board by rules, or proposes changes to
// it.
func answer(f llm.Facts) (text string, calls []llm.ToolCall) {
	b := onBoard{Board: f.Board}
	if b.Board == nil {
		b.Board = &llm.Board{}
	}
	message := writtenID.ReplaceAllString(strings.TrimSpace(f.Message), "$1")
	if len(f.Used) > 0 {
		if calls := b.factsRead(message, f); len(calls) > 0 {
			return "", calls
		}
		return proposedBoard(f.Used), nil
	}
	if text, calls, ok := b.fromDocuments(message, f); ok {
		return text, calls
	}
	if text, calls, ok := b.request(message, f.References); ok {
		return text, calls
	}
	switch {
	case asksStale.MatchString(message):
		return b.stale(), nil
	case asksSource.MatchString(message):
		return b.orphans(message), nil
	case asksLinks.MatchString(message):
		return b.connections(), nil
	case asksGaps.MatchString(message):
		return b.gaps(), nil
	case asksSummary.MatchString(message):
		return b.summary(), nil
	}
	if named := b.named(append(anyItemID.FindAllString(message, -1), f.References...)); len(named) > 0 {
		return b.describe(named), nil
	}
	return "Without a language model I know this board by rules. You can say:\n\n" +
		"- “add fact: … from I-1”, “add report: … from R-1”, “add the facts of @document as facts”, “add @document as an input”, “change F-1 to …”, “delete F-2”\n" +
		"- “summarize”, “what is missing?”, “which facts have no source?”, “suggest connections”, “what is stale?”\n" +
		"- an id, as F-1, to see an item and what rests on it", nil
}

// onBoard has the rules about a board.
type onBoard struct{ *llm.Board }

func (b onBoard) find(id string) (llm.BoardItem, bool) {
	i := slices.IndexFunc(b.Items, func(x llm.BoardItem) bool { return strings.EqualFold(x.ID, id) })
	if i < 0 {
		return llm.BoardItem{}, false
	}
	return b.Items[i], true
}

func (b onBoard) named(ids []string) (items []llm.BoardItem) {
	for _, id := range ids {
		item, ok := b.find(id)
		if ok && !slices.ContainsFunc(items, func(x llm.BoardItem) bool { return x.ID == item.ID }) {
			items = append(items, item)
		}
	}
	return items
}

func (b onBoard) column(name string) []llm.BoardItem {
	return b.where(func(x llm.BoardItem) bool { return x.Column == name })
}

// request reads which change a message asks for. ok is false when it asks for none.
func (b onBoard) request(message string, references []string) (text string, calls []llm.ToolCall, ok bool) {
	if m := addRequest.FindStringSubmatch(message); m != nil {
		return b.add(m, references)
	}
	if m := deleteRequest.FindStringSubmatch(message); m != nil {
		for _, id := range anyItemID.FindAllString(m[1], -1) {
			item, found := b.find(id)
			if !found {
				return unknownItem(id), nil, true
			}
			calls = append(calls, toolcall.New("delete_item", map[string]any{"entity_type": item.Column, "item_id": item.ID}))
		}
		return "", calls, true
	}
	if m := editRequest.FindStringSubmatch(message); m != nil {
		item, found := b.find(m[1])
		if !found {
			return unknownItem(m[1]), nil, true
		}
		return "", []llm.ToolCall{toolcall.New("edit_item", map[string]any{"entity_type": item.Column, "item_id": item.ID, "new_text": unquoted(m[2])})}, true
	}
	return "", nil, false
}

func (b onBoard) add(m, references []string) (text string, calls []llm.ToolCall, ok bool) {
	column, kind := strings.ToLower(m[1]), strings.ReplaceAll(strings.ToLower(m[2]), " ", "_")
	if kind != "" {
		column = "output"
	}
	before := columns[slices.Index(columns, column)-1]
	related := []string{}
	for _, id := range anyItemID.FindAllString(m[3]+" "+m[5], -1) {
		item, found := b.find(id)
		if !found {
			return unknownItem(id), nil, true
		}
		if item.Column != before {
			return fmt.Sprintf("[%s] is %s, but %s rests on %ss. Nothing was proposed.", item.ID, withArticle(item.Column), withArticle(column), before), nil, true
		}
		related = append(related, item.ID)
	}
	for _, item := range b.named(references) {
		if len(m[3]+m[5]) == 0 && item.Column == before {
			related = append(related, item.ID)
		}
	}
	args := map[string]any{"entity_type": column, "text": unquoted(m[4]), "related_ids": related}
	if kind != "" {
		args["output_type"] = kind
	}
	return "", []llm.ToolCall{toolcall.New("add_item", args)}, true
}

func unknownItem(id string) string {
	return "There is no " + strings.ToUpper(id) + " on this board. Nothing was proposed."
}

func unquoted(s string) string { return strings.Trim(strings.TrimSpace(s), "\"“”") }

func withArticle(column string) string {
	if strings.ContainsRune("aeiou", rune(column[0])) {
		return "an " + column
	}
	return "a " + column
}

// proposedBoard says what was proposed.
func proposedBoard(used []llm.ToolUse) string {
	var lines []string
	cited := 0
	for _, u := range used {
		args := toolcall.Object(u.Call.Arguments)
		id, _ := args["item_id"].(string)
		column, _ := args["entity_type"].(string)
		switch {
		case u.IsError:
			lines = append(lines, wrongProposal(u.Content))
		case u.Call.Name == readTool:
			if !toolcall.HasPassages(u.Content) {
				lines = append(lines, strings.TrimSpace(u.Content))
			}
		case u.Call.Name == addInputTool:
			lines = append(lines, "I propose the document as an input.")
		case args["quote"] != nil:
			cited++
		case u.Call.Name == "delete_item":
			lines = append(lines, "I propose to delete ["+id+"].")
		case u.Call.Name == "edit_item":
			lines = append(lines, "I propose another text for ["+id+"].")
		default:
			line := "I propose a new " + column
			if related, _ := args["related_ids"].([]any); len(related) > 0 {
				var ids []string
				for _, r := range related {
					ids = append(ids, fmt.Sprintf("[%v]", r))
				}
				line += " that rests on " + strings.Join(ids, ", ")
			}
			lines = append(lines, line+".")
		}
	}
	switch {
	case cited > 0:
		lines = append(lines, citedFacts(cited))
	case !slices.ContainsFunc(used, func(u llm.ToolUse) bool { return u.Call.Name != readTool }) && len(lines) == 0:
		return "I see no whole sentence in the document that is not on the board yet."
	}
	if !slices.ContainsFunc(used, func(u llm.ToolUse) bool { return u.Call.Name != readTool && !u.IsError }) {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines, "\n") + "\n\nThe board changes when you confirm."
}

func wrongProposal(content string) string {
	var said struct {
		Note string `json:"note"`
	}
	if json.Unmarshal([]byte(content), &said) != nil || said.Note == "" {
		return "A change could not be proposed."
	}
	return said.Note
}

// short formats an item for a list.
func short(item llm.BoardItem) string {
	const most = 120
	text := strings.Join(strings.Fields(cmp.Or(item.Text, item.Title)), " ")
	if cut := language.Truncate(text, most); cut != text {
		text = strings.TrimSpace(cut) + "…"
	}
	return "- [" + item.ID + "] " + text
}

// itemList formats a heading and at most ten items.
func itemList(heading string, items []llm.BoardItem) string {
	const most = 10
	lines := []string{heading, ""}
	for _, item := range items[:min(len(items), most)] {
		lines = append(lines, short(item))
	}
	if len(items) > most {
		lines = append(lines, fmt.Sprintf("- and %d more", len(items)-most))
	}
	return strings.Join(lines, "\n")
}

func (b onBoard) where(fits func(llm.BoardItem) bool) (items []llm.BoardItem) {
	for _, item := range b.Items {
		if fits(item) {
			items = append(items, item)
		}
	}
	return items
}

func restsOnNothing(item llm.BoardItem) bool { return item.Column != "input" && len(item.RestsOn) == 0 }

func (b onBoard) unused(item llm.BoardItem) bool {
	return item.Column != "output" && !slices.ContainsFunc(b.Items, func(x llm.BoardItem) bool { return slices.Contains(x.RestsOn, item.ID) })
}

func (b onBoard) stale() string {
	items := b.where(func(x llm.BoardItem) bool { return x.Stale })
	if len(items) == 0 {
		return "Nothing on this board is stale."
	}
	return itemList("What these items rest on has changed since:", items)
}

// orphans lists the items without a basis, of the column that the message names first.
func (b onBoard) orphans(message string) string {
	about, lower, at := "", strings.ToLower(message), len(message)
	for _, c := range columns[1:] {
		if i := strings.Index(lower, c); i >= 0 && i < at {
			about, at = c, i
		}
	}
	items := b.where(func(x llm.BoardItem) bool { return restsOnNothing(x) && (about == "" || x.Column == about) })
	what := cmp.Or(about, "item")
	if len(items) == 0 {
		return "Every " + what + " rests on something."
	}
	return itemList("These "+what+"s rest on nothing:", items)
}

// gaps lists what is missing on the board.
func (b onBoard) gaps() string {
	var parts []string
	if b.Goal == "" {
		parts = append(parts, "The board has no goal.")
	}
	for i, c := range columns {
		if len(b.column(c)) == 0 && (i == 0 || len(b.column(columns[i-1])) > 0) {
			parts = append(parts, "There is no "+c+" yet.")
		}
	}
	for _, gap := range []struct {
		heading string
		items   []llm.BoardItem
	}{
		{"These items rest on nothing:", b.where(restsOnNothing)},
		{"Nothing rests on these items yet:", b.where(b.unused)},
		{"What these items rest on has changed since:", b.where(func(x llm.BoardItem) bool { return x.Stale })},
	} {
		if len(gap.items) > 0 {
			parts = append(parts, itemList(gap.heading, gap.items))
		}
	}
	if len(parts) == 0 {
		return "I see no gap by rule: every column has items, all are connected, and none is stale."
	}
	return strings.Join(parts, "\n\n")
}

func (b onBoard) summary() string {
	var lines []string
	if b.Title != "" {
		lines = append(lines, "**"+excerpt.PlainTitle(b.Title)+"**")
	}
	if b.Goal != "" {
		lines = append(lines, "Goal: "+b.Goal)
	}
	var counts []string
	for _, c := range columns {
		counts = append(counts, excerpt.Count(len(b.column(c)), c))
	}
	lines = append(lines, "The board has "+strings.Join(counts, ", ")+".")
	for _, c := range slices.Backward(columns[1:]) {
		if items := b.column(c); len(items) > 0 {
			lines = append(lines, itemList("Its "+c+"s:", items))
			break
		}
	}
	return strings.Join(lines, "\n\n")
}

// connections suggests what items that rest on nothing could rest on: the item of the
// column before with the most words in common.
func (b onBoard) connections() string {
	var lines []string
	for _, item := range b.where(restsOnNothing) {
		own := significant(item.Text)
		if id := b.inputOf(item.Document); item.Column == "fact" && id != "" {
			lines = append(lines, fmt.Sprintf("- [%s] could rest on [%s]: it cites that document.", item.ID, id))
			continue
		}
		best, most := llm.BoardItem{}, 1
		for _, other := range b.column(columns[max(slices.Index(columns, item.Column)-1, 0)]) {
			common := 0
			for w := range significant(other.Title + " " + other.Text) {
				if own[w] {
					common++
				}
			}
			if common > most {
				best, most = other, common
			}
		}
		if best.ID != "" {
			lines = append(lines, fmt.Sprintf("- [%s] could rest on [%s]: they have %d words in common.", item.ID, best.ID, most))
		}
	}
	if len(lines) == 0 {
		return "I see no missing connection by rule: what rests on nothing has too few words in common with the column before."
	}
	return "Connections that may be missing:\n\n" + strings.Join(lines, "\n")
}

// significant returns the stems of a text's words that carry meaning.
func significant(text string) map[string]bool {
	stems := map[string]bool{}
	for _, w := range language.ContentWords(text) {
		stems[language.Stem(w)] = true
	}
	return stems
}

// describe shows items with what they rest on and what rests on them.
func (b onBoard) describe(items []llm.BoardItem) string {
	var parts []string
	for _, item := range items {
		part := "[" + item.ID + "] (" + item.Column + "): " + strings.TrimSpace(item.Text)
		if len(item.RestsOn) > 0 {
			part += "\n\nIt rests on [" + strings.Join(item.RestsOn, "], [") + "]."
		}
		var above []string
		for _, x := range b.Items {
			if slices.Contains(x.RestsOn, item.ID) {
				above = append(above, x.ID)
			}
		}
		if len(above) > 0 {
			part += "\n\n[" + strings.Join(above, "], [") + "] rest on it."
		}
		if item.Stale {
			part += "\n\nIt is stale: what it rests on has changed."
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n")
}
