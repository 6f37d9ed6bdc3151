package extract

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Limits of a chart; longer ones are cut.
const (
	maxSeries = 50
	maxPoints = 2000
	maxLevels = 5 // of categories
)

type chartPoint struct {
	Index  int    `xml:"idx,attr"`
	Format string `xml:"formatCode,attr"`
	Value  string `xml:"v"`
}

type chartNumbers struct {
	Format string       `xml:"formatCode"`
	Points []chartPoint `xml:"pt"`
}

type chartValues struct {
	Strings []chartPoint `xml:"strRef>strCache>pt"`
	Numbers chartNumbers `xml:"numRef>numCache"`
	Literal chartNumbers `xml:"numLit"`
	Labels  []chartPoint `xml:"strLit>pt"`
	Levels  []struct {
		Points []chartPoint `xml:"pt"`
	} `xml:"multiLvlStrRef>multiLvlStrCache>lvl"`
	Plain string `xml:"v"`
}

// points returns the values as the chart shows them.
func (v chartValues) points(w *chartWriter) []chartPoint {
	all := slices.Concat(v.Strings, w.shown(v.Numbers), w.shown(v.Literal), v.Labels)
	if len(all) == 0 && len(v.Levels) > 0 {
		all = v.leveled()
	}
	return all
}

// leveled returns categories with those that they belong to before them: "2025, March". The
// first level is the most detailed, and the others name only the first of what belongs to them.
func (v chartValues) leveled() []chartPoint {
	first := v.Levels[0].Points
	all := slices.Clone(first[:min(len(first), maxPoints)])
	for _, level := range v.Levels[1:min(len(v.Levels), maxLevels)] {
		for i := range all {
			above := ""
			for _, p := range level.Points[:min(len(level.Points), maxPoints)] {
				if p.Index <= all[i].Index {
					above = p.Value
				}
			}
			if above != "" {
				all[i].Value = above + ", " + all[i].Value
			}
		}
	}
	return all
}

// chartWriter writes the numbers of a chart.
type chartWriter struct {
	numbers numberWriter
	since   float64 // days from 1900 to the first day of the chart's dates
}

// shown returns numbers as the chart shows them: dates as dates, shares as per cent, and others
// without the digits that are errors of the computation.
func (w *chartWriter) shown(n chartNumbers) []chartPoint {
	all := slices.Clone(n.Points[:min(len(n.Points), maxPoints)])
	for i, p := range all {
		code := cmp.Or(p.Format, n.Format)
		all[i].Value = plainNumber(p.Value)
		value, err := strconv.ParseFloat(p.Value, 64)
		bare := quotedPart.ReplaceAllString(code, "")
		isDate := strings.ContainsAny(bare, "yYdD")
		if err != nil || !isDate && !strings.Contains(bare, "%") {
			continue
		}
		if isDate {
			value += w.since
		}
		if text := w.numbers.text(code, value); text != "" {
			all[i].Value = text
		}
	}
	return all
}

func (v chartValues) text() string {
	if v.Plain != "" {
		return v.Plain
	}
	var words []string
	for _, p := range v.points(&chartWriter{}) {
		words = append(words, p.Value)
	}
	return strings.Join(words, " ")
}

type chartSeries struct {
	Name       chartValues `xml:"tx"`
	Categories chartValues `xml:"cat"`
	Values     chartValues `xml:"val"`
	X          chartValues `xml:"xVal"`
	Y          chartValues `xml:"yVal"`
	Sizes      chartValues `xml:"bubbleSize"`
}

type drawingText struct {
	Paragraphs []struct {
		Runs   []string `xml:"r>t"`
		Fields []string `xml:"fld>t"`
	} `xml:"p"`
}

func (t drawingText) text() string {
	var lines []string
	for _, p := range t.Paragraphs {
		if s := strings.TrimSpace(strings.Join(p.Runs, "") + strings.Join(p.Fields, "")); s != "" {
			lines = append(lines, s)
		}
	}
	return strings.Join(lines, " ")
}

type chartTitle struct {
	Text struct {
		Rich drawingText `xml:"rich"`
		chartValues
	} `xml:"tx"`
}

func (t chartTitle) text() string {
	if s := t.Text.Rich.text(); s != "" {
		return s
	}
	return t.Text.text()
}

// chartText returns the title of a chart and a small table of its values. It is empty for a
// chart that is missing or damaged.
func chartText(a *archive, part string) string {
	var doc struct {
		Base struct {
			Value string `xml:"val,attr"`
		} `xml:"date1904"`
		Title chartTitle `xml:"chart>title"`
		Area  struct {
			Plots []struct {
				Series []chartSeries `xml:"ser"`
				Title  chartTitle    `xml:"title"`
			} `xml:",any"`
		} `xml:"chart>plotArea"`
	}
	if part == "" || a.decode(part, &doc) != nil {
		return ""
	}
	var o outline
	title := doc.Title.text()
	var axes []string
	var series []chartSeries
	for _, plot := range doc.Area.Plots {
		series = append(series, plot.Series...)
		if s := plot.Title.text(); s != "" {
			axes = append(axes, s)
		}
	}
	o.add(paragraph, "", strings.TrimSpace("Chart: "+title))
	if len(axes) > 0 {
		o.add(paragraph, "", strings.Join(axes, ", "))
	}
	series = series[:min(len(series), maxSeries)]
	var w chartWriter
	if doc.Base.Value == "1" || doc.Base.Value == "true" {
		w.since = 1462
	}
	t := chartTable{head: []string{""}, rows: map[int][]string{}}
	for _, s := range series {
		name := s.Name.text()
		if name == title && len(series) == 1 {
			name = "Value"
		}
		t.categories(slices.Concat(s.Categories.points(&w), s.X.points(&w)))
		t.column(name, slices.Concat(s.Values.points(&w), s.Y.points(&w)))
		if sizes := s.Sizes.points(&w); len(sizes) > 0 {
			t.column(strings.TrimSpace(name+" (size)"), sizes)
		}
	}
	head, rows := t.head, t.rows
	if len(series) > 0 {
		head[0] = "Category"
		o.row(head)
		for _, i := range slices.Sorted(maps.Keys(rows)) {
			o.row(append(rows[i], make([]string, len(head)-len(rows[i]))...))
		}
	}
	return o.out.String()
}

// chartTable collects the columns of a chart's table, with the categories first.
type chartTable struct {
	head []string
	rows map[int][]string
}

func (t *chartTable) categories(points []chartPoint) {
	for _, p := range points[:min(len(points), maxPoints)] {
		if row := t.row(p.Index); row[0] == "" {
			row[0] = p.Value
		}
	}
}

func (t *chartTable) column(name string, points []chartPoint) {
	t.head = append(t.head, name)
	for _, p := range points[:min(len(points), maxPoints)] {
		t.row(p.Index)[len(t.head)-1] = p.Value
	}
}

// row returns a row with a place for each column.
func (t *chartTable) row(i int) []string {
	row := t.rows[i]
	row = append(row, make([]string, max(0, len(t.head)-len(row)))...)
	t.rows[i] = row
	return row
}

// diagramText returns the texts of a SmartArt diagram, as a list in their order.
func diagramText(a *archive, part string) string {
	var doc struct {
		Points []struct {
			Type string      `xml:"type,attr"`
			Text drawingText `xml:"t"`
		} `xml:"ptLst>pt"`
	}
	if part == "" || a.decode(part, &doc) != nil {
		return ""
	}
	var o outline
	for _, p := range doc.Points {
		if p.Type == "" || p.Type == "node" || p.Type == "asst" {
			o.add(item, "- ", p.Text.text())
		}
	}
	return o.out.String()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
