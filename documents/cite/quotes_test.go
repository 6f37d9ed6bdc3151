package cite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var quoted = map[string]struct {
	source string
	marks  [][2]string
	frame  [2]string
}{
	"en": {"The tenant pays the rent in advance. Either party may end the contract with three months' notice. Pets are allowed with the landlord's written consent only.", [][2]string{{"“", "”"}, {`"`, `"`}}, [2]string{"The contract says: ", " [1]."}},
	"de": {"Der Mieter zahlt die Miete im Voraus. Jede Partei kann den Vertrag mit einer Frist von drei Monaten kündigen. Haustiere sind nur mit schriftlicher Zustimmung des Vermieters erlaubt.", [][2]string{{"„", "“"}, {"»", "«"}}, [2]string{"Im Vertrag steht: ", " [1]."}},
	"fr": {"Le locataire paie le loyer à l'avance. Chaque partie peut résilier le contrat avec un préavis de trois mois. Les animaux sont admis seulement avec l'accord écrit du bailleur.", [][2]string{{"« ", " »"}, {"“", "”"}}, [2]string{"Le contrat dit : ", " [1]."}},
	"es": {"El inquilino paga la renta por adelantado. Cada parte puede resolver el contrato con un preaviso de tres meses. Los animales se admiten solo con el permiso escrito del arrendador.", [][2]string{{"«", "»"}, {`"`, `"`}}, [2]string{"El contrato dice: ", " [1]."}},
	"nl": {"De huurder betaalt de huur vooraf. Elke partij kan het contract met een termijn van drie maanden opzeggen. Huisdieren zijn alleen toegestaan met schriftelijke toestemming van de verhuurder.", [][2]string{{"“", "”"}, {"‘", "’"}, {"'", "'"}}, [2]string{"In het contract staat: ", " [1]."}},
}

// A quotation with a word that is missing, changed or added is no quotation.
func TestOfAHundredQuotationsTheRightOnesStayAndTheWrongOnesAreUnmarkedOrReported(t *testing.T) {
	right, wrong := 0, 0
	for lang, q := range quoted {
		for sentence := range strings.SplitSeq(q.source, ". ") {
			sentence = strings.TrimSuffix(sentence, ".")
			for _, marks := range q.marks {
				keeps := func(words string) bool {
					f := New([]Source{{N: 1, DocID: "d", ChunkID: "d.0", Title: "Contract", Text: q.source}})
					answer := q.frame[0] + marks[0] + words + marks[1] + q.frame[1]
					out := f.Write(answer)
					tail, _ := f.Close()
					return out+tail == answer && len(f.Unverified()) == 0
				}
				right++
				require.True(t, keeps(sentence), "%s: %s%s%s", lang, marks[0], sentence, marks[1])
				words := strings.Fields(sentence)
				for i := 1; i+1 < len(words); i++ {
					if strings.ContainsAny(words[i], "'") {
						continue
					}
					for _, changed := range []string{"", "Zebra", words[i] + " not"} {
						wrong++
						planted := strings.Join(append(append(append([]string{}, words[:i]...), strings.Fields(changed)...), words[i+1:]...), " ")
						require.False(t, keeps(planted), "%s: %s%s%s", lang, marks[0], planted, marks[1])
					}
				}
			}
		}
	}
	for _, apostrophes := range []string{"'s Avonds werken de collega's van Kees' team in 's-Hertogenbosch tot laat in de nacht.", "The tenants' rights and the landlords' duties are those of the '90s, 'tis said, and all the parties' own."} {
		f := New([]Source{{N: 1, DocID: "d", ChunkID: "d.0", Title: "Contract", Text: "x"}})
		out := f.Write(apostrophes)
		tail, _ := f.Close()
		require.Equal(t, apostrophes, out+tail)
	}
	t.Logf("%d right, %d wrong", right, wrong)
	require.Greater(t, wrong, 100)
}
