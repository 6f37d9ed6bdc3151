package board

import (
	"slices"
	"time"
)

// record keeps a change for Undo and returns its number.
func (b *Board) record(c Change) int {
	b.LastChange++
	c.N = b.LastChange
	if c.Did != DidDelete {
		c.Item.Earlier = nil // the item on the board has the earlier versions
	}
	b.Changes = append(b.Changes, c)
	if len(b.Changes) > maxChanges {
		b.Changes = b.Changes[len(b.Changes)-maxChanges:]
	}
	return c.N
}

// Undo undoes a change if neither the item nor anything downstream of it was changed since;
// otherwise it returns ErrBuiltOn. Undoing an edit writes the earlier text as a new version.
func (b *Board) Undo(n int, by Author, at time.Time) (Result, error) {
	i := slices.IndexFunc(b.Changes, func(c Change) bool { return c.N == n && !c.Undone })
	if i < 0 {
		return Result{}, ErrNoChange
	}
	c := b.Changes[i]
	if b.builtOn(c, b.Changes[i+1:]) {
		return Result{}, ErrBuiltOn
	}
	switch c.Did {
	case DidAdd:
		b.Items = slices.DeleteFunc(b.Items, func(item Item) bool { return item.ID == c.Item.ID })
	case DidEdit:
		b.restoreText(c, by, at)
	case DidDelete:
		b.restoreItem(c)
	}
	for _, id := range c.Marked {
		if item := b.Find(id); item != nil {
			item.Stale = slices.DeleteFunc(slices.Clone(item.Stale), func(cause string) bool { return cause == c.Item.ID })
		}
	}
	b.Changes[i].Undone = true
	return Result{Change: n, Items: append([]string{c.Item.ID}, c.Marked...), Impact: len(c.Marked)}, nil
}

// builtOn reports whether a later change concerns the item, or one that builds on it.
func (b *Board) builtOn(c Change, later []Change) bool {
	below := append(b.Downstream(c.Item.ID), c.Unlinked...)
	return slices.ContainsFunc(later, func(l Change) bool {
		return !l.Undone && (l.Item.ID == c.Item.ID || slices.Contains(below, l.Item.ID) || slices.Contains(l.Item.Related, c.Item.ID))
	})
}

func (b *Board) restoreText(c Change, by Author, at time.Time) {
	item := b.Find(c.Item.ID)
	if item == nil {
		return
	}
	before := c.Item.clone()
	old := before.Version.Text
	before.Earlier, before.Version = item.Earlier, item.Version
	before.Stale = append(slices.Clone(item.Stale), c.Cleared...)
	before.write(old, by, at)
	*item = before
}

// restoreItem puts a deleted item back into its place and restores the relations to it. It
// drops the item's own relations to items that were deleted meanwhile.
func (b *Board) restoreItem(c Change) {
	item := c.Item.clone()
	item.Related = slices.DeleteFunc(item.Related, func(id string) bool { return b.Find(id) == nil })
	n, _ := number(item.Kind, item.ID)
	at := slices.IndexFunc(b.Items, func(other Item) bool {
		m, _ := number(other.Kind, other.ID)
		return other.Kind == item.Kind && m > n
	})
	if at < 0 {
		at = len(b.Items)
	}
	b.Items = slices.Insert(b.Items, at, item)
	for _, id := range c.Unlinked {
		if item := b.Find(id); item != nil && !slices.Contains(item.Related, c.Item.ID) {
			item.Related = append(slices.Clone(item.Related), c.Item.ID)
		}
	}
}

// Undoable lists the changes that can be undone, the latest first.
func (b *Board) Undoable() []Change {
	open := []Change{}
	for i, c := range slices.Backward(b.Changes) {
		if !c.Undone && !b.builtOn(c, b.Changes[i+1:]) {
			open = append(open, c)
		}
	}
	return open
}

// Replace replaces the content of b by that of another board, which was read from a file.
// After that, earlier changes cannot be undone, and open proposals are overtaken.
func (b *Board) Replace(next *Board) {
	for k, n := range b.Given {
		next.Given[k] = max(next.Given[k], n)
	}
	next.LastChange = max(next.LastChange, b.LastChange)
	next.Proposals = b.Proposals
	for i := range next.Proposals {
		if p := &next.Proposals[i]; p.open() {
			p.State = Overtaken
		}
	}
	*b = *next
}
