package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	report = "Income statement (in millions)\n | 2024 | 2023\nNet sales | 1,577 | 1,400\nOperating income | 210 | 190\nMargin | 13.3% | 13.6%\nEarnings per share | $2.45 | $2.10"
	letter = "The contract begins on 1 March 2024 and ends after twenty-four months. The fee is € 12.500,00 a year, due within 30 days, 1.5 % less when paid early. About 8,300 people work in 12 countries. The bill of December 31 came late."
)

func texts(all []Figure) (out []string) {
	for _, f := range all {
		out = append(out, f.Text)
	}
	return out
}

func TestRightFiguresPass(t *testing.T) {
	for _, answer := range []string{
		"Net sales were 1,577 million in 2024, after 1,400 million in 2023.",
		"Net sales were about $1.6 billion.",
		"Net sales: $1.577bn",
		"Der Umsatz betrug 1.577 Mio. Euro.",
		"Sales rose by 177 million, or 12.6 %.",
		"Sales rose 12.64% (1,577 / 1,400 - 1).",
		"The margin fell by 0.3 percentage points to 13.3 %.",
		"Operating income was 13.3% of net sales (210 / 1,577).",
		"The average of both years is (210 + 190) / 2 = 200 million.",
		"Earnings per share were 2.45 dollars.",
		"The fee is 12,500 euros, payable in thirty days; 1.5% are taken off.",
		"It begins on March 1, 2024 (2024-03-01).",
		"Roughly 8000 people work there.",
		"1. First, 12 countries.\n2. Second, see section 4.2 and page 17.\n3) Third.",
		"Three countries were named:\n\n- A\n- B\n- C\n\nThese are 3 items.",
		"See [1], [12] and `x = 99`.",
		"In FY2024, as the question about Q3 says.",
		"The bill came on 31 December.",
		"The share of operating income was 13.3%.\n\nOperating income / net sales * 100:\n\n210/1,577",
		"The margin is 13.3%: income / sales*100=210/1,577*100=13.3%.",
		"There are two kinds: (1) the fee, and (2) what is taken off.",
		"Option 1: pay early.\nOption 2: pay in 30 days.",
		"It is in the 10K.",
		"Section 4.2 has the fee.",
		"Net sales were $1577.00 million.",
	} {
		require.Empty(t, texts(Check(answer, []string{report, letter}, []string{"How was FY2024, and Q3, in the 10-K?"})), answer)
	}
}

func TestWrongFiguresAreFound(t *testing.T) {
	for answer, want := range map[string][]string{
		"Net sales were 1,677 million in 2024.":                     {"1,677 million"},
		"Net sales were about $1.8 billion.":                        {"$1.8 billion"},
		"Net sales were 1,577 billion.":                             {"1,577 billion"},
		"Sales rose by 187 million.":                                {"187 million"},
		"Sales rose 14.64% (1,577 / 1,400 - 1).":                    {"14.64%"},
		"The average is (210 + 190) / 2 = 210.5 million.":           {"210.5 million"},
		"The margin was 31.3 %.":                                    {"31.3 %"},
		"Earnings per share were €2.45.":                            {"€2.45"},
		"The fee is due within 30 months.":                          {"30 months"},
		"The fee is due within forty days.":                         {"forty days"},
		"It begins on 1 April 2024.":                                {"1 April 2024"},
		"It begins on 1 March 2025.":                                {"1 March 2025"},
		"9,300 people work there.":                                  {"9,300"},
		"Sales of 1,577 were measured in 2021.":                     {"2021"},
		"The contract has a fee of 1,250 euros for the first year.": {"1,250 euros"},
	} {
		require.Equal(t, want, texts(Check(answer, []string{report, letter}, nil)), answer)
	}
}

func TestScaleOfTheQuestionIsUnderstood(t *testing.T) {
	require.Empty(t, texts(Check("$1.58", []string{report}, []string{"What were net sales in USD billions?"})))
	require.Equal(t, []string{"$1.85"}, texts(Check("$1.85", []string{report}, []string{"What were net sales in USD billions?"})))
}

func TestNumbersOfSectionsStandInTheSources(t *testing.T) {
	law := []string{"Registered under Section 12(b) of the Act: none. Article 5.1 does not apply."}
	require.Empty(t, texts(Check("None are registered under Section 12(b), see article 5.1.", law, nil)))
	require.Equal(t, []string{"Section 42", "article 5.2"}, texts(Check("None are registered under Section 42(b), see article 5.2.", law, nil)))
}

func TestCommaThatGroupsDigitsIsNoDecimalPoint(t *testing.T) {
	require.Equal(t, []string{"3.5"}, texts(Check("Inventory was sold 3.5 times.", []string{"Other | 3,538 | 2,100\nPer share | 1.25 | 1.10"}, nil)))
}

func TestResultOfACalculationCountsIfItsInputsDo(t *testing.T) {
	require.Empty(t, Check("It grew by 12.64 %.", []string{report}, nil, "change(1400, 1577) ≈ 12.6429"))
	require.Equal(t, []string{"22.64 %"}, texts(Check("It grew by 22.64 %.", []string{report}, nil, "change(1400, 1717) ≈ 22.6429")))
}

func FuzzCheck(f *testing.F) {
	f.Add("1.5 % [1]\n| 3 | 4 |\n(1+2)/0 = 5", report)
	f.Fuzz(func(t *testing.T, answer, source string) {
		for _, x := range Check(answer, []string{source}, nil) {
			if x.Start < 0 || x.End > len(answer) || x.Start >= x.End {
				t.Fatal("a figure outside of its answer")
			}
		}
	})
}
