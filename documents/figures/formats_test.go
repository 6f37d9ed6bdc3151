package figures

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What answers may say of a source, and what they may not.
var saidOf = []struct {
	source       string
	right, wrong []string
}{
	{"Umsatz: 1.234,56 EUR. Betrag 7,50.", []string{"Der Umsatz beträgt 1 234,56 EUR."}, []string{}},
	{"Umsatz: 1.234,56 EUR", []string{"Der Umsatz beträgt 1.234,56 €."}, []string{"Der Umsatz beträgt 1.243,56 €."}},
	{"Total: 1'234.56 CHF", []string{"Le total est de 1 234,56 CHF."}, []string{"Le total est de 1 243,56 CHF."}},
	{"Total: 1’234.56 CHF", []string{"Het totaal is 1.234,56 CHF."}, []string{}},
	{"Net loss | (1,234) | 500", []string{"The net loss was 1,234.", "Net income was -1,234.", "Net income was (1,234)."}, []string{"Net income was (1,243)."}},
	{"Sales of 1,577 million were made", []string{"Sales were about 1.6 billion."}, []string{"Sales were about 1.7 billion."}},
	{"Umsatz (in Mio. Euro)\n | 2023\nUmsatz | 1.577", []string{"Der Umsatz lag bei rund 1,6 Mrd. Euro.", "Der Umsatz lag bei 1,577 Milliarden Euro.", "Der Umsatz lag bei 1.577 Millionen Euro."}, []string{"Der Umsatz lag bei rund 1,7 Mrd. Euro."}},
	{"Chiffre d'affaires (en millions d'euros)\n | 2023\nVentes | 1 577", []string{"Le chiffre d'affaires est d'environ 1,6 milliard d'euros."}, []string{"Le chiffre d'affaires est d'environ 1,8 milliard d'euros."}},
	{"Ventas (en millones de euros)\n | 2023\nVentas | 1.577", []string{"Las ventas fueron de unos 1.600 millones de euros.", "Las ventas fueron de 1577 millones de euros."}, []string{"Las ventas fueron de unos 1.800 millones de euros."}},
	{"Ventas (en miles de euros)\n | 2023\nVentas | 1.577.300", []string{"Las ventas fueron de 1.577,3 millones de euros."}, []string{}},
	{"Omzet (in miljoenen euro's)\n | 2023\nOmzet | 1.577", []string{"De omzet was ongeveer 1,6 miljard euro."}, []string{"De omzet was ongeveer 1,7 miljard euro."}},
	{"Omzet (x € 1.000)\n | 2023\nOmzet | 1.577", []string{"De omzet was € 1,577 miljoen."}, []string{}},
	{"The loan is Rs 12 lakh.", []string{"The loan is Rs 12,00,000."}, []string{}},
	{"The loan is Rs 12,00,000.", []string{"The loan is ₹12 lakh."}, []string{"The loan is ₹12 crore."}},
	{"Revenue: $1.6bn", []string{"Revenue was $1,600 million."}, []string{"Revenue was $1.6 million."}},
	{"Revenue: $1.6B and €3.2M and $5K", []string{"Revenue was $1.6 billion, €3.2 million and $5,000."}, []string{}},
	{"Revenue: $1.6B and €3.2M", []string{}, []string{"Revenue was $1.6 million."}},
	{"Margin | 13.3% | 13.6%", []string{"The margin fell by 0.3 percentage points."}, []string{"The margin fell by 0.4 percentage points."}},
	{"Marge | 10 % | 15 %", []string{"Die Marge stieg um 5 Prozentpunkte.", "Die Marge stieg um 50 %."}, []string{}},
	{"The margin rose by 5 percentage points.", []string{}, []string{"The margin rose by 5 percent."}},
	{"The margin rose by 5 percent.", []string{}, []string{"The margin rose by 5 percentage points."}},
	{"Die Marge stieg um 5 Prozentpunkte.", []string{}, []string{"Die Marge stieg um 5 %."}},
	{"La marge a augmenté de 5 points de pourcentage.", []string{}, []string{"La marge a augmenté de 5 %."}},
	{"El margen subió 5 puntos porcentuales.", []string{"El margen subió 5 puntos porcentuales."}, []string{}},
	{"De marge steeg met 5 procentpunten.", []string{"De marge steeg met 5 procentpunten."}, []string{}},
	{"Signed on 3 March 2024.", []string{"Signed on the third of March 2024.", "Signed on March third, 2024.", "Signed on 2024/03/03."}, []string{"Signed on the fourth of March 2024."}},
	{"Unterzeichnet am 3. März 2024.", []string{"Unterzeichnet am 03.03.2024.", "Unterzeichnet am dritten März 2024."}, []string{"Unterzeichnet am 03.04.2024."}},
	{"Signé le 1er mars 2024.", []string{"Signé le 01/03/2024.", "Signé le premier mars 2024."}, []string{"Signé le 2 mars 2024."}},
	{"Firmado el 3 de marzo de 2024.", []string{"Firmado el tres de marzo de 2024.", "Firmado el 3/3/24."}, []string{"Firmado el 3/4/2024."}},
	{"Getekend op 3 maart 2024.", []string{"Getekend op 3-3-2024."}, []string{"Getekend op 4-3-2024."}},
	{"Der Abstand ist 1,5 km.", []string{"Der Abstand ist 1500 m."}, []string{"Der Abstand ist 1,5 m."}},
	{"The distance is 1.5 km.", []string{"The distance is 1.5 km.", "The distance is 1,500 metres."}, []string{"The distance is 2.5 km."}},
	{"It weighs 2.5 kg.", []string{"It weighs 2,500 g."}, []string{"It weighs 2.5 g."}},
	{"The fee is 1,250 euros.", []string{"The fee is one thousand two hundred and fifty euros."}, []string{}},
	{"Die Frist beträgt 14 Tage.", []string{"Die Frist beträgt zwei Wochen.", "Die Frist beträgt vierzehn Tage."}, []string{"Die Frist beträgt drei Wochen."}},
	{"Le délai est de 14 jours.", []string{"Le délai est de quatorze jours."}, []string{"Le délai est de treize jours."}},
	{"El plazo es de 14 días.", []string{"El plazo es de catorce días."}, []string{"El plazo es de trece días."}},
	{"De termijn is 14 dagen.", []string{"De termijn is veertien dagen."}, []string{"De termijn is dertien dagen."}},
	{"Die Quote beträgt 12,5 %.", []string{"Die Quote beträgt 12,5 Prozent."}, []string{"Die Quote beträgt 12,6 Prozent."}},
	{"Le taux est de 12,5 %.", []string{"Le taux est de 12,5 pour cent."}, []string{}},
	{"La tasa es del 12,5 %.", []string{"La tasa es del 12,5 por ciento."}, []string{}},
	{"Het tarief is 12,5%.", []string{"Het tarief is 12,5 procent."}, []string{}},
	{"Das Budget: 3,4 Mio. EUR", []string{"Das Budget beträgt 3.400.000 Euro.", "Das Budget beträgt 3.400 Tausend Euro."}, []string{"Das Budget beträgt 340.000 Euro."}},
	{"Das Budget: 250 TEUR", []string{"Das Budget beträgt 250.000 Euro."}, []string{"Das Budget beträgt 25.000 Euro."}},
	{"Das Budget: 250 T€", []string{"Das Budget beträgt 250.000 Euro."}, []string{}},
	{"Le budget : 250 k€", []string{"Le budget est de 250 000 euros."}, []string{}},
	{"Le budget : 3,4 M€", []string{"Le budget est de 3,4 millions d'euros."}, []string{"Le budget est de 3,4 milliards d'euros."}},
	{"Le budget : 3,4 Md€", []string{"Le budget est de 3,4 milliards d'euros."}, []string{}},
	{"El presupuesto: 3,4 M€", []string{"El presupuesto es de 3,4 millones de euros."}, []string{}},
	{"Het budget: € 3,4 mln", []string{"Het budget is 3,4 miljoen euro."}, []string{"Het budget is 3,4 miljard euro."}},
	{"Het budget: € 3,4 mld", []string{"Het budget is 3,4 miljard euro."}, []string{}},
	{"Het bedrag is € 1.250,-", []string{"Het bedrag is 1250 euro."}, []string{}},
	{"Der Preis: 99,– €", []string{"Der Preis beträgt 99 Euro."}, []string{}},
	{"Fr. 1'250.-", []string{"Der Preis beträgt 1250 Franken."}, []string{}},
	{"Temperature −5 °C to 40 °C", []string{"It is between -5 °C and 40 °C."}, []string{}},
	{"Growth of 1,234,567 units", []string{"Growth of 1.234.567 units."}, []string{}},
	{"USD 5m", []string{"5 million dollars"}, []string{}},
	{"Q4 2023: 5.5x", []string{"The multiple was 5.5x in Q4 2023."}, []string{"The multiple was 6.5x in Q4 2023."}},
	{"Rechnung 2024-117 vom 5. Februar 2024 über 2.380,00 EUR, fällig am 6. März 2024, 19 % MwSt.", []string{"Die Rechnung vom 05.02.2024 lautet auf 2.380 Euro.", "Fällig ist sie am 6.3.2024.", "Der Betrag von 2380,00 € enthält 19 Prozent Mehrwertsteuer.", "Die Rechnung ist vom Februar 2024."}, []string{"Fällig ist sie am sechsten April 2024.", "Die Rechnung ist vom März 2023."}},
	{"Facture du 5 février 2024 : 2 380,00 €, payable sous 30 jours, TVA 20 %.", []string{"La facture du 05/02/2024 s'élève à 2 380 euros.", "Le montant est de 2380 €.", "Elle est payable dans un délai de trente jours.", "La TVA est de vingt pour cent."}, []string{"La TVA est de trente pour cent.", "Elle est payable sous trente mois."}},
	{"Factura del 5 de febrero de 2024: 2.380,00 €, a pagar en 30 días, IVA 21 %.", []string{"La factura del 5/2/2024 es de 2380 euros.", "El importe es de 2.380 €.", "Se paga en treinta días.", "El IVA es del 21 por ciento."}, []string{"Se paga en cuarenta días.", "Se paga en 30 semanas."}},
	{"Factuur van 5 februari 2024: € 2.380,00, te betalen binnen 30 dagen, btw 21%.", []string{"De factuur van 05-02-2024 bedraagt 2380 euro.", "Het bedrag is € 2.380,-.", "Betaling binnen dertig dagen.", "De btw is 21 procent."}, []string{"Betaling binnen veertig dagen.", "Het bedrag is $ 2.380."}},
	{"Mitarbeiter | 2023 | 2022\nWerk Nord | 1.204 | 1.150\nWerk Süd | 396 | 410", []string{"Im Werk Nord arbeiteten 2023 rund 1.200 Menschen.", "Zusammen waren es 1.204 + 396 = 1.600.", "Im Werk Süd sank die Zahl von 410 auf 396.", "Es waren 54 mehr als im Jahr davor: 1.204 - 1.150 = 54."}, []string{"Zusammen waren es 1.204 + 396 = 1.700."}},
	{"Effectif | 2023 | 2022\nUsine nord | 1 204 | 1 150\nUsine sud | 396 | 410", []string{"L'usine nord employait environ 1 200 personnes en 2023.", "Au total : 1 204 + 396 = 1 600.", "L'usine sud est passée de 410 à 396."}, []string{"Au total : 1 204 + 396 = 1 500."}},
	{"Plantilla | 2023 | 2022\nPlanta norte | 1.204 | 1.150\nPlanta sur | 396 | 410", []string{"La planta norte tenía unas 1.200 personas en 2023.", "En total: 1.204 + 396 = 1.600.", "La planta sur bajó de 410 a 396."}, nil},
	{"Medewerkers | 2023 | 2022\nFabriek noord | 1.204 | 1.150\nFabriek zuid | 396 | 410", []string{"In fabriek noord werkten ongeveer 1.200 mensen in 2023.", "Samen: 1.204 + 396 = 1.600.", "Fabriek zuid daalde van 410 naar 396."}, nil},
	{"Between 10 and 15 % of the 4,500 sites are checked, each for 2 to 3 hours.", []string{"10–15 % of 4500 sites are checked.", "Between ten and fifteen percent are checked.", "It takes 2 to 3 hours each."}, []string{"It takes 2 to 3 days each."}},
	{"Zwischen 10 und 15 % der Anlagen werden geprüft, je 2 bis 3 Stunden.", []string{"10 bis 15 Prozent werden geprüft.", "Das dauert zwei bis drei Stunden."}, []string{"Das dauert 2 bis 3 Tage."}},
	{"The tank holds 2,500 l and weighs 1.2 tonnes; it is 180 cm high.", []string{"It holds 2,500 litres and weighs 1,200 kg.", "It is 1.8 m high."}, []string{"It is 1.8 cm high.", "It weighs 1.2 kg."}},
}

// planted are an answer's copies in each of which the first digit of one number is another.
func planted(answer string) (out []string) {
	for _, m := range number.FindAllStringIndex(answer, -1) {
		if d := answer[m[0]]; d != '0' && !inWord(answer, m[0], m[1]) {
			out = append(out, answer[:m[0]]+string('1'+(d-'0'+3)%9)+answer[m[0]+1:])
		}
	}
	return out
}

func TestOfAHundredRightAnswersAtMostThreeAreMarkedAndOfAHundredWrongOnesAll(t *testing.T) {
	right, wrong := 0, 0
	var marked []string
	for _, s := range saidOf {
		for _, answer := range s.right {
			right++
			if found := texts(Check(answer, []string{s.source}, nil)); len(found) > 0 {
				marked = append(marked, s.source+": "+answer+": "+strings.Join(found, ", "))
			}
			for _, a := range planted(answer) {
				wrong++
				assert.NotEmpty(t, Check(a, []string{s.source}, nil), "%s: %s", s.source, a)
			}
		}
		for _, answer := range s.wrong {
			wrong++
			assert.NotEmpty(t, Check(answer, []string{s.source}, nil), "%s: %s", s.source, answer)
		}
	}
	t.Logf("%s\n%d right answers, %d marked; %d wrong ones", strings.Join(marked, "\n"), right, len(marked), wrong)
	require.GreaterOrEqual(t, right, 100)
	require.GreaterOrEqual(t, wrong, 100)
	require.LessOrEqual(t, 100*len(marked), 3*right, strings.Join(marked, "\n"))
}
