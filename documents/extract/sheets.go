package extract

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var sheetsFile = officeFile(Type{
	Name:       "xlsx",
	Label:      "Excel",
	Extensions: []string{".xlsx", ".xlsm", ".xltx", ".xltm"},
	MediaTypes: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	untitled:   true, // headings are the names of sheets
}, []string{"openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "openxmlformats-officedocument.spreadsheetml.template.main+xml", "ms-excel.sheet.macroEnabled", "ms-excel.template.macroEnabled"}, sheetsText)

// Limits of what is kept of a sheet besides its cells.
const (
	maxMerges   = 20_000
	maxFormulas = 5_000   // without a stored value, of a file
	maxUnusual  = 100_000 // rows with numbers in an unusual format, of a sheet
)

// noValue stands for the value of a formula that is neither stored nor can be computed.
const noValue = "[formula without a value]"

// sheetsText returns the text of the sheets that are shown, each below a heading with its
// name, with one line for each row that has values. Values are written as the sheet shows
// them, but dates have four-digit years. Text boxes, charts, comments, headers and footers
// follow the rows.
func sheetsText(a *archive) (_ string, err error) {
	for _, f := range a.files {
		if f.UncompressedSize64 > maxPart && parsedAsWhole(partName(f.Name)) {
			return "", errTooLarge
		}
	}
	raw, err := a.inUTF8()
	if err != nil {
		return "", err
	}
	limits := excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxPart}
	book, err := excelize.OpenReader(bytes.NewReader(raw), limits)
	if err != nil { // one of its pictures may be damaged
		if raw, err = a.onlyXML(nil); err == nil {
			book, err = excelize.OpenReader(bytes.NewReader(raw), limits)
		}
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	dropEmptyStyles(book)
	markRuns(book)
	if err := clearDates(book); err != nil {
		return "", err
	}
	parts, err := sheetParts(a)
	if err != nil {
		return "", err
	}
	r := sheetReader{a: a, book: book, computed: maxFormulas, unusual: unusualStyles(book), struck: struckStyles(book)}
	for _, name := range book.GetSheetList() {
		if parts[name].hidden || parts[name].part == "" {
			continue
		}
		r.o.heading(2, name)
		if err := r.write(name, parts[name].part); err != nil {
			return "", err
		}
	}
	return r.o.text()
}

// dropEmptyStyles takes away the styles of cells that name none: excelize reads a cell with s=""
// as an empty one.
func dropEmptyStyles(book *excelize.File) {
	book.Pkg.Range(func(name, content any) bool {
		sheet, ok := content.([]byte)
		if ok && strings.HasPrefix(name.(string), "xl/worksheets/") && bytes.Contains(sheet, []byte(` s=""`)) {
			book.Pkg.Store(name, emptyStyle.ReplaceAll(sheet, []byte("$1")))
		}
		return true
	})
}

// emptyStyle matches the beginning of a cell's tag up to a style without a value.
var emptyStyle = lazyregexp.New(`(<(?:\w+:)?c\b[^<>]*?) s=""`)

// markRuns writes parts of texts that are raised, lowered or struck through as such, which excelize joins with
// the text around them.
func markRuns(book *excelize.File) {
	book.Pkg.Range(func(name, content any) bool {
		part, ok := content.([]byte)
		if !ok || !strings.EqualFold(name.(string), "xl/sharedStrings.xml") && !strings.HasPrefix(name.(string), "xl/worksheets/") || !bytes.Contains(part, []byte("vertAlign")) && !bytes.Contains(part, []byte("strike")) {
			return true
		}
		book.Pkg.Store(name, withMarks(part))
		return true
	})
}

// withMarks returns an XML part with the texts of its runs marked: "<r><rPr><strike/></rPr><t>900</t></r>".
func withMarks(part []byte) []byte {
	tag := []byte("rPr>") // ends the tags around the properties of a run
	var out []byte
	for {
		from := bytes.Index(part, tag)
		if from < 0 {
			return append(out, part...)
		}
		from += len(tag)
		length := bytes.Index(part[from:], tag)
		if length < 0 {
			return append(out, part...)
		}
		look := part[from : from+length]
		of := officeRun{raised: bytes.Contains(look, []byte(`"superscript"`)), lowered: bytes.Contains(look, []byte(`"subscript"`))}
		of.struck = bytes.Contains(look, []byte("strike")) && struckRun.Match(look)
		end := from + length + len(tag)
		m := []int(nil)
		if of != (officeRun{}) {
			m = runText.FindSubmatchIndex(part[end:])
		}
		if m != nil {
			out = append(append(out, part[:end+m[2]]...), of.mark(string(part[end+m[2]:end+m[3]]))...)
			end += m[3]
		} else {
			out = append(out, part[:end]...)
		}
		part = part[end:]
	}
}

var (
	runText   = lazyregexp.New(`^\s*<(?:\w+:)?t(?:\s[^<>]*)?>([^<]+)`)
	struckRun = lazyregexp.New(`<(?:\w+:)?strike(?:\s*/|\s+val="(?:1|true)")`)
)

// parsedAsWhole reports whether excelize parses a part into structures in memory, which are
// many times larger than the XML. Excelize streams sheets and long lists of strings.
func parsedAsWhole(part string) bool {
	dir, name := path.Split(part)
	return name != "sharedstrings.xml" && (dir == "" || dir == "xl/" || dir == "xl/_rels/" || dir == "xl/theme/")
}

type sheetPart struct {
	part   string
	hidden bool
}

// sheetParts returns the parts of the sheets by the sheets' names.
func sheetParts(a *archive) (map[string]sheetPart, error) {
	main, err := a.mainPart()
	if err != nil {
		return nil, err
	}
	relations, err := a.relations(main)
	if err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, r := range relations {
		targets[r.ID] = r.Target
	}
	var doc struct {
		Sheets []struct {
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := a.decode(main, &doc); err != nil {
		return nil, err
	}
	out := map[string]sheetPart{}
	shown := 0
	for _, s := range doc.Sheets {
		var p sheetPart
		name := ""
		for _, at := range s.Attrs {
			switch at.Name.Local {
			case "name":
				name = at.Value
			case "state":
				p.hidden = at.Value == "hidden" || at.Value == "veryHidden"
			case "id":
				p.part = targets[at.Value]
			}
		}
		if !p.hidden {
			shown++
		}
		out[name] = p
	}
	if shown == 0 { // a program that shows none is wrong
		for name, p := range out {
			p.hidden = false
			out[name] = p
		}
	}
	return out, nil
}

// builtInDates are the formats of dates and times that are not written in a book. Those from
// 27 are of China, Japan, Korea and Taiwan (ECMA-376, part 1, 18.8.30); 34, 35, 55 and 56 are
// dates in some of them and times in others.
var builtInDates = map[int]string{
	14: "yyyy-mm-dd", 15: "d-mmm-yyyy", 17: "mmm-yyyy", 22: "yyyy-mm-dd hh:mm",
	27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss", 36: "yyyy-mm-dd",
	50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}

// clearDates changes the formats of a book so that its dates have four-digit years and
// cannot be read in two ways.
func clearDates(book *excelize.File) error {
	_, _ = book.GetStyle(-1) // loads the styles
	if book.Styles == nil || book.Styles.CellXfs == nil {
		return nil
	}
	ids := map[int]int{}
	for builtIn, code := range builtInDates {
		style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &code})
		if err != nil {
			return err
		}
		if id := book.Styles.CellXfs.Xf[style].NumFmtID; id != nil {
			ids[builtIn] = *id
		}
	}
	for i, xf := range book.Styles.CellXfs.Xf {
		if xf.NumFmtID != nil {
			if id, ok := ids[*xf.NumFmtID]; ok {
				book.Styles.CellXfs.Xf[i].NumFmtID = &id
			}
		}
	}
	if book.Styles.NumFmts != nil {
		for _, f := range book.Styles.NumFmts.NumFmt {
			f.FormatCode, f.FormatCode16 = clearDate(f.FormatCode), ""
		}
	}
	return nil
}

var (
	numericDate = lazyregexp.New(`(?i)\b(?:m{1,2}|d{1,2})\\?[-/]\\?(?:m{1,2}|d{1,2})\\?[-/]\\?y{2,4}\b`)
	shortYear   = lazyregexp.New(`(?i)(^|[^y])yy($|[^y])`)
	quotedPart  = lazyregexp.New(`"[^"]*"|\[[^\]]*\]`)
)

// longDate begins the format of a date that is written in full as the system writes it. What
// follows is the date's form on the machine that made the file.
const longDate = "[$-F800]"

// clearDate returns a number format with four-digit years, and with the year first where
// month and day could be mistaken for each other.
func clearDate(code string) string {
	if strings.HasPrefix(code, longDate) {
		return "dddd, mmmm d, yyyy"
	}
	if bare := quotedPart.ReplaceAllString(code, ""); !strings.ContainsAny(bare, "yY") {
		return code
	}
	code = numericDate.ReplaceAllString(code, "yyyy-mm-dd")
	return shortYear.ReplaceAllString(code, "${1}yyyy${2}")
}

// sheetReader reads the sheets of a book.
type sheetReader struct {
	a        *archive
	book     *excelize.File
	o        outline
	cells    int
	computed int            // how many formulas may still be computed
	unusual  map[int]string // the formats of cells that numberWriter writes, by the cells' style
	struck   map[int]bool   // styles of cells whose text is struck through
	numbers  numberWriter
	tables   map[string][]excelize.Table // of the sheet that is being read
}

// sheetShape is what a sheet says about its cells before and after them.
type sheetShape struct {
	hidden   []sheetArea // columns
	merges   []sheetArea
	edges    []string               // headers and footers
	formulas map[int][]int          // columns with a formula that has no stored value, by row
	found    int                    // how many they are
	numbers  map[int]map[int]string // of cells with an unusual format, by row and column
	struck   map[int][]int          // columns of cells that are struck through, by row
	strikes  int                    // how many they are
}

// sheetArea is a range of cells, counted from 1.
type sheetArea struct {
	left, top, right, bottom int
	text                     string
}

func (r *sheetReader) write(name, part string) error {
	shape, err := r.shape(part)
	if err != nil {
		return err
	}
	rows, err := r.book.Rows(name)
	if err != nil {
		return err
	}
	defer rows.Close()
	out := sheetRows{o: &r.o}
	for number := 1; rows.Next(); number++ {
		hidden := rows.GetRowOpts().Hidden
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		r.cells += len(columns) + 1
		if r.cells > maxCells || r.o.full() {
			return errTooLarge
		}
		columns = r.values(name, number, columns, shape)
		if !hidden {
			out.row(columns)
		}
	}
	out.end(false)
	if err := rows.Error(); err != nil {
		return err
	}
	r.o.endTable()
	if err := r.writeDrawings(part); err != nil {
		return err
	}
	for _, text := range shape.edges {
		r.o.add(paragraph, "", text)
	}
	return nil
}

var longNumber = lazyregexp.New(`^-?\d(\.\d+)?[Ee]\+(1\d|20)$`)

// values returns the cells of a row as people see them: formulas have values, long numbers
// all their digits, merged cells their text in each place, and hidden columns are left out.
func (r *sheetReader) values(name string, row int, columns []string, shape sheetShape) []string {
	for _, column := range shape.formulas[row] {
		for len(columns) < column {
			columns = append(columns, "")
		}
		if columns[column-1] == "" {
			cell, _ := excelize.CoordinatesToCellName(column, row)
			columns[column-1] = r.compute(name, cell)
		}
	}
	for i, text := range columns {
		columns[i] = strings.ReplaceAll(text, struck+struck, "") // between runs
		if longNumber.MatchString(text) {
			cell, _ := excelize.CoordinatesToCellName(i+1, row)
			if raw, err := r.book.GetCellValue(name, cell, excelize.Options{RawCellValue: true}); err == nil {
				columns[i] = wholeNumber(raw, text)
			}
		}
	}
	for column, text := range shape.numbers[row] {
		if column <= len(columns) {
			columns[column-1] = text
		}
	}
	for _, column := range shape.struck[row] {
		if column <= len(columns) && !strings.Contains(columns[column-1], struck) {
			columns[column-1] = strike(columns[column-1])
		}
	}
	own := 0
	for _, text := range columns {
		if strings.TrimSpace(text) != "" {
			own++
		}
	}
	for i := range shape.merges {
		m := &shape.merges[i]
		if row < m.top || row > m.bottom {
			continue
		}
		if row == m.top && m.left <= len(columns) {
			m.text = columns[m.left-1]
		}
		if m.text == "" || own <= 1 && row == m.top && m.bottom == m.top { // a title over the table
			continue
		}
		for len(columns) < m.right {
			columns = append(columns, "")
		}
		for c := m.left; c <= m.right; c++ {
			if columns[c-1] == "" {
				columns[c-1] = mergedText(m.text)
				r.cells++
			}
		}
	}
	for i := len(columns); i > 0; i-- {
		if slices.ContainsFunc(shape.hidden, func(h sheetArea) bool { return i >= h.left && i <= h.right }) {
			columns = slices.Delete(columns, i-1, i)
		}
	}
	return columns
}

func (r *sheetReader) compute(name, cell string) string {
	if r.computed--; r.computed < 0 {
		return noValue
	}
	value, err := r.book.CalcCellValue(name, cell)
	if err != nil && r.nameCells(name, cell) {
		value, err = r.book.CalcCellValue(name, cell)
	}
	if err != nil {
		return noValue
	}
	return value
}

// nameCells puts the cells of the columns in place of the columns' names in a formula in the
// last row of a table: SUBTOTAL(109,[Amount]). The library does not know such names.
func (r *sheetReader) nameCells(sheet, cell string) bool {
	formula, err := r.book.GetCellFormula(sheet, cell)
	if err != nil || !tableColumn.MatchString(formula) {
		return false
	}
	column, row, _ := excelize.CellNameToCoordinates(cell)
	for _, t := range r.tablesOf(sheet) {
		first, last, _ := strings.Cut(t.Range, ":")
		left, top, err := excelize.CellNameToCoordinates(first)
		right, bottom, err2 := excelize.CellNameToCoordinates(last)
		if err != nil || err2 != nil || row != bottom || column < left || column > min(right, left+maxColumns) || row < top+2 {
			continue
		}
		formula = tableColumn.ReplaceAllStringFunc(formula, func(s string) string {
			m := tableColumn.FindStringSubmatch(s)
			for c := left; (m[1] == "" || m[1] == t.Name) && c <= min(right, left+maxColumns); c++ {
				head, _ := excelize.CoordinatesToCellName(c, top)
				if title, err := r.book.GetCellValue(sheet, head); err == nil && title == m[2] {
					from, _ := excelize.CoordinatesToCellName(c, top+1)
					to, _ := excelize.CoordinatesToCellName(c, bottom-1)
					return from + ":" + to
				}
			}
			return s
		})
		return r.book.SetCellFormula(sheet, cell, formula) == nil
	}
	return false
}

// tablesOf returns the tables of a sheet, which it reads once.
func (r *sheetReader) tablesOf(sheet string) []excelize.Table {
	if _, read := r.tables[sheet]; !read {
		tables, _ := r.book.GetTables(sheet)
		r.tables = map[string][]excelize.Table{sheet: tables}
	}
	return r.tables[sheet]
}

// wholeNumber writes a stored number with all of its digits.
func wholeNumber(raw, shown string) string {
	if strings.Trim(raw, "-0123456789") == "" && raw != "" {
		return raw
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return shown
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

var (
	hiddenColumns = lazyregexp.New(`<(?:\w+:)?col\b[^>]*>`)
	mergedCells   = lazyregexp.New(`<(?:\w+:)?mergeCell\s+ref=["']([A-Z]+\d+):([A-Z]+\d+)["']`)
	pageEdges     = lazyregexp.New(`<(?:\w+:)?((?:odd|even|first)(?:Header|Footer))[^>]*>([^<]*)<`)
	emptyFormula  = lazyregexp.New(`<(?:\w+:)?c\s[^>]*?\br=["']([A-Z]+\d+)["'][^>]*>\s*<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>`)
	numberCell    = lazyregexp.New(`<(?:\w+:)?c\s([^>]*[^>/])>\s*(?:<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>([^<]+)</`)
	cellTag       = lazyregexp.New(`<(?:\w+:)?c\s([^<>]*)>`)
	cellAttribute = lazyregexp.New(`\b([rst])=["']([^"']*)["']`)
	tableColumn   = lazyregexp.New(`(?:\b([A-Za-z_][\w.]*))?\[([^\[\]#@]+)\]`)
	edgeCode      = lazyregexp.New(`&(?:"[^"]*"|K[0-9A-Fa-f+-]{5,6}|\d+|[PN][+-]\d+|[LCRPNDTZFAGBIUESXYOH+-])`)
)

// shape reads a sheet's XML for what excelize tells only when the whole sheet is in memory.
func (r *sheetReader) shape(part string) (sheetShape, error) {
	var s sheetShape
	if part == "" {
		return s, nil
	}
	in, err := r.a.open(part)
	if err != nil {
		return s, nil // excelize says what is wrong
	}
	defer in.Close()
	s.formulas, s.numbers, s.struck = map[int][]int{}, map[int]map[int]string{}, map[int][]int{}
	seen := map[string]bool{}
	// Elements are found in blocks that end with a tag; each block begins with the tags at the
	// end of the one before, in which a cell may have begun.
	buffered := bufio.NewReaderSize(in, 256<<10)
	var block []byte
	cells := 0
	for {
		next := make([]byte, 256<<10)
		n, err := io.ReadFull(buffered, next)
		block = append(block, next[:n]...)
		done := err != nil
		cut := len(block)
		if !done {
			if i := bytes.LastIndex(block, []byte("</")); i > 0 {
				if i = bytes.LastIndexByte(block[:i], '<'); i > 0 {
					cut = i
				}
			}
			if i := bytes.LastIndex(block[:cut], []byte("<c ")); i > 0 {
				cut = i
			}
		}
		if cells += bytes.Count(block[:cut], []byte("<c ")) + bytes.Count(block[:cut], []byte("<c/>")); cells+r.cells > maxCells {
			return s, errTooLarge
		}
		r.scan(block[:cut], &s, seen)
		block = append([]byte(nil), block[cut:]...)
		if len(block) > 2<<20 {
			block = nil
		}
		if done {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return s, nil
			}
			return s, err
		}
	}
}

func (r *sheetReader) scan(block []byte, s *sheetShape, seen map[string]bool) {
	if bytes.Contains(block, []byte("hidden=")) {
		for _, m := range hiddenColumns.FindAllString(string(block), -1) {
			var col struct {
				Min    int    `xml:"min,attr"`
				Max    int    `xml:"max,attr"`
				Hidden string `xml:"hidden,attr"`
			}
			tag := strings.TrimSuffix(strings.TrimSuffix(m, ">"), "/") + "/>"
			if xml.Unmarshal([]byte(tag), &col) == nil && (col.Hidden == "1" || col.Hidden == "true") && len(s.hidden) < maxColumns {
				s.hidden = append(s.hidden, sheetArea{left: col.Min, right: col.Max})
			}
		}
	}
	if bytes.Contains(block, []byte("mergeCell")) {
		for _, m := range mergedCells.FindAllSubmatch(block, -1) {
			left, top, err := excelize.CellNameToCoordinates(string(m[1]))
			right, bottom, err2 := excelize.CellNameToCoordinates(string(m[2]))
			if err == nil && err2 == nil && len(s.merges) < maxMerges && right-left < maxColumns {
				s.merges = append(s.merges, sheetArea{left: left, top: top, right: right, bottom: bottom})
			}
		}
	}
	if bytes.Contains(block, []byte("Header")) || bytes.Contains(block, []byte("Footer")) {
		for _, m := range pageEdges.FindAllSubmatch(block, -1) {
			var code string
			if xml.Unmarshal([]byte("<a>"+string(m[2])+"</a>"), &code) != nil {
				continue
			}
			text := strings.Join(strings.Fields(edgeCode.ReplaceAllString(strings.ReplaceAll(code, "&&", "＆"), " ")), " ")
			kind := "Header: "
			if bytes.HasSuffix(m[1], []byte("Footer")) {
				kind = "Footer: "
			}
			text = strings.ReplaceAll(text, "＆", "&")
			if strings.ContainsFunc(text, language.IsAlphanumeric) && !seen[kind+text] && (!isPageCounter(text) || strings.ContainsAny(text, "0123456789")) { // its own numbers are codes
				seen[kind+text] = true
				s.edges = append(s.edges, kind+text)
			}
		}
	}
	r.scanNumbers(block, s)
	r.scanStruck(block, s)
	if slices.ContainsFunc([]string{"f></c>", "f></x:c>", "<v></v>", "<v/>", "/></c>"}, func(end string) bool { return bytes.Contains(block, []byte(end)) }) {
		for _, m := range emptyFormula.FindAllSubmatch(block, -1) {
			if column, row, err := excelize.CellNameToCoordinates(string(m[1])); err == nil && s.found < maxFormulas && column <= maxColumns {
				s.formulas[row] = append(s.formulas[row], column)
				s.found++
			}
		}
	}
}

// scanNumbers writes the numbers with an unusual format.
func (r *sheetReader) scanNumbers(block []byte, s *sheetShape) {
	if len(r.unusual) == 0 {
		return
	}
	for _, m := range numberCell.FindAllSubmatch(block, -1) {
		at := map[string]string{}
		for _, pair := range cellAttribute.FindAllSubmatch(m[1], -1) {
			at[string(pair[1])] = string(pair[2])
		}
		style, _ := strconv.Atoi(at["s"])
		code, ok := r.unusual[style]
		if !ok || at["t"] != "" && at["t"] != "n" {
			continue
		}
		value, err := strconv.ParseFloat(string(m[2]), 64)
		column, row, err2 := excelize.CellNameToCoordinates(at["r"])
		if err != nil || err2 != nil || column > maxColumns || len(s.numbers) >= maxUnusual {
			continue
		}
		if text := r.numbers.text(code, value); text != "" {
			if s.numbers[row] == nil {
				s.numbers[row] = map[int]string{}
			}
			s.numbers[row][column] = text
		}
	}
}

// scanStruck finds the cells that are struck through.
func (r *sheetReader) scanStruck(block []byte, s *sheetShape) {
	if len(r.struck) == 0 {
		return
	}
	for _, m := range cellTag.FindAllSubmatch(block, -1) {
		name, style := "", 0
		for _, pair := range cellAttribute.FindAllSubmatch(m[1], -1) {
			switch string(pair[1]) {
			case "r":
				name = string(pair[2])
			case "s":
				style, _ = strconv.Atoi(string(pair[2]))
			}
		}
		if column, row, err := excelize.CellNameToCoordinates(name); r.struck[style] && err == nil && s.strikes < maxUnusual {
			s.struck[row] = append(s.struck[row], column)
			s.strikes++
		}
	}
}

// struckStyles returns the styles of cells whose text is struck through.
func struckStyles(book *excelize.File) map[int]bool {
	out := map[int]bool{}
	if book.Styles == nil || book.Styles.CellXfs == nil || book.Styles.Fonts == nil {
		return out
	}
	fonts := book.Styles.Fonts.Font
	for i, xf := range book.Styles.CellXfs.Xf {
		if id := xf.FontID; id != nil && *id >= 0 && *id < len(fonts) && fonts[*id] != nil && fonts[*id].Strike != nil && fonts[*id].Strike.Value() {
			out[i] = true
		}
	}
	return out
}

// unusualStyles returns the formats that numberWriter writes, by the style of cells.
func unusualStyles(book *excelize.File) map[int]string {
	out := map[int]string{}
	if book.Styles == nil || book.Styles.CellXfs == nil {
		return out
	}
	codes := maps.Clone(builtInNumbers)
	if book.Styles.NumFmts != nil {
		for _, f := range book.Styles.NumFmts.NumFmt {
			codes[f.NumFmtID] = f.FormatCode
		}
	}
	for i, xf := range book.Styles.CellXfs.Xf {
		if xf.NumFmtID == nil {
			continue
		}
		if code := codes[*xf.NumFmtID]; unusual(code) {
			out[i] = code
		}
	}
	return out
}

// writeDrawings writes the text boxes, charts and comments of a sheet.
func (r *sheetReader) writeDrawings(part string) error {
	relations, err := r.a.relations(part)
	if err != nil {
		return err
	}
	threads, err := r.a.related(part, "threadedComment")
	if err != nil {
		return err
	}
	for _, rel := range relations {
		if !r.a.has(rel.Target) {
			continue
		}
		switch {
		case strings.HasSuffix(rel.Type, "/drawing"):
			err = r.writeDrawing(rel.Target)
		case strings.HasSuffix(rel.Type, "/comments"):
			err = r.writeComments(rel.Target, threads != "")
		case rel.Target == threads:
			err = r.writeThreads(threads)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *sheetReader) writeDrawing(part string) error {
	relations, err := r.a.relations(part)
	if err != nil {
		return err
	}
	links := map[string]string{}
	for _, rel := range relations {
		links[rel.ID] = rel.Target
	}
	w := officeText{row: r.o.row, paragraph: func(p officeParagraph) { r.o.add(paragraph, "", p.text.String()) }}
	w.link = func(name, id string) string {
		switch name {
		case "chart":
			r.o.add(paragraph, "", chartText(r.a, links[id]))
		case "relIds":
			r.o.add(paragraph, "", diagramText(r.a, links[id]))
		}
		return ""
	}
	return w.walk(r.a, part, r.o.full)
}

// writeComments writes the comments of a sheet. Excel puts a copy of each thread among them, for its versions
// before 2019.
func (r *sheetReader) writeComments(part string, withoutThreads bool) error {
	var doc struct {
		Authors  []string `xml:"authors>author"`
		Comments []struct {
			Cell   string   `xml:"ref,attr"`
			Author int      `xml:"authorId,attr"`
			Plain  string   `xml:"text>t"`
			Runs   []string `xml:"text>r>t"`
		} `xml:"commentList>comment"`
	}
	if err := r.a.decode(part, &doc); err != nil {
		return err
	}
	for _, c := range doc.Comments {
		author := ""
		if c.Author >= 0 && c.Author < len(doc.Authors) {
			author = doc.Authors[c.Author]
		}
		if strings.HasPrefix(author, "tc=") { // the copy of a thread
			if withoutThreads {
				continue
			}
			author = ""
		}
		r.writeComment(c.Cell, author, c.Plain+strings.Join(c.Runs, ""))
	}
	return nil
}

func (r *sheetReader) writeComment(cell, author, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if author != "" {
		cell += ", " + author
	}
	r.o.add(paragraph, "", commentText(cell, text))
}

// writeThreads writes the threads of comments of a sheet, each answer as a comment.
func (r *sheetReader) writeThreads(part string) error {
	main, err := r.a.mainPart()
	if err != nil {
		return err
	}
	persons, err := r.a.related(main, "person")
	if err != nil {
		return err
	}
	var people struct {
		Persons []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"displayName,attr"`
		} `xml:"person"`
	}
	if persons != "" {
		if err := r.a.decode(persons, &people); err != nil {
			return err
		}
	}
	names := map[string]string{}
	for _, p := range people.Persons {
		names[p.ID] = p.Name
	}
	var doc struct {
		Comments []struct {
			Cell   string `xml:"ref,attr"`
			Author string `xml:"personId,attr"`
			Text   string `xml:"text"`
		} `xml:"threadedComment"`
	}
	if err := r.a.decode(part, &doc); err != nil {
		return err
	}
	for _, c := range doc.Comments {
		r.writeComment(c.Cell, names[c.Author], c.Text)
	}
	return nil
}
