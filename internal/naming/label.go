package naming

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// IsGenre reports whether a title only says of which kind a document is: "Invoice", "Minutes 3".
func IsGenre(title string) bool {
	words, kind := strings.Fields(Fold(title)), false
	for _, w := range words {
		if !genres[w] && !language.TitleNouns[w] && !language.IsStopWord(w) && !isNumberLike(w) || language.IsYearOrVersion(w) {
			return false
		}
		kind = kind || genres[w] || language.TitleNouns[w]
	}
	return kind
}

// genres are kinds of documents, besides the nouns that messages use for documents.
var genres = language.NewSet(`invoice rechnung facture factura fattura factuur minutes protokoll meeting sitzung lease mietvertrag bail cv resume lebenslauf curriculum vitae
	offer angebot quote quotation receipt quittung reçu recibo order bestellung vertrag contrat contrato contratto overeenkomst employment arbeitsvertrag bericht rapport informe
	relazione brief lettre carta lettera richtlinie politique política bill payslip gehaltsabrechnung certificate zeugnis bescheinigung certificat certificado agenda
	tagesordnung budget proposal statement kontoauszug form formular presentation`)

// Label sets the label of each document: its title, and in brackets what tells it apart where
// another of the documents has that title or where the title says only a kind of document.
// That is, in this order: the name of its file, a name of its own, and the time at which it
// came. The labels of different documents are different.
func Label(docs []chat.Document) {
	groups := map[string][]int{}
	for i, d := range docs {
		docs[i].Label = d.Title
		key := Fold(d.Title)
		groups[key] = append(groups[key], i)
	}
	for key, group := range groups {
		if len(group) > 1 || IsGenre(docs[group[0]].Title) {
			label(docs, group, key)
		}
	}
	order := make([]int, len(docs)) // the label of a document does not depend on the order of a list
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(docs[i].CreatedAt.Compare(docs[j].CreatedAt), cmp.Compare(docs[i].ID, docs[j].ID))
	})
	taken, last := map[string]bool{}, map[string]int{}
	for _, i := range order { // equal in everything, or a title that is the label of another one
		whole := docs[i].Label
		for taken[strings.ToLower(docs[i].Label)] {
			last[whole] = max(last[whole], 1) + 1
			docs[i].Label = whole + " (" + strconv.Itoa(last[whole]) + ")"
		}
		taken[strings.ToLower(docs[i].Label)] = true
	}
}

// label sets the labels of documents with one title.
func label(docs []chat.Document, group []int, title string) {
	details := make([][]string, len(group))
	uses := map[string]int{}
	for i, at := range group {
		details[i] = detailsOf(docs[at], title, len(group) > 1)
		for _, d := range details[i] {
			uses[Fold(d)]++
		}
	}
	for i, at := range group {
		for _, d := range details[i] {
			if uses[Fold(d)] == 1 {
				docs[at].Label = docs[at].Title + " (" + d + ")"
				break
			}
		}
	}
}

// detailsOf lists what may tell a document apart from others of its title, best first, each
// once. The time counts only if dated.
func detailsOf(d chat.Document, title string, dated bool) []string {
	out := []string{}
	seen := map[string]bool{title: true}
	add := func(detail string) {
		if key := Fold(detail); key != "" && !seen[key] {
			seen[key] = true
			out = append(out, detail)
		}
	}
	if fromFile, _ := FromFile(d.Name); Fold(fromFile) != title {
		add(d.Name)
	}
	for _, name := range d.OtherNames {
		if utf8.RuneCountInString(name) <= maxDetail && (!IsGenre(name) || strings.ContainsFunc(name, unicode.IsDigit)) {
			add(name)
		}
	}
	if dated {
		add(d.Name) // tells "Plan (1).docx" from "Plan.docx"
	}
	if dated && !d.CreatedAt.IsZero() {
		add(d.CreatedAt.UTC().Format(time.DateOnly))
		add(d.CreatedAt.UTC().Format("2006-01-02 15:04"))
	}
	return out
}

// maxDetail is the length of the longest name in a label, in characters.
const maxDetail = 60

// Others returns other names of a document without repeats and without its title, at most
// MaxOthers.
func Others(title string, names ...string) []string {
	seen := map[string]bool{Fold(title): true, "": true}
	out := []string{}
	for _, n := range names {
		n = oneLine(Normal(n))
		if key := Fold(n); !seen[key] && utf8.RuneCountInString(n) <= MaxOther && len(out) < MaxOthers {
			seen[key] = true
			out = append(out, n)
		}
	}
	return slices.Clip(out)
}

// Is reports whether a document is called so: by its label, its title, the name of its file or
// another name.
func Is(d chat.Document, name string) bool {
	want := Fold(name)
	fromFile, _ := FromFile(d.Name)
	return want != "" && slices.ContainsFunc(append([]string{d.Label, d.Title, d.Name, fromFile}, d.OtherNames...), func(n string) bool { return Fold(n) == want })
}

// Holds reports whether one of the document's names holds a text.
func Holds(d chat.Document, part string) bool {
	return strings.Contains(Fold(strings.Join(append([]string{d.Label, d.Title, d.Name}, d.OtherNames...), "\n")), Fold(part))
}
