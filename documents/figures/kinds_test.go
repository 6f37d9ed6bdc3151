package figures

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ways to write figures, by kind, with what an answer may and may not say.
var kinds = []struct {
	source       string
	right, wrong []string
}{
	// directions of a change
	{"Revenue | 2023 | 2024\nRevenue | 200 | 400", []string{"Revenue doubled.", "Revenue rose from 200 to 400.", "Revenue grew by 100 %."}, []string{"Revenue halved.", "Revenue fell from 200 to 400.", "Revenue tripled.", "Revenue declined by 100 %."}},
	{"Sales were 400 in 2023 and 200 in 2024.", []string{"Sales halved from 400 to 200.", "Sales fell by 50 %.", "Sales dropped from 400 in 2023 to 200 in 2024."}, []string{"Sales doubled.", "Sales rose by 50 %.", "Sales increased from 400 to 200."}},
	{"Profit rose by 12 % to 56 million.", []string{"Profit increased by 12 %.", "Profit grew 12 % to 56 million."}, []string{"Profit fell by 12 %.", "Profit declined 12 % to 56 million."}},
	{"The number of visitors fell by 8 % in 2024.", []string{"Visitor numbers declined by 8 %.", "There were 8 % fewer visitors in 2024."}, []string{"Visitor numbers rose by 8 %.", "There were 8 % more visitors in 2024."}},
	{"Der Gewinn stieg um 12 % auf 56 Mio. Euro.", []string{"Der Gewinn wuchs um 12 %.", "Der Gewinn ist um 12 % auf 56 Mio. Euro gestiegen."}, []string{"Der Gewinn sank um 12 %.", "Der Gewinn ist um 12 % gefallen."}},
	{"Umsatz | 2023 | 2024\nUmsatz | 300 | 600", []string{"Der Umsatz hat sich verdoppelt.", "Der Umsatz stieg von 300 auf 600."}, []string{"Der Umsatz hat sich halbiert.", "Der Umsatz sank von 300 auf 600."}},
	{"Le bénéfice a augmenté de 12 % en 2024.", []string{"Le bénéfice a progressé de 12 %."}, []string{"Le bénéfice a baissé de 12 %.", "Le bénéfice a reculé de 12 %."}},
	{"Las ventas bajaron un 8 % en 2024.", []string{"Las ventas cayeron un 8 %."}, []string{"Las ventas subieron un 8 %.", "Las ventas aumentaron un 8 %."}},
	{"De winst steeg met 12 % in 2024.", []string{"De winst groeide met 12 %."}, []string{"De winst daalde met 12 %."}},
	{"Net debt was 310 in 2022 and 290 in 2023.", []string{"Net debt decreased from 310 to 290.", "Net debt went down by 20."}, []string{"Net debt increased from 310 to 290.", "Net debt went up by 20."}},
	// limits
	{"The fee is at least 50 euros.", []string{"The minimum fee is 50 euros.", "The fee is 50 euros or more."}, []string{"The fee is at most 50 euros.", "The maximum fee is 50 euros."}},
	{"More than 5,000 people attended.", []string{"Over 5,000 people attended.", "More than 5,000 people came."}, []string{"Fewer than 5,000 people attended.", "Less than 5,000 people came."}},
	{"Die Kaution beträgt höchstens 900 Euro.", []string{"Die Kaution beträgt maximal 900 Euro."}, []string{"Die Kaution beträgt mindestens 900 Euro."}},
	{"Le délai est d'au moins 30 jours.", []string{"Le délai est d'au minimum 30 jours."}, []string{"Le délai est d'au plus 30 jours."}},
	{"El plazo es como máximo de 30 días.", []string{"El plazo es de un máximo de 30 días."}, []string{"El plazo es de al menos 30 días."}},
	// no language is known
	{"Bilanz: 1.250 Tsd. EUR", []string{"1.250 Tsd. EUR", "1,25 Mio. EUR"}, []string{"1.250 Mio. EUR", "1,25 Mrd. EUR"}},
	{"Assets: 1,250 thousand EUR", []string{"Assets: EUR 1.25 million"}, []string{"1,250 million", "EUR 1,250 million"}},
	{"Capex: $ 3.4bn", []string{"$3,400m", "$3.4 billion"}, []string{"$3.4m", "$3,400bn"}},
	// ranges
	{"The price is between 40 and 60 euros.", []string{"The price is 40–60 euros.", "The price is 40 to 60 euros.", "It costs from 40 up to 60 euros."}, []string{"The price is 40–80 euros.", "The price is 30 to 60 euros."}},
	{"Temperatur: 18–22 °C", []string{"Die Temperatur liegt zwischen 18 und 22 °C."}, []string{"Die Temperatur liegt zwischen 18 und 25 °C.", "Die Temperatur liegt bei 18–22 °F."}},
	{"Les places coûtent de 15 à 25 €.", []string{"Une place coûte entre 15 et 25 euros."}, []string{"Une place coûte entre 15 et 35 euros.", "Une place coûte de 5 à 25 €."}},
	// dates
	{"The lease ends on 7 September 2027.", []string{"It ends on September 7, 2027.", "It ends on 2027-09-07.", "It ends on 7/9/2027.", "It ends on 7th of September, 2027."}, []string{"It ends on September 17, 2027.", "It ends on 2027-09-08.", "It ends on the 8th of September 2027."}},
	{"2024年4月1日に開始します。", []string{"It starts on 1 April 2024.", "2024/4/1 に開始します。"}, []string{"It starts on 4 January 2024.", "2024年4月2日に開始します。"}},
	{"Der Vertrag läuft bis 30.06.2026.", []string{"Er läuft bis zum 30. Juni 2026.", "Er endet am 30.6.26."}, []string{"Er läuft bis zum 31. Juni 2026.", "Er läuft bis zum 30. Juli 2026."}},
	{"Le contrat prend fin le 30 juin 2026.", []string{"Il prend fin le 30/06/2026."}, []string{"Il prend fin le 30/07/2026.", "Il prend fin le 13 juin 2026."}},
	{"Meeting: Wed, Oct 9, 2024", []string{"The meeting is on 9 October 2024."}, []string{"The meeting is on 10 September 2024.", "The meeting is on 9 October 2025."}},
	// ordinals
	{"Kenya finished in 3rd place, Peru in 5th.", []string{"Kenya finished third.", "Kenya was 3rd.", "Peru came 5th."}, []string{"Kenya was 4th.", "Peru finished in 6th place."}},
	{"The 12th amendment was ratified in 1804.", []string{"The 12th amendment was ratified in 1804."}, []string{"The 13th amendment was ratified in 1804.", "The 12th amendment was ratified in 1904."}},
	{"Der 3. Platz ging an Bern.", []string{"Bern kam auf den 3. Platz."}, []string{"Bern kam auf den 4. Platz."}},
	{"Le 5e arrondissement compte 58 000 habitants.", []string{"Le 5e arrondissement a 58 000 habitants."}, []string{"Le 6e arrondissement a 58 000 habitants."}},
	// fractions in words
	{"Of 1,200 members, 800 voted.", []string{"Two thirds of the members voted.", "Two-thirds voted."}, []string{"Three quarters of the members voted.", "A third of the members voted.", "Half of the members voted."}},
	{"Zwei Fünftel der Wähler stimmten zu.", []string{"40 % der Wähler stimmten zu."}, []string{"60 % der Wähler stimmten zu.", "Drei Fünftel der Wähler stimmten zu."}},
	{"Three fifths of the budget is spent.", []string{"60 % of the budget is spent.", "Three fifths are spent."}, []string{"40 % of the budget is spent.", "Two fifths are spent.", "Four fifths are spent."}},
	{"Les trois quarts des sites sont ouverts.", []string{"75 % des sites sont ouverts."}, []string{"Les deux tiers des sites sont ouverts.", "70 % des sites sont ouverts."}},
	{"Una quinta parte del terreno es bosque.", []string{"El 20 % del terreno es bosque."}, []string{"Una cuarta parte del terreno es bosque.", "El 25 % es bosque."}},
	{"The recipe needs 1½ cups of milk and ¾ cup of sugar.", []string{"It needs 1½ cups of milk.", "It needs 1.5 cups of milk.", "It needs ¾ cup of sugar."}, []string{"It needs 2½ cups of milk.", "It needs ¼ cup of sugar.", "It needs 1.75 cups of milk."}},
	{"One in four pupils walks to school.", []string{"One in four pupils walks.", "25 % of the pupils walk."}, []string{"One in five pupils walks.", "20 % of the pupils walk."}},
	// negative numbers in brackets
	{"Operating result | (2,345) | 1,120", []string{"The operating loss was 2,345.", "The operating result was -2,345."}, []string{"The operating result was -1,120.", "The operating profit was 2,345."}},
	{"Cash flow (in thousands)\nInvesting | (4,210) | (3,980)", []string{"Investing used 4.21 million.", "The investing cash flow was -4,210 thousand."}, []string{"The investing cash flow was -4,120 thousand.", "The investing cash flow was 4,210 thousand."}},
	// basis points, per mille, points
	{"The spread widened by 35 basis points.", []string{"The spread widened by 35 bps.", "It widened by 0.35 percentage points."}, []string{"It widened by 35 percentage points.", "It widened by 3.5 percentage points.", "The spread widened by 53 bps."}},
	{"Der Beitrag beträgt 4 Promille der Summe.", []string{"Der Beitrag beträgt 4 ‰.", "Der Beitrag beträgt 0,4 %."}, []string{"Der Beitrag beträgt 4 %.", "Der Beitrag beträgt 5 ‰."}},
	{"Salinity is 35 ‰.", []string{"Salinity is 35 per mille.", "Salinity is 3.5 %."}, []string{"Salinity is 35 %.", "Salinity is 53 ‰."}},
	{"Le taux de mortalité est de 9 ‰.", []string{"Le taux est de 9 pour mille."}, []string{"Le taux est de 9 pour cent.", "Le taux est de 9 %."}},
	{"Unemployment rose from 4.1 % to 5.3 %.", []string{"It rose by 1.2 percentage points.", "It rose by 120 basis points."}, []string{"It rose by 1.2 %.", "It rose by 12 percentage points.", "It fell by 1.2 percentage points."}},
	// currencies
	{"The licence costs £1,250 and the support $400.", []string{"The licence costs 1,250 pounds.", "Support is 400 dollars.", "GBP 1,250"}, []string{"The licence costs $1,250.", "Support is £400.", "The licence costs 1,250 euros."}},
	{"Preis: CHF 89.90 (EUR 95.20)", []string{"Der Preis beträgt 89,90 Franken.", "Der Preis beträgt 95,20 €."}, []string{"Der Preis beträgt 89,90 €.", "Der Preis beträgt 95,20 Franken."}},
	{"料金は5,000円です。", []string{"The fee is 5,000 yen.", "The fee is ¥5,000."}, []string{"The fee is 5,000 euros.", "The fee is $5,000."}},
	{"The budget is AUD 2.5 million.", []string{"The budget is A$2.5 million.", "The budget is 2.5 million Australian dollars."}, []string{"The budget is €2.5 million.", "The budget is CAD 2.5 million."}},
	{"Cena: 1 250 zł", []string{"Cena to 1250 zł.", "The price is PLN 1,250."}, []string{"The price is EUR 1,250.", "The price is PLN 1,520."}},
	{"Priset är 1 250 kr.", []string{"The price is SEK 1,250.", "The price is 1,250 kr."}, []string{"The price is €1,250.", "The price is SEK 1,520."}},
	// thousands, millions, milliards
	{"Investitionen: 2,3 Mrd. EUR", []string{"Die Investitionen betrugen 2.300 Mio. Euro.", "Investments were 2.3 billion euros."}, []string{"Die Investitionen betrugen 2,3 Mio. Euro.", "Investments were 2.3 trillion euros.", "Investments were 23 billion euros."}},
	{"Der Staat schuldet 2,4 Billionen Euro.", []string{"The state owes 2.4 trillion euros.", "Der Staat schuldet 2.400 Milliarden Euro."}, []string{"The state owes 2.4 billion euros.", "Der Staat schuldet 2,4 Milliarden Euro."}},
	{"La deuda es de 1,5 billones de euros.", []string{"La deuda es de 1.500.000 millones de euros.", "The debt is 1.5 trillion euros."}, []string{"The debt is 1.5 billion euros."}},
	{"La dette atteint 3,2 milliards d'euros.", []string{"The debt is 3.2 billion euros.", "La dette est de 3 200 millions d'euros."}, []string{"The debt is 3.2 million euros.", "La dette atteint 3,2 millions d'euros."}},
	{"Users: 12.5k", []string{"There are 12,500 users."}, []string{"There are 12.5 million users.", "There are 125,000 users."}},
	// lakh, crore, Indian grouping
	{"The grant is ₹2.5 crore.", []string{"The grant is ₹25 million.", "The grant is Rs 2,50,00,000.", "The grant is 250 lakh rupees."}, []string{"The grant is ₹2.5 million.", "The grant is ₹2.5 lakh.", "The grant is Rs 25,00,000."}},
	{"Population of the district: 14,35,000", []string{"1,435,000 people live there.", "14.35 lakh people live there."}, []string{"14,350,000 people live there.", "143.5 lakh people live there."}},
	// 万 and 億
	{"売上高は3億5,000万円でした。", []string{"Sales were 350 million yen.", "売上高は3.5億円でした。"}, []string{"Sales were 35 million yen.", "売上高は5.3億円でした。", "Sales were 3.5 billion yen."}},
	{"城市人口为1,250万。", []string{"The city has 12.5 million people.", "城市人口为1250万。"}, []string{"The city has 1.25 million people.", "城市人口为1250亿。"}},
	{"总投资12亿元", []string{"The investment is 1.2 billion yuan.", "总投资为12亿元。"}, []string{"The investment is 12 billion yuan.", "总投资为12万元。"}},
	// apostrophes
	{"Miete: CHF 2'450.– pro Monat", []string{"Die Miete beträgt 2450 Franken.", "The rent is CHF 2,450."}, []string{"Die Miete beträgt 2540 Franken.", "The rent is CHF 245."}},
	{"Aktien: 1’234’567", []string{"There are 1,234,567 shares.", "Es sind 1'234'567 Aktien."}, []string{"Es sind 1'234'576 Aktien.", "There are 1,234 shares."}},
	// scientific notation
	{"The mass is 5.97 × 10^24 kg.", []string{"The mass is 5.97e24 kg.", "The mass is 5.97 × 10²⁴ kg."}, []string{"The mass is 5.97 × 10^23 kg.", "The mass is 5.97e22 kg.", "The mass is 6.97 × 10^24 kg."}},
	{"Detection limit: 2.5e-6 mol", []string{"The limit is 2.5 × 10⁻⁶ mol.", "The limit is 2.5E-6 mol."}, []string{"The limit is 2.5 × 10⁻⁵ mol.", "The limit is 2.5e6 mol."}},
	{"The bridge carries 1.2·10^6 cars a year.", []string{"It carries 1.2 million cars a year.", "It carries 1,200,000 cars."}, []string{"It carries 12 million cars a year.", "It carries 1.2 thousand cars."}},
	// times
	{"The shop opens at 8:15 a.m. and closes at 6:45 p.m.", []string{"It opens at 8:15.", "It closes at 18:45.", "It closes at 6:45 pm."}, []string{"It opens at 8:45.", "It closes at 6:45 am.", "It closes at 17:45."}},
	{"Abfahrt um 14.05 Uhr, Ankunft um 16 Uhr", []string{"Die Abfahrt ist um 14:05 Uhr.", "Die Ankunft ist um 16:00 Uhr.", "The train leaves at 2:05 pm."}, []string{"Die Abfahrt ist um 14:50 Uhr.", "Die Ankunft ist um 17 Uhr.", "The train leaves at 2:05 am."}},
	{"La réunion commence à 9h30.", []string{"La réunion commence à 9 h 30.", "The meeting starts at 9:30 am."}, []string{"La réunion commence à 10h30.", "The meeting starts at 9:30 pm."}},
	{"The meeting is at 3 pm.", []string{"The meeting is at 15:00.", "It is at 3 p.m."}, []string{"The meeting is at 4 pm.", "The meeting is at 3 am.", "The meeting is at 16:00."}},
	// versions
	{"Requires version 3.11 or later.", []string{"Version 3.11 is required.", "You need at least version 3.11."}, []string{"Version 3.12 is required.", "Version 3.1 is required."}},
	{"Upgrade to v2.14.0-rc.1 first.", []string{"Upgrade to v2.14.0-rc.1.", "You need 2.14.0."}, []string{"Upgrade to v2.15.0.", "Upgrade to v2.14.1."}},
	// phone numbers, IBANs, codes
	{"Telefon: +49 30 901820-45", []string{"Die Nummer ist +49 30 901820-45.", "Die Nummer ist +49 30 90182045."}, []string{"Die Nummer ist +49 30 901820-54.", "Die Nummer ist +49 40 901820-45."}},
	{"Call (555) 010-4477.", []string{"The number is 555-010-4477.", "Call (555) 010-4477."}, []string{"The number is 555-010-4747.", "Call (556) 010-4477."}},
	{"IBAN: FR76 3000 6000 0112 3456 7890 189", []string{"The IBAN is FR7630006000011234567890189."}, []string{"The IBAN is FR76 3000 6000 0112 3456 7809 189.", "The IBAN is FR76 3000 6000 0112 3465 7890 189."}},
	{"Order no. AB-20417 of customer 88213", []string{"The order is AB-20417.", "The customer number is 88213."}, []string{"The order is AB-20471.", "The customer number is 82813."}},
	{"ISBN 978-3-16-148410-0", []string{"Its ISBN is 9783161484100.", "ISBN 978-3-16-148410-0"}, []string{"Its ISBN is 978-3-16-148411-0.", "Its ISBN is 9783161484101."}},
	// paragraph signs
	{"Nach § 312g Abs. 1 BGB besteht ein Widerrufsrecht; § 355 gilt.", []string{"Das folgt aus § 312g Abs. 1 BGB.", "Siehe § 355."}, []string{"Das folgt aus § 313g Abs. 1 BGB.", "Siehe § 356."}},
	{"Article L. 121-3 applies to sales; see art. 12 of the law.", []string{"Article 12 applies.", "See article L. 121-3."}, []string{"Article 13 applies.", "See article L. 121-4."}},
	// a tax is no loss, and what something rose from did not rise
	{"Profit before tax was $5 million.", []string{"The profit was $5 million before tax.", "Profit before taxes was $5 million."}, []string{"The loss was $5 million.", "Profit before tax was $6 million."}},
	{"Der Gewinn nach Steuern beträgt 3,2 Mio. €.", []string{"Der Gewinn nach Steuern liegt bei 3,2 Mio. €.", "The profit after tax is 3.2 million euros."}, []string{"Der Verlust beträgt 3,2 Mio. €."}},
	{"Sales rose from 100 to 120 in 2022 and fell to 110 in 2023.", []string{"Sales fell from 120 to 110.", "Sales rose from 100 to 120 in 2022.", "Sales fell to 110."}, []string{"Sales fell to 120 in 2022.", "Sales rose to 110 in 2023."}},
	// what is not under 18 is at least 18
	{"Employees under 18 may not work at night.", []string{"Employees must be at least 18 to work at night.", "Who is 18 or older may work at night."}, []string{"Employees must be at least 16 to work at night.", "Employees over 18 may not work at night."}},
	{"Orders over €5,000 need approval.", []string{"Orders up to €5,000 need no approval.", "Above €5,000, approval is needed."}, []string{"Orders under €5,000 need approval.", "Orders over €500 need approval."}},
	{"Bis zu 30 Tage sind frei.", []string{"Über 30 Tage sind nicht frei.", "Höchstens 30 Tage sind frei."}, []string{"Mindestens 30 Tage sind frei."}},
	// currencies with short names beside others
	{"Cena: 500 zł (115 €)", []string{"Cena to 500 zł (115 €).", "The price is PLN 500 or EUR 115."}, []string{"The price is EUR 500.", "Cena to 115 zł."}},
	{"The fee is RM 500 (US$ 110).", []string{"The fee is RM 500 (US$ 110)."}, []string{"The fee is US$ 500."}},
	{"It costs 500 pounds or $640.", []string{"It costs 500 pounds or $640.", "It costs £500."}, []string{"It costs €500.", "It costs $500."}},
	{"A 6 ft fence costs $400.", []string{"A 6 ft fence costs $400.", "The fence is 6 feet high."}, []string{"A 9 ft fence costs $400.", "The fence is 6 m high."}},
	{"Ár: 4 990 Ft (12,50 €)", []string{"The price is 4,990 forint.", "Az ár 4990 Ft."}, []string{"The price is 4,990 euros.", "Az ár 4909 Ft."}},
	{"Das dauert 30 Sek. und kostet 20 €.", []string{"Das dauert 30 Sekunden und kostet 20 €.", "It takes 30 seconds and costs €20.", "Es dauert eine halbe Minute."}, []string{"Das dauert 30 Minuten.", "Das dauert 50 Sek. und kostet 20 €."}},
	{"Avgiften är 300 SEK, eller 27 EUR.", []string{"The fee is 300 kronor or 27 euros."}, []string{"The fee is 300 euros."}},
	// an ordinal is no share
	{"A quarter of the members must agree. There are five conditions.", []string{"A fifth condition applies.", "A quarter of the members must agree."}, []string{"A fifth of the members must agree."}},
	{"Un tercio de los socios vota en tres fases.", []string{"La tercera fase es la última.", "Un tercio de los socios vota."}, []string{"La cuarta parte de los socios vota."}},
	{"Die Hälfte der Kosten trägt der Mieter.", []string{"Eine dritte Person haftet nicht.", "Die Hälfte trägt der Mieter."}, []string{"Ein Drittel trägt der Mieter."}},
	{"La moitié des frais est remboursée.", []string{"Un tiers ne peut pas signer.", "Un cinquième candidat est admis."}, []string{"Un tiers des frais est remboursé.", "Un cinquième des frais est remboursé."}},
	{"De helft van de kosten is voor de huurder.", []string{"Een derde partij tekent niet."}, []string{"Een derde van de kosten is voor de huurder.", "Twee derde van de kosten is voor de huurder."}},
	// the German "am" is no time of day
	{"Um 15:30 Uhr beginnt der Rundgang mit 12 Leuten am Standort Wien.", []string{"Es sind 12 am Standort Wien, und der Rundgang beginnt um 15:30 Uhr."}, []string{"Der Rundgang beginnt um 12:30 Uhr."}},
	// words for percent
	{"Der Zuschuss beträgt 15 vom Hundert der Kosten.", []string{"Der Zuschuss beträgt 15 % der Kosten.", "The grant is 15% of the cost."}, []string{"Der Zuschuss beträgt 25 %."}},
	{"Satsen er 15 prosent.", []string{"The rate is 15%."}, []string{"The rate is 5%."}},
	{"Korko on 15 prosenttia.", []string{"The rate is 15%."}, []string{"The rate is 51%."}},
	{"Umsatz | 15\nGewinn | 3", []string{"Der Umsatz beträgt 15."}, []string{"Der Umsatz beträgt 15 %."}},
	{"Steuersatz | 19", []string{"Der Steuersatz beträgt 19 %."}, []string{"Der Steuersatz beträgt 91 %."}},
	// codes
	{"We follow ISO 9001 and ISO-14001.", []string{"They follow ISO-9001 and ISO 14001."}, []string{"They follow ISO-9002."}},
}

func TestKindsOfFigures(t *testing.T) {
	var marked, passed []string
	right, wrong := 0, 0
	for _, k := range kinds {
		for _, answer := range k.right {
			right++
			if found := texts(Check(answer, []string{k.source}, nil)); len(found) > 0 {
				marked = append(marked, k.source+": "+answer+": "+strings.Join(found, ", "))
			}
		}
		for _, answer := range k.wrong {
			wrong++
			if len(Check(answer, []string{k.source}, nil)) == 0 {
				passed = append(passed, k.source+": "+answer)
			}
		}
	}
	t.Logf("%d right answers, %d of them marked; %d wrong ones, %d of them not marked", right, len(marked), wrong, len(passed))
	require.GreaterOrEqual(t, min(right, wrong), 100)
	assert.Empty(t, strings.Join(passed, "\n"))
	require.LessOrEqual(t, 100*len(marked), 3*right, strings.Join(marked, "\n"))
}
