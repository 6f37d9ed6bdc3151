package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name, raw string) Content {
	t.Helper()
	typ, ok := All().Detect(name, "", []byte(raw))
	require.True(t, ok, name)
	c, err := All().Content(t.Context(), typ, []byte(raw))
	require.NoError(t, err)
	return c
}

func TestMailHasItsHeadersWhatIsNewAndThenTheQuotations(t *testing.T) {
	c := read(t, "mail.eml", "From: =?iso-8859-1?Q?J=F6rg?= <joerg@example.org>\r\nTo: ada@example.org\r\nSubject: =?UTF-8?B?QW5nZWJvdCBmw7xyIE1haQ==?=\r\n"+
		"Date: Tue, 5 May 2026 10:00:00 +0200\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"+
		"Der Preis f=FCr Mai ist 14 Euro.\r\n\r\nOn Mon, 4 May 2026, Ada wrote:\r\n> Was kostet es im Mai?\r\n>> 20 Euro?\r\n\r\nViele Gr=FC=DFe\r\n"+
		"--b\r\nContent-Type: application/pdf; name=\"offer.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n")
	require.Equal(t, "# Angebot für Mai\n\nFrom: Jörg <joerg@example.org>\nTo: ada@example.org\nDate: Tue, 5 May 2026 10:00:00 +0200\n\n"+
		"Der Preis für Mai ist 14 Euro.\n\n\nViele Grüße\n\nEarlier messages:\n\nOn Mon, 4 May 2026, Ada wrote:\nWas kostet es im Mai?\n20 Euro?\n\nAttachments: offer.pdf", c.Text)
	require.Equal(t, "Angebot für Mai", c.Title)
}

func TestMailThatWasSavedAsTextIsAMail(t *testing.T) {
	c := read(t, "mail.txt", "From: Ada <ada@example.org>\r\nSent: Tuesday, 5 May 2026\r\nTo: Bo\r\nSubject: Offsite in June\r\n\r\nIt is on 12 June.\r\n> Is it on 14 May?\r\n")
	require.Equal(t, "# Offsite in June\n\nFrom: Ada <ada@example.org>\nSent: Tuesday, 5 May 2026\nTo: Bo\n\nIt is on 12 June.\n\nEarlier messages:\n\nIs it on 14 May?", c.Text)
	require.Equal(t, "Offsite in June", c.Title)
	c = read(t, "mail.txt", "Von:\tWolf, Ines\r\nGesendet:\tDienstag, 5. Mai 2026 10:15\r\nAn:\tMeier, Max;\r\n\tAda\r\nBetreff:\tAngebot f\xfcr Mai\r\nAnlagen:\tplan.pdf\r\n\r\nEs sind 900 Euro.\r\n")
	require.Equal(t, "Angebot für Mai", c.Title)
	require.Equal(t, "# Angebot für Mai\n\nVon: Wolf, Ines\nGesendet: Dienstag, 5. Mai 2026 10:15\nAn: Meier, Max; Ada\nAnlagen: plan.pdf\n\nEs sind 900 Euro.", c.Text)
	c = read(t, "mail.txt", "De : Ada <ada@example.org>\nÀ : Bo\nObjet : Loyer\n\nIl est de 900 euros.\n")
	require.Equal(t, "# Loyer\n\nDe: Ada <ada@example.org>\nÀ: Bo\n\nIl est de 900 euros.", c.Text)
	c = read(t, "mail.txt", "发件人：李明 <li@example.org>\n收件人：王芳\n主题：租金\n\n每月九百欧元。\n")
	require.Equal(t, "租金", c.Title)
	for _, header := range []string{"From: Ada <ada@example.org>\r\nSubject: =?UTF-8?B?TWlldGU=?=\r\nTo: Bo\r\n", // as it was sent
		"from: Ada <ada@example.org>\r\nsubject: Miete\r\nto: Bo\r\nmessage-id: <1@example.org>\r\n"} {
		c = read(t, "mail.txt", header+"content-transfer-encoding: quoted-printable\r\n\r\nEs sind 900 =\r\nEuro.\r\n")
		require.Equal(t, "# Miete\n\nFrom: Ada <ada@example.org>\nTo: Bo\n\nEs sind 900 Euro.", c.Text)
	}
	list := "Name: Ada\nSubject: History\nDate: 5 May\n\nText."
	require.Equal(t, list, read(t, "list.txt", list).Text)
}

func TestMailWithAPageOnlyIsRead(t *testing.T) {
	c := read(t, "mail.eml", "Subject: Rent\nContent-Type: text/html; charset=windows-1251\n\n<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>")
	require.Equal(t, "# Rent\n\nПривет", c.Text)
}

func TestRichTextHasItsParagraphsRowsAndCharacters(t *testing.T) {
	c := read(t, "letter.rtf", `{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}}{\*\generator x;}{\info{\title T}}`+
		`\pard Miete f\'fcr Mai: 900\super 2\nosupersub  \u8364?\par The rent is {\strike 80} 95.\par{\v hidden}`+
		`\trowd\intbl Plan\cell Price\cell\row\trowd\intbl Basic\par fee\cell \cell\row\pard Caf\u233\'e9 \{x\} \emdash  end\par}`)
	require.Equal(t, "Miete für Mai: 900² €\n\nThe rent is ~~80~~ 95.\n\nPlan | Price\nBasic fee\n\nCafé {x} — end", c.Text)
}

// Each font has its own encoding: a Czech or Japanese file that says \ansicpg1252 names it there.
func TestRichTextIsReadInTheEncodingOfItsFonts(t *testing.T) {
	c := read(t, "letter.rtf", `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fnil\fcharset238{\*\fname Arial;}Arial CE;}{\f2\fcharset204 Arial Cyr;}}`+
		`\pard\f1 N\'e1jem \'e8in\'ed\f0  caf\'e9 {\f2 \'cf\'eb\'e0\'f2\'e0} \'e9\par \plain \'e9}`)
	require.Equal(t, "Nájem činí café Плата é\n\né", c.Text)
	c = read(t, "list.rtf", `{\rtf1\ansi\ansicpg1252{\fonttbl{\f1\fcharset128 OpenSymbol;}}\pard\f1 \'96\f0  first}`)
	require.Equal(t, "– first", c.Text)
	for raw, want := range map[string]string{
		`\mac\ansicpg10001{\fonttbl\f0\fcharset78 HiraKakuPro;}\f0 \'82\'a8\'93\'c7\'82\'dd`:       "お読み",
		`\ansi\ansicpg1252{\fonttbl{\f0\fcharset128\cpg65001 Arial;}}\f0 \'e4\'b8\'ad\'e5\'9c\'8b`: "中國",
		`\ansi\ansicpg950{\fonttbl\f0\fcharset0 LucidaGrande;}\f0 \'a4\'a4 {Copyright \'a9 2013}`:  "中 Copyright © 2013",
		`\ansi\ansicpg65001{\fonttbl\f0 Arial;}\f0 \'c3\'a9t\'c3\'a9`:                              "été",
	} {
		require.Equal(t, want, read(t, "a.rtf", `{\rtf1`+raw+`}`).Text)
	}
}

func TestRichTextThatEndsWithinATableKeepsItsRow(t *testing.T) {
	require.Equal(t, "Plan | Price", read(t, "a.rtf", `{\rtf1\ansi{\fs24 Plan\cell Price\cell }}`).Text)
	require.Equal(t, "Plan | Price", read(t, "a.rtf", `{\rtf1\ansi\intbl Plan\cell Price\par}`).Text)
	require.Equal(t, "Rent is due", read(t, "a.rtf", "{\\rtf1\\ansi{\r\n\\*\\other 013f}{\\fs24\\i0\\*\\cs7 Rent is due}\\par}").Text)
}

func TestMailsThatProgramsWriteWronglyAreRead(t *testing.T) {
	mail := "Subject: Rent\nTo: Ada\n<ada@example.org>\n\nIt is 900 euros."
	want := "# Rent\n\nTo: Ada <ada@example.org>\n\nIt is 900 euros."
	require.Equal(t, want, read(t, "a.eml", mail).Text)
	require.Equal(t, want, read(t, "a.eml", "From ada Tue May  5 10:00:00 2026\n"+mail).Text)
	utf16 := "\xff\xfe"
	for _, r := range "Subject: Rent\n\nIt is 900 euros." {
		utf16 += string([]byte{byte(r), 0})
	}
	require.Equal(t, "# Rent\n\nIt is 900 euros.", read(t, "a.eml", utf16).Text)
	for _, kind := range []string{`multipart/alternative; boundary=----=_Part_7.5`, `multipart/alternative; charset=utf-8; boundary = "----=_Part_7.5" ; x=a b`} {
		parts := "Subject: Rent\nContent-Type: " + kind + "\n\nThis is a message in parts.\n\n------=_Part_7.5\nContent-Type: text/plain; charset=iso-8859-1; format=flowed; x=y=z\nContent-Transfer-Encoding: quoted-printable\n\nDie Miete f=FCr Mai ist 900 Euro.\n" +
			"------=_Part_7.5\nContent-Type: image/png; name=plan (new).png\nContent-Disposition: attachment; filename=plan (new).png\n\nAAAA\n------=_Part_7.5--\n"
		require.Equal(t, "# Rent\n\nDie Miete für Mai ist 900 Euro.\n\nAttachments: plan (new).png", read(t, "a.eml", parts).Text)
	}
	require.Equal(t, "# Rent\n\nIt is 900 euros.", read(t, "a.eml", "Subject: Rent\nContent-Type: text\n\nIt is 900 euros.").Text)
}

func TestOpenDocumentWithAPasswordSaysSo(t *testing.T) {
	raw := zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "\x01\x02",
		"META-INF/manifest.xml": `<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`})
	_, err := All().Content(t.Context(), "odt", raw)
	require.ErrorIs(t, err, errOldOffice)
}

func TestOpenDocumentsHaveTheirHeadingsListsNotesAndTables(t *testing.T) {
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>` +
		`<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>` +
		`<text:h text:outline-level="2">Rent</text:h><text:p>It is<text:s/>900<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Without heating.</text:p></text:note-body></text:note> euros.</text:p>` +
		`<text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>` +
		`<table:table><table:table-row><table:table-cell><text:p>Plan</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2"><text:p>2026</text:p></table:table-cell><table:covered-table-cell/></table:table-row>` +
		`<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Basic</text:p></table:table-cell><table:table-cell/><table:table-cell><text:p>20</text:p></table:table-cell></table:table-row>` +
		`<table:table-row><table:covered-table-cell/><table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>` +
		`</office:text></office:body></office:document-content>`
	c := read(t, "x.odt", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})))
	require.Equal(t, "## Rent\n\nIt is 900¹ euros.\n\n¹ Without heating.\n\n- one\n- two\n\nPlan | 2026 | 2026\nBasic |  | 20\nBasic | 1 | 2", c.Text)
}

func TestOpenDocumentsHaveTheNumbersOfTheirListsAndHeadings(t *testing.T) {
	level := func(kind, level, format, more string) string {
		return `<text:` + kind + ` text:level="` + level + `" style:num-format="` + format + `" ` + more + `/>`
	}
	number := func(n, format, more string) string { return level("list-level-style-number", n, format, more) }
	styles := `<office:document-styles xmlns:office="o" xmlns:text="t" xmlns:style="s"><office:styles><text:outline-style>` +
		level("outline-level-style", "1", "I", `style:num-suffix="."`) + level("outline-level-style", "2", "", "") + `</text:outline-style></office:styles>` +
		`<office:master-styles><style:master-page><style:header><text:p>Northwind lease</text:p></style:header><style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer>` +
		`<style:header-left><text:p>Left</text:p></style:header-left></style:master-page></office:master-styles></office:document-styles>`
	list := func(attributes, items string) string {
		return `<text:list ` + attributes + `>` + items + `</text:list>`
	}
	item := func(within string) string { return `<text:list-item>` + within + `</text:list-item>` }
	p := func(text string) string { return `<text:p>` + text + `</text:p>` }
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:xml="x" xmlns:table="b"><office:automatic-styles>` +
		`<text:list-style style:name="L1">` + number("1", "1", `style:num-suffix="." text:start-value="3"`) + number("2", "a", `style:num-suffix=")"`) + number("3", "1", `text:display-levels="3"`) + `</text:list-style>` +
		`<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style></office:automatic-styles><office:body><office:text>` +
		`<text:h text:outline-level="1">Rent</text:h><text:h text:outline-level="2">Costs</text:h><text:h text:outline-level="1">Term</text:h><text:h text:outline-level="1" text:is-list-header="true">Annex</text:h>` +
		list(`text:style-name="L1" xml:id="one"`, item(p("three")+list("", item(p("sub a"))+item(p("sub b")+list("", item(p("deep"))))))+item(p("four"))) +
		p("Between.") +
		list(`text:style-name="L1" text:continue-numbering="true"`, item(list("", item(p("sub of four"))))+item(p("five"))) +
		list(`text:style-name="L2"`, item(p("dot"))) +
		list(`text:style-name="L1"`, item(p("three again"))+`<text:list-item text:start-value="9">`+p("nine")+`</text:list-item>`+item(p("ten"))) +
		list(`text:style-name="L1" text:continue-list="one"`, item(p("six"))) +
		`<table:table><table:table-row><table:table-cell>` + list(`text:style-name="L1"`, item(p("in a cell"))) + `</table:table-cell></table:table-row></table:table>` +
		`</office:text></office:body></office:document-content>`
	c := read(t, "x.odt", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, "styles.xml": styles})))
	require.Equal(t, "# I. Rent\n\n## Costs\n\n# II. Term\n\n# Annex\n\n3. three\na) sub a\nb) sub b\n3.b.1 deep\n4. four\n\nBetween.\n\n"+
		"a) sub of four\n5. five\n- dot\n3. three again\n9. nine\n10. ten\n6. six\n\n3. in a cell\n\nHeader: Northwind lease", c.Text)
}

func TestOpenDocumentsKeepTheRowsOfATableInACell(t *testing.T) {
	cell := func(within string) string { return `<table:table-cell>` + within + `</table:table-cell>` }
	p := func(text string) string { return cell(`<text:p>` + text + `</text:p>`) }
	row := func(cells string) string { return `<table:table-row>` + cells + `</table:table-row>` }
	long := strings.TrimSpace(strings.Repeat("long ", 60))
	header, prices := row(p("Item")+p("Prices")+p("Since")), `<table:table>`+row(p("small")+p("10"))+row(p("large")+p("20"))+`</table:table>`
	for name, tc := range map[string]struct{ body, want string }{
		"short":   {header + row(p("Lamp")+cell(`<text:p>In euros</text:p>`+prices)+p("May")) + row(p("Bulb")+p("3")+p("June")), "Item | Prices | Since\nLamp | In euros small: 10; large: 20 | May\nBulb | 3 | June"},
		"one row": {row(p("Lamp") + cell(`<table:table>`+row(p("small")+p("10"))+`</table:table>`) + p("May")), "Lamp | small: 10 | May"},
		"long": {header + row(p("Lamp")+cell(`<table:table>`+row(p("small")+p(long))+row(p("large")+p("20"))+`</table:table>`)+p("May")) + row(p("Bulb")+p("3")+p("June")),
			"Item | Prices | Since\nLamp\n\nsmall | " + long + "\nlarge | 20\n\nMay\nItem | Prices | Since\nBulb | 3 | June"},
		"a page": {row(cell(prices) + cell(prices)), "small | 10\nlarge | 20\n\nsmall | 10\nlarge | 20"},
		"a page with a title": {row(p("Logo")+p("Shop")) + row(cell(`<table:table>`+row(p("small")+p(long))+row(p("large")+p("20"))+`</table:table>`)+p("New")) + row(p("Imprint")+p("Terms")),
			"Logo | Shop\n\nsmall | " + long + "\nlarge | 20\n\nNew\nImprint | Terms"},
	} {
		content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text><table:table>` + tc.body + `</table:table></office:text></office:body></office:document-content>`
		c := read(t, "x.odt", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})))
		require.Equal(t, tc.want, c.Text, name)
	}
}

func TestRichTextKeepsTheRowsOfATableInACell(t *testing.T) {
	nested := func(rows ...string) string {
		return `\pard\intbl\itap2 ` + strings.Join(rows, `{\*\nesttableprops\trowd\cellx1\nestrow}{\nonesttables\par }\pard\intbl\itap2 `) + `{\*\nesttableprops\trowd\cellx1\nestrow}{\nonesttables\par }\pard\intbl\itap1 `
	}
	cell := func(text string) string { return `\pard\intbl ` + text + `\cell ` }
	header, rest := cell("Item")+cell("Prices")+cell("Since")+`\row `, cell("Bulb")+cell("3")+cell("June")+`\row\pard End\par}`
	long := strings.TrimSpace(strings.Repeat("long ", 60))
	c := read(t, "a.rtf", `{\rtf1\ansi `+header+cell("Lamp")+`\pard\intbl In euros\par `+nested(`small\nestcell 10\nestcell `, `large\nestcell 20\nestcell `)+`\cell `+cell("May")+`\row `+rest)
	require.Equal(t, "Item | Prices | Since\nLamp | In euros small: 10; large: 20 | May\nBulb | 3 | June\n\nEnd", c.Text)
	third := strings.ReplaceAll(nested(`May\nestcell \nestcell 10\nestcell `, `June\nestcell 12\nestcell `), `\itap2 `, `\itap3 `)
	c = read(t, "a.rtf", `{\rtf1\ansi `+header+cell("Lamp")+nested(`small\nestcell In euros `+strings.TrimSuffix(third, `\pard\intbl\itap1 `)+`\pard\intbl\itap2 net\nestcell `, `large\nestcell 20\nestcell `)+`\cell `+cell("May")+`\row `+rest)
	require.Equal(t, "Item | Prices | Since\nLamp | small: In euros May: , 10; June: 12 net; large: 20 | May\nBulb | 3 | June\n\nEnd", c.Text)
	c = read(t, "a.rtf", `{\rtf1\ansi `+header+cell("Lamp")+nested(`small\nestcell `+long+`\nestcell `, `large\nestcell 20\nestcell `)+`\cell `+cell("May")+`\row `+rest)
	require.Equal(t, "Item | Prices | Since\nLamp\n\nsmall | "+long+"\nlarge | 20\n\nMay\nItem | Prices | Since\nBulb | 3 | June\n\nEnd", c.Text)
	c = read(t, "a.rtf", `{\rtf1\ansi `+cell("Logo")+cell("Shop")+`\row `+nested(`small\nestcell `+long+`\nestcell `, `large\nestcell 20\nestcell `)+`\cell `+cell("New")+`\row `+cell("Imprint")+cell("Terms")+`\row\pard End\par}`)
	require.Equal(t, "Logo | Shop\n\nsmall | "+long+"\nlarge | 20\n\nNew\nImprint | Terms\n\nEnd", c.Text)
}

func TestOpenDocumentHasItsTitleAndNoHiddenText(t *testing.T) {
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s"><office:automatic-styles>` +
		`<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/><style:style style:name="H"><style:text-properties text:display="none"/></style:style></office:automatic-styles>` +
		`<office:body><office:text><text:p text:style-name="P1">House rules</text:p><text:p>Dogs <text:span text:style-name="H">and cats </text:span>stay out.</text:p><text:p text:style-name="H">Draft.</text:p></office:text></office:body></office:document-content>`
	c := read(t, "x.odt", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})))
	require.Equal(t, "# House rules\n\nDogs stay out.", c.Text)
	require.Equal(t, "House rules", c.Title)
}

// 10⁶ is not 106.
func TestOpenDocumentKeepsItsRaisedLoweredAndStruckCharacters(t *testing.T) {
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:fo="f"><office:automatic-styles>` +
		`<style:style style:name="T1" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>` +
		`<style:style style:name="T2" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>` +
		`<style:style style:name="T3" style:family="text"><style:text-properties style:text-line-through-style="solid"/></style:style></office:automatic-styles>` +
		`<office:body><office:text><text:p>10<text:span text:style-name="T1">6</text:span> of H<text:span text:style-name="T2">2</text:span>O cost <text:span text:style-name="T3">80</text:span> 95.</text:p></office:text></office:body></office:document-content>`
	c := read(t, "x.odt", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})))
	require.Equal(t, "10⁶ of H₂O cost ~~80~~ 95.", c.Text)
}

func TestRichTextHasItsFootnotesBelowTheirParagraph(t *testing.T) {
	for _, note := range []string{`{\super\chftn}{\*\footnote\chftn\plain\pard {\pard Without {\b heating}.\par}}`, `{\footnote Without heating.}`} {
		c := read(t, "a.rtf", `{\rtf1\ansi\pard The rent`+note+` is 900 euros.\par\pard End\par}`)
		require.Equal(t, "The rent¹ is 900 euros.\n\n¹ Without heating.\n\nEnd", c.Text)
	}
}

func TestRichTextHasItsTextBoxesAndComments(t *testing.T) {
	for name, box := range map[string]string{
		"new":      `{\shp{\*\shpinst\shpleft1{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard Bring a lamp.\par\pard And a coat.\par}}{\shprslt{\*\do\dobxpage{\dptxbxtext\pard Bring a lamp.\par}}}}`,
		"old":      `{\*\do\dobxpage\dptxbx{\dptxbxtext\pard Bring a lamp.\par\pard And a coat.\par}\dpx1}`,
		"in group": `{\shpgrp{\*\shpinst{\shp{\*\shpinst{\shptxt Bring a lamp.\par And a coat.}}}}}`,
	} {
		c := read(t, "a.rtf", `{\rtf1\ansi\pard The rent`+box+` is 900 euros.\par\pard End\par}`)
		require.Equal(t, "The rent is 900 euros.\n\nBring a lamp. And a coat.\n\nEnd", c.Text, name)
	}
	c := read(t, "a.rtf", `{\rtf1\ansi\pard The rent{\*\atnid AB}{\*\atnauthor Ann Berg}\chatn{\*\annotation{\*\atnref 1}{\*\atndate 17}\pard\plain {\chatn}Since {\b when}?\par} is 900 euros.\par{\*\unknown{\shptxt no}}\pard End{\*\annotation why}\par}`)
	require.Equal(t, "The rent is 900 euros.\n\nComment (Ann Berg): Since when?\n\nEnd\n\nComment: why", c.Text)
}

func TestOpenSpreadsheetHasItsSheetsAndDates(t *testing.T) {
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s"><office:automatic-styles><style:style style:name="ta2"><style:table-properties table:display="false"/></style:style></office:automatic-styles>` +
		`<office:body><office:spreadsheet><table:table table:name="Staff"><table:table-row><table:table-cell office:value-type="string"><text:p>Born</text:p></table:table-cell><table:table-cell table:number-columns-repeated="1020"/></table:table-row>` +
		`<table:table-row><table:table-cell office:value-type="date" office:date-value="1976-06-01"><text:p>06/01/76</text:p></table:table-cell></table:table-row>` +
		`<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>` +
		`<table:table table:name="Old" table:style-name="ta2"><table:table-row><table:table-cell><text:p>hidden</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
	c := read(t, "x.ods", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})))
	require.Equal(t, "## Staff\n\nBorn\n1976-06-01", c.Text)
}

func TestOpenSpreadsheetHasItsTimesTextBoxesAndNoHiddenColumns(t *testing.T) {
	cell := func(date, text string) string {
		return `<table:table-cell office:value-type="date" office:date-value="` + date + `"><text:p>` + text + `</text:p></table:table-cell>`
	}
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d"><office:body><office:spreadsheet><table:table table:name="Plan">` +
		`<table:shapes><draw:frame><draw:text-box><text:p>Bring a lamp.</text:p></draw:text-box></draw:frame><draw:custom-shape><text:p/></draw:custom-shape></table:shapes>` +
		`<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/><table:table-column/>` +
		`<table:table-row><table:table-cell><text:p>Start</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>secret</text:p></table:table-cell><table:table-cell><text:p>End</text:p></table:table-cell></table:table-row>` +
		`<table:table-row>` + cell("2026-06-01T14:30:00", "06/01/26 2:30 PM") + `<table:table-cell/><table:table-cell/>` + cell("2026-06-01T18:05:07.500", "18:05:07") + `</table:table-row>` +
		`<table:table-row>` + cell("2026-06-02T00:00:00", "2. Juni 2026") + `<table:table-cell/><table:table-cell/><table:table-cell><text:p>ten chars!</text:p><text:p>and more</text:p></table:table-cell></table:table-row>` +
		`</table:table></office:spreadsheet></office:body></office:document-content>`
	c := read(t, "x.ods", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})))
	require.Equal(t, "## Plan\n\nStart | End\n2026-06-01 14:30 | 2026-06-01 18:05:07\n2026-06-02 | ten chars! and more\n\nBring a lamp.", c.Text)
}

func TestTextThatBeginsLikeAnotherTypeIsText(t *testing.T) {
	for name, raw := range map[string]string{"a.txt": "BMW costs 30,000 euros.", "b.txt": "MZ is the code of Mozambique.", "c.log": "ID3 2026-05-05 started", "d.json": `{"rent": 900}`} {
		require.Equal(t, raw, read(t, name, raw).Text)
	}
	kind, _ := All().Detect("x.txt", "", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01"))
	require.Equal(t, "png", kind)
}

func TestOpenDocumentMayNameItsTypeInTheManifestOnly(t *testing.T) {
	const media = "application/vnd.oasis.opendocument.spreadsheet"
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:spreadsheet><table:table table:name="Staff"><table:table-row><table:table-cell><text:p>Ann</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
	c := read(t, "x.ods", string(zipped(map[string]string{"META-INF/manifest.xml": `<manifest:manifest><manifest:file-entry manifest:full-path="/" manifest:media-type="` + media + `"/></manifest:manifest>`, "content.xml": content})))
	require.Equal(t, "## Staff\n\nAnn", c.Text)
}

func TestOpenDocumentHasItsEquationsAndCharts(t *testing.T) {
	object := func(name string) string {
		return `<draw:frame><draw:object xlink:href="./` + name + `"/><draw:image xlink:href="./ObjectReplacements/` + name + `"/></draw:frame>`
	}
	cells := func(texts ...string) string {
		return `<table:table-row><table:table-cell><text:p>` + strings.Join(texts, `</text:p></table:table-cell><table:table-cell><text:p>`) + `</text:p></table:table-cell></table:table-row>`
	}
	c := read(t, "x.odt", string(zipped(map[string]string{
		"mimetype": "application/vnd.oasis.opendocument.text",
		"content.xml": `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:xlink="x"><office:body><office:text><text:p>Energy is ` + object("Object 1") +
			`.</text:p><text:p>` + object("Object 2") + `Rents rise.</text:p><text:p>End</text:p></office:text></office:body></office:document-content>`,
		"Object 1/content.xml": `<math xmlns="m"><semantics><mrow><mi>E</mi><mo>=</mo><mfrac><mi>m</mi><mn>2</mn></mfrac></mrow><annotation>E = m over 2</annotation></semantics></math>`,
		"Object 2/content.xml": `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:chart="c"><office:body><office:chart><chart:chart><chart:title><text:p>Rents</text:p></chart:title>` +
			`<table:table table:name="local-table">` + cells("", "Flat") + cells("2025", "900") + `</table:table></chart:chart></office:chart></office:body></office:document-content>`,
	})))
	require.Equal(t, "Energy is E=m/2.\n\nRents rise.\n\nRents\n\n| Flat\n2025 | 900\n\nEnd", c.Text)
	c = read(t, "x.ods", string(zipped(map[string]string{
		"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml": `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:xlink="x"><office:body><office:spreadsheet><table:table table:name="Flats">` +
			`<table:table-row><table:table-cell><text:p>2025</text:p>` + object("Object 1") + `</table:table-cell><table:table-cell><text:p>900</text:p></table:table-cell></table:table-row>` + cells("2026", "950") + `</table:table></office:spreadsheet></office:body></office:document-content>`,
		"Object 1/content.xml": `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:chart="c"><office:body><office:chart><chart:chart><chart:title><text:p>Rents</text:p></chart:title>` +
			`<table:table table:name="local-table">` + cells("2025", "900") + `</table:table></chart:chart></office:chart></office:body></office:document-content>`,
	})))
	require.Equal(t, "## Flats\n\n2025 | 900\n2026 | 950\n\nRents", c.Text)
}

func TestRichTextHasItsHeadersAndFootersOnce(t *testing.T) {
	table := `\pard\intbl Animal Hospital\cell Tel. 555 1212\cell\row\pard\par`
	c := read(t, "a.rtf", `{\rtf1\ansi {\headerr `+table+`}{\headerl `+table+`}{\footer Page 1\par}{\footerf\b Customer 88123\par}\pard Rent{\footnote Net.} is 900.\par\pard\intbl a\cell b\cell\row\pard\sect}`)
	require.Equal(t, "Rent¹ is 900.\n\n¹ Net.\n\na | b\n\nHeader: Animal Hospital Tel. 555 1212\n\nFooter: Customer 88123", c.Text)
}

func TestEdgesThatSayNothingButThePageAreLeftOut(t *testing.T) {
	for _, text := range []string{"", "3", "- 3 -", "3/5", "Page 2 of 5", "Page sur", "Página 2 de 5", "Seite von", "Side 1 av 3", "Страница 2 из 5", "第 3 页", "页面 22", "ページ 3", "페이지 4", "p. 4", "of"} {
		require.True(t, isPageCounter(text), text)
	}
	for _, text := range []string{"Page 2 of the lease", "Acme", "2/5/2026", "Page 12.50", "3 %", "Seite 2 von 5 – vertraulich", "Customer 88123"} {
		require.False(t, isPageCounter(text), text)
	}
}

// In "कि" the vowel stands left of its consonant.
func TestVowelsLeftOfTheirConsonantsStayBehindThem(t *testing.T) {
	row := []glyph{{r: 'क', left: 20, right: 30, size: 10}, {r: 'ि', left: 12, right: 20, size: 10}, {r: 'र', left: 30, right: 38, size: 10}, {r: 'त', left: 38, right: 46, size: 10}}
	require.Equal(t, "किरत", plain(fromLeft(row)))
}

func TestMailWhoseBoundaryIsNowhereKeepsItsText(t *testing.T) {
	c := read(t, "a.eml", "Subject: Rent\nContent-Type: multipart/alternative; boundary=x\nContent-Transfer-Encoding: quoted-printable\n\nIt is 900 =\neuros.\n")
	require.Equal(t, "# Rent\n\nIt is 900 euros.", c.Text)
	c = read(t, "a.eml", "Subject: Rent\nContent-Type: multipart/mixed; boundary=x\n\nFor old programs.\n--x\nContent-Type: multipart/alternative; boundary=y\n\nIt is 900 euros.\n--x--\n")
	require.Equal(t, "# Rent\n\nIt is 900 euros.", c.Text)
}

func TestTextThatBeginsLikeABrokenMailStaysText(t *testing.T) {
	raw := "from: Ada <ada@example.org>\nsubject: Miete\nmessage-id: <1@example.org>\ncontent-type: multipart/mixed\nto: Bo\n\nEs sind 900 Euro.\n"
	require.Contains(t, read(t, "mail.txt", raw).Text, "Es sind 900 Euro.")
}

func TestNamesOfAttachmentsAreDecodedInAnyEncoding(t *testing.T) {
	c := read(t, "a.eml", "Subject: Rent\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nSee the contract.\n--x\n"+
		"Content-Type: application/pdf; name=\"=?gb2312?B?us/NrA==?=.pdf\"\nContent-Disposition: attachment\n\nx\n--x--\n")
	require.Contains(t, c.Text, "合同.pdf")
}

func TestNumbersOfSeveralNotesStayApart(t *testing.T) {
	c := read(t, "a.html", "<html><body><p>The fee is 120<sup>1, 2 </sup>euros, and 80<sup>3; 14</sup>.</p></body></html>")
	require.Equal(t, "The fee is 120^(1,2) euros, and 80^(3;14).", c.Text)
}

func TestLettersOfJSONAreReadAsLetters(t *testing.T) {
	for in, want := range map[string]string{
		`{"tenant": "M\u00fcller", "city": "\u5317\u4eac", "face": "\ud83d\ude00"}`: `{"tenant": "Müller", "city": "北京", "face": "😀"}`,
		`{"a": "\u0022\u000a \\u00fc \ud83d"}`:                                      `{"a": "\u0022\u000a \\u00fc \ud83d"}`,
		"{\"a\": \"\\u00e9\"}\n{\"a\": \"\\u00e8\"}":                                "{\"a\": \"é\"}\n{\"a\": \"è\"}",
		`{not JSON: "\u00fc"}`:                                                      `{not JSON: "\u00fc"}`,
	} {
		require.Equal(t, want, read(t, "a.json", in).Text)
	}
}

func TestEveryTextOfAMailIsRead(t *testing.T) {
	page, plain := "Content-Type: text/html\n\n<p>The rent is <b>900</b> euros.</p>\n", "Content-Type: text/plain\n\nThe rent is 900 euros.\n"
	mixed := "Subject: Rent\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
	for name, c := range map[string]struct{ raw, want string }{
		"the footer of a list":        {mixed + page + "--x\nContent-Type: text/plain\n\nTo leave this list, write to us.\n--x--\n", "The rent is 900 euros.\n\nTo leave this list, write to us."},
		"a message that is attached":  {mixed + page + "--x\nContent-Type: message/rfc822\n\nSubject: Old\n\nIt was 800.\n--x--\n", "The rent is 900 euros.\n\n# Old\n\nIt was 800."},
		"alternatives":                {mixed + "Content-Type: multipart/alternative; boundary=y\n\n--y\n" + plain + "--y\n" + page + "--y--\n--x\nContent-Type: text/html\n\n<p>Sent from a phone.</p>\n--x--\n", "The rent is 900 euros.\n\nSent from a phone."},
		"a plain text that is a hint": {"Subject: Rent\nContent-Type: multipart/alternative; boundary=y\n\n--y\nContent-Type: text/plain\n\nPlease use a program that shows HTML.\n--y\nContent-Type: text/html\n\n<p>The rent of the flat in Elm Street is 900 euros from the first of May 2027 on, and it is due on the third working day of each month.</p>\n--y--\n", "The rent of the flat in Elm Street is 900 euros from the first of May 2027 on, and it is due on the third working day of each month."},
		"an empty plain text":         {"Subject: Rent\nContent-Type: multipart/alternative; boundary=y\n\n--y\nContent-Type: text/plain\n\n\n--y\n" + page + "--y--\n", "The rent is 900 euros."},
	} {
		require.Equal(t, "# Rent\n\n"+c.want, read(t, "a.eml", c.raw).Text, name)
	}
}

// Browsers save pages with their pictures, and many programs export pages as files of Word and Excel.
func TestPagesThatAreSavedUnderOtherNamesAreRead(t *testing.T) {
	saved := func(headers, page string) string {
		return headers + "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"b\"; type=\"text/html\"\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: file:///page\r\n\r\n" +
			page + "\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-Location: file:///a.png\r\n\r\niVBORw0KGgo=\r\n--b--\r\n"
	}
	page := "<html><head><title>Leave policy</title></head><body><h1>Leave</h1><p>Twenty-eight days, 5 =E2=82=AC each.</p></body></html>"
	for name, c := range map[string]struct{ raw, kind, text, title string }{
		"Leave.doc":    {`<html xmlns:o="urn:schemas-microsoft-com:office:office"><body><p>Twenty-eight days.</p></body></html>`, "html", "Twenty-eight days.", ""},
		"Invoices.xls": {"\n<table><tr><th>Invoice</th><th>Sum</th></tr><tr><td>17</td><td>120,00</td></tr></table>", "html", "Invoice | Sum\n17 | 120,00", ""},
		"Leave.mht":    {saved("From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/\r\nSubject: Leave\r\nDate: Tue, 5 May 2026 10:00:00 +0200\r\n", page), "eml", "# Leave\n\nTwenty-eight days, 5 € each.", "Leave"},
		"Policy.doc":   {saved("Date: Tue, 5 May 2026 10:00:00 +0200\r\nMessage-ID: <1.2@wiki>\r\nSubject: Exported From Confluence\r\n", page), "eml", "# Leave\n\nTwenty-eight days, 5 € each.", "Leave"},
		"Plain.mhtml":  {"From: <Saved by a browser>\r\nSubject: Plain\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Twenty-eight days.</p>", "eml", "Twenty-eight days.", ""},
	} {
		kind, ok := All().Detect(name, "", []byte(c.raw))
		require.True(t, ok, name)
		require.Equal(t, c.kind, kind, name)
		got := read(t, name, c.raw)
		require.Equal(t, c.text, strings.TrimSpace(got.Text), name)
		if c.title != "" {
			require.Equal(t, c.title, got.Title, name)
		}
	}
	sent := read(t, "a.eml", saved("From: Ada <ada@example.org>\r\nSubject: Leave\r\n", page))
	require.Contains(t, sent.Text, "From: Ada <ada@example.org>", "a mail to hidden recipients is a mail")
	_, ok := All().Detect("a.xyz", "", []byte("MIME-Version: 1.0\r\n\r\nplain words"))
	require.False(t, ok)
}

func TestOpenPresentationHasItsSlidesNotesAndFooters(t *testing.T) {
	frame := func(class, text string) string {
		return `<draw:frame presentation:class="` + class + `"><draw:text-box>` + text + `</draw:text-box></draw:frame>`
	}
	p := func(text string) string { return `<text:p>` + text + `</text:p>` }
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" xmlns:presentation="p" xmlns:style="s" xmlns:dc="c"><office:automatic-styles>` +
		`<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style></office:automatic-styles>` +
		`<office:body><office:presentation><presentation:footer-decl presentation:name="f1">Harbour board 2026</presentation:footer-decl>` +
		`<draw:page draw:name="page1" draw:style-name="dp1">` + frame("outline", `<text:list><text:list-item>`+p("Dues rise")+`</text:list-item></text:list>`) + frame("title", p("Dues")+p("of 2026")) +
		`<draw:custom-shape>` + p("In a shape") + `</draw:custom-shape><office:annotation><dc:creator>Ann</dc:creator>` + p("Since when?") + `</office:annotation>` +
		`<presentation:notes>` + frame("notes", p("Say this.")) + `</presentation:notes></draw:page>` +
		`<draw:page draw:name="page2" draw:style-name="dp2"><draw:frame><table:table><table:table-row><table:table-cell>` + p("Berth") + `</table:table-cell><table:table-cell>` + p("Price") + `</table:table-cell></table:table-row>` +
		`<table:table-row><table:table-cell>` + p("4") + `</table:table-cell><table:table-cell>` + p("120") + `</table:table-cell></table:table-row></table:table></draw:frame></draw:page>` +
		`</office:presentation></office:body></office:document-content>`
	for name, media := range map[string]string{"Dues.odp": "application/vnd.oasis.opendocument.presentation", "Dues.otp": "application/vnd.oasis.opendocument.presentation-template"} {
		c := read(t, name, string(zipped(map[string]string{"mimetype": media, "content.xml": content})))
		require.Equal(t, "## Slide 1: Dues of 2026\n\n- Dues rise\n\nIn a shape\n\nComment: Since when?\n\nNotes: Say this.\n\n## Slide 2 (hidden)\n\nBerth | Price\n4 | 120\n\nFooter: Harbour board 2026", c.Text)
	}
}
