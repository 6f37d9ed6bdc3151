// Package lazyregexp compiles a regular expression when it is first used. There are hundreds
// of them, and the process that reads one document, or answers one command, needs few: to
// compile all of them took half of its start.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a *regexp.Regexp that is not compiled yet. Its methods are those of
// regexp.Regexp. Goroutines may share it.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// In a test binary each expression is compiled at once, so that a wrong one cannot hide.
var inTest = strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns the expression. A wrong one panics when it is first used, in tests at once.
func New(expression string) *Regexp {
	re := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
	if inTest {
		re.compiled()
	}
	return re
}

func (r *Regexp) MatchString(s string) bool {
	return r.compiled().MatchString(s)
}

func (r *Regexp) Match(b []byte) bool {
	return r.compiled().Match(b)
}

func (r *Regexp) FindString(s string) string {
	return r.compiled().FindString(s)
}

func (r *Regexp) FindStringIndex(s string) []int {
	return r.compiled().FindStringIndex(s)
}

func (r *Regexp) FindStringSubmatch(s string) []string {
	return r.compiled().FindStringSubmatch(s)
}

func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

func (r *Regexp) FindAllString(s string, n int) []string {
	return r.compiled().FindAllString(s, n)
}

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) FindSubmatch(b []byte) [][]byte {
	return r.compiled().FindSubmatch(b)
}

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

func (r *Regexp) ReplaceAll(src, by []byte) []byte {
	return r.compiled().ReplaceAll(src, by)
}

func (r *Regexp) FindSubmatchIndex(b []byte) []int {
	return r.compiled().FindSubmatchIndex(b)
}

func (r *Regexp) ReplaceAllString(s, by string) string {
	return r.compiled().ReplaceAllString(s, by)
}

func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, by)
}

func (r *Regexp) Split(s string, n int) []string {
	return r.compiled().Split(s, n)
}
