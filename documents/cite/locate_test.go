package cite

import "testing"

func TestLocateIgnoresTheFormattingOfAQuotation(t *testing.T) {
	t.Parallel()
	text := "Über uns.\n\nThe **ratio** is at\n  least 100% – “always”, the rule says. The ratios differ. $a.b$ (c)"
	for quoted, want := range map[string]string{
		"The ratio is at least 100% - \"always\"": "The **ratio** is at\n  least 100% – “always",
		"the ratio is at least 100%.":             "The **ratio** is at\n  least 100%",
		"The ratios differ":                       "The ratios differ",
		"ratio":                                   "ratio",
		"$a.b$ (c)":                               "$a.b$ (c)",
		"atio":                                    "",
		"The ratio is at least 90%":               "",
		"aXb":                                     "",
		" \"…\" ":                                 "",
	} {
		start, end, found := Locate(text, quoted)
		got := ""
		if found {
			got = string([]rune(text)[start:end])
		}
		if got != want {
			t.Errorf("%q: %q, want %q", quoted, got, want)
		}
	}
}

func FuzzLocate(f *testing.F) {
	f.Add("The **ratio** is\nat least 100%.", "ratio is at")
	f.Fuzz(func(t *testing.T, text, quoted string) {
		if start, end, found := Locate(text, quoted); found && (start < 0 || start >= end || end > len([]rune(text))) {
			t.Fatalf("%q in %q: %d to %d", quoted, text, start, end)
		}
	})
}
