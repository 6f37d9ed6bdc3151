package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/agents/documents/mention"
	"github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/agents/documents/prompt"
	shared "github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/tiptap"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

const maxSubject = 40 // passages of the document to audit

// material is the input of an answer.
type material struct {
	prompt.Material
	texts       map[string]string
	attachments []string
	noWeb       bool // the person forbade searches of the web
	offered     []tools.Tool
	remembered  []string // as in activities.PieceRequest
	before      activities.Earlier
}

// gather reads the input of an answer, in parallel: the person waits for it before
// the first token.
func (a *Activities) gather(parent context.Context, ref activities.TurnRef, r WriteRequest) (material, error) {
	var (
		turn          chat.Turn
		tagged        tiptap.Tags
		hits, subject []chat.Hit
		docs          []chat.Document
		library       []llm.Document
		profile       chat.Profile
		m             material
	)
	g, ctx := errgroup.WithContext(parent)
	g.Go(func() (err error) {
		if turn, err = a.Turn(ctx, ref); err != nil {
			return err
		}
		if tagged, err = a.ReadTags(ctx, ref, turn.Content.TipTap, turn.Content.TaggedDocs, turn.Content.TaggedSets); err != nil {
			return err
		}
		if r.Action == chat.Talk {
			library, err = shared.Library(ctx, a.Store, ref.Owner)
			return err
		}
		docs, err = a.DocsByID(ctx, ref, r.DocIDs)
		return err
	})
	g.Go(func() (err error) {
		m.texts, err = a.Texts(ctx, ref)
		return err
	})
	g.Go(func() (err error) {
		m.before, err = a.ReadEarlier(ctx, ref)
		return err
	})
	g.Go(func() (err error) {
		profile, err = a.Profile(ctx, ref)
		return err
	})
	if len(r.ChunkIDs) > 0 {
		g.Go(func() (err error) {
			hits, err = a.Passages(ctx, ref, r.ChunkIDs)
			return err
		})
	}
	if r.Subject != "" {
		g.Go(func() (err error) {
			subject, err = a.Store.DocumentChunks(ctx, ref.Owner, r.Subject, maxSubject)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return material{}, err
	}

	m.Recent, m.Summary = m.before.Messages, m.before.Summary
	m.Now, m.Wishes = a.Time(), profile.Instructions
	m.Action, m.Web, m.Weak = r.Action, r.Web, r.Weak
	m.Message, m.FreeText = turn.Content.Message, tagged.TextWithout(turn.Content.Message)
	m.Quotable = []string{turn.Content.Message}
	m.noWeb = turn.Content.NoWebSearch
	m.attachments, m.Pictures = turn.Content.Attachments, len(turn.Content.Attachments)
	m.Documents = append(library, shared.Known(docs)...)
	var pages []tools.WebHit
	if r.Web {
		pages = storedPages(m.texts)
	}
	hits, subject, pages = fitPassages(a.passageRoom(turn.Content.Message, m.Recent), r.Action, hits, subject, pages)
	m.AddPassages(hits)
	m.AddPages(pages)
	m.AddSubject(subject)
	if a.Model.Info().Offline && r.Action == chat.Inquire {
		if err := a.open(parent, ref, hits, docs, &m); err != nil {
			return material{}, err
		}
	}
	m.ReadLanguage()
	if r.Action == chat.Audit {
		m.SetAudited(m.texts[chat.TextSource], subject)
	} else {
		// The name of a document with tables may be that of one of them: "Budget 2026" has a sheet "Budget".
		named := slices.DeleteFunc(slices.Clone(docs), func(d chat.Document) bool {
			return slices.ContainsFunc(m.Opened, func(p llm.Passage) bool { return p.DocID == d.ID })
		})
		m.FreeText = language.ReplaceNames(m.FreeText, mention.Titles(named), " ")
	}
	return m, nil
}

const (
	maxOpened       = 3     // documents whose tables the engine without a model looks at
	maxListed       = 2     // best passages, the lists of whose documents it looks at
	maxOpenedChunks = 2_000 // passages of one of them; it does not look at a part of a table
)

// open adds the documents with a row of a table among the passages, the best first, then those that
// the message names, then those of the best passages.
func (a *Activities) open(ctx context.Context, ref activities.TurnRef, hits []chat.Hit, named []chat.Document, m *material) error {
	var ids []string
	for _, h := range hits {
		if tables.HasRow(h.Text) {
			ids = append(ids, h.DocID)
		}
	}
	for _, d := range named {
		ids = append(ids, d.ID)
	}
	ids = language.Distinct(ids)
	ids = ids[:min(len(ids), maxOpened)]
	for _, h := range hits[:min(len(hits), maxListed)] {
		ids = append(ids, h.DocID)
	}
	if offline.ComparesRows(m.Message) {
		about, err := a.tablesAbout(ctx, ref, m.Message)
		if err != nil {
			return err
		}
		ids = append(ids, about...)
	}
	for _, id := range language.Distinct(ids) {
		chunks, err := a.Store.DocumentChunks(ctx, ref.Owner, id, maxOpenedChunks)
		if err != nil {
			return fmt.Errorf("open a document with tables: %w", err)
		}
		if len(chunks) < maxOpenedChunks {
			m.AddOpened(chunks)
		}
	}
	return nil
}

// tablesAbout returns spreadsheets whose titles have a word of the message: rows do not say of what they are.
func (a *Activities) tablesAbout(ctx context.Context, ref activities.TurnRef, message string) (ids []string, err error) {
	docs, err := a.Store.VisibleDocuments(ctx, ref.Owner)
	if err != nil {
		return nil, fmt.Errorf("find spreadsheets: %w", err)
	}
	asked := language.StemsOf(strings.Join(language.AskedWords(message), " "))
	for _, d := range docs {
		if len(ids) < maxListed && d.Status == chat.DocReady && slices.Contains([]string{"csv", "xlsx", "ods"}, d.Format) &&
			slices.ContainsFunc(language.ContentWords(d.Title), func(w string) bool { return asked[language.Stem(w)] }) {
			ids = append(ids, d.ID)
		}
	}
	return ids, nil
}

// storedPages returns the pages of the turn's web search; none when they cannot be decoded.
func storedPages(texts map[string]string) (pages []tools.WebHit) {
	if json.Unmarshal([]byte(texts[chat.TextWebResults]), &pages) != nil {
		return nil
	}
	return pages
}

// textUnderAudit returns the text to audit, as the query for retrieval.
func (a *Activities) textUnderAudit(ctx context.Context, ref activities.TurnRef, r RetrieveRequest, free string) (string, error) {
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return "", err
	}
	if given := texts[chat.TextSource]; given != "" {
		return given, nil
	}
	if r.Subject != "" {
		text, err := a.Store.DocumentText(ctx, ref.Owner, r.Subject)
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, db.ErrNotFound) {
			return "", fmt.Errorf("read the document under audit: %w", err)
		}
	}
	if _, text := intent.SplitAudit(free); text != "" {
		return text, nil
	}
	return free, nil
}
