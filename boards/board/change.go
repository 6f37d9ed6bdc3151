package board

import (
	"slices"
	"time"
)

// AddedItem is a new item.
type AddedItem struct {
	Kind        Kind
	Title, Text string
	Type        string
	Related     []string
	Status      string
	// DocumentID is the document that an input stands for.
	DocumentID string
	Citation   *Citation
}

// Edit changes an item; a nil field stays as it is.
type Edit struct {
	Title, Text, Type, Status *string
	Related                   *[]string
	// Fresh clears the mark that the item is stale. A new text clears it, too.
	Fresh bool
}

// Values of Change.Did.
const (
	DidAdd    = "add"
	DidEdit   = "edit"
	DidDelete = "delete"
)

// Change is what happened to one item, kept so that it can be undone.
type Change struct {
	N    int       `json:"n"` // from 1, never given twice on a board
	Did  string    `json:"did"`
	By   Author    `json:"by"`
	At   time.Time `json:"at"`
	Who  string    `json:"who,omitempty"` // the id of the person, on a board of a space
	Item Item      `json:"item"`          // after an add; before an edit or a delete
	// Unlinked are the items that lost their relation to a deleted one. Marked are those
	// that became stale. Cleared are the marks that an edit has cleared on its item.
	Unlinked []string `json:"unlinked,omitempty"`
	Cleared  []string `json:"cleared,omitempty"`
	Marked   []string `json:"marked,omitempty"`
	Undone   bool     `json:"undone,omitempty"`
}

// Result says what a call has changed.
type Result struct {
	Change int      `json:"change,omitempty"` // its number, for Undo
	Items  []string `json:"items,omitempty"`  // ids of the changed items, first the one that the call was about
	Impact int      `json:"impact,omitempty"` // how many items are downstream of it
}

// Sign notes who has made the changes and texts that before does not have.
func (b *Board) Sign(who string, before Board) {
	for i := range b.Changes {
		if b.Changes[i].N > before.LastChange {
			b.Changes[i].Who = who
		}
	}
	for i := range b.Items {
		v, was := &b.Items[i].Version, before.Find(b.Items[i].ID)
		if v.Who == "" && (was == nil || was.Version.N != v.N) {
			v.Who = who
		}
	}
}

// Rename sets the board's title and goal.
func (b *Board) Rename(title, goal string) error {
	title, err := line("title", title, 0, MaxTitle)
	if err != nil {
		return err
	}
	if goal, err = text("goal", goal, 0, MaxGoal); err != nil {
		return err
	}
	b.Title, b.Goal = title, goal
	return nil
}

// Add appends an item to its column.
func (b *Board) Add(a AddedItem, by Author, at time.Time) (Result, error) {
	item, err := b.newItem(a)
	if err != nil {
		return Result{}, err
	}
	if len(b.Items) >= MaxItems {
		return Result{}, invalid("board", "is full: it has %d items", MaxItems)
	}
	item.ID = b.nextID(a.Kind)
	item.Version = Version{N: 1, Text: item.Version.Text, By: by, At: at}
	b.Items = append(b.Items, item)
	n := b.record(Change{Did: DidAdd, By: by, At: at, Item: item.clone()})
	return Result{Change: n, Items: []string{item.ID}}, nil
}

// newItem checks the fields of a new item.
func (b *Board) newItem(a AddedItem) (item Item, err error) {
	if a.Kind.Letter() == "" {
		return item, invalid("entity_type", "must be input, fact, insight, recommendation or output")
	}
	if a.DocumentID != "" && a.Kind != Input {
		return item, invalid("document_id", "is for inputs: %s has a citation", withArticle(a.Kind))
	}
	item = Item{Kind: a.Kind, DocumentID: a.DocumentID, Citation: a.Citation}
	for _, f := range []struct {
		into     *string
		field, s string
		least    int
		most     int
		multi    bool
	}{
		{&item.Title, "title", a.Title, 0, MaxTitle, false},
		{&item.Version.Text, "text", a.Text, 1, MaxText, true},
		{&item.Type, "type", a.Type, 0, MaxName, false},
		{&item.Status, "status", a.Status, 0, MaxName, false},
	} {
		check := line
		if f.multi {
			check = text
		}
		if *f.into, err = check(f.field, f.s, f.least, f.most); err != nil {
			return Item{}, err
		}
	}
	if err := checkType(a.Kind, item.Type); err != nil {
		return Item{}, err
	}
	item.Related, err = b.related(a.Kind, "related_ids", a.Related)
	return item, err
}

// checkType checks the type of an output.
func checkType(k Kind, name string) error {
	if k == Output && !slices.Contains(OutputTypes, name) {
		return invalid("output_type", "must be report, presentation, action_plan or brief")
	}
	return nil
}

// Edit changes an item. A new text makes a new version. New texts and new relations make
// everything downstream stale.
func (b *Board) Edit(id string, e Edit, by Author, at time.Time) (Result, error) {
	item := b.Find(id)
	if item == nil {
		return Result{}, ErrNoItem
	}
	before, after := item.clone(), item.clone()
	if err := b.apply(&after, e); err != nil {
		return Result{}, err
	}
	if e.Text != nil {
		s, err := text("text", *e.Text, 1, MaxText)
		if err != nil {
			return Result{}, err
		}
		after.write(s, by, at)
	}
	c := Change{Did: DidEdit, By: by, At: at, Item: before}
	if e.Fresh || after.Version.N != before.Version.N {
		after.Stale, c.Cleared = nil, before.Stale
	}
	*item = after
	if after.Version.N != before.Version.N || !slices.Equal(after.Related, before.Related) {
		c.Marked = b.markDownstream(item.ID)
	}
	n := b.record(c)
	return Result{Change: n, Items: append([]string{item.ID}, c.Marked...), Impact: len(b.Downstream(item.ID))}, nil
}

// apply changes item, a copy, by an edit, except for the text.
func (b *Board) apply(item *Item, e Edit) (err error) {
	for _, f := range []struct {
		into  *string
		value *string
		field string
		most  int
	}{
		{&item.Title, e.Title, "title", MaxTitle},
		{&item.Type, e.Type, "type", MaxName},
		{&item.Status, e.Status, "status", MaxName},
	} {
		if f.value == nil {
			continue
		}
		if *f.into, err = line(f.field, *f.value, 0, f.most); err != nil {
			return err
		}
	}
	if e.Type != nil {
		if err := checkType(item.Kind, item.Type); err != nil {
			return err
		}
	}
	if e.Related != nil {
		if item.Related, err = b.related(item.Kind, "related_ids", *e.Related); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes an item and the relations to it; everything downstream becomes stale.
func (b *Board) Delete(id string, by Author, at time.Time) (Result, error) {
	item := b.Find(id)
	if item == nil {
		return Result{}, ErrNoItem
	}
	c := Change{Did: DidDelete, By: by, At: at, Item: item.clone()}
	c.Marked = b.markDownstream(c.Item.ID)
	b.Items = slices.DeleteFunc(b.Items, func(i Item) bool { return i.ID == c.Item.ID })
	for i := range b.Items {
		if at := slices.Index(b.Items[i].Related, c.Item.ID); at >= 0 {
			b.Items[i].Related = slices.Delete(slices.Clone(b.Items[i].Related), at, at+1)
			c.Unlinked = append(c.Unlinked, b.Items[i].ID)
		}
	}
	n := b.record(c)
	return Result{Change: n, Items: append([]string{c.Item.ID}, c.Marked...), Impact: len(c.Marked)}, nil
}

// markDownstream marks everything downstream as stale because of an item, and returns the
// ids of the newly marked items.
func (b *Board) markDownstream(id string) (marked []string) {
	for _, below := range b.Downstream(id) {
		item := b.Find(below)
		if !slices.Contains(item.Stale, id) {
			item.Stale = append(slices.Clone(item.Stale), id)
			marked = append(marked, below)
		}
	}
	return marked
}

// write makes a text the item's next version, unless it has that text already.
func (i *Item) write(text string, by Author, at time.Time) {
	if text == i.Version.Text {
		return
	}
	i.Earlier = append(slices.Clone(i.Earlier), i.Version)
	if len(i.Earlier) >= MaxVersions {
		i.Earlier = i.Earlier[len(i.Earlier)-MaxVersions+1:]
	}
	i.Version = Version{N: i.Version.N + 1, Text: text, By: by, At: at}
}

// clone copies an item, so that the copy can be changed without changing the original.
func (i Item) clone() Item {
	i.Related, i.Stale, i.Earlier = slices.Clone(i.Related), slices.Clone(i.Stale), slices.Clone(i.Earlier)
	return i
}
