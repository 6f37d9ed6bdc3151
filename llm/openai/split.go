package openai

import (
	"strings"
	"unicode/utf8"
)

// kind is what a stretch of a model's text is.
type kind int

const (
	visible   kind = iota // a part of the answer
	reasoning             // what the model thinks, never a part of the answer
	called                // a tool call, written as text
	header                // a harmony header, between <|channel|> and <|message|>
)

// pair is how a stretch that is no answer opens and closes. An empty close is the end
// of the message.
type pair struct {
	open, close string
	kind        kind
}

// The tags of models whose server does not take them out of the text.
var pairs = []pair{
	{"<think>", "</think>", reasoning},
	{"<thinking>", "</thinking>", reasoning},
	{"<thought>", "</thought>", reasoning},
	{"<reasoning>", "</reasoning>", reasoning},
	{"<seed:think>", "</seed:think>", reasoning},
	{"<mm:think>", "</mm:think>", reasoning},
	{"[think]", "[/think]", reasoning}, // Magistral
	{"◁think▷", "◁/think▷", reasoning}, // Kimi-VL
	{"<|begin_of_thought|>", "<|end_of_thought|>", reasoning},
	{"<|start_thinking|>", "<|end_thinking|>", reasoning}, // Command A
	{"<|channel>thought", "<channel|>", reasoning},        // Gemma 4

	{"<tool_call>", "</tool_call>", called},
	{"<tool_calls>", "</tool_calls>", called},
	{"<function_calls>", "</function_calls>", called},
	{"<minimax:tool_call>", "</minimax:tool_call>", called},
	{"<function=", "</function>", called},
	{"<|tool_call|>", "<|/tool_call|>", called},
	{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", called},
	{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", called},
	{"[tool_calls]", "", called},
	{"<|python_tag|>", "", called},
}

// The marks of harmony, the format of gpt-oss.
const (
	harmonyChannel = "<|channel|>"
	harmonyStart   = "<|start|>"
	harmonyMessage = "<|message|>"
)

var harmonyEnds = []string{"<|end|>", "<|return|>", "<|call|>"}

// splitter tells a model's answer from its reasoning and from tool calls that come as
// text. A tag counts outside of code: at the beginning of the message or of a line, for
// a call anywhere. Reasoning that opens after some text and never closes is text.
type splitter struct {
	tools  bool // calls are looked for
	opened bool // the message begins with reasoning, without the tag that opens it
	// out gets each stretch, as it arrives; a call is whole, with its tags. retract says
	// that all text so far was reasoning.
	out     func(k kind, text string)
	retract func()

	pending string
	mode    pair
	body    strings.Builder // of a header, a call, or reasoning that may be text
	name    string          // of the function that a harmony call names
	line    string          // the beginning of the current line, without the rest
	ticks   int             // backticks in the current line
	fenced  bool
	said    bool // visible text has come
	thought bool // a stretch of reasoning has opened or closed
	harmony bool
	lone    bool // a closing tag came without an opening one
	assumed bool // the mode is reasoning because of opened
}

func (s *splitter) write(delta string) {
	s.pending += delta
	s.scan(false)
}

// close ends the message.
func (s *splitter) close() {
	s.scan(true)
	body := s.body.String()
	switch {
	case s.mode.kind == called:
		s.emitCall()
	case s.assumed: // the tag never came: the model has not thought
		s.opened = false
		s.emit(visible, body)
	case s.mode.kind == reasoning && s.body.Len() > 0:
		s.emit(visible, s.mode.open+body)
	}
	s.body.Reset()
	s.mode = pair{}
}

func (s *splitter) emit(k kind, text string) {
	if text == "" {
		return
	}
	if k == visible {
		s.said = s.said || strings.TrimSpace(text) != ""
	}
	s.out(k, text)
}

func (s *splitter) emitCall() {
	body := s.body.String()
	s.body.Reset()
	if s.name != "" {
		body = `<function=` + s.name + `>` + body
		s.name = ""
	}
	s.out(called, body)
}

// scan handles what is pending, up to a possible beginning of a tag.
func (s *splitter) scan(last bool) {
	if s.opened && !s.assumed && !s.said && !s.thought {
		s.assumed, s.mode = true, pair{kind: reasoning}
	}
	for s.pending != "" {
		at := strings.IndexAny(s.pending, tagBegins)
		if at < 0 {
			at = len(s.pending)
		}
		s.take(s.pending[:at])
		if s.pending = s.pending[at:]; s.pending == "" {
			return
		}
		open, tag, partial := s.match(s.pending, last)
		switch {
		case partial:
			return
		case tag == "":
			_, n := utf8.DecodeRuneInString(s.pending)
			s.take(s.pending[:n])
			s.pending = s.pending[n:]
		default:
			s.pending = s.pending[len(tag):]
			s.turn(open, tag)
		}
	}
}

// tagBegins has the first characters of all tags.
const tagBegins = "<[{◁"

// take adds text to the stretch that is open.
func (s *splitter) take(text string) {
	if text == "" {
		return
	}
	switch s.mode.kind {
	case visible:
		s.follow(text)
		s.emit(visible, text)
	case reasoning:
		if s.assumed || s.said {
			s.body.WriteString(text) // it may be text after all
		}
		if s.assumed || !s.said {
			s.emit(reasoning, text)
		}
	default:
		s.body.WriteString(text)
	}
}

// follow keeps track of code in visible text.
func (s *splitter) follow(text string) {
	for _, r := range text {
		switch {
		case r == '\n':
			if head := strings.TrimSpace(s.line); strings.HasPrefix(head, "```") || strings.HasPrefix(head, "~~~") {
				s.fenced = !s.fenced
			}
			s.line, s.ticks = "", 0
			continue
		case r == '`':
			s.ticks++
		}
		if len(s.line) < 16 {
			s.line += string(r)
		}
	}
}

func (s *splitter) inCode() bool {
	return s.fenced || s.ticks%2 == 1 || strings.HasPrefix(s.line, "    ") || strings.HasPrefix(s.line, "\t")
}

// match finds the tag at the beginning of rest, or says that one may begin there.
func (s *splitter) match(rest string, last bool) (_ pair, tag string, partial bool) {
	try := func(tag string) bool {
		if len(rest) >= len(tag) {
			return strings.EqualFold(rest[:len(tag)], tag)
		}
		if !last && strings.EqualFold(rest, tag[:len(rest)]) {
			partial = true
		}
		return false
	}
	switch s.mode.kind {
	case visible:
		if s.inCode() {
			return pair{}, "", false
		}
		start := strings.TrimSpace(s.line) == "" // of the message or of a line
		for _, p := range pairs {
			switch {
			case p.kind == called && !s.tools, p.kind == reasoning && !start:
			case try(p.open):
				return p, rest[:len(p.open)], false
			}
		}
		if s.tools && !s.said && start && strings.HasPrefix(rest, "{") {
			return pair{kind: called}, "{", false
		}
		for _, tag := range []string{harmonyChannel, harmonyStart} {
			if try(tag) {
				return pair{kind: header}, rest[:len(tag)], false
			}
		}
		if s.harmony {
			for _, tag := range harmonyEnds {
				if try(tag) {
					return pair{}, rest[:len(tag)], false
				}
			}
		}
		if !s.thought {
			for _, p := range pairs {
				if p.kind == reasoning && try(p.close) {
					return pair{kind: reasoning, close: p.close}, rest[:len(p.close)], false
				}
			}
		}
	case header:
		if try(harmonyMessage) {
			return pair{}, rest[:len(harmonyMessage)], false
		}
	default:
		closes := []string{s.mode.close}
		switch {
		case s.assumed:
			closes = closes[:0]
			begins := strings.TrimSpace(s.body.String()) == ""
			for _, p := range pairs {
				if p.kind == reasoning {
					closes = append(closes, p.close)
				}
				if begins && p.kind == reasoning && try(p.open) {
					return p, rest[:len(p.open)], false
				}
			}
		case s.harmony && s.mode.open == harmonyMessage:
			closes = append([]string{harmonyChannel, harmonyStart}, harmonyEnds...)
		}
		for _, tag := range closes {
			if tag != "" && try(tag) {
				return pair{}, rest[:len(tag)], false
			}
		}
	}
	return pair{}, "", partial
}

// turn goes on after a tag.
func (s *splitter) turn(open pair, tag string) {
	switch s.mode.kind {
	case visible:
		switch {
		case open.kind == header:
			s.mode, s.harmony = open, true
		case open.kind == called:
			s.mode = open
			s.body.WriteString(tag)
		case open.kind == reasoning && open.open == "": // all before it was reasoning
			s.thought, s.lone, s.said = true, true, false
			s.retract()
		case open.kind == reasoning:
			s.mode, s.thought = open, true
		}
	case header:
		head := s.body.String()
		s.body.Reset()
		s.mode = pair{open: harmonyMessage, kind: reasoning}
		switch to, isCall := recipient(head); {
		case isCall && s.tools:
			s.mode.kind, s.name = called, to
		case strings.Contains(head, "final") || !strings.Contains(head, "analysis") && !strings.Contains(head, "commentary"):
			s.mode = pair{}
		default:
			s.thought = true
		}
	default:
		if open.open != "" { // it opens after all
			s.mode, s.thought, s.assumed = open, true, false
			s.body.Reset()
			return
		}
		if s.mode.kind == called {
			if s.mode.open != harmonyMessage {
				s.body.WriteString(tag)
			}
			s.emitCall()
		} else if s.said && !s.assumed && s.mode.open != harmonyMessage {
			s.emit(reasoning, s.body.String())
		}
		s.thought, s.assumed = true, false
		s.body.Reset()
		next := pair{}
		if tag == harmonyChannel || tag == harmonyStart {
			next = pair{kind: header}
		}
		s.mode = next
	}
}

// recipient returns the function that a harmony header names.
func recipient(head string) (string, bool) {
	_, to, _ := strings.Cut(head, "to=")
	to, _, _ = strings.Cut(strings.TrimSpace(to), "<")
	if words := strings.Fields(to); len(words) > 0 {
		return words[0], true
	}
	return "", false
}
