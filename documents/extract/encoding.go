package extract

import (
	"bytes"
	"cmp"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// probed is how many bytes of a file its encoding is recognised by.
const probed = 64 << 10

// toUTF8 returns the text of a file in any encoding that can be recognised. declared is the
// encoding that the file itself names, or "". The error is errNotText for a file that is no
// text, and errEncoding if the encoding cannot be told.
func toUTF8(raw []byte, declared string) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	if e := wideEncoding(raw); e != nil {
		return decodeWith(e, raw)
	}
	if n := controls(raw); n*100 > len(raw) {
		return "", errNotText
	}
	escapes := bytes.IndexByte(raw, 0x1b) >= 0
	switch {
	case utf8.Valid(raw) && !escapes:
		return string(raw), nil
	case mostlyUTF8(raw):
		return strings.ToValidUTF8(string(raw), "\ufffd"), nil
	}
	var named encoding.Encoding
	if e, err := htmlindex.Get(declared); err == nil {
		if s, err := decodeWith(e, raw); err == nil && !strings.ContainsRune(s, utf8.RuneError) {
			if e != charmap.Windows1252 || isWindows1252(sample(raw)) {
				return s, nil
			}
			named = e
		}
	}
	e := cmp.Or(recognise(sample(raw)), named)
	if e == nil && escapes && utf8.Valid(raw) {
		return string(raw), nil
	}
	if e == nil {
		return "", errEncoding
	}
	return decodeWith(e, raw)
}

// isWindows1252 reports whether all characters of a text are plausible in Windows-1252. Programs name it, or
// ASCII or Latin-1, for texts in any encoding.
func isWindows1252(raw []byte) bool {
	out, err := charmap.Windows1252.NewDecoder().Bytes(raw)
	return err == nil && plausible(string(out)) == 1
}

func decodeWith(e encoding.Encoding, raw []byte) (string, error) {
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return "", errEncoding
	}
	bad, all := 0, 0
	for _, r := range string(out) {
		all++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	if bad*100 > all {
		return "", errEncoding
	}
	return string(out), nil
}

// controls counts the bytes that no text has in an encoding whose characters begin with
// one byte.
func controls(raw []byte) int {
	n := 0
	for _, b := range raw {
		if b < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a\x1b", rune(b)) {
			n++
		}
	}
	return n
}

// wideEncoding recognises UTF-16 and UTF-32: by the byte order mark, else by bytes that no
// other text has and by the characters that they make. It returns nil for everything else.
func wideEncoding(raw []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(raw, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM)
	case bytes.Contains(raw[:min(len(raw), 1024)], []byte(koreanShift)):
		return iso2022KR{korean.EUCKR}
	}
	head := raw[:min(len(raw), probed)&^3]
	if len(raw) < 8 {
		head = raw[:len(raw)&^1]
	}
	if controls(head) == 0 || utf8.Valid(raw) && controls(head)*10 < len(head) {
		return nil
	}
	var best encoding.Encoding
	most := 0.9 // share of plausible characters
	for _, e := range []encoding.Encoding{
		utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
		utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM), utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM),
	} {
		out, err := e.NewDecoder().Bytes(head)
		if err != nil {
			continue
		}
		if share := plausibleWide(string(out)); share > most {
			best, most = e, share
		}
	}
	return best
}

const koreanShift = "\x1b$)C" // stands at the beginning of texts in ISO-2022-KR

// iso2022KR is EUC-KR in seven bits: Korean letters stand between SO and SI.
type iso2022KR struct{ encoding.Encoding }

func (e iso2022KR) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: transform.Chain(&eighthBit{}, e.Encoding.NewDecoder())}
}

// eighthBit sets the highest bit of the bytes between SO and SI, and drops these and koreanShift.
type eighthBit struct{ on bool }

func (t *eighthBit) Reset() { t.on = false }

func (t *eighthBit) Transform(dst, src []byte, atEOF bool) (written, read int, err error) {
	for read < len(src) {
		b := src[read]
		switch {
		case b == 0x1b && bytes.HasPrefix(src[read:], []byte(koreanShift)):
			read += len(koreanShift)
			continue
		case b == 0x1b && !atEOF && len(src)-read < len(koreanShift):
			return written, read, transform.ErrShortSrc
		case b == 0x0e, b == 0x0f:
			t.on = b == 0x0e
			read++
			continue
		case b == '\n':
			t.on = false
		}
		if written == len(dst) {
			return written, read, transform.ErrShortDst
		}
		if dst[written] = b; t.on && b > ' ' {
			dst[written] |= 0x80
		}
		written++
		read++
	}
	return written, read, nil
}

// plausibleWide returns the share of a text's characters that are ASCII, punctuation, or
// letters of the script that most of its letters have.
func plausibleWide(s string) float64 {
	scripts, all, plain := map[string]int{}, 0, 0
	for _, r := range s {
		all++
		switch {
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r == utf8.RuneError:
		case r < unicode.MaxASCII, r >= 0x2010 && r <= 0x203a, r >= 0x3000 && r <= 0x3011, r >= 0xff00 && r <= 0xff5e:
			plain++
		case unicode.IsLetter(r), unicode.IsMark(r):
			scripts[scriptOf(r)]++
		}
	}
	most := 0
	for _, n := range scripts {
		most = max(most, n)
	}
	return float64(plain+most) / float64(max(all, 1))
}

// scriptOf names the script of a letter. The scripts that Japanese mixes count as one.
func scriptOf(r rune) string {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return "Han"
	case unicode.Is(unicode.Latin, r):
		return "Latin"
	case unicode.Is(unicode.Cyrillic, r):
		return "Cyrillic"
	}
	for _, name := range []string{"Hangul", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Armenian", "Georgian", "Bengali", "Tamil"} {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return ""
}

// sample returns a beginning of a text that is long enough to recognise its encoding by:
// lines that have more than ASCII.
func sample(raw []byte) []byte {
	if len(raw) <= probed {
		return raw
	}
	var out []byte
	for line := range bytes.Lines(raw) {
		if bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) || bytes.IndexByte(line, 0x1b) >= 0 {
			out = append(out, line...)
		}
		if len(out) >= probed {
			break
		}
	}
	return out
}

// recognise returns the encoding of a text that is neither UTF-8 nor wide, or nil if it
// cannot be told.
func recognise(raw []byte) encoding.Encoding {
	guesses := chardet.DetectAll(raw)
	for _, g := range guesses {
		if e := multiByte(g.Encoding); e != nil && g.Confidence > 0.9 && isLikelyMultiByte(e, raw) {
			return e
		}
	}
	if e := singleByte(raw, guesses); e != nil {
		return e
	}
	for _, e := range []encoding.Encoding{japanese.ShiftJIS, japanese.EUCJP, korean.EUCKR, simplifiedchinese.GB18030} {
		if isLikelyMultiByte(e, raw) {
			return e
		}
	}
	return nil
}

func multiByte(name string) encoding.Encoding {
	switch strings.ToUpper(name) {
	case "GB2312", "GB18030", "GBK":
		return simplifiedchinese.GB18030
	case "HZ-GB-2312":
		return simplifiedchinese.HZGB2312
	case "CP949", "EUC-KR", "UHC":
		return korean.EUCKR
	case "BIG5", "SHIFT_JIS", "CP932", "EUC-JP", "ISO-2022-JP":
		e, err := htmlindex.Get(strings.Replace(strings.ToLower(name), "cp932", "shift_jis", 1))
		if err == nil {
			return e
		}
	}
	return nil
}

// isLikelyMultiByte reports whether a text in an East Asian encoding has nearly only
// characters that such texts have.
func isLikelyMultiByte(e encoding.Encoding, raw []byte) bool {
	out, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return false
	}
	good, all := 0, 0
	prev := ' '
	text := []rune(string(out))
	for i, r := range text {
		if r >= utf8.RuneSelf {
			all++
			switch {
			case r >= 0xff61 && r <= 0xff9f && prev < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf): // "20°C"
			case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r > 0x3000 && r <= 0x30ff, r >= 0xff00 && r <= 0xff9f:
				// In a text in a Western encoding the second byte is an ASCII letter of the same word.
				if prev >= utf8.RuneSelf || !unicode.IsLetter(prev) || all > 1 {
					good++
				}
			case unicode.IsPunct(r), unicode.IsSymbol(r), r == 0x3000:
				good++
			}
		}
		prev = r
	}
	return all > 0 && good*100 >= all*97
}

// singleBytes are the encodings of one byte a character, the more frequent ones first.
var singleBytes = []*charmap.Charmap{
	charmap.Windows1252, charmap.Windows1250, charmap.Windows1251, charmap.Windows1254, charmap.Windows1253, charmap.Windows1257,
	charmap.ISO8859_2, charmap.ISO8859_15, charmap.ISO8859_16, charmap.ISO8859_3, charmap.ISO8859_4, charmap.ISO8859_13, charmap.ISO8859_10, charmap.ISO8859_14,
	charmap.Macintosh, charmap.CodePage850, charmap.CodePage852, charmap.CodePage437, charmap.CodePage865, charmap.KOI8U, charmap.KOI8R, charmap.CodePage866, charmap.ISO8859_5, charmap.MacintoshCyrillic, charmap.CodePage855,
	charmap.ISO8859_7, charmap.Windows1258, charmap.Windows1255, charmap.Windows1256, charmap.ISO8859_8, charmap.ISO8859_6, charmap.Windows874, charmap.CodePage862,
}

// alphabets are the letters beyond ASCII that languages use, in small letters. Letters that
// stand together in one alphabet tell the encodings of Latin and Cyrillic text apart.
var alphabets = func() []map[rune]bool {
	var out []map[rune]bool
	for _, letters := range []string{
		"äöüß", "éèêëàâçîïôùûüœæÿ", "áéíóúüñªº", "áâãàçéêíóôõúüªº", "àèéìíîòóùúªº", "àáèéíïòóúüç", "éèëïöüáíóúê", "åæøéèôò", "åäöéàü", "áðéíóúýþæö", "áíóúæøýð",
		"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "äëçâ", "çğıiöşüâîû", "äõöüšž", "āčēģīķļņōŗšūž", "ąčęėįšųūž", "ċġħżàèìòù", "âêîôûŵŷáéíóúäëïöüẁỳ",
		"ăâđêôơưàảãáạằẳẵắặầẩẫấậèẻẽéẹềểễếệìỉĩíịòỏõóọồổỗốộờởỡớợùủũúụừửữứựỳỷỹýỵ\u0300\u0309\u0303\u0301\u0323", "ĉĝĥĵŝŭ",
		"абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдежзіийклмнопрстуўфхцчшыьэюяё", "абвгдђежзијклљмнњопрстћуфхцчџшѓќѕ",
		"αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
	} {
		set := map[rune]bool{}
		for _, r := range letters {
			set[r] = true
		}
		out = append(out, set)
	}
	return out
}()

// likely is the share of a text's characters beyond ASCII that must be where texts have
// them; else the encoding is not known.
const likely = 0.9

// singleByte returns the encoding in which a text is the most plausible, or nil if it is
// plausible in none. guesses are chardet's, which knows the frequencies of letters.
func singleByte(raw []byte, guesses []chardet.Result) encoding.Encoding {
	script := ""
	for _, g := range guesses {
		name := strings.Replace(g.Encoding, "MacCyrillic", "x-mac-cyrillic", 1)
		if e, err := htmlindex.Get(name); err == nil && g.Language != "" && g.Language != "Turkish" && g.Confidence > 0.9 {
			if out, err := e.NewDecoder().Bytes(raw); err == nil {
				script = mainScript(string(out))
				break
			}
		}
	}
	var best encoding.Encoding
	most := likely
	for _, e := range singleBytes {
		out, err := e.NewDecoder().Bytes(raw)
		if err != nil {
			continue
		}
		text := string(out)
		score := plausible(text)
		if main := mainScript(text); script != "" && main == script {
			score += 0.1
		} else if script == "" && main != "" && main != "Latin" && main != "Cyrillic" && main != "Greek" {
			score -= 0.02 // their letters have no case that could be wrong
		}
		if score > most+1e-9 {
			best, most = e, score
		}
	}
	if best == nil && isWestern(raw) {
		return charmap.Windows1252
	}
	return best
}

// isWestern reports whether a text has words of several Western languages, such as names: its
// letters beyond ASCII belong to one of their alphabets and are the smaller part of the words.
func isWestern(raw []byte) bool {
	out, err := charmap.Windows1252.NewDecoder().Bytes(raw)
	if err != nil {
		return false
	}
	text := string(out)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		beyond, letters := 0, 0
		for _, r := range w {
			letters++
			if r >= utf8.RuneSelf {
				beyond++
			}
		}
		if letters > 3 && 2*beyond > letters { // a word of another script
			return false
		}
	}
	return plausibleIn(text, western) >= likely
}

// mainScript returns the script of most letters beyond ASCII.
func mainScript(s string) string {
	counts := map[string]int{}
	main := ""
	for _, r := range s {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) {
			script := scriptOf(r)
			if counts[script]++; counts[script] > counts[main] {
				main = script
			}
		}
	}
	return main
}

// plausible returns the share of the characters beyond ASCII that are where texts of
// people have them: letters of one alphabet, with capitals at the beginning of words, and
// signs between words.
func plausible(s string) float64 { return plausibleIn(s, alphabets) }

func plausibleIn(s string, alphabets []map[rune]bool) float64 {
	all, good := 0, 0
	inAlphabet := make([]int, len(alphabets))
	cased, letters := 0, 0
	runes := []rune(s)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		if r < utf8.RuneSelf {
			continue
		}
		all++
		prev, next := at(i-1), at(i+1)
		switch {
		case r == '°' && unicode.IsUpper(next), r == 'µ' && !unicode.IsLetter(prev): // 20°C, 5 µm
			good++
		case unicode.IsLetter(r):
			letters++
			script := scriptOf(r)
			mixed := unicode.IsLetter(prev) && scriptOf(prev) != script || unicode.IsLetter(next) && scriptOf(next) != script
			capital := unicode.IsUpper(r) && unicode.IsLower(prev)
			if script == "Latin" || script == "Cyrillic" || script == "Greek" {
				cased++
				low := unicode.ToLower(r)
				for k, set := range alphabets {
					if set[low] && !mixed && !capital {
						inAlphabet[k]++
					}
				}
			} else if !mixed && script != "" {
				good++
			}
		case unicode.IsMark(r):
			if unicode.IsLetter(prev) && prev >= utf8.RuneSelf && scriptOf(prev) == scriptOf(r) || unicode.Is(unicode.Thai, prev) {
				good++
			} else if r >= 0x300 && r <= 0x323 && unicode.IsLetter(prev) {
				cased++
				if len(alphabets) > vietnamese {
					inAlphabet[vietnamese]++
				}
			}
		case r == '’', r == '\u00a0', r == '\u00ad', r == '‘', r == '·':
			good++
		case strings.ContainsRune("–—…“”«»", r) && !(unicode.IsLetter(prev) && unicode.IsLetter(next)) || r == '—' || r == '–',
			strings.ContainsRune("„‹‚§¿¡", r) && !unicode.IsLetter(prev),
			strings.ContainsRune("›°²³¹®™©†‡", r) && !unicode.IsLetter(next),
			strings.ContainsRune("±×÷¼½¾€£¥¢•№¶µ", r) && !unicode.IsLetter(prev) && !unicode.IsLetter(next):
			good++
		case r >= 0x2500 && r <= 0x25ff: // box drawing of old programs
			if !unicode.IsLetter(prev) && !unicode.IsLetter(next) {
				good++
			}
		}
	}
	best := 0
	for _, n := range inAlphabet {
		best = max(best, n)
	}
	if all == 0 {
		return 1
	}
	// Names and quotations bring letters of a second alphabet.
	return float64(good+best) / float64(all)
}

const vietnamese = 24 // its place in alphabets

// western are the letters of the alphabets of Western Europe, which come first, as one.
var western = func() []map[rune]bool {
	all := map[rune]bool{}
	for _, set := range alphabets[:11] {
		maps.Copy(all, set)
	}
	return []map[rune]bool{all}
}()
