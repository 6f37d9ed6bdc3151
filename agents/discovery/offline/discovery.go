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
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/llm/offline/toolcall"
)

const (
	itemID  = `[IFNRO]-[1-9]\d{0,8}`
	itemIDs = itemID + `(?:\s*(?:,|&|(?:and|und|et|y|en)\b)\s*(?:(?:and|und|et|y|en)\s+)?` + itemID + `)*`
)

var (
	writtenID  = lazyregexp.New(`(?i)[@\[]{1,2}(` + itemID + `)\]?`) // as people and answers write it
	anyItemID  = lazyregexp.New(`(?i)\b` + itemID + `\b`)
	addRequest = lazyregexp.New(`(?is)^` + politely + `(?:` + verb(adding) + article + `)?(?:(` + named("fact", "insight", "recommendation") + `)|(?:` + named("output") + `\s*\(?\s*)?(` + anyOutput() + `)\s*\)?)` + particle +
		`(?:\s+` + from + `\s+(` + itemIDs + `))?` + particle + `\s*[:–-]\s*(.+?)(?:[\s,]+` + from + `\s+(` + itemIDs + `)[.!]?)?$`)
	deleteRequest = lazyregexp.New(`(?i)^` + politely + verb(deleting) + article + `(?:` + named(append(columns, anyColumn)...) + `\s*)?(` + itemIDs + `)[.!]?$`)
	editRequest   = lazyregexp.New(`(?is)^` + politely + verb(editing) + `(?:the\s+)?(?:text\s+of\s+)?` + article + `(?:` + named(append(columns, anyColumn)...) + `\s+)?(` + itemID + `)\s*(?:\s` + into + `\b|:)\s*(.+)$`)

	basis       = named(columns[:4]...) + `|basis|support|evidence|origin|grundlage|beleg\pL*|base|fondement|sustento|onderbouwing`
	asksStale   = has(`stale|out[ -]of[ -]date|outdated|veraltet|obsol[eè]t|périmé|desactualizad|verouderd`)
	asksSource  = has(`(?:no|without|lack\w*|missing|ohne|kein\pL*|sans|sin|zonder|geen)\s+(?:(?:an?|any|their|its|eine?|aucune?|ningun[ao]?)\s+)?(?:` + basis + `)|orphan`)
	asksLinks   = has(`connect|relat|link|verb(?:und|ind)en|verbindung|verknüpf|zusammenh[aä]ng|reli(?:er|é)|lien|connexion|conect|relacion|vincul|verbind|verbond|koppel`)
	asksGaps    = has(`missing|gaps?|incomplete|improve|suggest|next step|fehl|lücke|unvollständig|verbesser|manque|lacune|incompl[eè]t|amélior|falta|mejora|ontbre|ontbrak|mist\b|onvolledig|verbeter`)
	asksSummary = has(`summar|overview|sum up|status|where (?:do )?we stand|zusammenfass|fass\pL* .*zusammen|überblick|übersicht|résum|synthèse|aperçu|resum|sintetiza|samenvat|vat .*samen|overzicht`)
)

// anyOutput is a pattern for the names of types of outputs.
func anyOutput() string {
	var all []string
	for name := range outputTypes {
		all = append(all, regexp.QuoteMeta(name))
	}
	return strings.Join(all, "|")
}

// Rules returns the rules of the agent.
func Rules() offline.Rules {
	return offline.Rules{Answers: map[llm.Task]func(llm.Facts) offline.Answer{llm.TaskDiscovery: func(f llm.Facts) offline.Answer {
		text, calls := answer(f)
		return offline.Answer{Text: text, Calls: toolcall.Numbered(calls), Language: string(voiceOf(f))}
	}}}
}

// answer answers a message about a discovery board by rules, or proposes changes to
// it.
func answer(f llm.Facts) (text string, calls []llm.ToolCall) {
	v := voiceOf(f)
	b := onBoard{Board: f.Board, voice: v}
	if b.Board == nil {
		b.Board = &llm.Board{}
	}
	message := writtenID.ReplaceAllString(strings.TrimSpace(f.Message), "$1")
	if len(f.Used) > 0 {
		if calls := b.factsRead(message, f); len(calls) > 0 {
			return "", calls
		}
		return v.proposed(f.Used), nil
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
	if named := b.namedItems(append(anyItemID.FindAllString(message, -1), f.References...)); len(named) > 0 {
		return b.describe(named), nil
	}
	return v.say(messages.BoardHelp, nil), nil
}

// onBoard has the rules about a board.
type onBoard struct {
	*llm.Board
	voice
}

func (b onBoard) find(id string) (llm.BoardItem, bool) {
	i := slices.IndexFunc(b.Items, func(x llm.BoardItem) bool { return strings.EqualFold(x.ID, id) })
	if i < 0 {
		return llm.BoardItem{}, false
	}
	return b.Items[i], true
}

func (b onBoard) namedItems(ids []string) (items []llm.BoardItem) {
	for _, id := range ids {
		item, ok := b.find(id)
		if ok && !slices.ContainsFunc(items, func(x llm.BoardItem) bool { return x.ID == item.ID }) {
			items = append(items, item)
		}
	}
	return items
}

func (b onBoard) items(name string) []llm.BoardItem {
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
				return b.noItem(id), nil, true
			}
			calls = append(calls, toolcall.New("delete_item", map[string]any{"entity_type": item.Column, "item_id": item.ID}))
		}
		return "", calls, true
	}
	if m := editRequest.FindStringSubmatch(message); m != nil {
		item, found := b.find(m[1])
		if !found {
			return b.noItem(m[1]), nil, true
		}
		return "", []llm.ToolCall{toolcall.New("edit_item", map[string]any{"entity_type": item.Column, "item_id": item.ID, "new_text": unquoted(m[2])})}, true
	}
	return "", nil, false
}

func (b onBoard) add(m, references []string) (text string, calls []llm.ToolCall, ok bool) {
	column, kind := columnOf(m[1]), outputTypes[strings.Join(strings.Fields(strings.ToLower(m[2])), " ")]
	if kind != "" {
		column = "output"
	}
	before := columns[slices.Index(columns, column)-1]
	related := []string{}
	for _, id := range anyItemID.FindAllString(m[3]+" "+m[5], -1) {
		item, found := b.find(id)
		if !found {
			return b.noItem(id), nil, true
		}
		if item.Column != before {
			return b.wrongBasis(item, before), nil, true
		}
		related = append(related, item.ID)
	}
	for _, item := range b.namedItems(references) {
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

func (v voice) noItem(id string) string {
	return v.say(messages.BoardNoItem, messages.Params{"id": strings.ToUpper(id)})
}

// wrongBasis says that only items of another column can be the basis of what is asked for.
func (v voice) wrongBasis(item llm.BoardItem, column string) string {
	return v.say(messages.BoardWrongBasis, messages.Params{"id": item.ID, "a": v.column(item.Column).a, "many": v.column(column).many})
}

func unquoted(s string) string { return strings.Trim(strings.TrimSpace(s), "\"“”") }

// proposed says what was proposed.
func (v voice) proposed(used []llm.ToolUse) string {
	var lines []string
	cited := 0
	for _, u := range used {
		args := toolcall.Object(u.Call.Arguments)
		id, _ := args["item_id"].(string)
		column, _ := args["entity_type"].(string)
		switch {
		case u.IsError:
			if why := v.wrongProposal(u.Content); !slices.Contains(lines, why) { // two calls may fail for one reason
				lines = append(lines, why)
			}
		case u.Call.Name == readTool:
			if !toolcall.HasPassages(u.Content) {
				lines = append(lines, strings.TrimSpace(u.Content))
			}
		case u.Call.Name == addInputTool:
			lines = append(lines, v.say(messages.BoardAddsInput, nil))
		case args["quote"] != nil:
			cited++
		case u.Call.Name == "delete_item":
			lines = append(lines, v.say(messages.BoardDeletes, messages.Params{"id": id}))
		case u.Call.Name == "edit_item":
			lines = append(lines, v.say(messages.BoardEdits, messages.Params{"id": id}))
		default:
			said, values := messages.BoardAdds, messages.Params{"a": v.column(column).a}
			if related, _ := args["related_ids"].([]any); len(related) > 0 {
				var on []string
				for _, r := range related {
					on = append(on, fmt.Sprint(r))
				}
				said, values["ids"] = messages.BoardAddsOn, ids(on)
			}
			lines = append(lines, v.say(said, values))
		}
	}
	switch {
	case cited > 0:
		lines = append(lines, v.say(messages.BoardAddsFacts, messages.Params{"n": cited}))
	case !slices.ContainsFunc(used, func(u llm.ToolUse) bool { return u.Call.Name != readTool }) && len(lines) == 0:
		return v.say(messages.BoardNothingNew, messages.Params{"where": v.say(messages.BoardTheDocument, nil)})
	}
	if !slices.ContainsFunc(used, func(u llm.ToolUse) bool { return u.Call.Name != readTool && !u.IsError }) {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines, "\n") + "\n\n" + v.say(messages.BoardConfirm, nil)
}

// wrongProposal says that a proposal was rejected; in English, in which tools say it, also why.
func (v voice) wrongProposal(content string) string {
	var said struct {
		Note string `json:"note"`
	}
	if v != "" && v != "en" || json.Unmarshal([]byte(content), &said) != nil || said.Note == "" {
		return v.say(messages.BoardNotProposed, nil)
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
func (v voice) list(heading string, items []llm.BoardItem) string {
	const most = 10
	lines := []string{heading, ""}
	for _, item := range items[:min(len(items), most)] {
		lines = append(lines, short(item))
	}
	if len(items) > most {
		lines = append(lines, "- "+v.say(messages.BoardMore, messages.Params{"n": len(items) - most}))
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
		return b.say(messages.BoardNothingStale, nil)
	}
	return b.list(b.say(messages.BoardStale, nil), items)
}

// orphans lists the items without a basis, of the column that the message names first.
func (b onBoard) orphans(message string) string {
	about := anyColumn
	for _, w := range language.Words(message) {
		if c := columnOf(w); c != "" && c != "input" && about == anyColumn {
			about = c
		}
	}
	items := b.where(func(x llm.BoardItem) bool { return restsOnNothing(x) && (about == anyColumn || x.Column == about) })
	values := messages.Params{"many": b.column(about).many}
	if len(items) == 0 {
		return b.say(messages.BoardAllRest, values)
	}
	return b.list(b.say(messages.BoardRestOnNothing, values), items)
}

// gaps lists what is missing on the board.
func (b onBoard) gaps() string {
	var parts []string
	if b.Goal == "" {
		parts = append(parts, b.say(messages.BoardNoGoal, nil))
	}
	for i, c := range columns {
		if len(b.items(c)) == 0 && (i == 0 || len(b.items(columns[i-1])) > 0) {
			parts = append(parts, b.say(messages.BoardNoneYet, messages.Params{"many": b.column(c).many}))
		}
	}
	for _, gap := range []struct {
		heading string
		items   []llm.BoardItem
	}{
		{b.say(messages.BoardRestOnNothing, messages.Params{"many": b.column(anyColumn).many}), b.where(restsOnNothing)},
		{b.say(messages.BoardUnused, nil), b.where(b.unused)},
		{b.say(messages.BoardStale, nil), b.where(func(x llm.BoardItem) bool { return x.Stale })},
	} {
		if len(gap.items) > 0 {
			parts = append(parts, b.list(gap.heading, gap.items))
		}
	}
	if len(parts) == 0 {
		return b.say(messages.BoardNoGap, nil)
	}
	return strings.Join(parts, "\n\n")
}

func (b onBoard) summary() string {
	var lines []string
	if b.Title != "" {
		lines = append(lines, "**"+excerpt.PlainTitle(b.Title)+"**")
	}
	if b.Goal != "" {
		lines = append(lines, b.say(messages.BoardGoal, messages.Params{"goal": b.Goal}))
	}
	var counts []string
	for _, c := range columns {
		counts = append(counts, b.count(len(b.items(c)), c))
	}
	lines = append(lines, b.say(messages.BoardHas, messages.Params{"counts": strings.Join(counts, ", ")}))
	for _, c := range slices.Backward(columns[1:]) {
		if items := b.items(c); len(items) > 0 {
			lines = append(lines, b.list(b.say(messages.BoardIts, messages.Params{"many": b.column(c).many}), items))
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
			lines = append(lines, "- "+b.say(messages.BoardCites, messages.Params{"id": item.ID, "on": id}))
			continue
		}
		best, most := llm.BoardItem{}, 1
		for _, other := range b.items(columns[max(slices.Index(columns, item.Column)-1, 0)]) {
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
			lines = append(lines, "- "+b.say(messages.BoardShares, messages.Params{"id": item.ID, "on": best.ID, "n": most}))
		}
	}
	if len(lines) == 0 {
		return b.say(messages.BoardNoConnection, nil)
	}
	return b.say(messages.BoardConnections, nil) + "\n\n" + strings.Join(lines, "\n")
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
		part := "[" + item.ID + "] (" + b.column(item.Column).one + "): " + strings.TrimSpace(item.Text)
		if len(item.RestsOn) > 0 {
			part += "\n\n" + b.say(messages.BoardRestsOn, messages.Params{"ids": ids(item.RestsOn)})
		}
		var above []string
		for _, x := range b.Items {
			if slices.Contains(x.RestsOn, item.ID) {
				above = append(above, x.ID)
			}
		}
		if len(above) > 0 {
			part += "\n\n" + b.say(messages.BoardBelow, messages.Params{"ids": ids(above)})
		}
		if item.Stale {
			part += "\n\n" + b.say(messages.BoardIsStale, nil)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n\n")
}
