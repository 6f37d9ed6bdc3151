package extract

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/testkit/process"
)

// checkText fails unless text is valid UTF-8 without control characters, as the store and
// the offsets require.
func checkText(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Fatalf("control character %U", r)
		}
	}
}

func TestTextEncodings(t *testing.T) {
	for name, tc := range map[string]struct{ raw, want string }{
		"UTF-8":                         {"Größe: 5 µm\n", "Größe: 5 µm\n"},
		"UTF-8 mark":                    {"\xef\xbb\xbfTitle", "Title"},
		"UTF-16 little endian":          {"\xff\xfeH\x00i\x00\xe9\x00", "Hié"},
		"UTF-16 big endian":             {"\xfe\xff\x00H\x00i\x00\xe9", "Hié"},
		"UTF-16 without mark":           {"P\x00l\x00a\x00i\x00n\x00 \x00t\x00e\x00x\x00t\x00", "Plain text"},
		"Latin-1":                       {"caf\xe9 cr\xe8me", "café crème"},
		"Windows quotes":                {"\x93quoted\x94 \x96 dash", "“quoted” – dash"},
		"one broken byte":               {strings.Repeat("Größe und Länge ", 9) + "\xff Höhe", strings.Repeat("Größe und Länge ", 9) + "\ufffd Höhe"},
		"line ends":                     {"a\r\nb\rc\x0cd\u2028e\u0085f", "a\nb\nc\nd\ne\nf"},
		"unseen characters":             {strings.Repeat("plain words ", 40) + "a\x00b\u00adc\ufeffd\x07e", strings.Repeat("plain words ", 40) + "abcde"},
		"tabs and no-break spaces stay": {"a\tb\u00a0c", "a\tb\u00a0c"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := All().Text(t.Context(), "txt", []byte(tc.raw))
			if err != nil || got != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
			checkText(t, got)
		})
	}
}

// Macs write letters and their marks apart.
func TestLettersAndTheirMarksAreComposed(t *testing.T) {
	for _, kind := range []string{"txt", "md", "csv", "html"} {
		for _, want := range []string{"データベースのガイド", "한국어 문서", "Übernahme", "Đặng Việt", "شَيْء"} {
			got, err := All().Text(t.Context(), kind, []byte(norm.NFD.String(want)))
			if err != nil || strings.TrimSpace(got) != norm.NFC.String(want) {
				t.Errorf("%s: %q, %v, want %q", kind, got, err, want)
			}
		}
	}
}

func TestUnreadableFilesHaveAReason(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, raw string
		want      *Unreadable
	}{
		"empty":           {"txt", "", errEmpty},
		"spaces":          {"txt", " \n\t ", errNoText},
		"binary":          {"md", "\x01\x02\x03\x00\x00\x7f\x10ELF\x00\x01", errNotText},
		"page of nothing": {"html", "<html><script>var a = 1</script></html>", errNoText},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := All().Text(t.Context(), tc.kind, []byte(tc.raw))
			var u *Unreadable
			if !errors.As(err, &u) || u.Reason != tc.want.Reason {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
	if _, err := All().Text(t.Context(), "xyz", []byte("x")); err == nil {
		t.Error("an unknown type was read")
	}
}

func TestHTMLText(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"headings and paragraphs": {"<h1>Title</h1><p>One <b>bold</b>\n word.</p><p>Two.</p>", "# Title\n\nOne bold word.\n\nTwo."},
		"unseen parts": {"<head><title>T</title><style>p{}</style></head><body><nav><a>Home</a></nav><script>x</script>" +
			"<div role=navigation>Menu</div><p hidden>no</p><p>Yes</p></body>", "Yes"},
		"lists":                   {"<ul><li>a</li><li><p>b</p></li></ul><ol><li>c<li>d</ol>", "- a\n- b\n\n1. c\n2. d"},
		"tables":                  {"<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "A | B\n1 | 2"},
		"divs that are a table":   {`<div style="display:table"><div style="display: table-row"><div style="display:table-cell">Basic</div><div style="display:table-cell"><div>20</div></div></div><div style="display:table-row"><div style="display:table-cell">Team</div><div style="display:table-cell">55</div></div></div><div>End</div>`, "Basic | 20\nTeam | 55\n\nEnd"},
		"roles of a table":        {`<p>a</p><div role=table><div role=rowgroup><div role=row><span role=columnheader>Plan</span><span role=columnheader>Fee <span>(EUR)</span></span></div></div><div role=row><span role=cell></span><span role=cell>20</span></div></div><p>b</p>`, "a\n\nPlan | Fee (EUR)\n | 20\n\nb"},
		"a table with its role":   {`<table role=table><tr role=row><td role=cell>a<td role=cell style="display:table-cell">b</table>`, "a | b"},
		"a box for layout":        {`<div style="display:table">a<p>b</p></div><div style="display:table-cell">c</div>`, "a\n\nb\n\nc"},
		"styles of lists":         {`<ol style="list-style-type: lower-alpha"><li>a<li style="list-style-type:upper-roman">b</ol><ol style="list-style: cjk-ideographic inside" start=11><li>c</ol><ul style="list-style-type:decimal"><li>d</ul><ol style="list-style-type:none"><li>1.1 e</ol>`, "a. a\nII. b\n\n十一. c\n\n1. d\n\n- 1.1 e"},
		"styles of text":          {`<p>10<span style="font-size:smaller; vertical-align: super">6</span> H<i style="vertical-align:sub">2</i>O <span style="text-decoration: line-through red">900 <span>euros</span></span> 950</p><ul><li style="text-decoration-line:line-through">old</li><li>new</ul><table><tr><td style="text-decoration:line-through">80<td>95</table>`, "10⁶ H₂O ~~900 euros~~ 950\n\n- ~~old~~\n- new\n\n~~80~~ | 95"},
		"a saved form":            {`<p>Name <input value="Ines Wolf"> <input type=password value=secret><input type=hidden value=4></p><p><input type=checkbox checked> dogs <input type=radio> cats</p><p><select><option>Bern<option selected>Bonn</select> <textarea>Ring the bell</textarea></p>`, "Name Ines Wolf\n\n☒ dogs ☐ cats\n\nBonn Ring the bell"},
		"tasks":                   {`<ul class="inline-task-list"><li class="checked" data-inline-task-id="1">a</li><li data-inline-task-id="2">b</ul><ac:task-list><ac:task><ac:task-id>7</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body><span>c</span></ac:task-body></ac:task><ac:task><ac:task-id>8</ac:task-id><ac:task-status>incomplete</ac:task-status><ac:task-body>d</ac:task-body></ac:task></ac:task-list><ul><li data-checked="true">e</ul><p><span role="checkbox" aria-checked="false"></span> f</p>`, "- ☒ a\n- ☐ b\n\n☒ c\n☐ d\n\n- ☒ e\n\n☐ f"},
		"an equation drawn twice": {`<p>So <span class="katex"><span class="katex-mathml"><math><mi>x</mi><mo>=</mo><mn>2</mn></math></span><span class="katex-html" aria-hidden="true"><span>x</span><span>=2</span></span></span> and <nobr aria-hidden="true">y</nobr><math><mi>y</mi></math>.</p>`, "So x=2 and y."},
		"an equation drawn once":  {`<p>So <span class="katex"><span class="katex-html" aria-hidden="true"><span>x=2</span></span></span>.</p>`, "So x=2."},
		"page in a page": {`<p>a</p><iframe srcdoc="&lt;h2>b&lt;/h2>&lt;iframe srcdoc='&amp;lt;p>c &amp;amp;amp; d'>&lt;/iframe>"><p>no</p></iframe><p>e</p>`,
			"a\n\n## b\n\nc & d\n\ne"},
		"preformatted":            {"<p>x</p><pre>a\n  b</pre><p>y</p>", "x\n\na\n  b\n\ny"},
		"line breaks":             {"a<br>b<div>c</div>d", "a\nb\nc\nd"},
		"entities":                {"<p>R&amp;D &lt;x&gt; caf&eacute; a&nbsp;b</p>", "R&D <x> café a b"},
		"links to headings":       {`<h2>Scope<a class="headerlink" href="#s">¶</a></h2><p>t</p>`, "## Scope\n\nt"},
		"navigation never closed": {"<nav><p>All of the page</p>", "All of the page"},
		"head never closed":       {"<head><title>T</title><body><p>x</p>", "x"},
		"script never closed":     {"<p>x</p><script>var a = '", "x"},
		"plain text":              {"just words", "just words"},
		"declared encoding":       {"<meta charset=iso-8859-2><p>\xb9koda</p>", "škoda"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := All().Text(t.Context(), "html", []byte(tc.in))
			if got = strings.TrimSpace(got); err != nil || got != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	zip := "PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00"
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	for name, tc := range map[string]struct {
		file, declared, raw string
		want                string // "": refused
	}{
		"text":                   {"a.txt", "text/plain", "hello there", "txt"},
		"markdown":               {"README.MD", "", "# Title", "md"},
		"markdown with tags":     {"a.md", "", "<h1 align=center>Title</h1>", "md"},
		"page":                   {"a.htm", "", "<p>x</p>", "html"},
		"pdf":                    {"a.pdf", "", "%PDF-1.4\n", "pdf"},
		"pdf with a preface":     {"a.pdf", "", "junk\n%PDF-1.4\n", "pdf"},
		"pdf named txt":          {"a.txt", "text/plain", "%PDF-1.7\n\x93", "pdf"},
		"page named txt":         {"a.txt", "", "<!DOCTYPE html><html>", "html"},
		"text about pdf":         {"a.txt", "", "A file begins with %PDF-1.4", "txt"},
		"text named pdf":         {"a.pdf", "application/pdf", "hello there", ""},
		"picture named md":       {"a.md", "text/markdown", png, "png"},
		"office file":            {"a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip, ""},
		"office file named txt":  {"a.txt", "", zip, ""},
		"no extension, declared": {"notes", "text/markdown; charset=utf-8", "# x", "md"},
		"no extension, text":     {"notes", "application/octet-stream", "plain words", "txt"},
		"no extension, picture":  {"notes", "", png, "png"},
		"unknown extension":      {"a.xyz", "", "plain words", ""},
		"dotted title":           {"Policy 2.1", "text/plain", "plain words", "txt"},
		"UTF-16":                 {"a.txt", "", "\xff\xfeh\x00i\x00", "txt"},
		"Latin-1":                {"a.txt", "", "caf\xe9", "txt"},
		"empty":                  {"a.txt", "", "", "txt"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := All().Detect(tc.file, tc.declared, []byte(tc.raw))
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("%q, %v, want %q", got, ok, tc.want)
			}
		})
	}
}

func FuzzTextAndHTML(f *testing.F) {
	for _, s := range []string{"plain", "<p>x<li>y<table><td>z", "\xff\xfea", "<nav hidden><x hidden>", "<pre>\n\x00", "\xc3("} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, page bool) {
		kind := "txt"
		if page {
			kind = "html"
		}
		text, err := All().Text(t.Context(), kind, []byte(s))
		var u *Unreadable
		if err != nil && !errors.As(err, &u) {
			t.Fatal(err)
		}
		checkText(t, text)
		All().Detect("a."+kind, "", []byte(s))
	})
}

// Adversarial pages take time in proportion to their length.
func TestHTMLIsLinear(t *testing.T) {
	for _, unit := range []string{"<div>", "<ul><li>", "<nav>", "<x hidden>", "<p>word</p>", "<table><tr><td>", "&amp;", "<pre>", "<!--", "<h1>"} {
		raw := []byte(strings.Repeat(unit, 1_000_000/len(unit)))
		began := process.CPUTime(t)
		if _, err := All().Text(t.Context(), "html", raw); err != nil {
			var u *Unreadable
			if !errors.As(err, &u) {
				t.Error(err)
			}
		}
		if d := process.CPUTime(t) - began; d > 3*time.Second {
			t.Errorf("%q: %v", unit, d)
		}
	}
}
