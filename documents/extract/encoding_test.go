package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

var encoded = map[string]struct {
	text string
	in   []encoding.Encoding
}{
	"German":     {"Für die Straßenbahn zahlt die Behörde höchstens 40 Euro. Änderungen sind möglich.", []encoding.Encoding{charmap.Windows1252, charmap.ISO8859_1, charmap.Macintosh, charmap.CodePage850, charmap.CodePage437}},
	"French":     {"Le délai de préavis est de trois mois ; les frais réels sont payés à la fin, où l’on reçoit le reçu.", []encoding.Encoding{charmap.Windows1252, charmap.Macintosh}},
	"Spanish":    {"El alquiler de la habitación de la señora Núñez sube según el índice del año próximo. ¿Cuándo?", []encoding.Encoding{charmap.Windows1252, charmap.Macintosh, charmap.CodePage850}},
	"Polish":     {"Miesięczny czynsz wynosi trzysta złotych, płatny do piątego dnia każdego miesiąca. Źródło: umowa najmu.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2, charmap.CodePage852}},
	"Czech":      {"Výpovědní lhůta činí tři měsíce. Nájemné se platí předem, nejpozději pátého dne v měsíci. Příliš žluťoučký kůň.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2, charmap.CodePage852}},
	"Croatian":   {"Najamnina se plaća unaprijed, a otkazni rok iznosi tri mjeseca. Žalba se šalje uredu. Čuvar vodi đake kući.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
	"Hungarian":  {"A bérleti díj összege kétszáz forint, fizetendő minden hónap ötödik napjáig. Hűvös tűz.", []encoding.Encoding{charmap.Windows1250, charmap.ISO8859_2}},
	"Turkish":    {"Kira bedeli her ayın beşinci gününe kadar ödenir; sözleşme üç ay önceden feshedilebilir. Işık ve su ayrıdır, değişmez.", []encoding.Encoding{charmap.Windows1254, charmap.ISO8859_9}},
	"Lithuanian": {"Nuomos mokestis mokamas iki penktos mėnesio dienos, o sutartį galima nutraukti prieš tris mėnesius, jei šalys žino. Ąžuolų giraitė, įmonė.", []encoding.Encoding{charmap.Windows1257, charmap.ISO8859_13}},
	"Russian":    {"Арендная плата вносится до пятого числа каждого месяца. Срок расторжения договора составляет три месяца.", []encoding.Encoding{charmap.Windows1251, charmap.KOI8R, charmap.ISO8859_5, charmap.CodePage866, charmap.MacintoshCyrillic}},
	"Ukrainian":  {"Орендна плата вноситься до п’ятого числа кожного місяця. Їхній договір діє три роки, є й інші умови.", []encoding.Encoding{charmap.Windows1251}},
	"Greek":      {"Το μίσθωμα καταβάλλεται έως την πέμπτη ημέρα κάθε μήνα. Η προθεσμία καταγγελίας είναι τρεις μήνες.", []encoding.Encoding{charmap.Windows1253, charmap.ISO8859_7}},
	"Hebrew":     {"שכר הדירה ישולם עד החמישי בכל חודש. תקופת ההודעה היא שלושה חודשים.", []encoding.Encoding{charmap.Windows1255, charmap.ISO8859_8}},
	"Arabic":     {"يدفع الإيجار حتى اليوم الخامس من كل شهر. مدة الإشعار ثلاثة أشهر قبل إنهاء العقد.", []encoding.Encoding{charmap.Windows1256, charmap.ISO8859_6}},
	"Thai":       {"ค่าเช่าต้องชำระภายในวันที่ห้าของทุกเดือน ระยะเวลาบอกเลิกสัญญาคือสามเดือน", []encoding.Encoding{charmap.Windows874}},
	"Japanese":   {"家賃は毎月五日までに支払う。解約の予告期間は三か月とする。宿泊費の上限は一泊一万二千円です。", []encoding.Encoding{japanese.ShiftJIS, japanese.EUCJP, japanese.ISO2022JP}},
	"Korean":     {"임대료는 매월 오일까지 지급한다. 해지 예고 기간은 삼개월로 한다. 연차휴가는 십오일입니다.", []encoding.Encoding{korean.EUCKR}},
	"Chinese":    {"出差住宿标准为每晚四百元。租金应在每月五日之前支付，合同的解除期限为三个月。", []encoding.Encoding{simplifiedchinese.GBK, simplifiedchinese.GB18030}},
	"Taiwanese":  {"出差住宿標準為每晚四百元。租金應在每月五日之前支付，合約的解除期限為三個月。", []encoding.Encoding{traditionalchinese.Big5}},
}

func TestTextIsReadInTheEncodingsThatProgramsWrite(t *testing.T) {
	for name, c := range encoded {
		wide := []encoding.Encoding{utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM), utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM),
			utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}
		for _, e := range append(wide, c.in...) {
			text := c.text + "\r\n1. " + c.text + "\r\n"
			raw, err := encoding.ReplaceUnsupported(e.NewEncoder()).Bytes([]byte(text))
			require.NoError(t, err)
			if back, err := e.NewDecoder().Bytes(raw); err == nil {
				text = strings.TrimPrefix(string(back), "\ufeff")
			}
			got, err := toUTF8(raw, "")
			if err != nil || strings.TrimPrefix(got, "\ufeff") != text {
				t.Errorf("%s in %v: %v %q", name, e, err, got)
			}
			for _, wrong := range []string{"us-ascii", "latin1", "Windows-1252", "utf-8"} {
				if e == charmap.Macintosh && wrong != "utf-8" { // its letters are signs in Windows-1252, between which texts have dashes
					continue
				}
				again, err := toUTF8(raw, wrong)
				if err != nil || again != got {
					t.Errorf("%s in %v that is called %s: %v %q", name, e, wrong, err, again)
				}
			}
		}
	}
}

// Such texts, often pages without a charset, have few characters beyond ASCII.
func TestShortWesternTextsAreWindows1252(t *testing.T) {
	for _, text := range []string{"<p>20°C ± 2</p>", "<p>10 µm × 5</p>", "<p>Déjà vu – señor Müller’s Ångström</p>", "<p>Menü: Crêpe, Jalapeño, Smørrebrød</p>", "<p>It’s 5 €</p>", "<h1>MÜLLER GmbH</h1>"} {
		raw, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
		require.NoError(t, err)
		for _, declared := range []string{"", "us-ascii", "iso-8859-1"} {
			got, err := toUTF8(raw, declared)
			if err != nil || got != text {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
}

func TestTextIsNeverReadyInAnEncodingThatCannotBeTold(t *testing.T) {
	for name, raw := range map[string]string{
		"no language has these letters together": "a\xd1b\x80\x9d\xf0z \xfe\x81\xc7 w\x8f\x90x\xa6q Ab\xb5C\xd7d",
	} {
		got, err := toUTF8([]byte(raw), "")
		require.ErrorIs(t, err, errEncoding, "%s: %q", name, got)
	}
}

func TestKoreanInSevenBitsIsText(t *testing.T) {
	const raw = "\x1b$)CNotice: \x0e@S4k7a\x0f 900\n\x0e@S4k7a\x0f (2026)"
	require.True(t, isText([]byte(raw)))
	got, err := toUTF8([]byte(raw), "")
	require.NoError(t, err)
	require.Equal(t, "Notice: 임대료 900\n임대료 (2026)", got)
}
