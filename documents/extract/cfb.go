package extract

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// cfbMagic begins a compound file.
var cfbMagic = []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}

// cfb reads a compound file (MS-CFB): streams and storages in one file. What it returns in all
// is never more than the file, whatever the file says.
type cfb struct {
	raw       []byte
	size      int // of a sector
	fat, mini []uint32
	small     []byte // the stream that holds all small streams
	entries   []cfbEntry
	seen      []bool // entries that a storage has
	left      int    // bytes that may still be returned
}

type cfbEntry struct {
	name               string
	kind               byte // 1 storage, 2 stream, 5 root
	left, right, child uint32
	start              uint32
	size               uint64
}

const (
	cfbNone      = 0xfffffffa // and above: no sector, no entry
	cfbCutoff    = 4096       // smaller streams are in the small stream
	cfbSmall     = 64
	cfbEntrySize = 128
)

// openCFB returns false for a file whose directory cannot be read.
func openCFB(raw []byte) (*cfb, bool) {
	if len(raw) < 512 || !bytes.HasPrefix(raw, cfbMagic) {
		return nil, false
	}
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(raw[at:]) }
	c := &cfb{raw: raw, left: 2 * len(raw)}
	switch shift := binary.LittleEndian.Uint16(raw[30:]); shift {
	case 9, 12:
		c.size = 1 << shift
	default:
		return nil, false
	}
	tables := numbers(raw[76:512])
	for next, n := number(68), 0; next < cfbNone && n <= len(raw)/c.size; n++ {
		more := numbers(c.sector(next))
		if len(more) == 0 {
			break
		}
		tables, next = append(tables, more[:len(more)-1]...), more[len(more)-1]
	}
	for _, t := range tables[:min(len(tables), len(raw)/c.size+1)] {
		if t < cfbNone {
			c.fat = append(c.fat, numbers(c.sector(t))...)
		}
	}
	list := c.chain(number(48), uint64(len(raw)))
	for ; len(list) >= cfbEntrySize; list = list[cfbEntrySize:] {
		c.entries = append(c.entries, readCFBEntry(list, c.size))
	}
	if len(c.entries) == 0 {
		return nil, false
	}
	c.seen = make([]bool, len(c.entries))
	c.mini = numbers(c.chain(number(60), uint64(len(raw))))
	c.small = c.chain(c.entries[0].start, c.entries[0].size)
	c.left = len(raw)
	return c, true
}

func readCFBEntry(b []byte, sector int) cfbEntry {
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	e := cfbEntry{kind: b[66], left: number(68), right: number(72), child: number(76), start: number(116), size: binary.LittleEndian.Uint64(b[120:])}
	if sector == 512 {
		e.size = uint64(number(120)) // the other half may be anything
	}
	name := make([]uint16, min(32, max(0, int(binary.LittleEndian.Uint16(b[64:]))/2-1)))
	for i := range name {
		name[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	e.name = string(utf16.Decode(name))
	return e
}

func numbers(b []byte) (out []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, binary.LittleEndian.Uint32(b))
	}
	return out
}

// sector returns what is there of a sector.
func (c *cfb) sector(n uint32) []byte {
	at := (int64(n) + 1) * int64(c.size)
	if at >= int64(len(c.raw)) {
		return nil
	}
	return c.raw[at:min(int64(len(c.raw)), at+int64(c.size))]
}

// chain returns up to size bytes of a chain of sectors.
func (c *cfb) chain(start uint32, size uint64) []byte {
	return c.follow(start, size, c.fat, c.sector)
}

func (c *cfb) follow(at uint32, size uint64, table []uint32, part func(uint32) []byte) (out []byte) {
	most := int(min(size, uint64(c.left)))
	for n := 0; at < cfbNone && n <= len(table) && len(out) < most; n++ {
		piece := part(at)
		if len(piece) == 0 {
			break
		}
		out = append(out, piece[:min(len(piece), most-len(out))]...)
		if int64(at) >= int64(len(table)) {
			break
		}
		at = table[at]
	}
	c.left -= len(out)
	return out
}

// stream returns the content of an entry.
func (c *cfb) stream(e cfbEntry) []byte {
	if e.size >= cfbCutoff {
		return c.chain(e.start, e.size)
	}
	return c.follow(e.start, e.size, c.mini, func(n uint32) []byte {
		at := int64(n) * cfbSmall
		if at >= int64(len(c.small)) {
			return nil
		}
		return c.small[at:min(int64(len(c.small)), at+cfbSmall)]
	})
}

// children returns the entries of a storage. An entry belongs to the first storage that asks.
func (c *cfb) children(storage cfbEntry) (out []cfbEntry) {
	open := []uint32{storage.child}
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if int64(n) >= int64(len(c.entries)) || c.seen[n] {
			continue
		}
		c.seen[n] = true
		e := c.entries[n]
		out = append(out, e)
		open = append(open, e.right, e.left)
	}
	return out
}
