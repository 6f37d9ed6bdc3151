package extract

import (
	"context"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var markdown = Type{
	Name:       "md",
	Label:      "Markdown",
	Extensions: []string{".md", ".markdown"},
	MediaTypes: []string{"text/markdown", "text/x-markdown"},
	Read:       decode,
	titled:     true,
	content: func(ctx context.Context, raw []byte) (Content, error) {
		text, err := decode(ctx, raw)
		if err != nil {
			return Content{}, err
		}
		return textContent(clean(text), true)
	},
}

const maxFrontMatter = 20_000 // bytes

// A field is a key with its values in the data at the beginning of a text.
type field struct {
	key    string
	values []string
}

// textContent reads a text that may begin with data about itself ("front matter"). These
// become rows of a table, so that they are found but are no sentences of the text. bare means
// that the data need no lines of marks around them.
func textContent(text string, bare bool) (c Content, err error) {
	fields, body, ok := frontMatter(text, bare)
	if !ok {
		return Content{Text: text}, nil
	}
	var o outline
	for _, f := range fields {
		value := strings.Join(f.values, ", ")
		if value == "" {
			continue
		}
		o.row([]string{f.key, strings.ReplaceAll(value, tableBar, " / ")})
		switch strings.ToLower(f.key) {
		case "title":
			c.Title = value
		case "subtitle", "author", "authors", "aliases":
			c.Names = append(c.Names, f.values...)
		}
	}
	o.add(paragraph, "", strings.Trim(body, "\n"))
	c.Text, err = o.text()
	return c, err
}

// frontMatter cuts the data off the beginning of a text: YAML between lines of "---", TOML
// between lines of "+++", pandoc's lines with "%", and if bare is set MultiMarkdown's keys above
// a blank line.
func frontMatter(text string, bare bool) (fields []field, body string, ok bool) {
	for _, form := range []struct {
		open   string
		closed *lazyregexp.Regexp
		keys   *lazyregexp.Regexp
	}{{"---\n", yamlEnd, yamlKey}, {"+++\n", tomlEnd, tomlKey}} {
		rest, found := strings.CutPrefix(text, form.open)
		if end := form.closed.FindStringIndex(rest[:wholeRunes(rest, maxFrontMatter)]); found && end != nil {
			fields, ok = fieldsOf(rest[:end[0]], form.keys, true)
			return fields, rest[end[1]:], ok
		}
	}
	data, body, _ := strings.Cut(text, "\n\n")
	switch {
	case !bare || len(data) > maxFrontMatter:
		return nil, "", false
	case strings.HasPrefix(text, "% "):
		lines := append(strings.Split(data, "\n"), "", "")
		for i, key := range []string{"title", "author", "date"} {
			value, marked := strings.CutPrefix(lines[i], "%")
			if lines[i] != "" && !marked {
				return nil, "", false
			}
			fields = append(fields, field{key, []string{strings.TrimSpace(value)}})
		}
		return fields, body, len(lines) <= len(fields)+2
	}
	fields, ok = fieldsOf(data, yamlKey, false)
	return fields, body, ok && len(fields) > 1 && distinct(fields)
}

func distinct(fields []field) bool {
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.key] = true
	}
	return len(seen) == len(fields)
}

var (
	yamlEnd = lazyregexp.New(`(?m)^(?:---|\.\.\.)[ \t]*$`)
	tomlEnd = lazyregexp.New(`(?m)^\+\+\+[ \t]*$`)
	yamlKey = lazyregexp.New(`^["']?(\pL[\pL\pN _./@-]{0,39}?)["']?[ \t]*:(?:[ \t]+(.*))?$`)
	tomlKey = lazyregexp.New(`^["']?([\pL_][\pL\pN_.-]{0,39})["']?[ \t]*=[ \t]*(.*)$`)
	// listInBrackets matches a list of YAML, which may end in a later line; "[a](b)" is a link.
	listInBrackets = lazyregexp.New(`^\[[^\]]*\]?$`)
	blockOfText    = lazyregexp.New(`^[>|][-+0-9]*$`)
	section        = lazyregexp.New(`^\[+[^\[\]=]+\]+$`) // of TOML
)

// fieldsOf reads lines of keys and values; a line that is indented or an item continues the
// value before it. ok is false if a line is neither. Values are not parsed further: "1.10" is no
// number, and data that a parser would refuse are read, too. Comments and sections stand between
// marks only: above a text, "# Leave" is its heading.
func fieldsOf(data string, keys *lazyregexp.Regexp, marked bool) (fields []field, ok bool) {
	folded := false // the value is a text of several lines
	for line := range strings.Lines(data) {
		trimmed := strings.TrimSpace(line)
		own := keys.FindStringSubmatch(strings.TrimRight(line, " \t\n"))
		switch {
		case trimmed == "", marked && (strings.HasPrefix(trimmed, "#") && !folded || section.MatchString(trimmed)):
		case own != nil:
			fields = append(fields, field{key: own[1]})
			value := strings.TrimSpace(own[2])
			if folded = blockOfText.MatchString(value); !folded {
				fields[len(fields)-1].add(value)
				folded = value != "" && !listInBrackets.MatchString(value)
			}
		case len(fields) > 0 && (trimmed != strings.TrimRight(line, " \t\n") || strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "]")):
			switch f := &fields[len(fields)-1]; {
			case !folded:
				f.add(strings.TrimPrefix(trimmed, "- "))
			case len(f.values) == 0:
				f.values = []string{trimmed}
			default:
				f.values[len(f.values)-1] += " " + trimmed
			}
		default:
			return nil, false
		}
	}
	return fields, len(fields) > 0
}

// add adds a value, or those of a list in brackets.
func (f *field) add(value string) {
	values := []string{value}
	if inner := strings.TrimPrefix(value, "["); listInBrackets.MatchString(value) || strings.HasSuffix(value, ",") || value == "]" {
		values = strings.Split(strings.TrimSuffix(inner, "]"), ",")
	}
	for _, v := range values {
		v = strings.TrimSpace(v)
		if s, err := strconv.Unquote(v); err == nil {
			v = s
		}
		if v = strings.Trim(v, "'\""); v != "" {
			f.values = append(f.values, v)
		}
	}
}
