package retrieval_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// A statement says company and year once, above its table; the prose says them all the time.
type statement struct {
	prose   []string
	caption []string
	rows    [][]string
	asked   []string
	figure  string
}

var statements = map[string]statement{
	"en": {
		prose: []string{
			"For Nordwind Turbines, 2023 was a year of change. In 2023 Nordwind Turbines opened two plants, and the revenue of Nordwind Turbines grew in 2023 in every region. The board of Nordwind Turbines thanks all who worked for Nordwind Turbines in 2023.",
			"What drove the revenue of Nordwind Turbines in 2023 was the demand for large rotors. Nordwind Turbines expects that the demand stays as high as it was in 2023, and that the revenue of the company grows again.",
			"In 2023 the markets of Nordwind Turbines were hit by high interest rates. Nordwind Turbines nevertheless won eleven contracts in 2023. Revenue in Asia was strong in 2023, and revenue in Europe was weak for Nordwind Turbines.",
			"Nordwind Turbines is exposed to risks of currency and of supply. In 2023 Nordwind Turbines hedged most of its revenue, in millions of contracts. The policy of Nordwind Turbines on hedges did not change in 2023.",
		},
		caption: []string{"Consolidated Statements of Income", "(in millions)"},
		rows:    [][]string{{"", "2023", "2022"}, {"Revenue", "1,577", "1,400"}, {"Cost of materials", "911", "802"}, {"Depreciation", "104", "98"}},
		asked:   []string{"What was the revenue of Nordwind Turbines in 2023?", "Revenue of Nordwind Turbines in 2023 in millions", "Nordwind Turbines revenue FY2023"},
		figure:  "1,577",
	},
	"de": {
		prose: []string{
			"Für die Nordwind Turbinen AG war 2023 ein Jahr des Wandels. Die Nordwind Turbinen AG hat 2023 zwei Werke eröffnet, und der Umsatz der Nordwind Turbinen AG wuchs 2023 in jeder Region. Der Vorstand der Nordwind Turbinen AG dankt allen, die 2023 dort gearbeitet haben.",
			"Was den Umsatz der Nordwind Turbinen AG 2023 trieb, war die Nachfrage nach großen Rotoren. Die Nordwind Turbinen AG erwartet, dass die Nachfrage so hoch bleibt wie 2023, und dass der Umsatz wieder wächst.",
			"2023 litten die Märkte der Nordwind Turbinen AG unter hohen Zinsen. Die Nordwind Turbinen AG gewann 2023 dennoch elf Aufträge. Der Umsatz in Asien war 2023 stark, der Umsatz der Nordwind Turbinen AG in Europa schwach.",
			"Die Nordwind Turbinen AG hat 2023 den größten Teil ihres Umsatzes abgesichert, in Millionen von Verträgen. Die Regeln der Nordwind Turbinen AG dafür blieben 2023 gleich.",
		},
		caption: []string{"Gewinn- und Verlustrechnung des Konzerns", "(in Mio. Euro)"},
		rows:    [][]string{{"", "2023", "2022"}, {"Umsatzerlöse", "1.577", "1.400"}, {"Materialaufwand", "911", "802"}, {"Abschreibungen", "104", "98"}},
		asked:   []string{"Wie hoch war der Umsatz der Nordwind Turbinen AG 2023?", "Umsatzerlöse Nordwind Turbinen AG 2023 in Mio. Euro", "Welchen Umsatz hatte die Nordwind Turbinen AG im Jahr 2023?"},
		figure:  "1.577",
	},
}

// longTable has so many rows before those of the statement that they begin another passage.
func (s statement) longTable() statement {
	rows := s.rows[:1:1]
	for i := range 60 {
		rows = append(rows, []string{fmt.Sprintf("Item %c%c", 'a'+i/26, 'a'+i%26), fmt.Sprint(411 + i), fmt.Sprint(377 + i)})
	}
	s.rows = append(rows, s.rows[1:]...)
	return s
}

func (s statement) file(t *testing.T, format string) []byte {
	var b bytes.Buffer
	switch format {
	case "html":
		fmt.Fprintf(&b, "<html><body><p>%s</p><p>%s</p><table>", strings.Join(s.prose, "</p><p>"), strings.Join(s.caption, "<br>"))
		for _, r := range s.rows {
			fmt.Fprintf(&b, "<tr><td>%s</td></tr>", strings.Join(r, "</td><td>"))
		}
		b.WriteString("</table></body></html>")
	case "docx":
		w := zip.NewWriter(&b)
		paragraph := func(s string) string { return "<w:p><w:r><w:t>" + s + "</w:t></w:r></w:p>" }
		var body strings.Builder
		for _, p := range append(append([]string{}, s.prose...), s.caption...) {
			body.WriteString(paragraph(p))
		}
		body.WriteString("<w:tbl>")
		for _, r := range s.rows {
			body.WriteString("<w:tr>")
			for _, c := range r {
				body.WriteString("<w:tc><w:tcPr/>" + paragraph(c) + "</w:tc>")
			}
			body.WriteString("</w:tr>")
		}
		body.WriteString("</w:tbl>")
		for name, content := range map[string]string{
			"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
			"_rels/.rels":         `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
			"word/document.xml":   `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body.String() + `</w:body></w:document>`,
		} {
			part, err := w.Create(name)
			require.NoError(t, err)
			_, err = part.Write([]byte(content))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
	case "xlsx":
		book := excelize.NewFile()
		set := func(column, row int, value string) {
			cell, err := excelize.CoordinatesToCellName(column, row)
			require.NoError(t, err)
			require.NoError(t, book.SetCellValue("Sheet1", cell, value))
		}
		row := 1
		for _, p := range append(append([]string{}, s.prose...), s.caption...) {
			set(1, row, p)
			row++
		}
		for i, r := range s.rows {
			for k, c := range r {
				set(k+1, row+1+i, c)
			}
		}
		require.NoError(t, book.Write(&b))
	case "pdf":
		return s.pdf(t)
	}
	return b.Bytes()
}

// pdf writes one page of prose in lines, and one with the table in columns.
func (s statement) pdf(t *testing.T) []byte {
	var pages []string
	var page strings.Builder
	y := 800
	end := func() { pages, y = append(pages, page.String()), 800; page.Reset() }
	text := func(x int, words string) {
		var latin strings.Builder
		for _, r := range words {
			require.Less(t, r, rune(256))
			latin.WriteByte(byte(r))
		}
		fmt.Fprintf(&page, "BT /F1 10 Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", x, y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(latin.String()))
	}
	for _, p := range s.prose {
		line := ""
		for _, w := range strings.Fields(p) {
			if len(line)+len(w) > 90 {
				text(50, line)
				y, line = y-12, ""
			}
			line = strings.TrimSpace(line + " " + w)
		}
		text(50, line)
		y -= 30
	}
	end()
	for _, c := range s.caption {
		text(50, c)
		y -= 12
	}
	y -= 12
	for _, r := range s.rows {
		for k, c := range r {
			if c != "" {
				text(50+[]int{0, 250, 350}[k], c)
			}
		}
		if y -= 12; y < 60 {
			end()
		}
	}
	end()
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"}
	kids := ""
	for _, p := range pages {
		objects = append(objects, fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(p), p))
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", len(objects)))
		kids += fmt.Sprintf("%d 0 R ", len(objects))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(pages))
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func TestQuestionForAFigureFindsTheTableBeforeTheProse(t *testing.T) {
	stores := map[string]db.Store{"sqlite": litetest.Store(t)}
	pg, err := postgres.Open(t.Context(), pgtest.Database(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = pg.Close() })
	stores["postgres"] = pg
	for lang, short := range statements {
		for length, s := range map[string]statement{"short": short, "long": short.longTable()} {
			for _, format := range []string{"html", "docx", "xlsx", "pdf"} {
				text, err := extract.All().Text(t.Context(), format, s.file(t, format))
				require.NoError(t, err)
				require.Contains(t, text, " | ", format)
				for name, store := range stores {
					person := strings.Join([]string{"ann", lang, length, format}, "-")
					add := func(id, title, text string) {
						id = person + id
						require.NoError(t, store.CreateDocument(t.Context(), chat.Document{ID: id, Owner: person, Title: title, Format: format}, nil))
						require.NoError(t, store.StoreText(t.Context(), person, id, text, chunk.ForDocument(id, text), nil))
					}
					add("report", "Report of the year", text)
					add("other", "Another report", strings.NewReplacer("Nordwind", "Westwind", "1,577", "2,688", "1.577", "2.688").Replace(text))
					for _, q := range s.asked {
						hits, err := retrieval.New(store, nil).Search(t.Context(), person, q, nil, 5)
						require.NoError(t, err)
						require.NotEmpty(t, hits)
						require.Contains(t, hits[0].Text, s.figure, "%s, %s table in %s, %s: %q found %q", lang, length, format, name, q, hits[0].Heading)
						for _, unit := range []string{s.caption[1], "2023"} {
							require.Contains(t, hits[0].Heading+"\n"+hits[0].Text, unit, "%s %s: caption and header", format, length)
						}
					}
				}
			}
		}
	}
}
