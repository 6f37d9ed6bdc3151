package language

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// matches reports whether a text of a language has all terms of a word, or its whole form.
func matches(word string, langs []string, text, lang string) bool {
	terms := TermsOf(text, lang)
	queried := Query(word, langs)
	has := func(q Term) bool { return slices.ContainsFunc(q.Forms, func(f string) bool { return terms[f] }) }
	for _, q := range queried {
		if q.Whole && has(q) {
			return true
		}
	}
	return len(queried) > 0 && !slices.ContainsFunc(queried, func(q Term) bool { return !q.Whole && !has(q) }) && !queried[len(queried)-1].Whole
}

func TestWordsAreFoundInTheFormsOfTheirLanguage(t *testing.T) {
	for _, c := range []struct{ lang, word, text string }{
		{"", "regulated", "The bank REGULATES liquidity."},
		{"", "etude", "Études of cafés"}, {"", "CAFÉ", "Études of cafés"}, {"", "bank's", "the bank is"}, {"", "bank", "the bank's own"},
		{"", "finance", "ﬁnance"}, {"", "obrien", "Mr O’Brien"}, {"", "O'Brien", "Mr OBrien"}, {"", "naïve", "naive"}, {"", "m2", "50 m²"}, {"", "mueller", "Frau Müller"},
		{"de", "Kündigungsfrist", "Die Kündigungsfristen betragen drei Monate."}, {"de", "Kuendigungsfristen", "Die Kündigungsfrist beträgt"},
		{"de", "Kündigungsfrist", "Kuendigungsfrist"}, {"de", "kundigungsfrist", "Kündigungsfristen"}, {"de", "Strasse", "Hauptstraße"[5:]}, {"de", "STRASSE", "Straße"},
		{"de", "Straße", "STRASSE"}, {"de", "Mieten", "Die Miete"}, {"de", "Öffnungszeiten", "Offnungszeit"},
		{"fr", "assurance", "l’assurance"}, {"fr", "l'assurance", "les assurances"}, {"fr", "l'indemnité d'éloignement", "les indemnités d’éloignement"},
		{"fr", "preavis", "préavis"}, {"fr", "locataires", "Le locataire"}, {"fr", "oeuvre", "l'œuvre"}, {"fr", "résiliation", "RÉSILIATIONS"},
		{"it", "autobus", "dell'autobus"}, {"it", "dell’autobus", "gli autobus"}, {"it", "affitti", "l'affitto"},
		{"es", "habitacion", "las habitaciones: una habitación"}, {"es", "habitaciones", "La habitación"}, {"es", "niños", "un niño"},
		{"pt", "alugueis", "o aluguel, aluguéis"}, {"pt", "rescisões", "rescisão, rescisões"}, {"nl", "huurders", "de huurder"},
		{"sv", "hyror", "hyra"}, {"sv", "uppsägningstid", "Uppsägningstiden"}, {"da", "lejeren", "lejer"}, {"da", "Oersted", "Ørsted"}, {"no", "husleier", "husleien"},
		{"fi", "vuokra", "vuokran"}, {"ru", "аренда", "Арендная плата за аренду"}, {"ru", "договоры", "договора"}, {"ru", "еще", "ещё"},
		{"pl", "czynsz", "czynszu"}, {"pl", "umowy", "umowa"}, {"pl", "Lodz", "Łódź"}, {"pl", "wypowiedzenie", "wypowiedzenia"},
		{"tr", "kadikoy", "Kadıköy'de"}, {"tr", "ığdır", "IĞDIR"}, {"tr", "Ankara", "Ankara'da"}, {"tr", "kira", "kiralar"}, {"tr", "İNŞAAT", "inşaat"},
		{"ar", "الاجازة", "الإجازات"}, {"ar", "إجازة", "اجازة"}, {"ar", "محمّد", "محمـــد"}, {"ar", "٢٠٢٤", "عام 2024"}, {"fa", "كتاب", "کتاب"}, {"fa", "علي", "علی"},
		{"he", "שלום", "שָׁלוֹם"}, {"el", "ΟΔΟΣ", "οδός"}, {"hi", "किराया", "मासिक किराया है"},
		{"ko", "연차휴가", "연차휴가는 15일"}, {"ko", "병가", "병가를 신청"}, {"ko", "집", "집에서는"}, {"ko", "휴가", "연차휴가는"}, {"ko", "임대료", "월 임대료는 600유로"},
		{"zh", "住宿标准", "员工出差住宿标准为每晚不超过六百元。"}, {"zh", "高铁", "可乘坐高铁二等座"}, {"zh", "税", "增值税发票"}, {"zh", "ISO9001", "通过ＩＳＯ９００１認証"},
		{"ja", "宿泊費", "一泊の宿泊費は一万円"}, {"ja", "データ", "ﾃﾞｰﾀ管理室"}, {"ja", "管理", "データ管理室"}, {"ja", "ｶﾀｶﾅ", "カタカナ"}, {"ja", "がいこく", "がいこく"},
		{"th", "ค่าเช่า", "ค่าเช่ารายเดือนคือ 600 บาท"}, {"th", "น้ำ", "ค่าน้ำประปา"}, {"km", "ថ្លៃឈ្នួល", "ថ្លៃឈ្នួលប្រចាំខែ"}, {"lo", "ຄ່າເຊົ່າ", "ຄ່າເຊົ່າລາຍເດືອນ"},
		{"ar", "Python", "بلغة R وPython وغيرها"}, {"ar", "من", "Pythonمن"}, {"he", "pdf", "קובץ הPDF מצורף"}, {"he", "DIN5", "לפי הDIN5"},
		{"my", "ငှားခ", "လစဉ်ငှားခသည်"},
	} {
		langs := []string{""}
		if c.lang != "" {
			langs = append(langs, c.lang)
		}
		require.True(t, matches(c.word, langs, c.text, c.lang), "%s %q in %q: %v %v", c.lang, c.word, c.text, Query(c.word, langs), Index(c.text, c.lang))
	}
}

func TestWordsOfScriptsWithoutSpacesAreFoundAcrossTheEndOfALine(t *testing.T) {
	for _, c := range []struct{ lang, word, text string }{
		{"zh", "住宿标准", "员工出差住\n宿标准为每晚六百元。"}, {"zh", "住宿", "出差住 \n  宿"}, {"zh", "增值税发票", "增\n值税发\n票"},
		{"ja", "データ", "デー\nタ管理室"}, {"ja", "宿泊費", "一泊の宿\n泊費は一万円"}, {"ja", "税", "これは\n税金です"}, {"ja", "税", "この税です"}, {"th", "ค่าเช่า", "ค่า\nเช่ารายเดือน"},
	} {
		require.True(t, matches(c.word, []string{"", c.lang}, c.text, c.lang), "%s %q in %q: %v", c.lang, c.word, c.text, Index(c.text, c.lang))
	}
	for _, c := range []struct{ lang, word, text string }{
		{"zh", "住宿", "出差住\n\n宿"}, {"zh", "住宿", "出差住。\n宿"}, {"zh", "住宿", "出差住 宿"}, {"de", "Hausboot", "das Haus\nBoot"},
	} {
		require.False(t, matches(c.word, []string{"", c.lang}, c.text, c.lang), "%s %q in %q", c.lang, c.word, c.text)
	}
}

func TestNumbersAndCodesAreFoundInOtherWritings(t *testing.T) {
	for _, c := range [][2]string{
		{"1190", "The total is 1,190.00 euros"}, {"1190", "1.190,00 EUR"}, {"1190", "1 190 €"}, {"1190", "1'190.50"}, {"1190", "1’190"}, {"1,190.00", "1190"},
		{"1,190", "1.190,00"}, {"1190.00", "1,190.00"}, {"1.190,00", "1190.00"}, {"1234567", "1,234,567.89"}, {"100000", "Rs 1,00,000"}, {"1,190.50", "1.190,50"},
		{"1.2", "1,2 percent"}, {"1,2", "1.2"}, {"4.2", "clause 4.2 says"}, {"4.2.1", "4.2.1 Rent"}, {"2024", "12.03.2024"}, {"12.03.2024", "am 12.03.2024"},
		{"XR200", "the XR-200 pump"}, {"XR-200", "the XR200 pump"}, {"xr-200", "the XR 200"}, {"ISO9001", "ISO 9001"}, {"email", "e-mail"}, {"e-mail", "email"},
		{"XR200", "XR‑200"}, {"cost-effective", "costeffective"}, {"well-known", "a well known case"},
		{"§ 5", "nach § 5 Abs. 2"}, {"§5", "§ 5"}, {"§ 5a", "§5a"}, {"§ 5", "§§ 5, 6"},
		{"01701234567", "Tel. 0170 1234567"}, {"0170 1234567", "0170/12 345 67"}, {"01701234567", "0170-123-4567"}, {"+49 170 1234567", "+491701234567"},
		{"DE89370400440532013000", "IBAN DE89 3704 0044 0532 0130 00"}, {"5", "10⁵"}, {"2026", "FY 2026"},
	} {
		require.True(t, matches(c[0], []string{""}, c[1], ""), "%q in %q: %v %v", c[0], c[1], Query(c[0], []string{""}), Index(c[1], ""))
	}
	for _, c := range [][2]string{
		{"1190", "1,19"}, {"1190", "11,90"}, {"12", "1.2"}, {"106", "10⁶ parts"}, {"1203", "120³ euros"}, {"4.2", "4.21"}, {"4.2", "clauses 4 and 2"}, {"§ 5", "5 euros"},
		{"XR200", "XR and 200"}, {"34", "¾"}, {"住宿", "住所和宿舍"}, {"휴가", "연차"},
	} {
		require.False(t, matches(c[0], []string{""}, c[1], ""), "%q in %q: %v %v", c[0], c[1], Query(c[0], []string{""}), Index(c[1], ""))
	}
}

// Both stores take the terms as they are: they must have no characters that end a word there,
// and a word must be found in its own text.
func FuzzIndex(f *testing.F) {
	for _, lang := range []string{"", "de", "tr", "ar", "zh"} {
		f.Add("Études of cafés, host.example/path e-mail \x00 \xff 日本語 ค่าเช่า L'été 1,190.00 § 5 연차휴가는 İ \u00ad", lang)
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		terms := Index(text, lang)
		for _, term := range terms {
			require.True(t, utf8.ValidString(term) && term != "" && len(term) <= longestTerm, "%q", term)
			require.False(t, strings.ContainsFunc(term, func(r rune) bool {
				return r < utf8.RuneSelf && !unicode.IsLower(r) && !unicode.IsDigit(r)
			}), "%q", term)
		}
		for _, q := range Query(text, []string{"", lang}) {
			require.NotEmpty(t, q.Forms)
			require.True(t, slices.ContainsFunc(q.Forms, func(form string) bool { return slices.Contains(terms, form) }), "%q of %q is not in %q", q.Forms, text, terms)
		}
	})
}
