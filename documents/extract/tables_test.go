package extract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/palaver-chat/palaver/documents/tables"
)

func wordTable(rows ...string) string { return "<w:tbl>" + strings.Join(rows, "") + "</w:tbl>" }

func wordRow(cells ...string) string { return "<w:tr>" + strings.Join(cells, "") + "</w:tr>" }

func wordCell(properties, content string) string {
	if !strings.HasPrefix(content, "<") {
		content = "<w:p><w:r><w:t>" + content + "</w:t></w:r></w:p>"
	}
	return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + content + "</w:tc>"
}

func TestTablesThatFillTheOnlyCellOfAnotherStayTables(t *testing.T) {
	table := wordTable(
		wordRow(wordCell(`<w:vMerge w:val="restart"/>`, "North"), wordCell("", "May"), wordCell("", "1")),
		wordRow(wordCell("<w:vMerge/>", "<w:p/>"), wordCell("", "June"), wordCell("", "2")),
		wordRow(wordCell(`<w:gridSpan w:val="2"/>`, "Sum"), wordCell("", "3")))
	rows := "North | May | 1\nNorth | June | 2\nSum | Sum | 3"
	text := func(s string) string { return "<w:p><w:r><w:t>" + s + "</w:t></w:r></w:p>" }
	for body, want := range map[string]string{
		table:                                   rows,
		wordTable(wordRow(wordCell("", table))): rows,
		wordTable(wordRow(wordCell("", wordTable(wordRow(wordCell("", table)))))):                             rows,
		wordTable(wordRow(wordCell("", text("Sales")+table+text("Audited")))):                                 "Sales\n" + rows + "\nAudited",
		wordTable(wordRow(wordCell("", "Title")), wordRow(wordCell("", table)), wordRow(wordCell("", ""))):    "Title\n" + rows,
		wordTable(wordRow(wordCell("", "Left"), wordCell("", wordTable(wordRow(wordCell("", "in a cell")))))): "Left | in a cell",
	} {
		parts := wordParts(body)
		delete(parts, "word/footnotes.xml")
		got, err := All().Text(t.Context(), "docx", zipped(parts))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestHeadersAndFootersOfSheetsKeepNumbersThatAreNoPageCounters(t *testing.T) {
	for code, want := range map[string]string{
		"&L4711/2025":                 "\n\nFooter: 4711/2025",
		"&CPage &P of &N":             "",
		"&C&P+4/&N":                   "",
		"&R&\"Arial,Bold\"&12Terms 7": "\n\nFooter: Terms 7",
		"&L&D &T&RR&&D":               "\n\nFooter: R&D",
	} {
		book := excelize.NewFile()
		require.NoError(t, book.SetCellValue("Sheet1", "A1", "x"))
		require.NoError(t, book.SetHeaderFooter("Sheet1", &excelize.HeaderFooterOptions{OddFooter: code}))
		var raw bytes.Buffer
		require.NoError(t, book.Write(&raw))
		text, err := All().Text(t.Context(), "xlsx", raw.Bytes())
		require.NoError(t, err)
		require.Equal(t, "## Sheet1\n\nx"+want, text, code)
	}
}

func TestTotalsOfTablesWithoutStoredValuesAreComputed(t *testing.T) {
	for formula, want := range map[string]string{
		"SUBTOTAL(109,[Amount])":        "60",
		"SUM(Sales[Amount])":            "60",
		"SUM([Amount])/COUNT([Amount])": "20",
		"SUM(Other[Amount])":            noValue,
		"SUM([Missing])":                noValue,
	} {
		book := excelize.NewFile()
		for cell, value := range map[string]any{"A1": "Month", "B1": "Amount", "A2": "May", "B2": 10, "A3": "June", "B3": 20, "A4": "July", "B4": 30, "A5": "Total"} {
			require.NoError(t, book.SetCellValue("Sheet1", cell, value))
		}
		require.NoError(t, book.AddTable("Sheet1", &excelize.Table{Range: "A1:B5", Name: "Sales"}))
		require.NoError(t, book.SetCellFormula("Sheet1", "B5", formula))
		var raw bytes.Buffer
		require.NoError(t, book.Write(&raw))
		text, err := All().Text(t.Context(), "xlsx", raw.Bytes())
		require.NoError(t, err)
		require.Equal(t, "## Sheet1\n\nMonth | Amount\nMay | 10\nJune | 20\nJuly | 30\nTotal | "+want, text, formula)
	}
}

func TestPageKeepsTheRowsOfATableInACell(t *testing.T) {
	cells := func(texts ...string) string { return "<tr><td>" + strings.Join(texts, "<td>") + "</tr>" }
	table := func(rows ...string) string { return "<table>" + strings.Join(rows, "") + "</table>" }
	prices := table(cells("Size", "Month", "Year"), cells("small", "10", "100"), cells("large", "", "200"))
	header, long := cells("Plan", "Prices", "Note"), strings.TrimSpace(strings.Repeat("long ", 60))
	for name, tc := range map[string]struct{ in, want string }{
		"short":   {table(header, cells("Basic", "In euros "+prices, "new"), cells("Pro", "30", "old")), "Plan | Prices | Note\nBasic | In euros Size: Month, Year; small: 10, 100; large: , 200 | new\nPro | 30 | old"},
		"one row": {table(cells("Basic", table(cells("small", "10", "100")), "new")), "Basic | small: 10, 100 | new"},
		"long": {table(header, cells("Basic", table(cells("small", long), cells("large", "20")), "new"), cells("Pro", "30", "old")),
			"Plan | Prices | Note\n\nBasic\n\nsmall | " + long + "\nlarge | 20\n\nnew\n\nPlan | Prices | Note\nPro | 30 | old"},
		"a page with a title": {table(cells("Logo", "Shop"), cells(table(cells("small", long), cells("large", "20")), "New"), cells("Imprint", "Terms")),
			"Logo | Shop\n\nsmall | " + long + "\nlarge | 20\n\nNew\n\nImprint | Terms"},
		"a page": {table(cells(prices, prices)), "Size | Month | Year\nsmall | 10 | 100\nlarge |  | 200\n\nSize | Month | Year\nsmall | 10 | 100\nlarge |  | 200"},
	} {
		text, err := All().Text(t.Context(), "html", []byte(tc.in))
		require.NoError(t, err)
		require.Equal(t, tc.want, text, name)
	}
}

func TestRowsAfterATableInACellHaveTheHeaderAgainIfTheirTableHasLabels(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("long ", 60))
	inner := wordCell("", wordTable(wordRow(wordCell("", "small"), wordCell("", long)), wordRow(wordCell("", "large"), wordCell("", "20"))))
	rows := "small | " + long + "\nlarge | 20"
	for body, want := range map[string]string{
		wordTable(wordRow(wordCell("", "Plan"), wordCell("", "Prices")), wordRow(wordCell("", "Basic"), inner), wordRow(wordCell("", "Pro"), wordCell("", "30"))):    "Plan | Prices\nBasic\n\n" + rows + "\n\nPlan | Prices\nPro | 30",
		wordTable(wordRow(wordCell("", "Logo"), wordCell("", "Shop")), wordRow(inner, wordCell("", "New")), wordRow(wordCell("", "Imprint"), wordCell("", "Terms"))): "Logo | Shop\n" + rows + "\n\nNew\n\nImprint | Terms",
	} {
		parts := wordParts(body)
		delete(parts, "word/footnotes.xml")
		got, err := All().Text(t.Context(), "docx", zipped(parts))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestEachTableOfASheetHasItsOwnHeader(t *testing.T) {
	for name, tc := range map[string]struct {
		rows [][]string
		want string
	}{
		"two tables":              {[][]string{{"Bank", "Ratio"}, {"North", "8.5"}, {}, {"Town", "People"}, {"Bern", "134000"}}, "Bank | Ratio\nNorth | 8.5\n\nTown | People\nBern | 134000"},
		"a title over the second": {[][]string{{"Bank", "Ratio"}, {"North", "8.5"}, {}, {"Towns"}, {"Town", "2024", "2025"}, {"Bern", "134000", "135000"}}, "Bank | Ratio\nNorth | 8.5\n\nTowns\nTown | 2024 | 2025\nBern | 134000 | 135000"},
		"rows after a spacer":     {[][]string{{"Bank", "Ratio"}, {"North", "8.5"}, {}, {"South", "9.5"}, {}, {}, {"West", "7.5"}}, "Bank | Ratio\nNorth | 8.5\nSouth | 9.5\nWest | 7.5"},
		"groups after spacers":    {[][]string{{"銀行", "比率", "年"}, {"北", "8.5", "2024"}, {}, {"南部"}, {"南", "9.5", "2025"}}, "銀行 | 比率 | 年\n北 | 8.5 | 2024\n南部\n南 | 9.5 | 2025"},
		"a row with words only":   {[][]string{{"Bank", "Note", "Ratio"}, {"North", "new", "8.5"}, {}, {"South", "closed"}, {"West", "old", "7.5"}}, "Bank | Note | Ratio\nNorth | new | 8.5\nSouth | closed\nWest | old | 7.5"},
		"words only":              {[][]string{{"Name", "Role"}, {"Ann", "chair"}, {}, {"Bo", "clerk"}, {"Cy", "cook"}}, "Name | Role\nAnn | chair\nBo | clerk\nCy | cook"},
		"a spacer at the end":     {[][]string{{"Bank", "Ratio"}, {"North", "8.5"}, {}, {"Source:"}, {"a bank"}, {"and one"}, {"more"}}, "Bank | Ratio\nNorth | 8.5\nSource:\na bank\nand one\nmore"},
		"empty row below header":  {[][]string{{"Bank", "Place"}, {}, {"North", "Bern"}, {"South", "9"}}, "Bank | Place\nNorth | Bern\nSouth | 9"},
	} {
		t.Run(name, func(t *testing.T) {
			book := excelize.NewFile()
			var list, ods strings.Builder
			for i, cells := range tc.rows {
				require.NoError(t, book.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &cells))
				list.WriteString(strings.Join(cells, ",") + "\n")
				ods.WriteString("<table:table-row>")
				for _, c := range cells {
					ods.WriteString("<table:table-cell><text:p>" + c + "</text:p></table:table-cell>")
				}
				ods.WriteString("</table:table-row>")
			}
			var raw bytes.Buffer
			require.NoError(t, book.Write(&raw))
			open := zipped(map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:spreadsheet><table:table table:name="Sheet1">` + ods.String() + `</table:table></office:spreadsheet></office:body></office:document-content>`})
			require.Equal(t, tc.want, read(t, "a.csv", list.String()).Text)
			require.Equal(t, "## Sheet1\n\n"+tc.want, read(t, "a.xlsx", raw.String()).Text)
			require.Equal(t, "## Sheet1\n\n"+tc.want, read(t, "a.ods", string(open)).Text)
		})
	}
}

// The passages of a table that goes on over pages have the names of its columns.
func TestTableGoesOnOverPages(t *testing.T) {
	rows := func(page int) (out string) {
		for i := range 40 {
			out += fmt.Sprintf("Berth %d-%d | pier %d | %d.00\n", page, i, page, 10*i)
		}
		return strings.TrimSpace(out)
	}
	headers := func(pages ...string) (out []string) {
		text, starts := joinPages(pages)
		require.Len(t, starts, len(pages))
		for i, p := range pages {
			first, _, _ := strings.Cut(p, "\n")
			require.True(t, strings.HasPrefix(string([]rune(text)[starts[i].Start:]), first), "page %d begins at its text", i+1)
		}
		for _, table := range tables.Find(text) {
			out = append(out, fmt.Sprintf("%s:%d", table.Columns[0].Name, len(table.Rows)))
		}
		return out
	}
	require.Equal(t, []string{"Berth:121"}, headers("Berth | Place | Price\n"+rows(1), rows(2), rows(3)+"\nTotal |  | 23400.00\n\nThe prices are without tax."))
	require.Equal(t, []string{"Berth:40", "Town:2"}, headers("Berth | Place | Price\n"+rows(1), "Town | Land | People\nBern | CH | 134000\nBonn | DE | 330000"), "a new table begins")
	require.Equal(t, []string{"Berth:40", "Berth:40"}, headers("Berth | Place | Price\n"+rows(1), "Berth | Place | Price\n"+rows(2)), "the header stands there again")
	require.Equal(t, []string{"Berth:40", "column 1:2"}, headers("Berth | Place | Price\n"+rows(1), "Bern | 134000\nBonn | 330000"), "another number of columns")
}

func TestSheetsKeepRaisedLoweredAndStruckCharacters(t *testing.T) {
	book := excelize.NewFile()
	plain, sup, sub, gone := &excelize.Font{}, &excelize.Font{VertAlign: "superscript"}, &excelize.Font{VertAlign: "subscript"}, &excelize.Font{Strike: true, Bold: true}
	require.NoError(t, book.SetCellRichText("Sheet1", "A1", []excelize.RichTextRun{{Text: "120", Font: plain}, {Text: "3", Font: sup}, {Text: " & H", Font: plain}, {Text: "2", Font: sub}, {Text: "O", Font: plain}}))
	require.NoError(t, book.SetCellRichText("Sheet1", "B1", []excelize.RichTextRun{{Text: "Rent ", Font: plain}, {Text: "900", Font: gone}, {Text: " euros", Font: gone}, {Text: " 950", Font: plain}}))
	style, err := book.NewStyle(&excelize.Style{Font: gone})
	require.NoError(t, err)
	require.NoError(t, book.SetSheetRow("Sheet1", "A2", &[]any{"Fee", 80, 95}))
	require.NoError(t, book.SetCellStyle("Sheet1", "B2", "B2", style))
	require.NoError(t, book.SetCellStyle("Sheet1", "D2", "E2", style))
	var raw bytes.Buffer
	require.NoError(t, book.Write(&raw))
	require.Equal(t, "## Sheet1\n\n120³ & H₂O | Rent ~~900~~ ~~euros~~ 950\nFee | ~~80~~ | 95", read(t, "a.xlsx", raw.String()).Text)
}
