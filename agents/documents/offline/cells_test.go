package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Statements have lines of one name, columns of several kinds, and years; an answer that mixes them up is wrong.
func TestCellsOfAStatementAreReadOrNothingIsAnswered(t *testing.T) {
	f := opened(map[string]string{"Harbour": `Harbour company

 | Year ended 31 December |  | Change
(in thousands, except percentages) | 2024 | 2023 | %
Fees (before discounts) | 5,400 | 5,100 | 5.9%
Fees | 4,300 | 4,000 | 7.5%
Pilots' wages | 800 | 640 | 25.0%
Other wages | 300 | 360 | (16.7)%
Total wages | 1,100 | 1,000 | 10.0%
Result from services | (150) | 90
Earnings per share | 0.75 | 0.50 | 50.0%`, "Quarters": `Quarters

 | Quarter ended
 | 31 March 2024 | 30 June 2024 | 31 March 2023
Mooring | 70 | 81 | 64
Cranes | 20 | – | 18`, "Ferries": `Ferries

 | Passengers |  | Income (€)
 | 2024 | 2023 | 2024 | 2023
North line | 900 | 1,000 | 4,500.00 | 4,100.00
South line | 300 | 250 | 1,250.00 | 1,300.00`, "Berths": `Berths

 | 2024 | 2023
Open:
Repairs | 40 | 35
Closed:
Repairs | 12 | 19`, "Leases": `Leases

Year | Payments
2025 | 40
2026 | 30
2027 | 33
2028 | 20`, "Norms": `Norms

Norm | As reported | Without ISO 9001
Cost | 120 | 90
Staff | 7 | 6`}, "Harbour", "Quarters", "Ferries", "Berths", "Leases", "Norms")
	for question, want := range map[string][]string{
		"What were the fees in 2024?":                                             {"Fees: **4,300** (Year ended 31 December 2024)"},
		"What were the fees before discounts in 2024?":                            {"**5,400**"},
		"What is the average of the fees in 2023 and 2024?":                       {"**4,150.00**"},
		"How much did the fees change from 2023 to 2024?":                         {"**300** (**7.50 %**)"},
		"How much did the result from services change from 2023 to 2024?":         {"changed by **-240**: from 90"},
		"What were the wages in 2024?":                                            nil, // whose?
		"What are the pilots' wages as a percentage of total wages in 2024?":      {"Pilots' wages is **0.73** (72.73 %) of Total wages"},
		"What is the ratio of total wages to pilots' wages in 2024?":              {"Total wages is **1.38**"},
		"What are the pilots' wages and other wages over total wages?":            nil,
		"What were the earnings per share in 2024?":                               {"**0.75**"},
		"What were the fees in 2022?":                                             nil,
		"In which year were the pilots' wages less than 700 thousand?":            {"**640** (Year ended 31 December 2023)", "2023"},
		"In which year were the pilots' wages less than 1 thousand?":              nil,
		"What was the change in mooring from 31 March 2023 to 31 March 2024?":     {"**6** (**9.38 %**)"},
		"What was the average of cranes in the quarters of 2023 and 2024?":        {"**19.00**"},
		"How much did the passengers of the north line change from 2023 to 2024?": {"**-100** (**-10.00 %**)"},
		"How much did the income of the south line change from 2023 to 2024?":     {"**-50.00", "**-3.85 %**"},
		"How much did the north line change from 2023 to 2024?":                   nil, // passengers or income?
		"How much were the repairs in 2024?":                                      nil, // of which?
		"How much were the repairs of open berths in 2024?":                       {"**40**"},
		"What is the total of the payments from 2025 to 2027?":                    {"**103**", "3 of 4 rows"},
		"What is the percentage change of the payments in 2026 from 2025?":        {"The difference between 2026 and 2025 is **-10 (-25.00 %)**"},
		"What is the cost without ISO 9001?":                                      {"**90**"},
	} {
		t.Run(question, func(t *testing.T) {
			got, ok := FromTables(question, f)
			require.Equal(t, want != nil, ok, got)
			for _, part := range want {
				require.Contains(t, got, part)
			}
		})
	}
}
