package extract

import (
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

func TestOpenSpreadsheetHasItsSheetsAndDates(t *testing.T) {
	content := `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s"><office:automatic-styles><style:style style:name="ta2"><style:table-properties table:display="false"/></style:style></office:automatic-styles>` +
		`<office:body><office:spreadsheet><table:table table:name="Staff"><table:table-row><table:table-cell office:value-type="string"><text:p>Born</text:p></table:table-cell><table:table-cell table:number-columns-repeated="1020"/></table:table-row>` +
		`<table:table-row><table:table-cell office:value-type="date" office:date-value="1976-06-01"><text:p>06/01/76</text:p></table:table-cell></table:table-row>` +
		`<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>` +
		`<table:table table:name="Old" table:style-name="ta2"><table:table-row><table:table-cell><text:p>hidden</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
	c := read(t, "x.ods", string(zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})))
	require.Equal(t, "## Staff\n\nBorn\n1976-06-01", c.Text)
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
