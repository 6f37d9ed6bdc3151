package main

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// labelled is a text with numbered sections, and changes that are labelled with the
// sections they are about.
type labelled struct {
	text     string
	sections []section
	items    []change
}

// section is a section's range of the text, in characters. It ends where the next section
// of any level begins.
type section struct {
	number     string
	start, end int
}

// change is the text of one change and the numbers of the sections it is about.
type change struct {
	text     string
	sections []string
}

func (l labelled) labels() (n int) {
	for _, i := range l.items {
		n += len(i.sections)
	}
	return n
}

// touches reports whether the characters from start to end overlap a section or one
// of its subsections.
func (l labelled) touches(start, end int, number string) bool {
	for _, s := range l.sections {
		if (s.number == number || strings.HasPrefix(s.number, number+".")) && start < s.end && s.start < end {
			return true
		}
	}
	return false
}

var (
	heading   = regexp.MustCompile(`^(\d+(?:\.\d+)*)\. \S`)
	underline = regexp.MustCompile("^([*=\\-~\"'^]){3,}$")
	label     = regexp.MustCompile(`^\d+(?:\.\d+)*(?:(?:, | & | and )\d+(?:\.\d+)*)*$`)
	number    = regexp.MustCompile(`\d+(?:\.\d+)*`)
)

// oldest is the newest version whose labels no longer match the manual's sections; the
// checklist has newer versions first.
const oldest = "Version 2.4."

// parse reads the chapters of the manual without its appendices, and the labels of
// the checklist that are sections of these chapters.
func parse(policy, checklist string) (labelled, error) {
	l := chapters(policy)
	known := map[string]bool{}
	for _, s := range l.sections {
		known[s.number] = true
	}
	for _, i := range changes(checklist) {
		var labels []string
		for _, s := range i.sections {
			if known[s] {
				labels = append(labels, s)
			}
		}
		if len(labels) > 0 {
			l.items = append(l.items, change{i.text, labels})
		}
	}
	if len(l.sections) == 0 || len(l.items) == 0 {
		return labelled{}, errors.New("these are not the Debian Policy Manual and its upgrading checklist")
	}
	return l, nil
}

// chapters returns the numbered sections from chapter 1 on. It stops at a chapter whose
// number is not the next one, such as the first appendix.
func chapters(policy string) labelled {
	var l labelled
	var text strings.Builder
	at, chapter := 0, 0
	lines := strings.SplitAfter(policy, "\n")
	for i, line := range lines {
		if m := heading.FindStringSubmatch(line); m != nil && i+1 < len(lines) && underline.MatchString(strings.TrimSpace(lines[i+1])) {
			if strings.HasPrefix(lines[i+1], "*") { // a chapter
				n := atoi(m[1])
				if n != chapter+1 {
					break
				}
				chapter = n
			}
			if chapter > 0 {
				l.sections = append(l.sections, section{number: m[1], start: at})
			}
		}
		if chapter > 0 {
			text.WriteString(line)
			at += utf8.RuneCountInString(line)
		}
	}
	for i := range l.sections {
		l.sections[i].end = at
		if i+1 < len(l.sections) {
			l.sections[i].end = l.sections[i+1].start
		}
	}
	l.text = text.String()
	return l
}

func atoi(s string) (n int) {
	for _, digit := range s {
		n = 10*n + int(digit-'0')
	}
	return n
}

// changes returns the items of the checklist: a line of section numbers, then the
// indented text.
func changes(checklist string) []change {
	var list []change
	open := false
	for line := range strings.Lines(checklist) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.Contains(line, oldest):
			return list
		case line == "":
		case strings.HasPrefix(line, "   "):
			if open {
				i := &list[len(list)-1]
				i.text = strings.TrimSpace(i.text + " " + strings.TrimSpace(line))
			}
		default:
			open = label.MatchString(line)
			if open {
				list = append(list, change{sections: number.FindAllString(line, -1)})
			}
		}
	}
	return list
}
