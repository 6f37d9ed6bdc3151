package retrieval

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
)

//go:embed accounts.txt
var accountsFile string

// account is terms of accounting, as words between blanks, with the words that statements of
// accounts use for them or for what they are computed from.
type account struct{ terms, words []string }

var accounts = func() (out []account) {
	for line := range strings.Lines(accountsFile) {
		terms, parts, found := strings.Cut(line, ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		a := account{words: language.ContentWords(parts)}
		for term := range strings.SplitSeq(terms, ",") {
			a.terms = append(a.terms, " "+strings.TrimSpace(term)+" ")
		}
		out = append(out, a)
	}
	return out
}()

// accountWords returns the words that statements of accounts use for what a query asks. People
// ask for a ratio; a statement has only the amounts.
func accountWords(query string) (words []string) {
	asked := " " + strings.Join(language.Words(query), " ") + " "
	for _, a := range accounts {
		if slices.ContainsFunc(a.terms, func(t string) bool { return strings.Contains(asked, t) }) {
			words = append(words, a.words...)
		}
	}
	return words
}
