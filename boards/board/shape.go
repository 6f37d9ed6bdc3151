package board

import "slices"

// Shape says how the items of a board are connected.
type Shape struct {
	Orphans []string    // items that build on nothing, although they are not inputs
	Unused  []string    // items that nothing builds on, although they are not outputs
	Stale   []string    // items that are out of date
	Depths  map[int]int // by length: how many items have a longest chain of that many items, themselves included
}

// Shape describes the whole board.
func (b *Board) Shape() Shape {
	s := Shape{Depths: map[int]int{}}
	used, depth := map[string]bool{}, map[string]int{}
	for _, k := range Kinds {
		for _, item := range b.Items {
			if item.Kind != k {
				continue
			}
			depth[item.ID] = 1
			for _, id := range item.Related {
				used[id] = true
				depth[item.ID] = max(depth[item.ID], depth[id]+1)
			}
			s.Depths[depth[item.ID]]++
			if k != Input && len(item.Related) == 0 {
				s.Orphans = append(s.Orphans, item.ID)
			}
			if len(item.Stale) > 0 {
				s.Stale = append(s.Stale, item.ID)
			}
		}
	}
	for _, k := range Kinds[:len(Kinds)-1] {
		for _, item := range b.Items {
			if item.Kind == k && !used[item.ID] {
				s.Unused = append(s.Unused, item.ID)
			}
		}
	}
	return s
}

// Named returns the ids of the items that a text names, in the board's order. Case does not
// matter.
func (b *Board) Named(text string) (ids []string) {
	words := idsIn(text)
	for _, item := range b.Items {
		if slices.Contains(words, item.ID) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}
