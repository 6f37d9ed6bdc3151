package extract

import (
	"bytes"
	"errors"
	"path"

	"github.com/xuri/excelize/v2"
)

var sheetsFile = officeFile(Type{
	Name:       "xlsx",
	Label:      "Excel",
	Extensions: []string{".xlsx", ".xlsm"},
	MediaTypes: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	untitled:   true, // headings are the names of sheets
}, []string{"openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "ms-excel.sheet.macroEnabled"}, sheetsText)

// sheetsText returns the text of the sheets, each below a heading with its name, with one
// line for each row that has values. Values are written as the sheet shows them.
func sheetsText(a *archive) (_ string, err error) {
	for _, f := range a.files {
		if f.UncompressedSize64 > maxPart && parsedAsWhole(partName(f.Name)) {
			return "", errTooLarge
		}
	}
	book, err := excelize.OpenReader(bytes.NewReader(a.raw),
		excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxPart})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	var o outline
	cells := 0
	for _, name := range book.GetSheetList() {
		o.heading(2, name)
		if err := writeSheet(&o, book, name, &cells); err != nil {
			return "", err
		}
	}
	return o.text()
}

// parsedAsWhole reports whether excelize parses a part into structures in memory, which are
// many times larger than the XML. Excelize streams sheets and long lists of strings.
func parsedAsWhole(part string) bool {
	dir, name := path.Split(part)
	return name != "sharedstrings.xml" && (dir == "" || dir == "xl/" || dir == "xl/_rels/" || dir == "xl/theme/")
}

func writeSheet(o *outline, book *excelize.File, name string, cells *int) error {
	rows, err := book.Rows(name)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		*cells += len(columns)
		if *cells > maxCells || o.full() {
			return errTooLarge
		}
		o.row(columns)
	}
	return rows.Error()
}
