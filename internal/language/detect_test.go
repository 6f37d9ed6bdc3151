package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLanguagesOfShortTextsAreDetected(t *testing.T) {
	for text, want := range map[string]string{
		"The monthly rent is 600 euros. The notice period is three months.":                    "en",
		"Die monatliche Miete beträgt 600 Euro. Die Kündigungsfrist beträgt drei Monate.":      "de",
		"Le loyer mensuel est de 600 euros. Le préavis est de trois mois.":                     "fr",
		"El alquiler mensual es de 600 euros. El plazo de preaviso es de tres meses.":          "es",
		"Il canone mensile è di 600 euro. Il termine di preavviso è di tre mesi.":              "it",
		"A renda mensal é de 600 euros. O prazo de aviso prévio é de três meses.":              "pt",
		"De maandelijkse huur bedraagt 600 euro. De opzegtermijn bedraagt drie maanden.":       "nl",
		"Czynsz miesięczny wynosi 600 euro. Okres wypowiedzenia wynosi trzy miesiące.":         "pl",
		"Umowa jest zawarta na czas określony, a czynsz płatny jest w Łodzi.":                  "pl",
		"Месячная арендная плата составляет 600 евро. Срок уведомления составляет три месяца.": "ru",
		"Місячна орендна плата становить 600 євро. Строк повідомлення три місяці.":             "uk",
		"الإيجار الشهري 600 يورو. مدة الإشعار ثلاثة أشهر.":                                     "ar",
		"اجاره ماهانه ۶۰۰ یورو است. مهلت اطلاع سه ماه است.":                                    "fa",
		"월 임대료는 600유로이다. 해지 통지 기간은 3개월이다.":                                                     "ko",
		"毎月の家賃は600ユーロです。解約予告期間は3か月です。":                                                         "ja",
		"每月租金为600欧元。通知期为三个月。":                                                                  "zh",
		"Aylık kira 600 avrodur. İhbar süresi üç aydır.":                                       "tr",
		"Månadshyran är 600 euro. Uppsägningstiden är tre månader.":                            "sv",
		"Den månedlige husleje er 600 euro, og opsigelsesvarslet er på tre måneder.":           "da",
		"Kuukausivuokra on 600 euroa. Irtisanomisaika on kolme kuukautta.":                     "fi",
		"A havi bérleti díj 600 euró. A felmondási idő három hónap.":                           "hu",
		"ค่าเช่ารายเดือนคือ 600 ยูโร":                                                          "th",
		"Tiền thuê hàng tháng là 600 euro.":                                                    "vi",
		"hi":             "", // French, too
		"Hello Palaver!": "en",
		"Compare Leave Policy 2031 and Leave Policy 2030": "en",
		"Vergleiche Leave Policy 2031 und 2030":           "de",
		"Vertaal de brief":                                "nl",
		"Invoice 2026-014":                                "",
		"":                                                "",
	} {
		require.Equal(t, want, Detect(text), text)
	}
}
