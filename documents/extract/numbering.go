package extract

import (
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

const maxListLevel = 9

// numbering counts the numbers that Word writes before paragraphs.
type numbering struct {
	lists  map[string]*wordList // by the id that paragraphs name
	styles map[string]wordStyle
}

// wordList is a list that paragraphs belong to. Lists with the same counter go on counting
// where the other one stopped.
type wordList struct {
	levels  [maxListLevel]listLevel
	counter *[maxListLevel]int
	restart [maxListLevel]int // the number to begin with, plus 1, when the list is used first
	used    bool
}

// newList returns a list that has not counted yet.
func newList() *wordList {
	l := &wordList{counter: new([maxListLevel]int)}
	for i := range l.counter {
		l.counter[i] = -1
	}
	return l
}

type listLevel struct {
	start  int
	format string
	text   string
	legal  bool // all numbers are Arabic
	again  int  // the level, from 1, after which it begins again; 0: never; -1: any level above
}

type value struct {
	Val string `xml:"val,attr"`
}

// numberFormat is "custom" with the first numbers, "001, 002, 003, ...", or the name of a format.
type numberFormat struct {
	Val  string `xml:"val,attr"`
	List string `xml:"format,attr"`
}

type xmlLevel struct {
	Level  int          `xml:"ilvl,attr"`
	Start  *value       `xml:"start"`
	Format numberFormat `xml:"numFmt"`
	// Custom is the format for programs that know it; Format is the one for others.
	Custom  numberFormat `xml:"AlternateContent>Choice>numFmt"`
	Text    value        `xml:"lvlText"`
	Legal   *value       `xml:"isLgl"`
	Restart *value       `xml:"lvlRestart"`
}

// readNumbering reads the lists of a document; a document without lists has none.
func readNumbering(a *archive, main string, styles map[string]wordStyle) (*numbering, error) {
	n := &numbering{lists: map[string]*wordList{}, styles: styles}
	part, err := a.related(main, "numbering")
	if err != nil || part == "" {
		return n, err
	}
	var doc struct {
		Abstract []struct {
			ID        string     `xml:"abstractNumId,attr"`
			Levels    []xmlLevel `xml:"lvl"`
			StyleLink *value     `xml:"numStyleLink"`
		} `xml:"abstractNum"`
		Lists []struct {
			ID       string `xml:"numId,attr"`
			Abstract value  `xml:"abstractNumId"`
			Override []struct {
				Level *xmlLevel `xml:"lvl"`
				At    int       `xml:"ilvl,attr"`
				Start *value    `xml:"startOverride"`
			} `xml:"lvlOverride"`
		} `xml:"num"`
	}
	if err := a.decode(part, &doc); err != nil {
		return nil, err
	}
	abstract := map[string]*wordList{}
	links := map[string]string{}
	for _, x := range doc.Abstract {
		l := newList()
		for _, level := range x.Levels {
			l.set(level)
		}
		abstract[x.ID] = l
		if x.StyleLink != nil {
			links[x.ID] = x.StyleLink.Val
		}
	}
	ofList := map[string]string{}
	for _, x := range doc.Lists {
		ofList[x.ID] = x.Abstract.Val
	}
	for _, x := range doc.Lists {
		id := x.Abstract.Val
		if style, linked := links[id]; linked {
			id = ofList[styles[style].List.Val]
		}
		base := abstract[id]
		if base == nil {
			continue
		}
		l := *base // the counter is shared
		for _, o := range x.Override {
			if o.At < 0 || o.At >= maxListLevel {
				continue
			}
			if o.Level != nil {
				o.Level.Level = o.At
				l.set(*o.Level)
			}
			if o.Start != nil {
				l.restart[o.At] = atoi(o.Start.Val, 1) + 1
			}
		}
		n.lists[x.ID] = &l
	}
	return n, nil
}

func atoi(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1_000_000 {
		return otherwise
	}
	return n
}

func (l *wordList) set(x xmlLevel) {
	if x.Level < 0 || x.Level >= maxListLevel {
		return
	}
	format := x.Format
	if x.Custom.List != "" {
		format = x.Custom
	}
	if format.List != "" {
		format.Val = formatOf(format.List)
	}
	level := listLevel{start: 0, format: format.Val, text: x.Text.Val, again: -1}
	if x.Start != nil {
		level.start = atoi(x.Start.Val, 0)
	}
	level.legal = x.Legal != nil && x.Legal.Val != "0" && x.Legal.Val != "false"
	if x.Restart != nil {
		level.again = atoi(x.Restart.Val, -1)
	}
	l.levels[x.Level] = level
}

// place returns the list and the level of a paragraph, which its style may name.
func (n *numbering) place(p *officeParagraph) (*wordList, int) {
	list, level := p.list, p.level
	style := p.style
	for range maxStyleDepth {
		s, ok := n.styles[style]
		if !ok || list != "" && level >= 0 {
			break
		}
		if list == "" {
			list = s.List.Val
		}
		if level < 0 && s.Level != nil {
			level = min(atoi(s.Level.Val, 0), maxListLevel-1)
		}
		style = s.BasedOn.Val
	}
	return n.lists[list], max(level, 0)
}

// label counts a paragraph and returns what Word writes before it: "2.1", "a)" or "-" for a
// bullet; "" if it is in no list.
func (n *numbering) label(p *officeParagraph) string {
	l, level := n.place(p)
	if l == nil {
		if p.listed && p.list == "" && len(n.lists) == 0 {
			return "-"
		}
		return ""
	}
	if !l.used {
		l.used = true
		for i, start := range l.restart {
			if start > 0 {
				l.counter[i] = start - 2
			}
		}
	}
	return l.next(level)
}

// next counts an item of a level, from 0, and returns what stands before it.
func (l *wordList) next(level int) string {
	c := l.counter
	for i := range level { // levels above that were left out
		if c[i] < 0 {
			c[i] = l.levels[i].start
		}
	}
	if c[level] < 0 && l.restart[level] == 0 {
		c[level] = l.levels[level].start
	} else {
		c[level]++
	}
	for i := level + 1; i < maxListLevel; i++ {
		if again := l.levels[i].again; again == -1 || again > level {
			c[i] = -1
		}
	}
	return l.written(level)
}

var levelNumber = lazyregexp.New(`%[1-9]`)

func (l *wordList) written(level int) string {
	at := l.levels[level]
	if at.format == "bullet" {
		return "-"
	}
	if at.format == "none" {
		return strings.TrimSpace(levelNumber.ReplaceAllString(at.text, ""))
	}
	return strings.TrimSpace(levelNumber.ReplaceAllStringFunc(at.text, func(m string) string {
		i := int(m[1] - '1')
		format := l.levels[i].format
		if at.legal {
			format = "decimal"
		}
		return numeral(l.counter[i], format)
	}))
}
