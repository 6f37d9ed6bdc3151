package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var mailFile = Type{
	Name:       "eml",
	Label:      "E-mail",
	Extensions: []string{".eml", ".mht", ".mhtml"},
	MediaTypes: []string{"message/rfc822", "multipart/related", "application/x-mimearchive"},
	Is:         func(raw []byte, named string) bool { return named == "" && isSavedPage(raw) },
	Read: func(ctx context.Context, raw []byte) (string, error) {
		c, err := mailContent(ctx, raw)
		return c.Text, err
	},
	content:  mailContent,
	untitled: true, // its subject is the title
}

// isSavedPage recognises a web page that was saved with its pictures, as a message that nobody has
// sent (RFC 2557). Browsers call such a file .mht, and Confluence .doc.
func isSavedPage(raw []byte) bool {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	return err == nil && isUnsentPage(m.Header)
}

func isUnsentPage(h mail.Header) bool {
	media, _ := mediaType(h.Get("Content-Type"))
	return h.Get("MIME-Version") != "" && h.Get("To")+h.Get("Cc") == "" && !strings.Contains(h.Get("From"), "@") && (media == "multipart/related" || media == "text/html")
}

// subjectNames are what mail programs call the subject.
var subjectNames = language.NewSet("subject betreff objet asunto oggetto onderwerp assunto ämne emne aihe temat předmět predmet " +
	"tárgy subiect tema тема θέμα konu 主题 主旨 件名 제목 الموضوع נושא")

var (
	textField = lazyregexp.New(`^(\pL[\pL\pM\pN /_-]{0,60}?)\s*[:：]\s*(.*)$`)
	// sentBy matches an address, or a year and a time of day.
	sentBy = lazyregexp.New(`\S@\S|\b(?:19|20)\d\d\b.*\d[:.h]\d\d|\d[:.h]\d\d.*\b(?:19|20)\d\d\b`)
)

// textMail reads a message in a text file; isMail is false for other texts. Either it is the message
// as it was sent, or a mail program, in any language, has saved it: then the names of its fields are
// those that the program shows.
func textMail(ctx context.Context, raw []byte, text string) (_ Content, isMail bool, _ error) {
	header, body, _ := strings.Cut(text, "\n\n")
	if len(header) > maxFrontMatter {
		return Content{}, false, nil
	}
	var fields [][2]string
	subject := ""
	found, from, technical := false, false, false // technical: people do not see such fields
	for line := range strings.Lines(header) {
		m := textField.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if n := len(fields); m == nil && n > 0 && strings.TrimLeft(line, " \t") != line {
			fields[n-1][1] += " " + strings.TrimSpace(line)
			continue
		} else if m == nil {
			return Content{}, false, nil
		}
		name := strings.ToLower(m[1])
		from = from || name == "from"
		technical = technical || strings.ContainsAny(name, "-_") || strings.Contains(m[2], "=?") // that is encoded
		if subjectNames[name] && subject == "" {
			subject, found = m[2], true
		} else {
			fields = append(fields, [2]string{m[1], m[2]})
		}
	}
	if !found || len(fields) < 2 || !slices.ContainsFunc(fields, func(f [2]string) bool { return sentBy.MatchString(f[1]) }) {
		return Content{}, false, nil
	}
	if from && technical {
		c, err := mailContent(ctx, raw)
		return c, err == nil || ctx.Err() != nil, err
	}
	return mailText(subject, fields, body, nil), true, nil
}

// Limits of a message.
const (
	maxMailDepth = 10
	maxMailParts = 1000
)

// mailContent reads a message.
func mailContent(ctx context.Context, raw []byte) (Content, error) {
	if e := wideEncoding(raw); e != nil {
		if s, err := decodeWith(e, raw); err == nil {
			raw = []byte(s)
		}
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		m, err = mail.ReadMessage(bytes.NewReader(foldedHeader(raw)))
	}
	if err != nil {
		return Content{}, errDamagedFile
	}
	header := func(name string) string {
		value := m.Header.Get(name)
		if s, err := encodedWords.DecodeHeader(value); err == nil {
			value = s
		}
		if s, err := toUTF8([]byte(value), ""); err == nil {
			value = s
		}
		return strings.Join(strings.Fields(value), " ")
	}
	r := mailReader{ctx: ctx, left: maxMailParts}
	if err := r.part(m.Header.Get, m.Body, 0); err != nil {
		return Content{}, err
	}
	if isUnsentPage(m.Header) && len(r.texts) > 0 {
		text := clean(r.text())
		return Content{Text: text, Title: cmp.Or(firstHeading(text, true), r.title, header("Subject"))}, nil
	}
	var fields [][2]string
	for _, name := range []string{"From", "To", "Cc", "Date", "Sent"} {
		fields = append(fields, [2]string{name, header(name)})
	}
	return mailText(header("Subject"), fields, r.text(), r.attached), nil
}

// encodedWords decodes the words of a header that are not ASCII, in any encoding.
var encodedWords = mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Reader(in), nil
}}

var headerLine = lazyregexp.New(`^(?:[!-9;-~]+:|[ \t]|\r?$)`)

// foldedHeader returns a message in which each line of the header that is none continues the
// line before it. Some programs break long names without the space that marks it.
func foldedHeader(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+64)
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			return append(out, raw...)
		}
		switch {
		case headerLine.Match(line):
			out = append(append(out, line...), '\n')
		case len(out) > 0:
			out = append(append(append(out, ' '), line...), '\n')
		}
		raw = rest
	}
	return out
}

// mailText writes a message: its subject and fields, what is new, then the messages that it quotes, and
// the names of its attachments.
func mailText(title string, fields [][2]string, body string, attached []string) Content {
	var o outline
	if title != "" {
		o.heading(1, title)
	}
	for _, f := range fields {
		if f[1] != "" {
			o.add(row, f[0]+": ", f[1])
		}
	}
	recent, earlier := splitQuotes(strings.TrimSpace(clean(body)))
	o.add(paragraph, "", recent)
	if earlier != "" {
		o.add(paragraph, "", "Earlier messages:")
		o.add(paragraph, "", earlier)
	}
	if len(attached) > 0 {
		o.add(paragraph, "Attachments: ", strings.Join(attached, ", "))
	}
	return Content{Text: clean(o.out.String()), Title: title}
}

type mailReader struct {
	ctx      context.Context
	texts    []mailPart
	title    string // of the first web page
	attached []string
	left     int // parts that may still be read
}

// mailPart is the text of a part of a message, and whether it was a web page.
type mailPart struct {
	text string
	page bool
}

// text returns the texts of all parts, in order.
func (r *mailReader) text() string {
	var all []string
	for _, p := range r.texts {
		all = append(all, p.text)
	}
	return strings.Join(all, "\n\n")
}

// choose keeps the plain text of alternatives that were read since the part with this number,
// or else their web page: if the text is much shorter, it only says that there is a page.
func (r *mailReader) choose(from int) {
	since := r.texts[from:]
	plain, page := 0, 0
	for _, p := range since {
		n := len(strings.TrimSpace(p.text))
		if p.page {
			page += n
		} else {
			plain += n
		}
	}
	keepPage := 3*plain < page
	since = slices.DeleteFunc(since, func(p mailPart) bool { return p.page != keepPage })
	r.texts = append(r.texts[:from], since...)
}

var looseParameter = lazyregexp.New(`;\s*([\w*-]+)\s*=\s*("[^"]*"|[^;]*)`)

// mediaType reads a header such as Content-Type; "" means that it is missing or says nothing. Some
// programs write boundaries and names without the quotes that they need.
func mediaType(header string) (media string, params map[string]string) {
	media, params, err := mime.ParseMediaType(header)
	if err == nil {
		return media, params
	}
	media, _, _ = strings.Cut(header, ";")
	params = map[string]string{}
	for _, m := range looseParameter.FindAllStringSubmatch(header, -1) {
		params[strings.ToLower(m[1])] = strings.Trim(m[2], "\" \t\r\n")
	}
	if media = strings.ToLower(strings.TrimSpace(media)); strings.ContainsAny(media, " \t,=") {
		return "", nil
	}
	return media, params
}

// preamble keeps what is read before the first part of a message: all of it, if its boundary is
// nowhere.
type preamble struct {
	bytes.Buffer
	ended bool
}

func (p *preamble) Write(b []byte) (int, error) {
	if p.ended {
		return len(b), nil
	}
	return p.Buffer.Write(b)
}

// part reads a part of a message. A damaged part ends the reading of the parts after it.
func (r *mailReader) part(header func(string) string, body io.Reader, depth int) error {
	if r.left--; r.left < 0 || depth > maxMailDepth {
		return errTooLarge
	}
	media, params := mediaType(header("Content-Type"))
	if !strings.Contains(media, "/") || strings.HasPrefix(media, "multipart/") && params["boundary"] == "" { // RFC 2045, 5.2
		media, params = "text/plain", nil
	}
	disposition, file := mediaType(header("Content-Disposition"))
	name := file["filename"]
	if name == "" {
		name = params["name"]
	}
	if strings.HasPrefix(media, "multipart/") {
		if media == "multipart/alternative" {
			defer r.choose(len(r.texts))
		}
		var before preamble
		parts := multipart.NewReader(io.TeeReader(body, &before), params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err != nil && !before.ended {
				media, params, body = "text/plain", nil, io.MultiReader(&before.Buffer, body)
				break
			}
			before = preamble{ended: true}
			if err != nil { // the end, or the part is damaged
				return nil
			}
			if err := r.part(p.Header.Get, p, depth+1); err != nil {
				return err
			}
		}
	}
	if disposition == "attachment" || name != "" || media != "text/plain" && media != "text/html" && media != "message/rfc822" {
		if name == "" {
			name = media
		}
		if s, err := encodedWords.DecodeHeader(name); err == nil {
			name = s
		}
		r.attached = append(r.attached, strings.Join(strings.Fields(name), " "))
		return nil
	}
	switch strings.ToLower(strings.TrimSpace(header("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(io.LimitReader(body, MaxText))
	if err != nil && len(raw) == 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	switch media {
	case "message/rfc822":
		c, err := mailContent(r.ctx, raw)
		if err == nil && depth < maxMailDepth/2 {
			r.texts = append(r.texts, mailPart{text: c.Text})
		}
	case "text/html":
		text, err := toUTF8(raw, params["charset"])
		if err != nil {
			return err
		}
		page, err := htmlContent(r.ctx, []byte(text))
		if err != nil {
			return err
		}
		r.title = cmp.Or(r.title, page.Title)
		r.texts = append(r.texts, mailPart{page.Text, true})
	default:
		text, err := toUTF8(raw, params["charset"])
		if err != nil {
			return err
		}
		r.texts = append(r.texts, mailPart{text: text})
	}
	return nil
}

// quoteHead matches the line that mail programs write above a quotation: it names a day or a
// person and ends in a colon.
var quoteHead = lazyregexp.New(`^(>\s*)*\S.{5,200}(\d{1,4}|<[^>]+@[^>]+>).*:\s*$`)

// splitQuotes moves the lines that quote earlier messages, and the lines above them that say
// so, after the text that is new.
func splitQuotes(text string) (recent, earlier string) {
	var fresh, quoted []string
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		next := ""
		for j := i + 1; j < len(lines) && j <= i+2 && next == ""; j++ {
			next = strings.TrimSpace(lines[j])
		}
		if strings.HasPrefix(strings.TrimSpace(l), ">") || strings.HasPrefix(next, ">") && quoteHead.MatchString(l) {
			quoted = append(quoted, strings.TrimLeft(l, "> \t"))
		} else {
			fresh = append(fresh, l)
		}
	}
	return strings.TrimSpace(strings.Join(fresh, "\n")), strings.TrimSpace(strings.Join(quoted, "\n"))
}
