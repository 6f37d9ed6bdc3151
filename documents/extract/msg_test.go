package extract

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// folder is a storage: its values are []byte, or folders.
type folder map[string]any

// compound writes a compound file with sectors of 512 bytes.
func compound(root folder) []byte {
	const sector, none = 512, 0xffffffff
	type entry struct {
		name               string
		kind               byte
		right, child, from uint32
		size               int
	}
	entries := []entry{{name: "Root Entry", kind: 5, right: none, child: none}}
	var small []byte
	var big [][]byte // streams in sectors of their own, by entry
	var bigOf []int
	var add func(parent int, f folder)
	add = func(parent int, f folder) {
		before := -1
		for _, name := range slices.Sorted(maps.Keys(f)) {
			n := len(entries)
			entries = append(entries, entry{name: name, kind: 1, right: none, child: none})
			if before < 0 {
				entries[parent].child = uint32(n)
			} else {
				entries[before].right = uint32(n)
			}
			before = n
			switch v := f[name].(type) {
			case folder:
				add(n, v)
			case []byte:
				entries[n].kind, entries[n].size = 2, len(v)
				if len(v) >= cfbCutoff {
					big, bigOf = append(big, v), append(bigOf, n)
					continue
				}
				entries[n].from = uint32(len(small) / cfbSmall)
				small = append(small, v...)
				small = append(small, make([]byte, (cfbSmall-len(v)%cfbSmall)%cfbSmall)...)
			}
		}
	}
	add(0, root)
	var mini []uint32
	for _, e := range entries {
		if e.kind == 2 && e.size < cfbCutoff {
			for n := (e.size + cfbSmall - 1) / cfbSmall; n > 0; n-- {
				next := uint32(len(mini) + 1)
				if n == 1 {
					next = 0xfffffffe
				}
				mini = append(mini, next)
			}
		}
	}
	var body []byte
	fat := []uint32{0xfffffffd} // the first sector is the table itself
	put := func(b []byte) uint32 {
		first := uint32(len(fat))
		for n := (len(b) + sector - 1) / sector; n > 0; n-- {
			next := uint32(len(fat) + 1)
			if n == 1 {
				next = 0xfffffffe
			}
			fat = append(fat, next)
		}
		body = append(body, b...)
		body = append(body, make([]byte, (sector-len(b)%sector)%sector)...)
		return first
	}
	for i, n := range bigOf {
		entries[n].from = put(big[i])
	}
	entries[0].from, entries[0].size = put(small), len(small)
	miniAt := put(bytesOf(mini))
	var list []byte
	for _, e := range entries {
		b := make([]byte, cfbEntrySize)
		units := utf16.Encode([]rune(e.name))
		for i, u := range units {
			binary.LittleEndian.PutUint16(b[2*i:], u)
		}
		binary.LittleEndian.PutUint16(b[64:], uint16(2*len(units)+2))
		b[66] = e.kind
		for at, v := range map[int]uint32{68: none, 72: e.right, 76: e.child, 116: e.from, 120: uint32(e.size)} {
			binary.LittleEndian.PutUint32(b[at:], v)
		}
		list = append(list, b...)
	}
	listAt := put(list)
	for len(fat) < sector/4 {
		fat = append(fat, none)
	}
	if len(fat) > sector/4 {
		panic("more than one sector of the table")
	}
	head := make([]byte, sector)
	copy(head, cfbMagic)
	binary.LittleEndian.PutUint16(head[26:], 3)
	binary.LittleEndian.PutUint16(head[30:], 9)
	for at, v := range map[int]uint32{44: 1, 48: listAt, 60: miniAt, 64: 1, 68: 0xfffffffe, 76: 0} {
		binary.LittleEndian.PutUint32(head[at:], v)
	}
	for at := 80; at < sector; at += 4 {
		binary.LittleEndian.PutUint32(head[at:], none)
	}
	return slices.Concat(head, bytesOf(fat), body)
}

func bytesOf(list []uint32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func wide(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// numbersOf is the stream of the properties of a fixed size.
func numbersOf(header int, properties map[uint32]uint64) []byte {
	b := make([]byte, header)
	for _, id := range slices.Sorted(maps.Keys(properties)) {
		b = binary.LittleEndian.AppendUint32(b, id<<16|3)
		b = binary.LittleEndian.AppendUint32(b, 6)
		b = binary.LittleEndian.AppendUint64(b, properties[id])
	}
	return b
}

// outlookMessage is a message with a quotation, two attachments and a message inside.
func outlookMessage() folder {
	const sent = (1779112800 + 11644473600) * 10_000_000 // 18 May 2026, 14:00 UTC
	return folder{
		msgProperties:                   numbersOf(32, map[uint32]uint64{msgSubmitted: sent}),
		msgPart(msgSubject, msgUnicode): wide("Angebot für Mai"),
		msgPart(msgSender, msgUnicode):  wide("Jörg Maier"),
		msgPart(msgSMTP, msgUnicode):    wide("joerg@example.org"),
		msgPart(msgTo, msgUnicode):      wide("Ada"),
		msgPart(msgPlain, msgUnicode):   wide("The price is 40 euros.\r\n\r\nOn Mon, 4 May 2026, Ada <ada@example.org> wrote:\r\n> What is the price?\r\n" + strings.Repeat("> It was 30 euros.\r\n", 200)),
		"__attach_version1.0_#00000000": folder{
			msgProperties: numbersOf(8, nil), msgPart(msgLongName, msgUnicode): wide("price list.pdf"),
		},
		"__attach_version1.0_#00000001": folder{msgProperties: numbersOf(8, nil), msgPart(msgShortName, msgEight): []byte("PLAN~1.DOC")},
		"__attach_version1.0_#00000002": folder{
			msgProperties: numbersOf(8, nil), msgPart(msgContent, msgObject): folder{
				msgProperties:                 numbersOf(24, map[uint32]uint64{msgCodePage: 1251}),
				msgPart(msgSubject, msgEight): []byte("Inside"), msgPart(msgPlain, msgEight): []byte("\xcf\xf0\xe8\xe2\xe5\xf2, \xfd\xf2\xee \xef\xe8\xf1\xfc\xec\xee."),
			},
		},
	}
}

func TestMessageOfOutlook(t *testing.T) {
	t.Parallel()
	raw := compound(outlookMessage())
	kind, ok := All().Detect("mail.msg", "", raw)
	require.True(t, ok)
	require.Equal(t, "msg", kind)
	c, err := All().Content(t.Context(), "msg", raw)
	require.NoError(t, err)
	require.Equal(t, "Angebot für Mai", c.Title)
	for _, want := range []string{"From: Jörg Maier <joerg@example.org>", "To: Ada", "Date: Mon, 18 May 2026 14:00:00 +0000", "Attachments: price list.pdf, PLAN~1.DOC", "Привет, это письмо."} {
		require.Contains(t, c.Text, want)
	}
	require.Less(t, strings.Index(c.Text, "40 euros"), strings.Index(c.Text, "Earlier messages:"))
	require.Less(t, strings.Index(c.Text, "Earlier messages:"), strings.Index(c.Text, "What is the price?"))
}

func TestBodyOfAnOutlookMessageMayBeAWebPageOrRTF(t *testing.T) {
	t.Parallel()
	text := func(body folder) string {
		c, err := All().Content(t.Context(), "msg", compound(body))
		require.NoError(t, err)
		return c.Text
	}
	require.Contains(t, text(folder{msgProperties: numbersOf(32, nil), msgPart(msgSubject, msgUnicode): wide("Rent"), msgPart(msgHTML, msgBytes): []byte("<p>The rent is <b>900</b> euros.</p>")}), "The rent is 900 euros.")
	// The subject is too short for a guess; only the code page of the body tells it.
	require.Contains(t, text(folder{msgProperties: numbersOf(32, map[uint32]uint64{msgInternetCP: 950}), msgPart(msgSubject, msgEight): []byte("MSG \xae\xe6\xa6\xa1"), msgPart(msgPlain, msgEight): []byte("x")}), "MSG 格式")
	// The example of MS-OXRTFCP, 3.2.1.
	packed := []byte("\x2d\x00\x00\x00\x2b\x00\x00\x00LZFu\xf1\xc5\xc7\xa7\x03\x00\x0a\x00rcpg125B2\x0a\xf3 hel\x09\x00 bw\x05\xb0ld}\x0a\x80\x0f\xa0")
	require.Equal(t, "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n", string(unpackRTF(packed)))
	require.Contains(t, text(folder{msgProperties: numbersOf(32, nil), msgPart(msgSubject, msgUnicode): wide("Hi"), msgPart(msgRTF, msgBytes): packed}), "hello world")
}

// A file that says that its chains are endless, or that one folder is in another, ends.
func TestHostileCompoundFilesEnd(t *testing.T) {
	t.Parallel()
	raw := compound(outlookMessage())
	for at := 0; at < 160; at += 4 { // the table of chains
		for _, v := range []uint32{1, uint32(at / 4)} {
			bad := slices.Clone(raw)
			binary.LittleEndian.PutUint32(bad[512+at:], v)
			file, ok := openCFB(bad)
			if !ok {
				continue
			}
			total := 0
			for _, e := range file.entries {
				total += len(file.stream(e))
			}
			require.LessOrEqual(t, total, len(bad))
			_, _ = All().Content(t.Context(), "msg", bad)
		}
	}
	nested := folder{}
	inner := nested
	for range 30 {
		next := folder{msgProperties: numbersOf(24, nil), msgPart(msgPlain, msgUnicode): wide("deeper")}
		inner["__attach_version1.0_#00000000"] = folder{msgPart(msgContent, msgObject): next}
		inner = next
	}
	nested[msgPart(msgSubject, msgUnicode)] = wide("Nested")
	c, err := All().Content(t.Context(), "msg", compound(nested))
	require.NoError(t, err)
	require.Less(t, strings.Count(c.Text, "deeper"), maxMailDepth)
}

func FuzzOutlook(f *testing.F) {
	f.Add(compound(outlookMessage()))
	f.Fuzz(func(t *testing.T, raw []byte) { readable(t, "msg", raw) })
}
