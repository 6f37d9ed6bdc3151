package language

import (
	"slices"
	"testing"
)

func TestQuantities(t *testing.T) {
	for in, want := range map[string]Quantity{
		"pay RM 1,500 to them":    {Text: "RM 1,500", Value: 1500, Unit: Money, At: 4},
		"20 euros each":           {Text: "20 euros", Value: 20, Unit: Money},
		"4.5% of it":              {Text: "4.5%", Value: 4.5, Unit: Percent},
		"ten per cent":            {Text: "ten per cent", Value: 10, Unit: Percent},
		"two weeks":               {Text: "two weeks", Value: 14, Unit: Time},
		"30 (30) calendar days":   {Text: "30 (30) calendar days", Value: 30, Unit: Time},
		"12 characters":           {Text: "12 characters", Value: 12, Unit: "character"},
		"costs 1.2k EUR a night":  {Text: "1.2k EUR", Value: 1200, Unit: Money, At: 6},
		"two thousand euros":      {Text: "two thousand euros", Value: 2000, Unit: Money},
		"EUR 1.5 million in all":  {Text: "EUR 1.5 million", Value: 1.5e6, Unit: Money},
		"240 € each":              {Text: "240 €", Value: 240, Unit: Money},
		"160EUR":                  {Text: "160EUR", Value: 160, Unit: Money},
		"EUR160":                  {Text: "EUR160", Value: 160, Unit: Money},
		"within 72h of it":        {Text: "72h", Value: 3, Unit: Time, At: 7},
		"at 10:30pm":              {Text: "10", Value: 10, At: 3},
		"the 3rd of them":         {},
		"of 7 and nothing":        {Text: "7", Value: 7, At: 3},
		"one of the two parties":  {},
		"nothing that is counted": {},
	} {
		var got Quantity
		if all := Quantities(in); len(all) > 0 {
			got = all[0]
		}
		if got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

func TestEveryWordForANumberIsANumber(t *testing.T) {
	for word := range numberWords {
		if text := "The " + word + " pages"; !HasNumber(text) {
			t.Errorf("%q has no number", text)
		}
	}
	if !HasNumber("page 7") || HasNumber("Someone often wrote a page") {
		t.Error("digits are numbers, and parts of words are not")
	}
}

func TestLimits(t *testing.T) {
	for in, upper := range map[string]bool{
		"at most 5 days":      true,
		"within 24 hours":     true,
		"3 months or less":    true,
		"at least 5 days":     false,
		"12 months or longer": false,
	} {
		if got := Limits(in); len(got) != 1 || got[0].Upper != upper {
			t.Errorf("%q: %+v", in, got)
		}
	}
	if got := Limits("It takes 5 days."); got != nil {
		t.Errorf("got %+v, want none", got)
	}
}

func TestFiguresAreDatesThenQuantitiesWithoutTheClausesNumber(t *testing.T) {
	got := Figures("4.2 From 1 March 2024 at 10:30 pm it costs 20 euros.")
	if want := []string{"1 March 2024", "10:30 pm", "20 euros"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Figures("At 9.30 am it costs EUR 18.50.")
	if want := []string{"9.30 am", "EUR 18.50"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClauseNumber(t *testing.T) {
	for in, want := range map[string]string{"4.2 Buffers": "4.2", "(a) the bank": "(a)", "3) more": "3)", "2024": "", "Buffers": ""} {
		if got := ClauseNumber(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
