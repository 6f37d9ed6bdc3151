package extract

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

func TestNumbersOfSheetsAreWrittenAsTheSheetShowsThem(t *testing.T) {
	conditional := `[<1000]0;[<1000000]0.0,"k";0.0,,"M"`
	for _, c := range []struct {
		code  string
		value float64
		want  string
	}{
		{"[h]:mm", 1.5, "36:00"},
		{"[h]:mm", -0.25, "-6:00"},
		{"[mm]:ss", 0.5, "720:00"},
		{"##0.0E+0", 12345.678, "12.3E+3"},
		{"##0.0E+0", -3.25, "-3.3E+0"},
		{"##0.0E+0", 999_960, "1.0E+6"},
		{"##0.00E+00", 0.0451, "45.10E-3"},
		{"##0.0E+0", 0, "0.0E+0"},
		{conditional, 250, "250"},
		{conditional, 2500, "2.5k"},
		{conditional, 2_500_000, "2.5M"},
		{`[>=50]"pass";"fail"`, 49, "fail"},
		{`[>=50]"pass";"fail"`, 50, "pass"},
		{"0.00", 2.5, "2.50"},
		{"General", 0.1 + 0.2, "0.3"},
		{"General", -4618.5600000000004, "-4618.56"},
		{"General", 123456789012345, "123456789012345"},
		{"General", 1e21, "1E+21"},
		{"General", 0.00001234, "0.00001234"},
	} {
		for _, from1904 := range []bool{false, true} {
			book := excelize.NewFile()
			require.NoError(t, book.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &from1904}))
			style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &c.code})
			require.NoError(t, err)
			require.NoError(t, book.SetCellValue("Sheet1", "B2", c.value))
			require.NoError(t, book.SetCellStyle("Sheet1", "B2", "B2", style))
			require.NoError(t, book.SetCellValue("Sheet1", "A2", "Value"))
			var raw bytes.Buffer
			require.NoError(t, book.Write(&raw))
			text, err := All().Text(t.Context(), "xlsx", raw.Bytes())
			require.NoError(t, err)
			require.Equal(t, "## Sheet1\n\nValue | "+c.want, text, "%s of %v, 1904: %v", c.code, c.value, from1904)
		}
	}
}

// "Long date" of Excel is written as the system writes it, not as the file says.
func TestLongDatesOfSheetsAreWrittenInFull(t *testing.T) {
	book, code := excelize.NewFile(), `[$-F800]dddd\,\ mmmm\ dd\,\ yyyy`
	style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &code})
	require.NoError(t, err)
	require.Equal(t, "## Sheet1\n\nTuesday, March 5, 2024", textOfCell(t, book, style, 45356))
}

// textOfCell returns the text of a book whose only cell has this style and value.
func textOfCell(t *testing.T, book *excelize.File, style int, value any) string {
	t.Helper()
	require.NoError(t, book.SetCellValue("Sheet1", "A1", value))
	require.NoError(t, book.SetCellStyle("Sheet1", "A1", "A1", style))
	var raw bytes.Buffer
	require.NoError(t, book.Write(&raw))
	text, err := All().Text(t.Context(), "xlsx", raw.Bytes())
	require.NoError(t, err)
	return text
}

// Their formats are not in the file: they are Excel's own, in China, Japan, Korea and Taiwan.
func TestDatesOfEastAsiaAreDates(t *testing.T) {
	for id, want := range map[int]string{14: "2025-12-09", 27: "2025-12-09", 31: "2025-12-09", 32: "12:00", 57: "2025-12-09", 58: "2025-12-09"} {
		book := excelize.NewFile()
		style, err := book.NewStyle(&excelize.Style{NumFmt: id})
		require.NoError(t, err)
		book.Styles.CellXfs.Xf[style].NumFmtID = &id
		require.Equal(t, "## Sheet1\n\n"+want, textOfCell(t, book, style, 46000.5), id)
	}
}

const chartHead = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">%s<c:chart><c:plotArea><c:barChart>%s</c:barChart></c:plotArea></c:chart></c:chartSpace>`

func TestChartsHaveTheirDatesSharesSizesAndGroups(t *testing.T) {
	name := `<c:tx><c:v>North</c:v></c:tx>`
	numbers := func(code string, values ...string) string {
		out := "<c:numRef><c:numCache><c:formatCode>" + code + "</c:formatCode>"
		for i, v := range values {
			out += fmt.Sprintf(`<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, i, v)
		}
		return out + "</c:numCache></c:numRef>"
	}
	points := func(values ...string) string {
		out := "<c:lvl>"
		for i, v := range values {
			if v != "" {
				out += fmt.Sprintf(`<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, i, v)
			}
		}
		return out + "</c:lvl>"
	}
	for _, c := range []struct{ what, before, series, want string }{
		{"dates and shares", "", "<c:cat>" + numbers("m/d/yy", "45000") + "</c:cat><c:val>" + numbers("0%", "0.25") + "</c:val>",
			"Category | North\n2023-03-15 | 25%"},
		{"dates from 1904", `<c:date1904 val="1"/>`, "<c:cat>" + numbers("yyyy\\-mm\\-dd", "43538") + "</c:cat><c:val>" + numbers("General", "7") + "</c:val>",
			"Category | North\n2023-03-15 | 7"},
		{"errors of the last digits", "", "<c:cat>" + numbers("General", "1") + "</c:cat><c:val>" + numbers("General", "4.4000000000000004") + "</c:val>",
			"Category | North\n1 | 4.4"},
		{"bubbles", "", "<c:xVal>" + numbers("General", "56") + "</c:xVal><c:yVal>" + numbers("General", "38") + "</c:yVal><c:bubbleSize>" + numbers("General", "308") + "</c:bubbleSize>",
			"Category | North | North (size)\n56 | 38 | 308"},
		{"groups of categories", "", "<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>" + points("May", "June", "May") + points("2024", "", "2025") + "</c:multiLvlStrCache></c:multiLvlStrRef></c:cat><c:val>" + numbers("General", "1", "2", "3") + "</c:val>",
			"Category | North\n2024, May | 1\n2024, June | 2\n2025, May | 3"},
		{"a category without a value keeps its place", "", "<c:cat>" + numbers("General", "1", "2") + "</c:cat><c:val>" + numbers("General", "5") + "</c:val>",
			"Category | North\n1 | 5\n2"},
	} {
		a, err := openArchive(zipped(map[string]string{"[Content_Types].xml": "<Types/>", "chart.xml": fmt.Sprintf(chartHead, c.before, "<c:ser>"+name+c.series+"</c:ser>")}))
		require.NoError(t, err)
		require.Equal(t, "Chart:\n\n"+c.want, chartText(a, "chart.xml"), c.what)
	}
}
