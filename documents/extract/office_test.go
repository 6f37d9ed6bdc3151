package extract

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
	utf16 "golang.org/x/text/encoding/unicode"
)

const (
	officeTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/x" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/></Types>`
	relation1   = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	relationTo  = `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`
)

// zipped makes an archive of parts, by name.
func zipped(parts map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, parts[name])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// wordParts returns the parts of a Word document with this body.
func wordParts(body string) map[string]string {
	return map[string]string{
		"[Content_Types].xml": fmt.Sprintf(officeTypes, "wordprocessingml.document.main"),
		"_rels/.rels":         fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "word/document.xml")),
		"word/_rels/document.xml.rels": fmt.Sprintf(relation1,
			fmt.Sprintf(relationTo, "r1", "styles", "styles.xml")+fmt.Sprintf(relationTo, "r2", "footnotes", "/word/footnotes.xml")),
		"word/styles.xml": `<w:styles xmlns:w="w">
			<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="mine"/><w:basedOn w:val="berschrift1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Round"><w:name w:val="round"/><w:basedOn w:val="Round"/></w:style>
			<w:style w:type="paragraph" w:styleId="Deep"><w:name w:val="deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style></w:styles>`,
		"word/footnotes.xml": `<w:footnotes xmlns:w="w"><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"word/document.xml":  `<w:document xmlns:w="w" xmlns:mc="mc"><w:body>` + body + `</w:body></w:document>`,
	}
}

func word(body string) []byte { return zipped(wordParts(body)) }

// para returns the XML of a paragraph with a style.
func para(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/><w:tabs><w:tab w:pos="1"/></w:tabs></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func TestWordDocumentBecomesHeadingsParagraphsListsAndRows(t *testing.T) {
	raw := word(para("berschrift1", "Rules") + para("", "First.") + para("Mine", "Own style") + para("Deep", "Third level") + para("Round", "Text.") +
		`<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>two</w:t></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Year</w:t></w:r></w:p></w:tc><w:tc>` + para("", "Ratio") + para("berschrift1", "%") + `</w:tc></w:tr>` +
		`<w:tr><w:tc><w:tbl><w:tr><w:tc>` + para("", "in") + `</w:tc><w:tc>` + para("", "ner") + `</w:tc></w:tr></w:tbl></w:tc><w:tc>` + para("", "8.5") + `</w:tc></w:tr></w:tbl>` +
		`<w:p><w:r><w:t>a</w:t><w:tab/><w:t xml:space="preserve">b </w:t><w:br/><w:t>c&amp;d</w:t><w:noBreakHyphen/></w:r></w:p>`)
	text, err := All().Text(t.Context(), "docx", raw)
	require.NoError(t, err)
	require.Equal(t, "# Rules\n\nFirst.\n\n# Own style\n\n### Third level\n\nText.\n\n- one\n- two\n\nYear | Ratio %\nin: ner | 8.5\n\na\tb \nc&d-\n\nA note.", text)
	checkText(t, text)
}

func TestWordKeepsEquationsApart(t *testing.T) {
	equation := func(s string) string {
		return `<m:oMath xmlns:m="m"><m:r><m:t>` + s + `</m:t></m:r></m:oMath>`
	}
	text, err := All().Text(t.Context(), "docx", word(`<w:p>`+equation("a=b")+equation("c=d")+`<w:r><w:t>, and </w:t></w:r>`+equation("e")+`</w:p><w:p><m:oMathPara xmlns:m="m">`+equation("f=1")+equation("g=2")+`</m:oMathPara></w:p>`))
	require.NoError(t, err)
	require.Equal(t, "a=b c=d, and e\n\nf=1\ng=2\n\nA note.", text)
}

func TestWordHasTheSignsOfSymbolFonts(t *testing.T) {
	sym := func(font, char string) string {
		return `<w:r><w:sym w:font="` + font + `" w:char="` + char + `"/></w:r>`
	}
	text, err := All().Text(t.Context(), "docx", word(`<w:p><w:r><w:t xml:space="preserve">5 </w:t></w:r>`+sym("Symbol", "F02B")+sym("Symbol", "F06F")+sym("Wingdings", "F06F")+sym("MS Gothic", "2610")+sym("Unknown", "F021")+`</w:p>`))
	require.NoError(t, err)
	require.Equal(t, "5 +ο☐☐\n\nA note.", text)
}

func TestWordKeepsTheRowsOfATableInACell(t *testing.T) {
	cell := func(within string) string { return `<w:tc>` + within + `</w:tc>` }
	row := func(cells string) string { return `<w:tr>` + cells + `</w:tr>` }
	prices := `<w:tbl>` + row(cell(para("", "small"))+cell(para("", "10"))) + row(cell(para("", "large"))+cell(para("", "20"))) + `</w:tbl>`
	for name, c := range map[string]struct{ body, want string }{
		"beside text": {row(cell(para("", "Item"))+cell(para("", "Prices"))) + row(cell(para("", "Lamp"))+cell(para("", "In euros")+prices+para("", ""))),
			"Item | Prices\nLamp | In euros small: 10; large: 20\n\nEnd"},
		"a long one": {row(cell(para("", "Item"))+cell(para("", "Prices"))) + row(cell(para("", "Lamp"))+cell(para("", strings.Repeat("long ", 60))+prices+para("", ""))) + row(cell(para("", "Bulb"))+cell(para("", "3"))) + row(cell(para("", "Cord"))+cell(para("", "2"))),
			"Item | Prices\nLamp\n\n" + strings.TrimSpace(strings.Repeat("long ", 60)) + "\nsmall | 10\nlarge | 20\n\nItem | Prices\nBulb | 3\nCord | 2\n\nEnd"},
		"with three columns": {row(cell(para("", "Item"))+cell(para("", "Prices"))) + row(cell(para("", "Lamp"))+cell(`<w:tbl>`+row(cell(para("", ""))+cell(para("", "Month"))+cell(para("", "Year")))+row(cell(para("", "small"))+cell(para("", ""))+cell(para("", "100")))+`</w:tbl>`+para("", ""))),
			"Item | Prices\nLamp | Month, Year; small: , 100\n\nEnd"},
		"beside each other": {row(cell(prices+para("", "")) + cell(prices+para("", ""))), "small | 10\nlarge | 20\n\nsmall | 10\nlarge | 20\n\nEnd"},
		"in a table in a cell": {row(cell(para("", "Lamp")) + cell(`<w:tbl>`+row(cell(para("", "a"))+cell(prices))+`</w:tbl>`)),
			"Lamp\n\na\n\nsmall | 10\nlarge | 20\n\nEnd"},
	} {
		text, err := All().Text(t.Context(), "docx", word(`<w:tbl>`+c.body+`</w:tbl>`+para("", "End")))
		require.NoError(t, err)
		require.Equal(t, c.want+"\n\nA note.", text, name)
	}
}

func TestWordDocumentLeavesOutWhatIsNotShown(t *testing.T) {
	raw := word(`<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>` +
		`<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="false"/></w:rPr><w:t>Shown</w:t></w:r>` +
		`<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + para("", "In the box.") + `</w:txbxContent></mc:Choice>` +
		`<mc:Fallback><w:txbxContent>` + para("", "In the box.") + `</w:txbxContent></mc:Fallback></mc:AlternateContent><w:t>Around it.</w:t></w:r></w:p>`)
	text, err := All().Text(t.Context(), "docx", raw)
	require.NoError(t, err)
	require.Equal(t, "Shown\n\nIn the box.\n\nAround it.\n\nA note.", text)
}

// slides returns the parts of a presentation whose slides are stored in another order than
// they are shown.
func slides() map[string]string {
	shape := func(place, text string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + place + `"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
	}
	slide := func(content string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>` + content + `</p:spTree></p:cSld></p:sld>`
	}
	return map[string]string{
		"[Content_Types].xml": fmt.Sprintf(officeTypes, "presentationml.slide"),
		"_rels/.rels":         fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "/ppt/presentation.xml")),
		"ppt/presentation.xml": `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>` +
			`<p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/><p:sldId id="258" r:id="rId9"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels":  fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "rId1", "slide", "slides/slide1.xml")+fmt.Sprintf(relationTo, "rId2", "slide", "slides/slide2.xml")),
		"ppt/slides/slide1.xml":            slide(shape("body", "Second slide") + `<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>y</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>` + shape("sldNum", "2")),
		"ppt/slides/slide2.xml":            slide(shape("body", "Point one") + shape("title", "Capital")),
		"ppt/slides/_rels/slide2.xml.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "notesSlide", "../notesSlides/notesSlide1.xml")),
		"ppt/notesSlides/notesSlide1.xml":  `<p:notes xmlns:p="p" xmlns:a="a">` + shape("body", "Say this.") + shape("sldNum", "1") + `</p:notes>`,
	}
}

func TestSlidesComeInTheirOrderWithTitlesTablesAndNotes(t *testing.T) {
	text, err := All().Text(t.Context(), "pptx", zipped(slides()))
	require.NoError(t, err)
	require.Equal(t, "## Slide 1: Capital\n\nPoint one\n\nNotes: Say this.\n\n## Slide 2\n\nSecond slide\n\nx | y", text)
}

func TestMergedCellsOfASlideKeepTheirColumns(t *testing.T) {
	parts := slides()
	cell := func(attributes, text string) string {
		return `<a:tc` + attributes + `><a:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></a:txBody></a:tc>`
	}
	parts["ppt/slides/slide1.xml"] = `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:graphicFrame><a:tbl>` +
		`<a:tr>` + cell("", "Region") + cell(` gridSpan="2"`, "2025") + cell(` hMerge="1"`, "") + cell("", "Note") + `</a:tr>` +
		`<a:tr>` + cell(` rowSpan="2"`, "North") + cell("", "10") + cell("", "20") + cell("", "x") + `</a:tr>` +
		`<a:tr>` + cell(` vMerge="1"`, "") + cell("", "30") + cell("", "40") + cell("", "y") + `</a:tr></a:tbl></p:graphicFrame></p:spTree></p:cSld></p:sld>`
	text, err := All().Text(t.Context(), "pptx", zipped(parts))
	require.NoError(t, err)
	require.Contains(t, text, "Region | 2025 | 2025 | Note\nNorth | 10 | 20 | x\nNorth | 30 | 40 | y")
}

func TestParagraphsOfSlidesHaveTheirNumbers(t *testing.T) {
	parts := slides()
	p := func(properties, text string) string {
		return `<a:p><a:pPr` + properties + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r></a:p>`
	}
	arabic, letter := `><a:buAutoNum type="arabicPeriod"/>`, ` lvl="1"><a:buAutoNum type="alphaLcParenR"/>`
	parts["ppt/slides/slide1.xml"] = `<p:sld xmlns:p="p" xmlns:a="a" show="0"><p:cSld><p:spTree><p:sp><p:txBody>` +
		p(arabic, "one") + p(letter, "first") + p(letter, "second") + p(arabic, "two") + p(arabic, "") + p(letter, "again") + p(arabic, "three") + p(`>`, "text") + p(arabic, "new") +
		p(`><a:buAutoNum type="romanUcParenBoth" startAt="4"/>`, "four") + p(`><a:buAutoNum type="thaiAlphaPeriod"/>`, "ไทย") + p(`><a:buAutoNum type="ea1ChsPeriod"/>`, "中") +
		`</p:txBody></p:sp><p:sp><p:txBody>` + p(arabic, "other box") + `</p:txBody></p:sp></p:spTree></p:cSld></p:sld>`
	text, err := All().Text(t.Context(), "pptx", zipped(parts))
	require.NoError(t, err)
	require.Contains(t, text, "## Slide 2 (hidden)\n\n1. one\na) first\nb) second\n2. two\na) again\n3. three\ntext\n1. new\n(IV) four\nก. ไทย\n一. 中\n1. other box")
	require.Contains(t, text, "## Slide 1: Capital")
}

func TestWordFieldsOfFormsHaveTheirChoice(t *testing.T) {
	list := func(inner string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>` + inner + `<w:listEntry w:val="Bern"/><w:listEntry w:val="Bonn"/></w:ddList></w:ffData></w:fldChar></w:r>`
	}
	box := func(inner string) string {
		return `<w:r><w:fldChar><w:ffData><w:checkBox>` + inner + `</w:checkBox></w:ffData></w:fldChar></w:r>`
	}
	text, err := All().Text(t.Context(), "docx", word(`<w:p>`+list(`<w:result w:val="1"/>`)+`<w:r><w:t>, </w:t></w:r>`+list("")+`<w:r><w:t>, </w:t></w:r>`+list(`<w:default w:val="1"/>`)+list(`<w:result w:val="7"/>`)+`</w:p><w:p>`+
		box(`<w:default w:val="1"/>`)+box(`<w:default w:val="0"/>`)+box(`<w:default w:val="1"/><w:checked w:val="0"/>`)+box(`<w:default w:val="0"/><w:checked/>`)+box("")+`</w:p>`))
	require.NoError(t, err)
	require.Equal(t, "Bonn, Bern, Bonn\n\n☒☐☐☒☐\n\nA note.", text)
}

func TestWordReadingsFollowTheirCharacters(t *testing.T) {
	ruby := func(base, reading string) string {
		return `<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>` + reading + `</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>` + base + `</w:t></w:r></w:rubyBase></w:ruby></w:r>`
	}
	text, err := All().Text(t.Context(), "docx", word(`<w:p><w:r><w:t>この</w:t></w:r>`+ruby("漢", "かん")+ruby("字", "じ")+`<w:r><w:t>は</w:t></w:r>`+ruby("東京", "とうきょう")+`</w:p>`))
	require.NoError(t, err)
	require.Equal(t, "この漢字(かんじ)は東京(とうきょう)\n\nA note.", text)
}

func TestWordListsGoOnAfterAParagraphAndBeginAgain(t *testing.T) {
	item := func(list, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	parts := wordParts(item("1", "first") + item("1", "second") + para("", "Between") + item("1", "third") + item("2", "bullet") + item("3", "again") + item("1", "fourth") + item("4", "한국어") + item("4", "둘째") + item("5", "wide"))
	parts["word/_rels/document.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r3", "numbering", "numbering.xml"))
	level := func(id, format, text string) string {
		numbers := `<w:numFmt w:val="` + format + `"/>`
		if strings.Contains(format, ",") {
			numbers = `<mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="` + format + `"/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>`
		}
		return `<w:abstractNum w:abstractNumId="` + id + `"><w:lvl w:ilvl="0"><w:start w:val="1"/>` + numbers + `<w:lvlText w:val="` + text + `"/></w:lvl></w:abstractNum>`
	}
	parts["word/numbering.xml"] = `<w:numbering xmlns:w="w">` + level("0", "decimal", "%1.") + level("1", "bullet", "•") + level("2", "ganada", "%1)") + level("3", "001, 002, 003, ...", "%1:") +
		`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>` +
		`<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num></w:numbering>`
	text, err := All().Text(t.Context(), "docx", zipped(parts))
	require.NoError(t, err)
	require.Equal(t, "1. first\n2. second\n\nBetween\n\n3. third\n- bullet\n1. again\n2. fourth\n가) 한국어\n나) 둘째\n001: wide", text)
}

func TestNumbersOfListsAreWrittenInTheirScript(t *testing.T) {
	for format, want := range map[string]string{
		"chineseCounting": "一 二 十 十一 二十 二十一 一百零五", "chineseCountingThousand": "一 二 十 十一 二十 二十一 一百零五", "ideographDigital": "一 二 一〇 一一 二〇 二一 一〇五",
		"japaneseCounting": "一 二 十 十一 二十 二十一 百五", "chineseLegalSimplified": "壹 贰 壹拾 壹拾壹 贰拾 贰拾壹 壹佰零伍", "koreanCounting": "일 이 십 십일 이십 이십일 백오", "koreanDigital": "일 이 일영 일일 이영 이일 일영오",
		"hebrew1": "א ב י יא כ כא קה", "hebrew2": "א ב י כ ר ש", "arabicAlpha": "أ ب ر ز ف ق", "arabicAbjad": "أ ب ي ك ر ش", "thaiLetters": "ก ข ญ ฎ ท ธ", "thaiNumbers": "๑ ๒ ๑๐ ๑๑ ๒๐ ๒๑ ๑๐๕",
		"ganada": "가 나 차 카 20 21 105", "chosung": "ㄱ ㄴ ㅊ ㅋ 20 21 105", "aiueo": "ア イ コ サ ト ナ", "aiueoFullWidth": "ア イ コ サ ト ナ", "irohaFullWidth": "イ ロ ヌ ル ネ ナ", "ideographTraditional": "甲 乙 癸 11 20 21 105",
		"lowerLetter": "a b j k t u", "russianLower": "а б к л ф х 105", "decimalZero": "01 02 10 11 20 21 105", "upperRoman": "I II X XI XX XXI CV", "ordinal": "1st 2nd 10th 11th 20th 21st 105th", "unknown": "1 2 10 11 20 21 105",
	} {
		for i, w := range strings.Fields(want) {
			n := []int{1, 2, 10, 11, 20, 21, 105}[i]
			require.Equal(t, w, numeral(n, format), "%d in %s", n, format)
		}
		for _, n := range []int{-1, 0, 15, 16, 999, 1000, 9999, 10000, 1_000_000} {
			require.NotEmpty(t, numeral(n, format), "%d in %s", n, format)
		}
	}
	require.Equal(t, "טו", numeral(15, "hebrew1"))
	require.Equal(t, []string{"0001", "0012", "12345"}, []string{numeral(1, "0001"), numeral(12, "0001"), numeral(12345, "0001")})
	for list, format := range map[string]string{"0001, 0002, 0003, ...": "0001", "01, 02, 03, ...": "decimalZero", "ก, ข, ค, ...": "thaiLetters", "一, 二, 三, ...": "chineseCounting", "א, ב, ג, ...": "hebrew2", "ア, イ, ウ, ...": "aiueo", "イ, ロ, ハ, ...": "iroha", "가, 나, 다, ...": "ganada", "①, ②, ③, ...": "decimalEnclosedCircle", "1": "decimal", "?, !, ...": "decimal"} {
		require.Equal(t, numeral(12, format), numeral(12, formatOf(list)), list)
	}
}

func TestPartsOfAWordHeaderStayApart(t *testing.T) {
	text, err := All().Text(t.Context(), "docx", word(`<w:p><w:r><w:t>Contract 42</w:t></w:r><w:r><w:ptab w:relativeTo="margin" w:alignment="right" w:leader="none"/></w:r><w:r><w:t>2026</w:t></w:r></w:p>`))
	require.NoError(t, err)
	require.Contains(t, text, "Contract 42\t2026")
}

func TestTheTextBesideASlidesNumberIsKeptOnce(t *testing.T) {
	parts := slides()
	field := func(number string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="sldNum"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>%s</a:t></a:r><a:fld type="slidenum"><a:t>` + number + `</a:t></a:fld></a:p></p:txBody></p:sp>`
	}
	for text, want := range map[string]string{"Page ": "", "": "", "© Northwind 2026 | ": "\n\nFooter: © Northwind 2026"} {
		for i, name := range []string{"ppt/slides/slide1.xml", "ppt/slides/slide2.xml"} {
			parts[name] = slides()[name]
			parts[name] = strings.Replace(parts[name], "</p:spTree>", fmt.Sprintf(field(fmt.Sprint(i+1)), text)+"</p:spTree>", 1)
			require.NotEqual(t, slides()[name], parts[name])
		}
		got, err := All().Text(t.Context(), "pptx", zipped(parts))
		require.NoError(t, err)
		require.Equal(t, "## Slide 1: Capital\n\nPoint one\n\nNotes: Say this.\n\n## Slide 2\n\nSecond slide\n\nx | y"+want, got)
	}
}

func workbook(t testing.TB) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	require.NoError(t, f.SetSheetName("Sheet1", "Capital"))
	require.NoError(t, f.SetSheetRow("Capital", "A1", &[]any{"Bank", "Ratio", "Since"}))
	require.NoError(t, f.SetSheetRow("Capital", "A3", &[]any{"North\nBank", 0.085, 45000}))
	percent, err := f.NewStyle(&excelize.Style{NumFmt: 10})
	require.NoError(t, err)
	day, err := f.NewStyle(&excelize.Style{CustomNumFmt: ptr("yyyy-mm-dd")})
	require.NoError(t, err)
	require.NoError(t, f.SetCellStyle("Capital", "B3", "B3", percent))
	require.NoError(t, f.SetCellStyle("Capital", "C3", "C3", day))
	_, err = f.NewSheet("Notes")
	require.NoError(t, err)
	require.NoError(t, f.SetCellValue("Notes", "C2", "far right"))
	out, err := f.WriteToBuffer()
	require.NoError(t, err)
	return out.Bytes()
}

func ptr[T any](v T) *T { return &v }

func TestSheetsComeWithTheirNamesAndTheValuesThatAreShown(t *testing.T) {
	text, err := All().Text(t.Context(), "xlsx", workbook(t))
	require.NoError(t, err)
	require.Equal(t, "## Capital\n\nBank | Ratio | Since\nNorth Bank | 8.50% | 2023-03-15\n\n## Notes\n\n|  | far right", text)
}

func TestCSVRecordsBecomeRowsWhateverSeparatesTheirFields(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"commas":         {"a,b,c\r\n1,\"x, y\",3\n", "a | b | c\n1 | x, y | 3"},
		"semicolons":     {"a;b\n1,5;2,5\n", "a | b\n1,5 | 2,5"},
		"tabs":           {"a\tb\n1\t2", "a | b\n1 | 2"},
		"one column":     {"name\nAnn\n", "name\nAnn"},
		"empty records":  {"a,b\n,\n\n1,\n", "a | b\n1"},
		"line breaks":    {"a,\"b\nc\"\n", "a | b c"},
		"spaces":         {"a, \"b, c\" , d\n1, \"say \"\"x\"\"\",\t\"2\n3\"\n", "a | b, c | d\n1 | say \"x\" | 2 3"},
		"tabs, spaces":   {"a\t \"b\tc\" \t\td\n1\t2\t\t3\n", "a | b c |  | d\n1 | 2 |  | 3"},
		"inches":         {"a, 5\" pipe,c\nd, \"e\" f, \"g\n", "a | 5\" pipe | c\nd | \"e\" f | \"g"},
		"loose quotes":   {"a,5\" pipe,c\n", "a | 5\" pipe | c"},
		"unequal length": {"a\nb,c\n", "a\nb | c"},
		"byte order":     {"\ufeffa,b\n", "a | b"},
		"Windows-1252":   {"caf\xe9,b\n", "café | b"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := All().Text(t.Context(), "csv", []byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, c.want, text)
		})
	}
}

func TestOfficeFilesAreRecognisedByTheirContent(t *testing.T) {
	ole := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more")
	for name, c := range map[string]struct {
		file, media string
		raw         []byte
		want        string
	}{
		"Word":               {"a.docx", "", word(para("", "x")), "docx"},
		"Word, no name":      {"download", "application/octet-stream", word(para("", "x")), "docx"},
		"Excel named Word":   {"a.docx", "", workbook(t), "xlsx"},
		"PowerPoint":         {"a.PPTX", "", zipped(slides()), "pptx"},
		"with a password":    {"a.docx", "", ole, "docx"},
		"old Word":           {"a.doc", "application/msword", ole, ""},
		"some other archive": {"a.docx", "", zipped(map[string]string{"a.txt": "x"}), ""},
		"text named Word":    {"a.docx", "", []byte("plain"), ""},
		"CSV":                {"a.csv", "application/vnd.ms-excel", []byte("a,b"), "csv"},
		"CSV by media type":  {"export", "text/csv; charset=utf-8", []byte("a,b"), "csv"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := All().Detect(c.file, c.media, c.raw)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want != "", ok)
		})
	}
}

func TestOfficeFilesThatCannotBeReadHaveAReason(t *testing.T) {
	cut := word(para("", strings.Repeat("text ", 1000)))
	unclosed := wordParts("")
	unclosed["word/document.xml"] = `<w:document><w:body><w:p>`
	entities := wordParts("")
	entities["word/document.xml"] = `<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><d><p><r><t>&b;</t></r></p></d>`
	nowhere := wordParts("")
	delete(nowhere, "word/document.xml")
	for name, c := range map[string]struct {
		kind string
		raw  []byte
		want *Unreadable
	}{
		"cut in the middle":    {"docx", cut[:len(cut)/2], errDamagedFile},
		"unclosed XML":         {"docx", zipped(unclosed), errDamagedFile},
		"entities":             {"docx", zipped(entities), errDamagedFile},
		"no document inside":   {"docx", zipped(nowhere), errDamagedFile},
		"a Word file as Excel": {"xlsx", word(para("", "x")), errDamagedFile},
		"password":             {"xlsx", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), errOldOffice},
		"no text": {"docx", zipped(map[string]string{
			"_rels/.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "d.xml")), "d.xml": "<d/>"}), errNoText},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := All().Text(t.Context(), c.kind, c.raw)
			require.Equal(t, c.want, err)
		})
	}
}

// repeated reads a text again and again, up to size bytes.
type repeated struct {
	text string
	at   int
	size int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.size <= 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.size)], r.text[r.at:])
	r.at, r.size = (r.at+n)%len(r.text), r.size-int64(n)
	return n, nil
}

// zipBomb returns an archive with an additional part that unpacks to size bytes but declares
// declared bytes.
func zipBomb(t testing.TB, parts map[string]string, part string, size int64, declared uint64) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	require.NoError(t, err)
	_, err = io.Copy(w, &repeated{text: strings.Repeat("<c/>", 1000), size: size})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		f, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, parts[name])
		require.NoError(t, err)
	}
	f, err := z.CreateRaw(&zip.FileHeader{Name: part, Method: zip.Deflate,
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: declared})
	require.NoError(t, err)
	_, err = f.Write(packed.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

func TestZipBombsAreRefused(t *testing.T) {
	parts := wordParts("")
	delete(parts, "word/document.xml")
	for name, raw := range map[string][]byte{
		"honest size": zipBomb(t, parts, "word/document.xml", maxUnpacked+10, maxUnpacked+10),
		"wrong size":  zipBomb(t, parts, "word/document.xml", maxUnpacked+10, 100),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := All().Text(t.Context(), "docx", raw)
			require.ErrorAs(t, err, new(*Unreadable))
		})
	}
	t.Run("many entries", func(t *testing.T) {
		raw := append(word(para("", "x")), bytes.Repeat([]byte("PK\x01\x02"), maxParts)...)
		_, err := All().Text(t.Context(), "docx", raw)
		require.Equal(t, errTooLarge, err)
	})
	t.Run("styles of a workbook", func(t *testing.T) {
		_, err := All().Text(t.Context(), "xlsx", zipBomb(t, map[string]string{}, "xl/styles.xml", maxPart+1, maxPart+1))
		require.Equal(t, errTooLarge, err)
	})
}

func TestSheetWithTooManyCellsIsRefused(t *testing.T) {
	var rows strings.Builder
	for i := range maxCells/16_384 + 2 {
		fmt.Fprintf(&rows, `<row r="%d"><c r="XFD%d"><v>1</v></c></row>`, i+1, i+1)
	}
	parts := unzipped(t, workbook(t))
	parts["xl/worksheets/sheet1.xml"] = worksheet(rows.String())
	_, err := All().Text(t.Context(), "xlsx", zipped(parts))
	require.Equal(t, errTooLarge, err)
}

func TestReadingAnOfficeFileEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := All().Text(ctx, "docx", word(para("", "x")))
	require.ErrorIs(t, err, context.Canceled)
}

// unzipped returns the parts of an archive by name.
func unzipped(t testing.TB, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	parts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		parts[f.Name] = string(content)
	}
	return parts
}

func worksheet(rows string) string {
	return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows + `</sheetData></worksheet>`
}

// FuzzOffice packs fuzzed parts into archives and feeds them to every reader.
func FuzzOffice(f *testing.F) {
	f.Add(`<w:p><w:r><w:t>a</w:t></w:r></w:p>`, `<w:style w:styleId="a"><w:basedOn w:val="a"/></w:style>`)
	f.Add(`<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl></w:p></w:pPr>`, `<c r="XFD1048576" t="s"><v>9</v></c>`)
	f.Add(`<p:sp><p:ph type="title"/><a:p><a:t>x</a:t></a:p></p:sp>`, `<row r="-1"><c r=""/></row>`)
	workbook := unzipped(f, workbook(f))
	f.Fuzz(func(t *testing.T, body, other string) {
		parts := wordParts(body)
		parts["word/styles.xml"] = `<w:styles>` + other + `</w:styles>`
		show := slides()
		show["ppt/slides/slide1.xml"] = body
		sheets := maps.Clone(workbook)
		sheets["xl/worksheets/sheet1.xml"], sheets["xl/styles.xml"] = worksheet(body+other), other
		for kind, raw := range map[string][]byte{"docx": zipped(parts), "pptx": zipped(show), "xlsx": zipped(sheets)} {
			readableOffice(t, kind, raw)
		}
	})
}

// FuzzOfficeBytes feeds whole fuzzed files to the readers, including files that are no
// archives.
func FuzzOfficeBytes(f *testing.F) {
	f.Add(word(para("", "x")))
	f.Add(zipped(slides()))
	f.Add(workbook(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range []string{"docx", "xlsx", "pptx"} {
			readableOffice(t, kind, raw)
		}
		All().Detect("a.docx", "", raw)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n\"c\nd\";e\t|"))
	f.Fuzz(func(t *testing.T, raw []byte) { readable(t, "csv", raw) })
}

// readableOffice reads as a reader's process does, but within this one, which is faster. It
// fails if the text is not clean. A library that panics would end the reader's process.
func readableOffice(t *testing.T, kind string, raw []byte) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Log("panic:", p)
		}
	}()
	all := All()
	c, err := readOffice(raw, all[slices.IndexFunc(all, func(x Type) bool { return x.Name == kind })].archive)
	if err == nil {
		checkText(t, c.Text)
	}
}

// readable fails unless raw can be read or is refused with a reason.
func readable(t *testing.T, kind string, raw []byte) {
	t.Helper()
	text, err := All().Text(context.Background(), kind, raw)
	if err != nil {
		require.ErrorAs(t, err, new(*Unreadable))
		return
	}
	checkText(t, text)
}

func TestFormulaWithAnEmptyResultIsAnEmptyCell(t *testing.T) {
	f := excelize.NewFile()
	for cell, formula := range map[string]string{"B2": `IF(A2>20,A2*2,"")`, "B3": `IF(A2>30,A2*2,"")`} {
		require.NoError(t, f.SetCellFormula("Sheet1", cell, formula))
	}
	for cell, value := range map[string]any{"A1": "Post", "B1": "Double", "A2": 21} {
		require.NoError(t, f.SetCellValue("Sheet1", cell, value))
	}
	raw, err := f.WriteToBuffer()
	require.NoError(t, err)
	text, err := All().Text(t.Context(), "xlsx", raw.Bytes())
	require.NoError(t, err)
	require.Equal(t, "## Sheet1\n\nPost | Double\n21 | 42", text)
}

func TestCellsWhoseStyleHasNoValueKeepTheirText(t *testing.T) {
	text, err := All().Text(t.Context(), "xlsx", zipped(map[string]string{
		"[Content_Types].xml":        fmt.Sprintf(officeTypes, "spreadsheetml.sheet.main"),
		"_rels/.rels":                fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "xl/workbook.xml")),
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "worksheet", "worksheets/sheet1.xml")),
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Plan" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/worksheets/sheet1.xml": `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">` +
			`<c r="A1" t="inlineStr" s=""><is><t>City s="" Nord</t></is></c><c r="B1" s=""><v>12</v></c></row></sheetData></worksheet>`,
	}))
	require.NoError(t, err)
	require.Equal(t, "## Plan\n\nCity s=\"\" Nord | 12", text)
}

// Excel keeps a copy of each thread of comments for old versions, with a notice in the person's language.
func TestThreadsOfCommentsAreReadWithTheirNames(t *testing.T) {
	parts := map[string]string{
		"[Content_Types].xml":        fmt.Sprintf(officeTypes, "spreadsheetml.sheet.main"),
		"_rels/.rels":                fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "xl/workbook.xml")),
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "worksheet", "worksheets/sheet1.xml")+fmt.Sprintf(relationTo, "r2", "person", "persons/person.xml")),
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Plan" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>12</v></c></row></sheetData></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "comments", "../comments1.xml")+
			fmt.Sprintf(relationTo, "r2", "threadedComment", "../threadedComments/threadedComment1.xml")),
		"xl/comments1.xml": `<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author>Bo Ito</author><author>tc={1}</author></authors><commentList>` +
			`<comment ref="A1" authorId="1"><text><t>[Kommentarthread] Ihre Version von Excel zeigt Kommentar: Since when?</t></text></comment><comment ref="B1" authorId="0"><text><r><t>An old note</t></r></text></comment></commentList></comments>`,
		"xl/threadedComments/threadedComment1.xml": `<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><threadedComment ref="A1" personId="{7}" id="{1}"><text>Since when?</text></threadedComment>` +
			`<threadedComment ref="A1" personId="{8}" id="{2}" parentId="{1}"><text>Since May.</text></threadedComment></ThreadedComments>`,
		"xl/persons/person.xml": `<personList xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><person displayName="Ann Berg" id="{7}"/></personList>`,
	}
	text, err := All().Text(t.Context(), "xlsx", zipped(parts))
	require.NoError(t, err)
	require.Equal(t, "## Plan\n\n12\n\nComment (B1, Bo Ito): An old note\n\nComment (A1, Ann Berg): Since when?\n\nComment (A1): Since May.", text)
	delete(parts, "xl/threadedComments/threadedComment1.xml")
	text, err = All().Text(t.Context(), "xlsx", zipped(parts))
	require.NoError(t, err)
	require.Contains(t, text, "Comment (A1): [Kommentarthread] Ihre Version von Excel zeigt Kommentar: Since when?\n")
}

func TestPresentationWithoutSlidesHasNoText(t *testing.T) {
	parts := slides()
	parts["[Content_Types].xml"] = fmt.Sprintf(officeTypes, "presentationml.presentation.main")
	parts["ppt/presentation.xml"] = `<p:presentation xmlns:p="p"/>`
	raw := zipped(parts)
	found, ok := All().Detect("new.pptx", "", raw)
	require.True(t, ok)
	_, err := All().Text(t.Context(), found, raw)
	require.ErrorIs(t, err, errNoText)
}

func TestOfficeFilesMayHavePartsInUTF16(t *testing.T) {
	for kind, raw := range map[string][]byte{"docx": word(para("Heading1", "Größe") + para("", "12 m²")), "pptx": zipped(slides()), "xlsx": workbook(t)} {
		want, err := All().Text(t.Context(), kind, raw)
		require.NoError(t, err)
		parts := unzipped(t, raw)
		for name, part := range parts {
			if strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".rels") {
				_, bare, declared := strings.Cut(part, "?>")
				if !declared {
					bare = part
				}
				wide, err := utf16.UTF16(utf16.BigEndian, utf16.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="UTF-16"?>` + bare)
				require.NoError(t, err)
				parts[name] = wide
			}
		}
		raw = zipped(parts)
		found, ok := All().Detect("x."+kind, "", raw)
		require.True(t, ok, kind)
		text, err := All().Text(t.Context(), found, raw)
		require.NoError(t, err, kind)
		require.Equal(t, want, text)
	}
}

func TestWorkbookWithADamagedPictureOrALostSheetIsRead(t *testing.T) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, part := range unzipped(t, workbook(t)) {
		if name == "xl/workbook.xml" {
			part = strings.Replace(part, "</sheets>", `<sheet name="Lost" sheetId="9"/></sheets>`, 1)
		}
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(w, part)
		require.NoError(t, err)
	}
	_, err := z.CreateRaw(&zip.FileHeader{Name: "docProps/thumbnail.wmf", Method: zip.Deflate}) // without data
	require.NoError(t, err)
	require.NoError(t, z.Close())
	text, err := All().Text(t.Context(), "xlsx", out.Bytes())
	require.NoError(t, err)
	require.Equal(t, "## Capital\n\nBank | Ratio | Since\nNorth Bank | 8.50% | 2023-03-15\n\n## Notes\n\n|  | far right", text)
}

// ClosedXML writes the elements of sheets with a prefix.
func TestWorkbookWhoseElementsHaveAPrefixIsRead(t *testing.T) {
	prefixed := func(s string) string {
		s = regexp.MustCompile(`<(/?)([a-zA-Z])`).ReplaceAllString(s, "<${1}x:$2")
		return strings.Replace(s, ` xmlns="`, ` xmlns:x="`, 1)
	}
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	text, err := All().Text(t.Context(), "xlsx", zipped(map[string]string{
		"[Content_Types].xml":        fmt.Sprintf(officeTypes, "spreadsheetml.sheet.main"),
		"_rels/.rels":                fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "officeDocument", "/xl/workbook.xml")),
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "worksheet", "/xl/worksheets/sheet.xml")+fmt.Sprintf(relationTo, "r2", "styles", "/xl/styles.xml")+fmt.Sprintf(relationTo, "r3", "sharedStrings", "/xl/sharedStrings.xml")),
		"xl/workbook.xml":            prefixed(`<workbook ` + main + ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Plan" sheetId="1" r:id="r1"/></sheets></workbook>`),
		"xl/styles.xml":              prefixed(`<styleSheet ` + main + `><numFmts count="0"/><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`),
		"xl/sharedStrings.xml":       prefixed(`<sst ` + main + `><si><t>City</t></si><si><t>Since</t></si></sst>`),
		"xl/worksheets/sheet.xml":    prefixed(`<worksheet ` + main + `><cols><col min="1" max="1" width="10"/></cols><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="inlineStr" s=""><is><t>Oslo</t></is></c><c r="B2" s="1"><v>45000</v></c></row></sheetData></worksheet>`),
	}))
	require.NoError(t, err)
	require.Equal(t, "## Plan\n\nCity | Since\nOslo | 2023-03-15", text)
}

func TestWordHasTheTextOfFilesWithinIt(t *testing.T) {
	page := "<html><body><p>Wear a badge.</p></body></html>"
	for name, raw := range map[string]string{
		"chunk.html": page,
		"chunk.txt":  "Wear a badge.",
		"chunk.rtf":  `{\rtf1\ansi Wear a badge.}`,
		"chunk.dat":  `{\rtf1\ansi Wear a badge.}`,
		"chunk.mht":  "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Wear a=20badge.</p>\r\n--b--\r\n",
		"chunk.docx": string(word(para("", "Wear a badge."))),
	} {
		parts := wordParts(para("", "Before") + `<w:altChunk r:id="c1"/>` + para("", "After"))
		delete(parts, "word/footnotes.xml")
		parts["word/_rels/document.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "c1", "aFChunk", name))
		parts["word/"+name] = raw
		text, err := All().Text(t.Context(), "docx", zipped(parts))
		require.NoError(t, err)
		require.Equal(t, "Before\n\nWear a badge.\n\nAfter", strings.Replace(text, "\n\nA note.", "", 1), name)
	}
}

func TestWatermarksOfWordAreInItsHeader(t *testing.T) {
	parts := wordParts(para("", "The rent is due."))
	delete(parts, "word/footnotes.xml")
	parts["word/_rels/document.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "h1", "header", "header1.xml"))
	parts["word/header1.xml"] = `<w:hdr xmlns:w="w" xmlns:v="v"><w:p><w:r><w:t>Lease 4</w:t></w:r><w:r><w:pict><v:shape><v:textpath style="font-size:1pt" string="DRAFT"/></v:shape></w:pict></w:r></w:p></w:hdr>`
	text, err := All().Text(t.Context(), "docx", zipped(parts))
	require.NoError(t, err)
	require.Equal(t, "The rent is due.\n\nHeader: Lease 4 DRAFT", text)
}

func TestTemplatesOfOfficeAreReadAsTheirDocuments(t *testing.T) {
	for name, raw := range map[string][]byte{"Lease.dotx": word(para("", "The rent is due.")), "Budget.xltx": workbook(t), "Deck.potx": zipped(slides())} {
		kind, ok := All().Detect(name, "", raw)
		require.True(t, ok, name)
		want, err := All().Text(t.Context(), kind, raw)
		require.NoError(t, err)
		parts := unzipped(t, raw)
		types := parts["[Content_Types].xml"]
		for _, main := range []string{"document.main+xml", "sheet.main+xml", "presentationml.slide+xml"} {
			types = strings.Replace(types, main, strings.NewReplacer("document", "template", "sheet", "template", "slide", "template.main").Replace(main), 1)
		}
		require.NotEqual(t, parts["[Content_Types].xml"], types)
		parts["[Content_Types].xml"] = types
		raw = zipped(parts)
		found, ok := All().Detect(name, "", raw)
		require.True(t, ok, name)
		require.Equal(t, kind, found)
		text, err := All().Text(t.Context(), found, raw)
		require.NoError(t, err, name)
		require.Equal(t, want, text)
	}
}

// diagram is the data of a SmartArt diagram with a root, nodes, an assistant and what only connects them.
const diagram = `<dgm:dataModel xmlns:dgm="dgm" xmlns:a="a"><dgm:ptLst><dgm:pt type="doc"><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Apply</a:t></a:r></a:p></dgm:t></dgm:pt>` +
	`<dgm:pt type="parTrans"><dgm:t><a:p><a:r><a:t>no</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type="node"><dgm:t><a:p><a:r><a:t>Sign </a:t></a:r><a:r><a:t>twice</a:t></a:r></a:p></dgm:t></dgm:pt>` +
	`<dgm:pt type="asst"><dgm:t><a:p><a:r><a:t>Notary</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`

func TestDiagramsAreLists(t *testing.T) {
	refer := `<dgm:relIds r:dm="d1" r:lo="d2"/>`
	slide := slides()
	slide["ppt/slides/slide1.xml"] = strings.Replace(slide["ppt/slides/slide1.xml"], "<p:graphicFrame>", "<p:graphicFrame>"+refer+"</p:graphicFrame><p:graphicFrame>", 1)
	slide["ppt/slides/_rels/slide1.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "d1", "diagramData", "../diagrams/data1.xml"))
	slide["ppt/diagrams/data1.xml"] = diagram

	letter := wordParts(`<w:p><w:r><w:t>Steps</w:t></w:r><w:r><w:drawing>` + refer + `</w:drawing></w:r></w:p>`)
	letter["word/_rels/document.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "d1", "diagramData", "diagrams/data1.xml"))
	letter["word/diagrams/data1.xml"] = diagram

	for kind, raw := range map[string][]byte{"pptx": zipped(slide), "docx": zipped(letter), "xlsx": withDrawing(t, refer)} {
		text, err := All().Text(t.Context(), kind, raw)
		require.NoError(t, err, kind)
		require.Contains(t, text, "- Apply\n- Sign twice\n- Notary", kind)
		require.NotContains(t, text, "no\n", kind)
	}
}

// withDrawing returns a workbook whose sheet has a drawing with this content, which may refer to d1, a diagram.
func withDrawing(t *testing.T, content string) []byte {
	t.Helper()
	parts := unzipped(t, workbook(t))
	parts["xl/worksheets/_rels/sheet1.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "r1", "drawing", "../drawings/drawing1.xml"))
	parts["xl/drawings/drawing1.xml"] = `<xdr:wsDr xmlns:xdr="x" xmlns:a="a" xmlns:dgm="dgm" xmlns:r="r"><xdr:twoCellAnchor>` + content + `</xdr:twoCellAnchor></xdr:wsDr>`
	parts["xl/drawings/_rels/drawing1.xml.rels"] = fmt.Sprintf(relation1, fmt.Sprintf(relationTo, "d1", "diagramData", "../diagrams/data1.xml"))
	parts["xl/diagrams/data1.xml"] = diagram
	return zipped(parts)
}

func TestTextBoxesOfASheetFollowItsRows(t *testing.T) {
	text, err := All().Text(t.Context(), "xlsx", withDrawing(t, `<xdr:sp><xdr:txBody><a:p><a:r><a:t>Figures without </a:t></a:r><a:r><a:t>tax</a:t></a:r></a:p><a:p><a:r><a:t>Audited</a:t></a:r></a:p></xdr:txBody></xdr:sp>`))
	require.NoError(t, err)
	require.Equal(t, "## Capital\n\nBank | Ratio | Since\nNorth Bank | 8.50% | 2023-03-15\n\nFigures without tax\n\nAudited\n\n## Notes\n\n|  | far right", text)
}

func TestSlidesKeepRaisedLoweredAndStruckCharacters(t *testing.T) {
	run := func(properties, text string) string {
		return `<a:r><a:rPr ` + properties + `/><a:t>` + text + `</a:t></a:r>`
	}
	parts := slides()
	parts["ppt/slides/slide1.xml"] = `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:txBody><a:p>` + run("", "10") + run(`baseline="30000"`, "6") + run("", " m") + run(`baseline="30000"`, "2") + run("", " of H") + run(`baseline="-25000"`, "2") + run("", "O cost ") + run(`strike="sngStrike"`, "900") + run(`strike="noStrike"`, " 950") + `</a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`
	text, err := All().Text(t.Context(), "pptx", zipped(parts))
	require.NoError(t, err)
	require.Contains(t, text, "10⁶ m² of H₂O cost ~~900~~ 950")
}
