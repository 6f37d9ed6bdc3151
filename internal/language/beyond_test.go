package language

import "testing"

func TestFiguresBeyondABoundAreFoundByUnit(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"An employee may work abroad for no more than 20 days.", "I will be abroad for 45 days.", "the text says 45 days, the rule allows at most 20 days"},
		{"The cost must not exceed EUR 160 per night.", "The hotel is EUR 240 per night.", "the text says EUR 240, the rule allows at most EUR 160"},
		{"The cost must not exceed EUR 160 per night.", "The hotel is 240,00 euros.", "the text says 240,00 euros, the rule allows at most EUR 160"},
		{"The cost must not exceed EUR 1,600.", "It costs EUR 1.700,50.", "the text says EUR 1.700,50, the rule allows at most EUR 1,600"},
		{"Passwords must have at least 14 characters.", "Mine has 8 characters.", "the text says 8 characters, the rule asks for at least 14 characters"},
		{"Report it within 24 hours.", "We report it after two days.", "the text says two days, the rule allows at most 24 hours"},
		{"Days must be taken by 31 March.", "I take them on 15 May.", "the text says 15 May, the rule sets 31 March as the last day"},
		{"Claims end not later than 2025-06-30.", "It was sent on July 2, 2025.", "the text says July 2, 2025, the rule sets 2025-06-30 as the last day"},
		{"At most two guests may be invited.", "I will invite five guests.", "the text says five guests, the rule allows at most two guests"},
		{"At most two guests may be invited.", "I will invite 5 guests.", "the text says 5 guests, the rule allows at most two guests"},
		{"A team may have at most one intern.", "We have two interns.", "the text says two interns, the rule allows at most one intern"},
		{"The cost must not exceed EUR 160 per night.", "It is 1.2k EUR a night.", "the text says 1.2k EUR, the rule allows at most EUR 160"},
		{"The limit for a night is EUR 160.", "It is 240 € a night.", "the text says 240 €, the rule allows at most EUR 160"},
		{"The cap is EUR 2 million.", "It is EUR 2,100 thousand.", "the text says EUR 2,100 thousand, the rule allows at most EUR 2 million"},
		{"Report it within 72 hours.", "We report it after 80h.", "the text says 80h, the rule allows at most 72 hours"},
		{"At most two guests may be invited.", "One of five people came.", ""},
		{"The cost must not exceed EUR 160 per night.", "It is 240 $ a night.", ""},
		{"Days must be taken by 31 March.", "I take them on 15 March.", ""},
		{"The cost must not exceed EUR 160 per night.", "It is USD 240.", ""},
		{"The cost must not exceed EUR 160 per night.", "It takes 240 days.", ""},
		{"At most 5 days.", "5 days", ""},
		{"The contract began on 1 March 2024.", "It is signed on 2 April 2024.", ""},
	} {
		got := ""
		if all := Beyond(c.rule, c.text); len(all) > 0 {
			got = all[0].String()
		}
		if got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.rule, c.text, got, c.want)
		}
	}
}

func TestWithinNeedsAComparableFigureAndNoExcess(t *testing.T) {
	rule := "The cost must not exceed EUR 160 per night."
	for text, want := range map[string]bool{"It is EUR 120.": true, "It is EUR 240.": false, "It is EUR 120 and EUR 240.": false, "It takes 2 days.": false} {
		if got := Within(rule, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestDatesBeforeADeadlineAreWithinIt(t *testing.T) {
	rule := "Claims must be handed in by 15 January."
	for text, want := range map[string]bool{"I hand them in on 10 January.": true, "I hand them in on 3 February.": false, "I hand them in soon.": false} {
		if got := Within(rule, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRulesThatSetABoundAreKnown(t *testing.T) {
	for rule, want := range map[string]bool{"At most two guests may come.": true, "Claims must be handed in by 15 January.": true, "Nobody may share a password.": false} {
		if got := SetsBound(rule); got != want {
			t.Errorf("%q: %v", rule, got)
		}
	}
}

func FuzzBeyond(f *testing.F) {
	f.Add("no more than 20 days by 31 March 2024", "1.200,50 EUR on 2024-13-40")
	f.Fuzz(func(t *testing.T, rule, text string) {
		for _, x := range Beyond(rule, text) {
			if x.At > len(text) || x.Rule > len(rule) {
				t.Errorf("offsets %d, %d", x.At, x.Rule)
			}
		}
	})
}
