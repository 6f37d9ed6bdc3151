package language

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
)

const (
	// Similar is the minimum Likeness of a name and a title that match.
	Similar = float32(0.85)
	// maxName is the maximum length, in characters, of a name that Likeness compares.
	maxName = 300
)

// WithoutExtension drops the extension of a document's file at the end of a text.
func WithoutExtension(text string) string {
	switch ext := path.Ext(text); strings.ToLower(ext) {
	case ".pdf", ".txt", ".md", ".markdown", ".html", ".htm", ".mht", ".doc", ".docx", ".docm", ".xls", ".xlsx", ".xlsm", ".ppt", ".pptx", ".csv", ".tsv", ".eml", ".msg", ".rtf", ".odt", ".ods", ".odp",
		".log", ".json", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif":
		return strings.TrimSuffix(text, ext)
	}
	return text
}

// FoldName normalizes a name for comparison: case, quotation marks, spaces and hyphens.
func FoldName(name string) string {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(composed(name)), allQuotes+"@.,;:!? "))
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || r == '_' || r == '-' || r == '–'
	}), " ")
}

// Likeness returns the Levenshtein similarity of a name and a title, from 0 to 1: the
// highest with and without their extensions. It is 0 if their lengths are too different
// to match, or if they are too long.
func Likeness(name, title string) float32 {
	var best float32
	for _, a := range foldedForms(name) {
		for _, b := range foldedForms(title) {
			la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
			if la > maxName || lb > maxName || float32(min(la, lb)) < Similar*float32(max(la, lb)) {
				continue // cannot be alike
			}
			if s, err := edlib.StringsSimilarity(a, b, edlib.Levenshtein); err == nil && s > best {
				best = s
			}
		}
	}
	return best
}

func foldedForms(name string) []string {
	return Distinct([]string{FoldName(name), FoldName(WithoutExtension(name))})
}

// FindName finds a name in a text at word bounds, ignoring case, from byte offset from
// on. It returns the byte range, or -1, -1 if the name is not found.
func FindName(text, name string, from int) (start, end int) {
	if name == "" {
		return -1, -1
	}
	for i := from; i < len(text); {
		if n, ok := foldPrefix(text[i:], name); ok && atWordBounds(text, i, i+n) {
			return i, i + n
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return -1, -1
}

// foldPrefix reports whether text begins with name, ignoring case. It returns the length
// of that prefix in bytes.
func foldPrefix(text, name string) (int, bool) {
	n := 0
	for _, want := range name {
		got, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || unicode.ToLower(got) != unicode.ToLower(want) {
			return 0, false
		}
		n += size
	}
	return n, true
}

// atWordBounds reports whether text[i:j] begins and ends at word bounds. In scripts without
// spaces, a name may stand anywhere; a Korean particle may follow it.
func atWordBounds(text string, i, j int) bool {
	isWord := func(r rune) bool { return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !IsDense(r) }
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	first, _ := utf8.DecodeRuneInString(text[i:])
	last, _ := utf8.DecodeLastRuneInString(text[:j])
	after, _ := utf8.DecodeRuneInString(text[j:])
	return !(isWord(before) && isWord(first)) && (!(isWord(last) && isWord(after)) || beginsWithParticle(text[j:]))
}

// beginsWithParticle reports whether the rest of a word is a Korean particle.
func beginsWithParticle(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.Is(unicode.Hangul, r) })
	if end < 0 {
		end = len(text)
	}
	return end > 0 && end <= longestParticle && without("가"+text[:end], koreanParticles, 1) == "가"
}

const longestParticle = 12 // bytes

// ReplaceNames replaces every name in a text, together with an @ before it. It replaces
// the longest names first, because they may contain others.
func ReplaceNames(text string, names []string, replacement string) string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	lower := strings.ToLower(text)
	for _, name := range names {
		if strings.Contains(lower, strings.ToLower(name)) { // fast path
			text = replaceName(text, name, replacement)
		}
	}
	return text
}

func replaceName(text, name, replacement string) string {
	var out strings.Builder
	from := 0
	for {
		i, j := FindName(text, name, from)
		if i < 0 {
			break
		}
		out.WriteString(strings.TrimSuffix(text[from:i], "@"))
		out.WriteString(replacement)
		from = j
	}
	out.WriteString(text[from:])
	return out.String()
}

// IsQuoted reports whether text[i:j] stands between quotation marks.
func IsQuoted(text string, i, j int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[j:])
	return strings.ContainsRune(OpeningQuotes, before) && strings.ContainsRune(ClosingQuotes, after)
}

// Quotation marks by where they stand. The straight ones stand on both sides.
const (
	OpeningDoubleQuotes = "\"“«"
	ClosingDoubleQuotes = "\"”»"
	OpeningQuotes       = OpeningDoubleQuotes + "'‘`"
	ClosingQuotes       = ClosingDoubleQuotes + "'’`"

	allQuotes = "\"“”«»'‘’`"
)

// Lengths from which on a word may have one typing error, or two.
const (
	shortMisspelt = 6
	longMisspelt  = 9
)

// Misspelt returns the number of typing errors that turn the lower-case word right into w; 0
// if w is no likely misspelling of it.
func Misspelt(w, right string) int {
	n, m := utf8.RuneCountInString(w), utf8.RuneCountInString(right)
	most := 1
	if n >= longMisspelt {
		most = 2
	}
	if n < shortMisspelt-1 || w[0] != right[0] || max(n-m, m-n) > most || m < shortMisspelt-1 || strings.HasPrefix(w, right) || strings.HasPrefix(right, w) {
		return 0
	}
	if d := edlib.OSADamerauLevenshteinDistance(w, right); d <= most {
		return d
	}
	return 0
}
