package main

import (
	"fmt"
	"slices"
	"strings"
)

// ratio counts how many of some outcomes were right.
type ratio struct{ right, of int }

func (r *ratio) count(right bool) {
	r.of++
	if right {
		r.right++
	}
}

func (r ratio) String() string {
	if r.of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", r.right, r.of)
}

func (r *ratio) add(o ratio) { r.right, r.of = r.right+o.right, r.of+o.of }

// score has the figures of a set or a category.
type score struct {
	intent, docs      ratio
	precision, recall ratio // of questions
	honest            ratio // of messages that the documents cannot answer
}

func (s *score) add(o score) {
	s.intent.add(o.intent)
	s.docs.add(o.docs)
	s.precision.add(o.precision)
	s.recall.add(o.recall)
	s.honest.add(o.honest)
}

// judge compares an outcome with the expected one. wrong describes each difference; want
// has the ids of the expected documents.
func judge(c testCase, got outcome, want []string) (s score, wrong []string) {
	if c.category == "notfound" {
		honest := got.question == "retrieval_low" || strings.Contains(got.text, "found nothing") || strings.Contains(got.text, "do not say")
		s.honest.count(honest)
		if !honest {
			wrong = append(wrong, "not honest: "+firstLine(got.text)+got.asked)
		}
	}
	if c.action != "*" && (got.action != "" || got.question == "action_choice") {
		s.intent.count(got.action == c.action)
		if got.action != c.action {
			wrong = append(wrong, "action "+got.action+" "+got.question)
		}
	}
	if !c.anyDocs && c.question == "" {
		right := got.question == "" && sameIDs(got.docs, want)
		s.docs.count(right)
		if !right {
			wrong = append(wrong, fmt.Sprintf("documents %v", got.docs))
		}
	}
	if c.question == "*" {
		return s, wrong
	}
	expected := c.question != ""
	right := expected && (got.question == c.question || c.question == "ask" && got.question != "")
	if got.question != "" {
		s.precision.count(right)
	}
	if expected {
		s.recall.count(right)
	}
	if right != expected || got.question != "" && !right {
		wrong = append(wrong, "question "+got.question+" "+got.asked)
	}
	return s, wrong
}

func sameIDs(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
