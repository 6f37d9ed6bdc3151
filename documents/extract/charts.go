package extract

import (
	"maps"
	"slices"
	"strings"
)

// Limits of a chart; longer ones are cut.
const (
	maxSeries = 50
	maxPoints = 2000
)

type chartPoint struct {
	Index int    `xml:"idx,attr"`
	Value string `xml:"v"`
}

type chartValues struct {
	Strings []chartPoint `xml:"strRef>strCache>pt"`
	Numbers []chartPoint `xml:"numRef>numCache>pt"`
	Literal []chartPoint `xml:"numLit>pt"`
	Labels  []chartPoint `xml:"strLit>pt"`
	Levels  []struct {
		Points []chartPoint `xml:"pt"`
	} `xml:"multiLvlStrRef>multiLvlStrCache>lvl"`
	Plain string `xml:"v"`
}

func (v chartValues) points() []chartPoint {
	all := slices.Concat(v.Strings, v.Numbers, v.Literal, v.Labels)
	if len(all) == 0 && len(v.Levels) > 0 {
		all = v.Levels[0].Points
	}
	return all
}

func (v chartValues) text() string {
	if v.Plain != "" {
		return v.Plain
	}
	var words []string
	for _, p := range v.points() {
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
	head := []string{""}
	rows := map[int][]string{}
	for i, s := range series {
		name := s.Name.text()
		if name == title && len(series) == 1 {
			name = "Value"
		}
		head = append(head, name)
		for c, values := range [][]chartPoint{slices.Concat(s.Categories.points(), s.X.points()), slices.Concat(s.Values.points(), s.Y.points())} {
			for _, p := range values[:min(len(values), maxPoints)] {
				row := rows[p.Index]
				if row == nil {
					row = make([]string, len(series)+1)
					rows[p.Index] = row
				}
				if c == 0 && row[0] == "" {
					row[0] = p.Value
				} else if c == 1 {
					row[i+1] = p.Value
				}
			}
		}
	}
	if len(series) > 0 {
		head[0] = "Category"
		o.row(head)
		for _, i := range slices.Sorted(maps.Keys(rows)) {
			o.row(rows[i])
		}
	}
	return o.out.String()
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
