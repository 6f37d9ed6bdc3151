package figures

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Forms in which an answer says a figure otherwise than its source, and wrong ones of the same form.
var forms = []struct {
	source       string
	right, wrong []string
}{
	// signs
	{"Average temperature in January: −5 °C", []string{"It was -5 °C.", "It was minus 5 °C.", "It was five degrees below zero (−5 °C)."}, []string{"It was 5 °C.", "It was +5 °C."}},
	{"Temperature in July: 5 °C", []string{"It was 5 °C."}, []string{"It was −5 °C.", "It was minus 5 °C."}},
	{"Net income | -1,234 | 500", []string{"There was a net loss of 1,234.", "Net income was negative: (1,234)."}, []string{"Net income was 1,234."}},
	{"Operating profit: 250 million", []string{"The profit was 250 million."}, []string{"The result was -250 million."}},
	{"Sales fell by 12 %.", []string{"The change in sales was -12 %.", "Sales decreased by 12 %."}, []string{"The change in sales was -21 %."}},
	{"Cost of sales | -900 | -870", []string{"The cost of sales was 900."}, []string{"The cost of sales was 800."}},
	{"Cash flow | (310) | 290", []string{"The cash flow was -310, after 290.", "There was an outflow of 310."}, []string{"The cash flow was -290."}},
	// differences below zero, and of percentages
	{"Other income (in millions) | 159 | 182", []string{"It changed by -23 million (159-182).", "It changed by -23 (159 - 182)."}, []string{"It changed by -32 million (159-182).", "It changed by -23 million (159-128)."}},
	{"Margin | 11.3% | 12.6%", []string{"It changed by -1.3% ((11.3% - 12.6%) * 100)."}, []string{"It changed by -3.1% ((11.3% - 12.6%) * 100)."}},
	// multiples and shares in words
	{"Members | 2023 | 2024\nClub | 410 | 820", []string{"The number of members doubled.", "Membership was twice as high in 2024."}, []string{"The number of members tripled."}},
	{"Of 900 workers, 300 are part-time.", []string{"A third of the workers are part-time.", "One third is part-time."}, []string{"Half of the workers are part-time.", "Two thirds of the workers are part-time.", "A quarter of the workers are part-time."}},
	{"A quarter of the budget goes to rent.", []string{"25 % of the budget goes to rent.", "A quarter of the budget is rent."}, []string{"A fifth of the budget goes to rent.", "35 % of the budget goes to rent."}},
	{"Ein Drittel der Flächen ist vermietet.", []string{"Ein Drittel ist vermietet.", "Rund 33 % sind vermietet."}, []string{"Die Hälfte ist vermietet.", "Zwei Drittel sind vermietet."}},
	{"Der Umsatz hat sich verdoppelt.", []string{"Der Umsatz verdoppelte sich."}, []string{"Der Umsatz verdreifachte sich.", "Der Umsatz halbierte sich."}},
	{"La moitié des sites sont fermés.", []string{"50 % des sites sont fermés."}, []string{"Un tiers des sites sont fermés.", "40 % des sites sont fermés."}},
	{"La mitad de las plazas está libre.", []string{"El 50 % está libre."}, []string{"Un tercio de las plazas está libre."}},
	{"De helft van de plaatsen is vrij.", []string{"50% is vrij."}, []string{"Een derde van de plaatsen is vrij."}},
	{"The first half of the year was good; the third quarter was better.", []string{"The first half of the year was good.", "The third quarter was better."}, nil},
	// fiscal years and quarters
	{"Revenue in fiscal year 2023: 410", []string{"Revenue was 410 in FY2023.", "Revenue was 410 in FY23."}, []string{"Revenue was 410 in FY2022.", "Revenue was 410 in FY24."}},
	{"Revenue in FY23: 410", []string{"Revenue was 410 in fiscal year 2023.", "Revenue was 410 in fiscal 2023."}, []string{"Revenue was 410 in fiscal 2024."}},
	{"Revenue in the season 2023/24: 410", []string{"Revenue was 410 in 2023/24.", "Revenue was 410 in 2023-2024.", "Revenue was 410 in 2023/2024."}, []string{"Revenue was 410 in 2022/23.", "Revenue was 410 in 2024/25."}},
	{"Q3 2023: 410", []string{"It was 410 in Q3 2023.", "It was 410 in the third quarter of 2023."}, []string{"It was 410 in Q2 2023.", "It was 410 in the second quarter of 2023."}},
	// thousands and millions
	{"Headcount (thousands) | 12.4", []string{"There are 12,400 people.", "There are 12.4 thousand people."}, []string{"There are 124,000 people.", "There are 12.4 million people."}},
	{"The total assets of the company are 1,250 thousand euros, which is more than before.", []string{"Total assets are 1.25 million euros.", "Total assets are 1,250,000 euros.", "Total assets are €1.25m."}, []string{"Total assets are 1.25 billion euros.", "Total assets are 1,250 million euros.", "Total assets are 1,250 euros."}},
	{"Bilanzsumme: 1.250 TEUR", []string{"Die Bilanzsumme beträgt 1,25 Mio. Euro."}, []string{"Die Bilanzsumme beträgt 1,25 Mrd. Euro.", "Die Bilanzsumme beträgt 12,5 Mio. Euro."}},
	{"Population: 8.4 million", []string{"8,400,000 people live there."}, []string{"840,000 people live there.", "8.4 thousand people live there."}},
	// units
	{"The wire is 25 mm thick and 3 m long.", []string{"It is 2.5 cm thick and 300 cm long."}, []string{"It is 25 cm thick.", "It is 3 km long.", "It is 25 m long."}},
	{"The tank holds 750 ml.", []string{"It holds 0.75 l.", "It holds 0.75 litres."}, []string{"It holds 7.5 l.", "It holds 750 l."}},
	{"Speed limit: 80 km/h", []string{"The limit is 80 km/h."}, []string{"The limit is 80 mph.", "The limit is 90 km/h."}},
	{"Memory: 16 GB; disk: 512 GB", []string{"It has 16 GB of memory."}, []string{"It has 16 MB of memory.", "It has 32 GB of memory.", "It has 16 TB."}},
	{"Power: 3.5 kW", []string{"It takes 3,500 W.", "It takes 3.5 kW."}, []string{"It takes 3.5 MW.", "It takes 35 kW."}},
	{"Area: 120 m²", []string{"It has 120 m².", "It has 120 square metres."}, []string{"It has 120 ha.", "It has 210 m²."}},
	{"The flight takes 90 minutes.", []string{"It takes one and a half hours.", "It takes 1.5 hours.", "It takes 1 h 30 min."}, []string{"It takes 90 hours.", "It takes 2.5 hours.", "It takes 1 h 40 min."}},
	{"Open from 9:00 to 17:30.", []string{"It closes at 17:30.", "It opens at 9:00.", "It closes at 5:30 pm."}, []string{"It closes at 18:30.", "It opens at 8:00."}},
	{"The interest is 250 basis points.", []string{"The interest is 2.5 percentage points.", "It is 250 basis points."}, []string{"The interest is 25 basis points.", "The interest is 25 percent."}},
	{"The rate rose from 3 % to 5 %.", []string{"It rose by 2 percentage points.", "It rose by two percentage points."}, []string{"It rose by 2 %.", "It rose by 3 percentage points.", "It rose by 20 %."}},
	{"Price: 1,200 EUR", []string{"The price is 1,200 euros.", "The price is €1.2k."}, []string{"The price is 1,200 dollars.", "The price is $1,200.", "The price is 1,200 cents."}},
	{"Fee: 95 cents", []string{"The fee is 95 cents."}, []string{"The fee is 95 euros.", "The fee is 59 cents."}},
	// ranges
	{"Delivery takes 5 to 7 working days.", []string{"Delivery takes 5-7 working days.", "It takes at least 5 days and at most seven days."}, []string{"Delivery takes 5 to 8 working days.", "Delivery takes 4–7 working days.", "Delivery takes 5 to 7 weeks."}},
	{"Ages 6 to 12 pay 8 euros; from 65 years on 10 euros.", []string{"Children of 6–12 pay 8 euros.", "People of 65 and over pay 10 euros."}, []string{"Children of 6–14 pay 8 euros.", "People of 60 and over pay 10 euros."}},
	// dates
	{"Due on 2024-03-05.", []string{"It is due on 5 March 2024.", "It is due on March 5th, 2024.", "Fällig am 5.3.2024."}, []string{"It is due on 3 May 2024.", "It is due on 5 March 2023."}},
	{"Signed on 12/31/2024.", []string{"It was signed on 31 December 2024.", "It was signed on 31.12.2024."}, []string{"It was signed on 30 December 2024.", "It was signed on 31 December 2025."}},
	{"Valid until 31 Dec 2026", []string{"It is valid until the end of 2026.", "It is valid until 12/31/26."}, []string{"It is valid until the end of 2027.", "It is valid until 12/31/27."}},
	{"The term begins on 1 July and lasts 18 months.", []string{"It lasts a year and a half.", "It lasts 1.5 years."}, []string{"It lasts two years and a half.", "It lasts 2.5 years."}},
	{"Meeting on Tuesday, 4 June 2024", []string{"The meeting is on Tuesday 4 June."}, []string{"The meeting is on Tuesday 11 June."}},
	{"平成30年, 2018年3月5日", []string{"It was on 5 March 2018."}, []string{"It was on 5 March 2019."}},
	// versions, codes, ratios
	{"Ratio 3:1, scale 1:500", []string{"The ratio is 3:1."}, []string{"The ratio is 4:1.", "The scale is 1:200."}},
	{"Version 4.2.1 of the firmware", []string{"It is version 4.2.1."}, []string{"It is version 4.3.1."}},
	{"Call 0800 123 456.", []string{"The number is 0800 123 456.", "The number is 0800-123-456."}, []string{"The number is 0800 123 465."}},
	{"IBAN DE89 3704 0044 0532 0130 00", []string{"IBAN: DE89 3704 0044 0532 0130 00"}, []string{"IBAN: DE89 3704 0044 0532 0131 00"}},
	{"Room 4B, extension 217", []string{"Room 4B, extension 217."}, []string{"Room 5B.", "Extension 271."}},
}

func TestFormsOfFigures(t *testing.T) {
	for _, f := range forms {
		for _, answer := range f.right {
			assert.Empty(t, texts(Check(answer, []string{f.source}, nil)), "right: %s: %s", f.source, answer)
		}
		for _, answer := range f.wrong {
			assert.NotEmpty(t, Check(answer, []string{f.source}, nil), "wrong: %s: %s", f.source, answer)
		}
	}
}
