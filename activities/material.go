package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/cite"
	"github.com/palaver-chat/palaver/tools"
)

const (
	answerContext   = 6    // earlier messages in the prompt of an answer
	maxSubject      = 40   // passages of the document to audit
	maxAnswerTokens = 4096 // of one answer
)

// material is the input of an answer.
type material struct {
	action       chat.Action
	message      string // the person's message, or what of it asks
	freeText     string // without the documents' names
	audited      string // the text under audit
	subjectTitle string
	subject      []llm.Passage // the document under audit
	documents    []llm.Document
	passages     []llm.Passage
	web          bool
	recent       []chat.Message
	sources      []cite.Source
	allowed      []string // may be quoted without being cited
	texts        map[string]string
	attachments  []string
	images       []llm.Image
	offered      []tools.Tool
	before       exchange // the turn's tool calls so far
}

// gather reads the input of an answer, in parallel: the person waits for it before
// the first token.
func (a *Activities) gather(ctx context.Context, r WriteRequest) (material, error) {
	var (
		turn          chat.Turn
		tagged        tags
		hits, subject []chat.Hit
		docs          []chat.Document
		m             = material{action: r.Action, web: r.Web}
	)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if turn, err = a.turn(ctx, r.TurnRef); err != nil {
			return err
		}
		if tagged, err = a.readTags(ctx, r.Owner, turn.Content.TipTap, turn.Content.TaggedDocs, turn.Content.TaggedSets); err != nil {
			return err
		}
		docs, err = a.docsByID(ctx, r.Owner, r.DocIDs, tagged)
		return err
	})
	g.Go(func() (err error) {
		m.texts, err = a.Store.Texts(ctx, r.Owner, r.TurnID)
		return err
	})
	g.Go(func() (err error) {
		m.recent, err = a.Store.Recent(ctx, r.Owner, r.ThreadID, r.Parent, answerContext)
		return err
	})
	if len(r.ChunkIDs) > 0 {
		g.Go(func() (err error) {
			hits, err = a.Store.ChunksByID(ctx, r.Owner, r.ChunkIDs)
			return err
		})
	}
	if r.Subject != "" {
		g.Go(func() (err error) {
			subject, err = a.Store.DocumentChunks(ctx, r.Owner, r.Subject, maxSubject)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return material{}, err
	}

	m.documents = asDocuments(docs)
	for _, h := range hits {
		m.passages = append(m.passages, m.source(h))
	}
	if r.Web {
		m.addWeb()
	}
	for _, h := range subject {
		m.subject = append(m.subject, m.source(h))
		m.subjectTitle = h.Title
	}
	m.attachments = turn.Content.Attachments
	m.message, m.freeText = turn.Content.Message, tagged.textWithoutTags(turn.Content.Message)
	if r.Action != chat.Audit {
		m.freeText = replaceNames(m.freeText, titlesOf(docs), " ")
	}
	m.allowed = []string{turn.Content.Message}
	if r.Action == chat.Audit {
		m.audit(subject)
	}
	return m, nil
}

// audit finds the text to audit: an answer to a question, a document, or part of the
// message.
func (m *material) audit(subject []chat.Hit) {
	switch given := m.texts[chat.TextSource]; {
	case given != "":
		m.audited = given
	case len(subject) > 0:
		m.audited = joined(subject)
	default:
		instruction, text := auditText(m.freeText)
		if m.audited = text; text == "" {
			m.audited = m.message
		} else if instruction = strings.TrimSpace(instruction); instruction != "" {
			m.message = instruction
		} else {
			m.message = "Audit this text."
		}
	}
	m.allowed = append(m.allowed, m.audited)
}

// joined is the text of consecutive chunks, without their overlaps.
func joined(chunks []chat.Hit) string {
	var b strings.Builder
	end := 0
	for _, c := range chunks {
		text := []rune(c.Text)
		switch overlap := end - c.Start; {
		case overlap >= len(text):
			continue
		case overlap > 0:
			text = text[overlap:]
		case b.Len() > 0:
			b.WriteString("\n")
		}
		b.WriteString(string(text))
		end = c.End
	}
	return b.String()
}

// source gives a passage the next number.
func (m *material) source(h chat.Hit) llm.Passage {
	n := len(m.sources) + 1
	m.sources = append(m.sources, cite.Source{N: n, DocID: h.DocID, ChunkID: h.ID, Title: h.Title, Text: h.Text, Start: h.Start})
	return llm.Passage{N: n, DocID: h.DocID, Title: h.Title, Heading: h.Heading, Text: h.Text, Score: h.Score}
}

func (m *material) addWeb() {
	var pages []tools.WebHit
	if json.Unmarshal([]byte(m.texts[chat.TextWebResults]), &pages) != nil {
		return
	}
	for _, p := range pages {
		n := len(m.sources) + 1
		m.sources = append(m.sources, cite.Source{N: n, Title: p.Title, URL: p.URL, Text: p.Text})
		m.passages = append(m.passages, llm.Passage{N: n, Title: p.Title, URL: p.URL, Text: p.Text, Score: p.Score})
	}
}

// textUnderAudit is the text to audit, as the query for retrieval.
func (a *Activities) textUnderAudit(ctx context.Context, r RetrieveRequest, free string) (string, error) {
	texts, err := a.Store.Texts(ctx, r.Owner, r.TurnID)
	if err != nil {
		return "", err
	}
	if given := texts[chat.TextSource]; given != "" {
		return given, nil
	}
	if r.Subject != "" {
		text, err := a.Store.DocumentText(ctx, r.Owner, r.Subject)
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, db.ErrNotFound) {
			return "", fmt.Errorf("read the document under audit: %w", err)
		}
	}
	if _, text := auditText(free); text != "" {
		return text, nil
	}
	return free, nil
}
