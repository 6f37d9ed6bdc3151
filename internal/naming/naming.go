// Package naming decides what documents are called: the title that a file's name gives, the
// other names by which a document is known, and the label that tells equal titles apart.
package naming

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/internal/language"
)

const (
	// MaxOthers is the number of other names that a document keeps.
	MaxOthers = 16
	// MaxOther is the length of the longest other name, in characters.
	MaxOther = 120
)

// Normal returns a name in Unicode's composed form (NFC). macOS writes file names decomposed.
func Normal(s string) string { return norm.NFC.String(s) }

// Fold returns the words of a name in small letters, with one blank between them: names that
// people take for the same fold to the same.
func Fold(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(norm.NFKC.String(name)), func(r rune) bool { return !isWordRune(r) }), " ")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

var (
	// copyNumber matches the number that browsers and file managers put behind a name.
	copyNumber = regexp.MustCompile(`(?:\s*\(\d{1,3}\))+$`)
	// copyWord matches what file managers write before or behind the name of a copy.
	copyWord  = regexp.MustCompile(`(?i)^(?:copy of|kopie von|copie de|copia de|copia di|kopie van)\s+|\s+-\s+(?:copy|kopie|copie|copia)$`)
	extension = regexp.MustCompile(`^\.[A-Za-z][A-Za-z0-9]{0,9}$`)
	// hyphened matches a hyphen beside a letter; one between two digits belongs to a date.
	hyphened = regexp.MustCompile(`(\pL)-|-(\pL)`)
)

// FromFile returns the name of a file as a title: without folder, extension and the marks of
// a copy, with blanks for underscores and codes such as %20. says is false if the name does
// not say what the document is, as "scan_0007" does not.
func FromFile(name string) (title string, says bool) {
	name = withoutExtension(name)
	title = name
	if decoded, err := url.PathUnescape(title); err == nil && utf8.ValidString(decoded) {
		title = decoded
	}
	if !strings.Contains(title, " ") { // hyphens and plus signs stand for blanks
		title = strings.ReplaceAll(title, "+", " ")
		if strings.Count(title, "-") > 1 && !strings.Contains(title, "_") {
			title = hyphened.ReplaceAllString(title, "$1 $2")
		}
	}
	title = oneLine(strings.ReplaceAll(title, "_", " "))
	for before := ""; before != title; {
		before = title
		title = strings.TrimSpace(copyWord.ReplaceAllString(copyNumber.ReplaceAllString(title, ""), ""))
	}
	title = strings.Trim(title, " .-–")
	if title == "" {
		return oneLine(name), false
	}
	return title, Says(title)
}

// withoutExtension drops folders and the extension. A dot before a digit is part of the name, as
// in "Plan v1.2".
func withoutExtension(name string) string {
	name = Normal(path.Base(strings.ReplaceAll(name, "\\", "/")))
	if ext := path.Ext(name); extension.MatchString(ext) && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Says reports whether a name says what a document is: whether it has a word besides numbers,
// dates, parts of checksums and random ids, words for any file ("scan", "Dokument1"), and the
// short codes that cameras and scanners put before a number ("DSC_0042", "P1010042").
func Says(name string) bool {
	words := strings.Fields(Fold(name))
	counter := slices.ContainsFunc(words, func(w string) bool { return isNumberLike(w) && !language.IsYearOrVersion(w) })
	return slices.ContainsFunc(words, func(w string) bool {
		letters := strings.TrimFunc(w, unicode.IsDigit)
		switch {
		case isNumberLike(w), isMachine(w), nameless[letters], language.IsStopWord(w):
			return false
		case counter && !genres[w] && len(letters) <= 4 && len(words) == 2 && !strings.ContainsAny(letters, "aeiouy") && isASCII(letters):
			return false
		}
		return len(letters) > 2 || len(w)-len(letters) < 4
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// isNumberLike reports whether a word is a number, an ordinal or a short mark such as "v2".
func isNumberLike(w string) bool {
	return strings.IndexFunc(w, unicode.IsLetter) < 0 || language.IsVersion(w)
}

var hexWord = regexp.MustCompile(`^[0-9a-f]{6,}$`)

// isMachine reports whether a word is a part of a checksum, a UUID or a random id: letters and
// digits that change often.
func isMachine(w string) bool {
	if strings.IndexFunc(w, unicode.IsDigit) >= 0 && (hexWord.MatchString(w) || len(w) == 4 && isHex(w) && changes(w) > 1) {
		return true
	}
	return utf8.RuneCountInString(w) >= 8 && changes(w) >= 3
}

func isHex(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.Is(unicode.ASCII_Hex_Digit, r) }) < 0
}

// changes counts the changes between letters and digits.
func changes(w string) (n int) {
	before, first := false, true
	for _, r := range w {
		digit := unicode.IsDigit(r)
		if !first && digit != before {
			n++
		}
		before, first = digit, false
	}
	return n
}

// nameless are words for any file, in the languages of the programs that write them.
var nameless = language.NewSet(`scan scans scanned scanner scannen numérisation numérisé escaneado escaneo escáner scansione skan сканирование img image images bild foto photo
	picture screenshot bildschirmfoto capture dsc dscn dcim mvi vid video pxl fax cam camera kamera pdf doc docx file files datei dateien fichier archivo ficheiro bestand plik файл
	document documents dokument dokumente documento documentos documenti dokumentum документ belge dokumen 文件 文档 文書 문서
	untitled unbenannt unnamed noname namenlos titulo sans ohne sin senza sem zonder bez без названия titel title titre titolo título naamloos download downloads télécharger téléchargement descarga herunterladen
	новый nova novo new neu nouveau nuevo nuovo nieuw export print output attachment anhang anlage unknown unbekannt temp tmp test text word excel powerpoint presentation präsentation
	arbeitsmappe mappe workbook book sheet page seite draft entwurf copy kopie copie copia whatsapp`)
