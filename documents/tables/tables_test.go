package tables

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func one(t *testing.T, text string) Table {
	t.Helper()
	all := Find(text)
	require.Len(t, all, 1, text)
	return all[0]
}

func kinds(t Table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name+" "+string(c.Kind)+" "+c.Unit)
	}
	return out
}

func numbersOf(t Table, column int) (out []float64) {
	for _, r := range t.Rows {
		if r.Cells[column].IsNumber {
			out = append(out, r.Cells[column].Number)
		}
	}
	return out
}

func TestColumnsHaveTypes(t *testing.T) {
	got := one(t, "# Invoices\n\nNo | Customer | Amount | Due | Paid\nR-01 | Weber | €1,200.50 | 2026-03-01 | 10 %\nR-02 | Ito | €900 | 2026-11-30 | 25 %\nR-03 | Ek | – | 1 May 2026 | 5.5 %")
	require.Equal(t, "Invoices", got.Heading)
	require.Equal(t, []string{"No text ", "Customer text ", "Amount number EUR", "Due date ", "Paid number percent"}, kinds(got))
	require.Equal(t, []float64{1200.5, 900}, numbersOf(got, 2))
	require.Equal(t, "2026-05-01", got.Rows[2].Cells[3].Day.String())
	require.Equal(t, []float64{10, 25, 5.5}, numbersOf(got, 4))
}

func TestDaysWithoutYearAreNoNumbers(t *testing.T) {
	got := one(t, "Topic | Owner | Until\nInsurance | Ada | 30 June\nNoise | Tom | July 15\nRoof | Lena | 3. August")
	require.Equal(t, []string{"Topic text ", "Owner text ", "Until text "}, kinds(got))
	require.Empty(t, numbersOf(got, 2))
}

func TestNameIsNoSentenceAboveTheTable(t *testing.T) {
	rows := "\n\nYear | Rent\n2025 | 6850\n2026 | 7021"
	for above, want := range map[string]string{
		"- Tom checks the noise.":                       "Rent",
		"3.2 The rent rises by 2.5 per cent each year.": "Rent",
		"Table 3. Rent of the next years, in EUR.":      "Table 3. Rent of the next years, in EUR.",
		"Rents in EUR": "Rents in EUR",
	} {
		require.Equal(t, want, one(t, "# Rent\n\n"+above+rows).Name())
	}
}

func TestNumbersOfSeveralCountries(t *testing.T) {
	for text, want := range map[string][]float64{
		"1.234,56 / 999 / 1.000":           {1234.56, 999, 1000}, // the comma of one cell decides for all
		"1,234.56 / 999 / 1,000":           {1234.56, 999, 1000},
		"1'234.50 / 12'000":                {1234.5, 12000},
		"1 234,5 / 12 000":                 {1234.5, 12000},
		"1.234 / 950 / 12.000":             {1234, 950, 12000}, // grouped: three digits each, the others below a thousand
		"0.125 / 1.234 / 2":                {0.125, 1.234, 2},
		"(1,500) / 200 / -3":               {-1500, 200, -3},
		"$ 1,577 / $ (12) / 3":             {1577, -12, 3},
		"12 kg / 3,5 kg / 7 kg":            {12, 3.5, 7},
		"5 % / 7.5% / 10 per cent":         {5, 7.5, 10},
		"1,00,000 / 2,500 / 10":            {100000, 2500, 10},
		"€3 million / €2.5m? / €1 million": nil, // not all are numbers
		"3 million / 2.5 million":          {3e6, 2.5e6},
		"2019¹ / 100 / 5*":                 {2019, 100, 5},
	} {
		rows := "Name | Value"
		for i, v := range strings.Split(text, " / ") {
			rows += "\nrow " + string(rune('a'+i)) + " | " + v
		}
		require.Equal(t, want, numbersOf(one(t, rows), 1), text)
	}
}

func TestCodesAreNoNumbers(t *testing.T) {
	got := one(t, "Code | Town\n01067 | Dresden\n80331 | Munich\n20095 | Hamburg")
	require.Equal(t, Text, got.Columns[0].Kind)
}

func TestDatesOfAColumnAreReadInOneWay(t *testing.T) {
	got := one(t, "Day | What\n03/04/2024 | a\n12/25/2024 | b\n01/02/2024 | c")
	require.Equal(t, Date, got.Columns[0].Kind)
	require.Equal(t, "2024-03-04", got.Rows[0].Cells[0].Day.String())
	got = one(t, "Day | What\n03/04/2024 | a\n25.12.2024 | b")
	require.Equal(t, "2024-04-03", got.Rows[0].Cells[0].Day.String())
}

func namesOf(t Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

func TestHeadersAndSections(t *testing.T) {
	got := one(t, "Statements of Income\n(in millions)\n\n| Year ended May 31,\n| 2024 | 2023\nRevenues:\nShoes | 1,577 | 1,400\nShirts | 300 | 310\nTotal revenues | 1,877 | 1,710")
	require.Contains(t, got.Caption, "(in millions)")
	require.Equal(t, "Year ended May 31, 2024", got.Columns[1].Name)
	require.Equal(t, "Year ended May 31, 2023", got.Columns[2].Name)
	require.Len(t, got.Rows, 3)
	require.Equal(t, "Revenues", got.Rows[0].Section)
	require.True(t, got.Rows[2].Total)
}

func TestAHeaderAboveALabel(t *testing.T) {
	got := one(t, "As of | 2019 | 2018\nAssets\nCash | $130 | $91\nLiabilities\nDebt | 696 | 20")
	require.Equal(t, "2019", got.Columns[1].Name)
	require.Equal(t, "Liabilities", got.Rows[1].Section)
}

func TestAHeaderOfSeveralLines(t *testing.T) {
	got := one(t, " |  | Segment Assets\n |  | Fiscal Year End\n | 2019 | 2018 | 2017\n |  | (in millions)\nTransport | $ 4,781 | $ 4,707 | $ 4,084\nIndustry | 2,100 | 2,049 | 1,909")
	require.Equal(t, []string{"column 1 text ", "Segment Assets Fiscal Year End 2019 (in millions) number ", "Segment Assets Fiscal Year End 2018 (in millions) number ", "Segment Assets Fiscal Year End 2017 (in millions) number "}, kinds(got))
	require.Len(t, got.Rows, 2)

	got = one(t, " | Fiscal year |  | Variance in\n(In millions, except percentages) | 2018 | 2017 | Dollar | Percent\nRevenues | $2,280 | $1,664 | $616 | 37%\nMargin | 49% | 50%")
	require.Equal(t, []string{"Fiscal year 2018", "Fiscal year 2017", "Variance in Dollar", "Variance in Percent"}, namesOf(got)[1:])
	require.Len(t, got.Rows, 2)

	got = one(t, " |  | As of March 29\n |  | ISO 9001 | Without ISO 9001\n | As reported | Adjustments | Adoption\nAssets | 5 | (2) | 3\nDebt | 7 | (1) | 6")
	require.Equal(t, []string{"As of March 29 As reported", "As of March 29 ISO 9001 Adjustments", "As of March 29 Without ISO 9001 Adoption"}, namesOf(got)[1:])

	got = one(t, " | Site | Left |  | Right\n | Name | A | B | A | B\nx | Kiel | 1 | 2 | 3 | 4\ny | Bonn | 5 | 6 | 7 | 8")
	require.Equal(t, []string{"Site Name", "Left A", "Left B", "Right A", "Right B"}, namesOf(got)[1:])

	got = one(t, " |  |  | Left | Right\n | Name | A | B | C\nx | Kiel | 1 | 2 | 3\ny | Bonn | 5 | 6 | 7")
	require.Equal(t, []string{"Name", "A", "Left B", "Right C"}, namesOf(got)[1:], "no label stands over A")
}

// A row that is longer than a passage is one row, whatever passages have its pieces.
func TestARowOfSeveralPartsIsOneRow(t *testing.T) {
	long := strings.Repeat("words of a plot ", 60)
	j := Join([]string{"Year | Title | Plot\n1901 | Smashers | short", "1902 | The Train | " + strings.TrimSpace(long), strings.TrimSpace(long), "the end\n1903 | Suburb | A family", "1904 | Night | x", "1905 | Leadville | y\n"})
	got := Find(j.Text)[0]
	require.Len(t, got.Rows, 5)
	require.Equal(t, "1902", got.Rows[1].Cells[0].Text)
	require.True(t, strings.HasSuffix(got.Rows[1].Cells[2].Text, "the end"))
	require.Equal(t, []float64{1901, 1902, 1903}, numbersOf(got, 0)[:3])
	require.Equal(t, 1, j.Part(got.Rows[1].Start))
}

func TestTablesApartAreSeveral(t *testing.T) {
	got := Find("A | B\nx | 1\ny | 2\n\nC | D\nz | 3\n\n## Stock\n\n| Part | Stock |\n|---|---:|\n| a \\| b | 4 |\n| c | 5 |\n\nText | with a bar.")
	require.Len(t, got, 3)
	require.Equal(t, "Stock", got[2].Heading)
	require.Equal(t, "a | b", got[2].Rows[0].Cells[0].Text)
	require.Equal(t, []float64{4, 5}, numbersOf(got[2], 1))
}

func TestATableWithoutHeader(t *testing.T) {
	got := one(t, "bolts | 12 | 3.50\nnuts | 4 | 1.20")
	require.False(t, got.Columns[0].Named)
	require.Equal(t, "column 2", got.Columns[1].Name)
	require.Len(t, got.Rows, 2)
}

func TestPlacesOfRows(t *testing.T) {
	text := "Intro é.\n\nPart | Stock\nbolt | 3\nnut | 4\n"
	got := one(t, text)
	require.Equal(t, "nut | 4", text[got.Rows[1].Start:got.Rows[1].End])
}

func FuzzFind(f *testing.F) {
	f.Add("| a | b |\n|---|---|\n| 1 | 2 |")
	f.Add(" |  | x\ny | 3 | 03/04/2024")
	f.Fuzz(func(t *testing.T, text string) {
		for _, table := range Find(text) {
			for _, r := range table.Rows {
				if r.Start < table.Start || r.End > table.End || len(r.Cells) != len(table.Columns) {
					t.Fatal("a row outside of its table")
				}
			}
		}
	})
}
