package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Numbers that are written with more than digits.
var (
	powers    = lazyregexp.New(`(\d+(?:[.,]\d+)?)(?:[eE]([+-]?\d{1,3})\b|\s?[×x·*⋅]\s?10(?:\^\{?([-−+]?\d{1,3})\}?|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))`)
	fractions = lazyregexp.New(`(?:\b(\d{1,4})\s?)?([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])`)
	raised    = strings.NewReplacer("⁻", "-", "⁺", "+", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "−", "-")
	valueOf   = map[string]float64{"½": 1. / 2, "⅓": 1. / 3, "⅔": 2. / 3, "¼": 1. / 4, "¾": 3. / 4, "⅕": 1. / 5, "⅖": 2. / 5, "⅗": 3. / 5, "⅘": 4. / 5, "⅙": 1. / 6, "⅚": 5. / 6, "⅛": 1. / 8, "⅜": 3. / 8, "⅝": 5. / 8, "⅞": 7. / 8}
)

// notations returns the numbers of a text that have a power of ten or a sign for a fraction.
func notations(text string) (out []Figure) {
	for _, m := range powers.FindAllStringSubmatchIndex(text, -1) {
		if r, _ := utf8.DecodeLastRuneInString(text[:m[0]]); unicode.IsLetter(r) && !language.IsIdeograph(r) || r == '.' || r == ',' {
			continue
		}
		values, decimals := Readings(text[m[2]:m[3]])
		exponent := ""
		for i := 4; i < len(m); i += 2 {
			if m[i] >= 0 {
				exponent = raised.Replace(text[m[i]:m[i+1]])
			}
		}
		n, err := strconv.Atoi(exponent)
		if values == nil || err != nil {
			continue
		}
		f := Figure{Start: m[0], End: m[1], Values: values, Step: math.Pow(10, -float64(decimals)), Digits: significant(text[m[2]:m[3]]), Scale: 1}
		f.multiply(math.Pow(10, float64(n)))
		out = append(out, f.around(text))
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return valueOf[string(r)] > 0 }) {
		return out
	}
	for _, m := range fractions.FindAllStringSubmatchIndex(text, -1) {
		f := Figure{Start: m[0], End: m[1], Step: 0.01, Digits: 2, Scale: 1, Values: []float64{valueOf[text[m[4]:m[5]]]}}
		if m[2] >= 0 {
			whole, _ := strconv.ParseFloat(text[m[2]:m[3]], 64) // digits
			f.Values[0] += whole
		}
		out = append(out, f.around(text))
	}
	return out
}

// around reads what stands around a number.
func (f Figure) around(text string) Figure {
	f.readBefore(text)
	f.readAfter(text)
	f.Text = text[f.Start:f.End]
	return f
}

// joinMyriads makes one figure of 3億5,000万.
func joinMyriads(text string, all []Figure) []Figure {
	for i := len(all) - 2; i >= 0; i-- {
		f, next := &all[i], all[i+1]
		if f.End != next.Start || f.Scale <= next.Scale || f.Unit != "" || len(f.Values) == 0 || len(next.Values) == 0 {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(f.Text); !language.IsIdeograph(last) || words.scales[string(last)] == 0 {
			continue
		}
		f.Values = []float64{f.Values[0] + next.Values[0]}
		f.Step, f.Unit, f.End = next.Step, next.Unit, next.End
		f.Text = text[f.Start:f.End]
		f.Digits += next.Digits
		all = slices.Delete(all, i+1, i+2)
	}
	return all
}

// families are currencies that a common sign or word names.
var families = map[string]language.Set{
	"USD": language.NewSet("AUD CAD NZD HKD SGD MXN"),
	"KR":  language.NewSet("SEK NOK DKK"),
	"JPY": language.NewSet("CNY"),
}

var currencyNames = lazyregexp.New(`(?i:us|au|ca|nz|hk|mex|[acrs])?\$|[€£¥₹₺₩₽₴₪฿]|\pL{3,}`)

// addCurrencies remembers the currencies that a text names: by signs, codes and longer words. "Pound" and "rand" may
// be something else.
func (k *knownFigures) addCurrencies(text string) {
	const word = 4 // letters
	for _, w := range currencyNames.FindAllString(text, -1) {
		code := words.currencies[strings.ToLower(w)]
		if code == "" && len(w) == word && w == strings.ToUpper(w) { // TEUR
			code = words.currencies[strings.ToLower(w[1:])]
		}
		if sign := !unicode.IsLetter([]rune(w)[0]) || strings.HasSuffix(w, "$"); code == "" || !sign && w != strings.ToUpper(w) && (len(w) < word || code == "GBP" || code == "ZAR") {
			continue
		}
		k.addCurrency(code)
	}
}

func (k *knownFigures) addCurrency(code string) {
	if k.currencies == nil {
		k.currencies = map[string]bool{}
	}
	k.currencies[code] = true
}

// isForeign reports whether the texts name currencies, but not that of a figure.
func (k *knownFigures) isForeign(f Figure) bool {
	if !f.IsMoney() || len(k.currencies) == 0 {
		return false
	}
	for code := range k.currencies {
		if code == f.Unit || families[code][f.Unit] || families[f.Unit][code] {
			return false
		}
	}
	return true
}

// sameCurrency reports whether two currencies may be the same: "$" may be any dollar.
func sameCurrency(a, b Figure) bool {
	general := func(a, b Figure) bool {
		return families[a.Unit][b.Unit] && !strings.Contains(strings.ToLower(a.Text), "us") && !strings.Contains(strings.ToLower(a.Text), "yen") && !strings.Contains(a.Text, "円")
	}
	return a.Unit == b.Unit || general(a, b) || general(b, a)
}
