package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
)

var outlookFile = Type{
	Name:       "msg",
	Label:      "Outlook",
	Extensions: []string{".msg"},
	MediaTypes: []string{"application/vnd.ms-outlook"},
	Binary:     true,
	Is: func(raw []byte, _ string) bool {
		return bytes.HasPrefix(raw, cfbMagic) && bytes.Contains(raw, msgProperty)
	},
	Read: func(ctx context.Context, raw []byte) (string, error) {
		c, err := outlookContent(ctx, raw)
		return c.Text, err
	},
	content:  outlookContent,
	untitled: true, // its subject is the title
}

// msgProperty is how the names of a message's streams begin, in UTF-16.
var msgProperty = []byte("_\x00_\x00s\x00u\x00b\x00s\x00t\x00g\x001\x00.\x000\x00_\x00")

// Properties of messages (MS-OXPROPS), and their types.
const (
	msgSubject    = 0x0037
	msgSubmitted  = 0x0039
	msgSender     = 0x0c1a
	msgAddress    = 0x0c1f
	msgSMTP       = 0x5d01
	msgCc         = 0x0e03
	msgTo         = 0x0e04
	msgDelivered  = 0x0e06
	msgPlain      = 0x1000
	msgRTF        = 0x1009
	msgHTML       = 0x1013
	msgContent    = 0x3701
	msgShortName  = 0x3704
	msgLongName   = 0x3707
	msgCodePage   = 0x3ffd
	msgInternetCP = 0x3fde // the code page of the body
	msgUnicode    = 0x001f
	msgBytes      = 0x0102
	msgObject     = 0x000d
	msgEight      = 0x001e
	msgProperties = "__properties_version1.0"
)

// outlookContent returns of a message that Outlook has saved what mailContent returns of others.
func outlookContent(ctx context.Context, raw []byte) (Content, error) {
	file, ok := openCFB(raw)
	if !ok {
		return Content{}, errDamagedFile
	}
	r := msgReader{ctx: ctx, file: file, left: maxMailParts}
	return r.message(file.entries[0], 0)
}

type msgReader struct {
	ctx  context.Context
	file *cfb
	left int // attachments that may still be read
}

// msgItem is a message or an attachment.
type msgItem struct {
	*msgReader
	parts   map[string]cfbEntry
	charset string
	numbers map[uint32]uint64 // the properties of a fixed size
}

func (r *msgReader) item(storage cfbEntry, header int) msgItem {
	m := msgItem{msgReader: r, parts: map[string]cfbEntry{}, numbers: map[uint32]uint64{}}
	for _, e := range r.file.children(storage) {
		m.parts[e.name] = e
	}
	fixed := r.file.stream(m.parts[msgProperties])
	for at := header; at+16 <= len(fixed); at += 16 {
		m.numbers[binary.LittleEndian.Uint32(fixed[at:])>>16] = binary.LittleEndian.Uint64(fixed[at+8:])
	}
	m.charset = cmp.Or(codePages[uint32(m.numbers[msgCodePage])], codePages[uint32(m.numbers[msgInternetCP])])
	return m
}

// codePages are the encodings of texts that are not in Unicode. The others are recognised.
var codePages = map[uint32]string{932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 1250: "windows-1250", 1251: "windows-1251", 1252: "windows-1252",
	1253: "windows-1253", 1254: "windows-1254", 1255: "windows-1255", 1256: "windows-1256", 1257: "windows-1257", 1258: "windows-1258", 20866: "koi8-r"}

func msgPart(property, kind int) string { return fmt.Sprintf("__substg1.0_%04X%04X", property, kind) }

func (m msgItem) bytes(property, kind int) []byte {
	return m.file.stream(m.parts[msgPart(property, kind)])
}

// text returns a text; "" if there is none that can be read.
func (m msgItem) text(property int) string {
	if b := m.bytes(property, msgUnicode); len(b) > 0 {
		s, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(b)
		if err == nil {
			return strings.TrimRight(string(s), "\x00")
		}
	}
	s, err := toUTF8(bytes.TrimRight(m.bytes(property, msgEight), "\x00"), m.charset)
	if err != nil {
		return ""
	}
	return s
}

func (m msgItem) line(property int) string {
	return strings.Join(strings.Fields(m.text(property)), " ")
}

func (r *msgReader) message(storage cfbEntry, depth int) (Content, error) {
	header := 32
	if depth > 0 {
		header = 24
	}
	m := r.item(storage, header)
	body, err := m.body()
	if err != nil {
		return Content{}, err
	}
	var attached []string
	for _, name := range slices.Sorted(maps.Keys(m.parts)) {
		if !strings.HasPrefix(name, "__attach_version1.0_") {
			continue
		}
		if r.left--; r.left < 0 {
			return Content{}, errTooLarge
		}
		a := r.item(m.parts[name], 8)
		inside, isMessage := a.parts[msgPart(msgContent, msgObject)]
		if isMessage && inside.kind == 1 && depth < maxMailDepth/2 {
			c, err := r.message(inside, depth+1)
			if err != nil {
				return Content{}, err
			}
			body = strings.TrimSpace(body + "\n\n" + c.Text)
			continue
		}
		if name := a.line(msgLongName); name != "" {
			attached = append(attached, name)
		} else if name := a.line(msgShortName); name != "" {
			attached = append(attached, name)
		}
	}
	address := m.line(msgSMTP)
	if address == "" {
		address = m.line(msgAddress)
	}
	from := m.line(msgSender)
	if strings.Contains(address, "@") && address != from {
		from = strings.TrimSpace(from + " <" + address + ">")
	}
	return mailText(m.line(msgSubject), [][2]string{{"From", from}, {"To", m.line(msgTo)}, {"Cc", m.line(msgCc)}, {"Date", m.date()}}, body, attached), nil
}

// date returns when a message was sent, or else received; "" if it does not say so.
func (m msgItem) date() string {
	const untilUnix = 11644473600 // seconds from 1601
	for _, property := range []uint32{msgSubmitted, msgDelivered} {
		if t := m.numbers[property]; t>>63 == 0 && t > untilUnix*1e7 {
			return time.Unix(int64(t/1e7)-untilUnix, 0).UTC().Format(time.RFC1123Z)
		}
	}
	return ""
}

// body returns the plain text, or else that of the web page or of the RTF.
func (m msgItem) body() (string, error) {
	if s := m.text(msgPlain); strings.TrimSpace(s) != "" {
		return s, nil
	}
	page := string(m.bytes(msgHTML, msgBytes))
	if page == "" {
		page = m.text(msgHTML)
	}
	if page != "" {
		page, err := toUTF8([]byte(page), m.charset)
		if err != nil {
			return "", err
		}
		return htmlText(m.ctx, []byte(page))
	}
	if raw := unpackRTF(m.bytes(msgRTF, msgBytes)); len(raw) > 0 {
		return rtfText(m.ctx, raw)
	}
	return "", nil
}

// rtfStart is what the dictionary of compressed RTF begins with (MS-OXRTFCP, 2.1.3.1.1).
const rtfStart = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

// unpackRTF returns the RTF of a compressed stream (MS-OXRTFCP); nil if it is damaged.
func unpackRTF(b []byte) []byte {
	const header, window = 16, 4096
	if len(b) < header {
		return nil
	}
	switch string(b[8:12]) {
	case "MELA":
		return b[header:]
	case "LZFu":
	default:
		return nil
	}
	var dictionary [window]byte
	at := copy(dictionary[:], rtfStart)
	var out []byte
	put := func(c byte) {
		dictionary[at%window] = c
		at++
		out = append(out, c)
	}
	for b = b[header:]; len(b) > 0 && len(out) < MaxText; {
		control := b[0]
		b = b[1:]
		for bit := range 8 {
			if control>>bit&1 == 0 {
				if len(b) == 0 {
					return out
				}
				put(b[0])
				b = b[1:]
				continue
			}
			if len(b) < 2 {
				return out
			}
			from, n := int(b[0])<<4|int(b[1])>>4, int(b[1]&15)+2
			b = b[2:]
			if from == at%window {
				return out // the end
			}
			for k := range n {
				put(dictionary[(from+k)%window])
			}
		}
	}
	return out
}
