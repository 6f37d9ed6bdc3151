package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// keys are the names that the fields of a column have in a file.
type keys struct {
	column, id, related string
}

var keysOf = map[Kind]keys{
	Input:          {"inputs", "input_id", ""},
	Fact:           {"facts", "fact_id", "related_inputs"},
	Insight:        {"insights", "insight_id", "related_facts"},
	Recommendation: {"recommendations", "recommendation_id", "related_insights"},
	Output:         {"outputs", "output_id", "related_recommendations"},
}

// Limits of an imported chat.
const (
	MaxMessages = 2000
	maxFields   = 50 // unknown fields of an object
)

// Limits of the fields that say where an item comes from.
const (
	maxSourceID    = 128  // bytes
	maxSourceTitle = 1000 // characters
)

// earlier is a former text of an item in a file.
type earlier struct {
	Version int       `json:"version"`
	Text    string    `json:"text"`
	By      Author    `json:"by"`
	At      time.Time `json:"at"`
	Who     string    `json:"by_id,omitempty"`
}

// File is the board as people export it: a list for each column.
func (b *Board) File() Fields {
	f := maps.Clone(b.Extra)
	if f == nil {
		f = Fields{}
	}
	f.Put("title", b.Title)
	f.Put("goal", b.Goal)
	f.Put("chat_history", append([]Message{}, b.History...))
	f.Put("given", b.Given)
	for _, k := range Kinds {
		items := []Fields{}
		for _, item := range b.Column(k) {
			items = append(items, item.Fields())
		}
		f.Put(keysOf[k].column, items)
	}
	return f
}

// Fields returns the fields of an item for files and answers.
func (i *Item) Fields() Fields {
	f := maps.Clone(i.Extra)
	if f == nil {
		f = Fields{}
	}
	k := keysOf[i.Kind]
	f.Put(k.id, i.ID)
	f.Put("text", i.Version.Text)
	f.Put("version", i.Version.N)
	f.Put("changed_by", i.Version.By)
	f.Put("changed_at", i.Version.At)
	if i.Version.Who != "" {
		f.Put("changed_by_id", i.Version.Who)
	}
	f.Put("status", i.Status)
	f.Put("stale", len(i.Stale) > 0)
	if len(i.Stale) > 0 {
		f.Put("stale_because", i.Stale)
	}
	if k.related != "" {
		f.Put(k.related, append([]string{}, i.Related...))
	}
	if i.Kind == Input {
		f.Put("title", i.Title)
	}
	if i.Kind == Input || i.Kind == Output {
		f.Put("type", i.Type)
	}
	if i.DocumentID != "" {
		f.Put("document_id", i.DocumentID)
	}
	if i.Citation != nil {
		f.Put("citation", i.Citation)
	}
	var former []earlier
	for _, v := range i.Earlier {
		former = append(former, earlier{v.N, v.Text, v.By, v.At, v.Who})
	}
	if former != nil {
		f.Put("earlier_versions", former)
	}
	return f
}

// Put sets a field to a value that can always be written as JSON.
func (f Fields) Put(key string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	f[key] = raw
}

// Read reads a file that was exported, or one of another program with the same lists. It
// keeps ids in Palaver's form, such as F-1, and replaces others; it keeps unknown fields.
// Texts may be empty, and longer than those that people write; relations that lead to no item
// of the column before are dropped. An error is an *Invalid.
func Read(raw []byte, at time.Time) (*Board, error) {
	if len(raw) > MaxBytes {
		return nil, invalid("body", "must have at most %d MB", MaxBytes>>20)
	}
	var f Fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, invalid("body", "must be a JSON object")
	}
	if bytes.Contains(raw, []byte(`\u0000`)) {
		return nil, invalid("body", "must not contain the NUL character")
	}
	r := reader{board: &Board{Given: map[Kind]int{}}, at: at, byOldID: map[string]string{}}
	if err := r.read(f); err != nil {
		return nil, err
	}
	return r.board, nil
}

// reader turns a file into a board.
type reader struct {
	board   *Board
	at      time.Time
	byOldID map[string]string // the id that an item of the file has on the board
}

// fileItem is an item of a file before its relations are known.
type fileItem struct {
	item  Item
	id    string // in the file
	field string // its path in the file, for errors
}

func (r *reader) read(f Fields) error {
	var title, goal string
	var given map[Kind]int
	for _, known := range []struct {
		key  string
		into any
	}{{"title", &title}, {"goal", &goal}, {"given", &given}} {
		if err := f.take("", known.key, known.into); err != nil {
			return err
		}
	}
	var err error
	if r.board.Title, err = line("title", title, 0, MaxBytes); err != nil {
		return err
	}
	if r.board.Goal, err = text("goal", goal, 0, MaxBytes); err != nil {
		return err
	}
	for _, k := range Kinds {
		if n := given[k]; n > 0 && n < 1e9 {
			r.board.Given[k] = n
		}
	}
	for _, k := range Kinds {
		if err := r.column(k, f); err != nil {
			return err
		}
	}
	if err := r.history(f); err != nil {
		return err
	}
	for _, answer := range []string{"id", "thread_id", "revision", "changes", "proposals"} { // fields of the API's answer that a file does not have
		delete(f, answer)
	}
	if len(f) > maxFields {
		return invalid("body", "must have at most %d unknown fields", maxFields)
	}
	if len(f) > 0 {
		r.board.Extra = f
	}
	return nil
}

// column reads one list. The columns are read in order, so the related items exist.
func (r *reader) column(k Kind, f Fields) error {
	var list []Fields
	column := keysOf[k].column
	if err := f.take("", column, &list); err != nil {
		return err
	}
	if len(r.board.Items)+len(list) > MaxItems {
		return invalid(column, "has too many items: a board has at most %d", MaxItems)
	}
	items := make([]fileItem, len(list))
	for i, fields := range list {
		p, err := r.item(k, fields, fmt.Sprintf("%s[%d]", column, i))
		if err != nil {
			return err
		}
		items[i] = p
		r.board.remember(k, p.id)
	}
	for _, p := range items {
		r.place(k, p)
	}
	n := len(r.board.Items) - len(items)
	slices.SortStableFunc(r.board.Items[n:], func(a, b Item) int {
		x, _ := number(k, a.ID)
		y, _ := number(k, b.ID)
		return x - y
	})
	return nil
}

// place gives an item its id and its relations.
func (r *reader) place(k Kind, p fileItem) {
	p.item.ID = p.id
	if _, ours := number(k, p.id); !ours || r.board.Find(p.id) != nil {
		p.item.ID = r.board.nextID(k)
	}
	var related []string
	for _, id := range p.item.Related {
		if now, ok := r.byOldID[string(k.Before())+" "+id]; ok {
			id = now
		}
		on := r.board.Find(strings.TrimSpace(id))
		if on != nil && k != Input && on.Kind == k.Before() && !slices.Contains(related, on.ID) && len(related) < MaxRelations {
			related = append(related, on.ID)
		}
	}
	p.item.Related = related
	if old := string(k) + " " + p.id; r.byOldID[old] == "" {
		r.byOldID[old] = p.item.ID
	}
	r.board.Items = append(r.board.Items, p.item)
}

// item reads the fields of one item.
func (r *reader) item(k Kind, f Fields, field string) (fileItem, error) {
	p := fileItem{field: field}
	if f == nil {
		return p, invalid(field, "must be an object")
	}
	var body string
	var also, stale []string
	var isStale bool
	var former []earlier
	var unproven string // a file does not say who changed what
	v := Version{N: 1, By: Imported, At: r.at}
	names := keysOf[k]
	item := &p.item
	item.Kind = k
	for _, known := range []struct {
		key  string
		into any
	}{
		{names.id, &p.id}, {"text", &body}, {"status", &item.Status}, {names.related, &item.Related}, {"related_ids", &also},
		{"stale", &isStale}, {"stale_because", &stale}, {"version", &v.N}, {"changed_by", &v.By}, {"changed_at", &v.At}, {"changed_by_id", &unproven}, {"earlier_versions", &former},
	} {
		if err := f.take(field, known.key, known.into); err != nil {
			return p, err
		}
	}
	if k == Input {
		if err := f.take(field, "title", &item.Title); err != nil {
			return p, err
		}
	}
	if k == Input || k == Output {
		if err := f.take(field, "type", &item.Type); err != nil {
			return p, err
		}
	}
	f.takeSources(item)
	if len(f) > maxFields {
		return p, invalid(field, "must have at most %d unknown fields", maxFields)
	}
	item.Extra = f
	if len(f) == 0 {
		item.Extra = nil
	}
	item.Related = append(item.Related, also...)
	if isStale && len(stale) == 0 {
		stale = []string{"import"}
	}
	if len(stale) > MaxItems {
		return p, invalid(field+".stale_because", "must have at most %d entries", MaxItems)
	}
	item.Stale = stale
	return p, r.checkItem(&p, body, v, former)
}

// takeSources reads the document of an input and the citation of an item. If one has
// another shape, it is kept as an unknown field of another program.
func (f Fields) takeSources(item *Item) {
	var id string
	if raw := f["document_id"]; item.Kind == Input && raw != nil && json.Unmarshal(raw, &id) == nil && sourceID(id) {
		item.DocumentID = id
		delete(f, "document_id")
	}
	var c Citation
	if raw := f["citation"]; raw != nil {
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if strict.Decode(&c) == nil && c.valid() {
			item.Citation = &c
			delete(f, "citation")
		}
	}
}

func sourceID(id string) bool {
	return id != "" && len(id) <= maxSourceID && utf8.ValidString(id)
}

func (c Citation) valid() bool {
	return sourceID(c.DocumentID) && len(c.ChunkID) <= maxSourceID && utf8.RuneCountInString(c.Title) <= maxSourceTitle &&
		c.Quote != "" && utf8.RuneCountInString(c.Quote) <= MaxQuote && 0 <= c.Start && c.Start <= c.End
}

// checkItem checks the texts of an item that was read.
func (r *reader) checkItem(p *fileItem, body string, v Version, former []earlier) (err error) {
	item, at := &p.item, func(name string) string { return p.field + "." + name }
	if v.Text, err = text(at("text"), body, 0, MaxBytes); err != nil {
		return err
	}
	for _, l := range []struct {
		into  *string
		field string
		most  int
	}{{&item.Title, "title", MaxBytes}, {&item.Type, "type", MaxBytes}, {&item.Status, "status", MaxBytes}, {&p.id, keysOf[item.Kind].id, 128}} {
		if *l.into, err = line(at(l.field), *l.into, 0, l.most); err != nil {
			return err
		}
	}
	if v.N < 1 || v.N > 1e6 {
		return invalid(at("version"), "must be a number from 1")
	}
	if v.By, err = author(at("changed_by"), v.By); err != nil {
		return err
	}
	if len(former) > MaxVersions {
		return invalid(at("earlier_versions"), "must have at most %d entries", MaxVersions)
	}
	for i, e := range former {
		field := fmt.Sprintf("%s[%d]", at("earlier_versions"), i)
		if e.Text, err = text(field+".text", e.Text, 0, MaxBytes); err != nil {
			return err
		}
		if e.By, err = author(field+".by", e.By); err != nil {
			return err
		}
		if e.Version < 1 || e.Version >= v.N || i > 0 && e.Version <= former[i-1].Version {
			return invalid(field+".version", "must grow, and stay below the item's version")
		}
		item.Earlier = append(item.Earlier, Version{N: e.Version, Text: e.Text, By: e.By, At: e.At})
	}
	item.Version = v
	return nil
}

func author(field string, a Author) (Author, error) {
	switch a {
	case Person, Assistant, Imported:
		return a, nil
	case "":
		return Imported, nil
	}
	return "", invalid(field, "must be person, assistant or import")
}

// history reads the chat of a file; old files have none.
func (r *reader) history(f Fields) error {
	var messages []Message
	if err := f.take("", "chat_history", &messages); err != nil {
		return err
	}
	if len(messages) > MaxMessages {
		return invalid("chat_history", "must have at most %d messages", MaxMessages)
	}
	for i := range messages {
		m, field := &messages[i], fmt.Sprintf("chat_history[%d]", i)
		var err error
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return invalid(field+".role", "must be user or assistant")
		case len(m.ToolCalls) > maxFields:
			return invalid(field+".tool_calls", "must have at most %d entries", maxFields)
		case len(m.References) > MaxRelations:
			return invalid(field+".references", "must have at most %d entries", MaxRelations)
		}
		if m.Content, err = text(field+".content", m.Content, 0, MaxBytes); err != nil {
			return err
		}
		if m.ID, err = line(field+".id", m.ID, 0, 128); err != nil {
			return err
		}
		if m.CreatedAt, err = line(field+".created_at", m.CreatedAt, 0, 64); err != nil {
			return err
		}
	}
	r.board.History = messages
	return nil
}

// take reads a known field and removes it; null counts as absent.
func (f Fields) take(path, key string, into any) error {
	raw, ok := f[key]
	if key == "" || !ok {
		return nil
	}
	delete(f, key)
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return invalid(strings.TrimPrefix(path+"."+key, "."), "has the wrong type")
	}
	return nil
}
