package extract

import (
	"slices"
	"strconv"
	"strings"
)

// sequences are the signs with which lists count in some formats of Word. Those of letterLists begin again with two
// of each: "z", "aa". After the others, Word counts in digits.
var (
	sequences = map[string]string{
		"russianLower": "абвгдежзиклмнопрстуфхцчшщэюя", "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯ",
		"ideographTraditional": "甲乙丙丁戊己庚辛壬癸", "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
		"ganada": "가나다라마바사아자차카타파하", "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
		"decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳", "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
	}
	letterLists = map[string]string{
		"lowerLetter": "abcdefghijklmnopqrstuvwxyz", "upperLetter": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "lowerGreek": "αβγδεζηθικλμνξοπρστυφχψω",
		"hebrew2": "אבגדהוזחטיכלמנסעפצקרשת", "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي", "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضغظ",
		"thaiLetters": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
		"aiueo":       "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
		"iroha":       "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
		"hiragana":    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん",
	}
	// digits are from 0 to 9.
	digits = map[string]string{
		"hindiNumbers": "०१२३४५६७८९", "thaiNumbers": "๐๑๒๓๔๕๖๗๘๙", "arabicIndic": "٠١٢٣٤٥٦٧٨٩",
		"ideographDigital": "〇一二三四五六七八九", "japaneseDigitalTenThousand": "〇一二三四五六七八九", "taiwaneseDigital": "○一二三四五六七八九", "koreanDigital": "영일이삼사오육칠팔구", "koreanDigital2": "零一二三四五六七八九",
	}
	// countings are digits and the words for ten, a hundred and a thousand. In a Chinese one, "one" stands before
	// a hundred, and "zero" for a place that is left out.
	countings = map[string]string{
		"chineseCounting": "零一二三四五六七八九十百千", "chineseCountingThousand": "零一二三四五六七八九十百千", "taiwaneseCounting": "零一二三四五六七八九十百千", "taiwaneseCountingThousand": "零一二三四五六七八九十百千",
		"chineseLegalSimplified": "零壹贰叁肆伍陆柒捌玖拾佰仟", "ideographLegalTraditional": "零壹貳參肆伍陸柒捌玖拾佰仟",
		"japaneseCounting": "〇一二三四五六七八九十百千", "japaneseLegal": "〇壱弐参四伍六七八九拾百阡", "koreanCounting": "영일이삼사오육칠팔구십백천", "koreanLegal": "영일이삼사오육칠팔구십백천",
	}
	// sameNumerals are further names of formats.
	sameNumerals = map[string]string{"aiueoFullWidth": "aiueo", "irohaFullWidth": "iroha", "ideographEnclosedCircle": "decimalEnclosedCircle", "decimalEnclosedCircleChinese": "decimalEnclosedCircle"}
)

// numeral writes a number in one of the formats of Word and of web pages. Formats that are not known are written
// in digits.
func numeral(n int, format string) string {
	if same, ok := sameNumerals[format]; ok {
		format = same
	}
	n = max(n, 0)
	decimal := strconv.Itoa(n)
	if strings.HasPrefix(format, "0") {
		return strings.Repeat("0", max(0, len(format)-len(decimal))) + decimal
	}
	if n == 0 || n > 9999 {
		return decimal
	}
	if signs := []rune(sequences[format]); n <= len(signs) {
		return string(signs[n-1])
	}
	if signs := []rune(letterLists[format]); len(signs) > 0 && n <= len(signs)*20 {
		return strings.Repeat(string(signs[(n-1)%len(signs)]), 1+(n-1)/len(signs))
	}
	if signs := []rune(digits[format]); len(signs) > 0 {
		return strings.Map(func(r rune) rune { return signs[r-'0'] }, decimal)
	}
	if signs := []rune(countings[format]); len(signs) > 0 {
		isChinese := strings.Contains(format, "hinese") || strings.Contains(format, "taiwanese") || strings.Contains(format, "Traditional")
		return counted(decimal, signs, isChinese, strings.Contains(format, "egal"))
	}
	switch format {
	case "decimalZero":
		if n < 10 {
			return "0" + decimal
		}
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "hebrew1":
		return hebrew(n)
	case "ordinal":
		end := "th"
		if tens := n / 10 % 10; tens != 1 && n%10 >= 1 && n%10 <= 3 {
			end = []string{"st", "nd", "rd"}[n%10-1]
		}
		return decimal + end
	}
	return decimal
}

// counted writes a number of up to four digits in words: 二十一, 一百零五. isLegal: "one" stands before ten, too.
func counted(decimal string, signs []rune, isChinese, isLegal bool) string {
	var b strings.Builder
	skipped := false
	for i, d := range decimal {
		place := len(decimal) - 1 - i // 1: tens
		if d == '0' {
			skipped = true
			continue
		}
		if skipped && isChinese {
			b.WriteRune(signs[0])
		}
		skipped = false
		if d != '1' || place == 0 || isLegal || isChinese && (place > 1 || i > 0) {
			b.WriteRune(signs[d-'0'])
		}
		if place > 0 {
			b.WriteRune(signs[9+place])
		}
	}
	return b.String()
}

// hebrew writes a number in Hebrew letters. 15 and 16 are not written with the letters of a name of God.
func hebrew(n int) string {
	if n > 999 {
		return strconv.Itoa(n)
	}
	const hundreds, tens, ones = "קרשת", "יכלמנסעפצ", "אבגדהוזחט"
	var b strings.Builder
	for ; n >= 400; n -= 400 {
		b.WriteString("ת")
	}
	letter := func(of string, i int) {
		if i > 0 {
			b.WriteRune([]rune(of)[i-1])
		}
	}
	letter(hundreds, n/100)
	switch n %= 100; n {
	case 15:
		b.WriteString("טו")
	case 16:
		b.WriteString("טז")
	default:
		letter(tens, n/10)
		letter(ones, n%10)
	}
	return b.String()
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, x := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= x.value {
			b.WriteString(x.text)
			n -= x.value
		}
	}
	return b.String()
}

// formatOf returns the format whose first numbers a text lists, as OpenDocument names formats: "ก, ข, ค, ...".
// That of "001, 002, ..." is "001".
func formatOf(list string) string {
	first := strings.SplitN(list, ", ", 4)
	if strings.HasPrefix(list, "0") && strings.Trim(first[0], "0") == "1" {
		return first[0]
	}
	for _, formats := range []map[string]string{letterLists, sequences, countings, digits} {
		for _, format := range sortedKeys(formats) {
			if n := min(len(first), 3); n > 1 && slices.Equal(first[:n], []string{numeral(1, format), numeral(2, format), numeral(3, format)}[:n]) {
				return format
			}
		}
	}
	return "decimal"
}
