package documents

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	rules "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/samples"
	"github.com/palaver-chat/palaver/llm/offline"
)

const (
	circular = "Circular 2025/04: Capital, Liquidity and Outsourcing"
	work2024 = "Remote Work and Customer Data Policy 2024"
	work2025 = "Remote Work and Customer Data Policy 2025"
	contract = "Supplier Contract with Brightwater"
)

// withSamples sets up the offline engine, the real search and the sample documents.
func withSamples(t *testing.T) (b *bundle, titles map[string]string) {
	b = setup(t)
	b.Kit.Model = offline.New(rules.Rules())
	b.Search = retrieval.New(b.Store, b.Kit.Model)
	b.Env = b.NewEnv(worker.Options{})
	titles = map[string]string{}
	ctx := context.Background()
	for _, s := range samples.List() {
		raw, err := samples.FS.ReadFile(s.Name)
		require.NoError(t, err)
		d := chat.Document{ID: uuid.NewString(), Owner: chat.PublicOwner, Title: s.Title, Status: chat.DocProcessing, Format: s.Type}
		require.NoError(t, b.Store.CreateDocument(ctx, d, raw))
		require.NoError(t, b.Store.StoreText(ctx, d.Owner, d.ID, string(raw), chunk.ForDocument(d.ID, string(raw)), nil))
		titles[d.ID] = s.Title
	}
	return b, titles
}

func TestSampleDocumentsAnswerWithoutAModel(t *testing.T) {
	for message, want := range map[string]struct {
		action chat.Action
		docs   []string
		says   string
	}{
		"What is the minimum total capital ratio?":                                                         {chat.Inquire, nil, "8 per cent"},
		"How many days per week may employees work remotely?":                                              {chat.Inquire, nil, "three days per week"},
		"What does Circular 2025/04 say about outsourcing?":                                                {chat.Inquire, []string{circular}, "utsourcing"},
		"Summarize the supplier contract":                                                                  {chat.Summarize, []string{contract}, "Supplier"},
		"Summarize the capital requirements in Circular 2025/04":                                           {chat.Inquire, []string{circular}, "capital"},
		"Compare the remote work policy 2024 and the remote work policy 2025":                              {chat.Compare, []string{work2024, work2025}, "three days"},
		"Compare Remote Work and Customer Data Policy 2025 with Remote Work and Customer Data Policy 2024": {chat.Compare, []string{work2025, work2024}, "three days"},
		"Check this against the 2025 remote work policy: I am sending the customer spreadsheet to my private address and I have not encrypted the file.": {chat.Audit, []string{work2025}, "not encrypted"},
	} {
		t.Run(message, func(t *testing.T) {
			b, titles := withSamples(t)
			ref := b.Say(message)
			in := b.understand(ref)
			require.Equal(t, want.action, in.Action)
			require.Equal(t, chat.High, in.Confidence)
			docs := b.resolve(ref, "")
			var named []string
			for _, id := range docs.IDs {
				named = append(named, titles[id])
			}
			require.Equal(t, want.docs, named)
			require.Empty(t, docs.Suggested)
			require.False(t, docs.Unresolved)
			require.Equal(t, want.action == chat.Audit, docs.HasText)

			found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: in.Action, DocIDs: docs.IDs})
			require.NotEqual(t, chat.Low, found.Confidence)
			b.write(ref, WriteRequest{Action: in.Action, DocIDs: docs.IDs, ChunkIDs: found.ChunkIDs})
			texts := b.Texts(ref)
			require.Contains(t, texts[chat.PieceKey(1)], want.says)
			require.Contains(t, texts[chat.PieceKey(1)], "[1]")

			var citations []chat.Citation
			require.NoError(t, json.Unmarshal([]byte(texts[chat.TextCitations]), &citations))
			require.NotEmpty(t, citations)
			for _, c := range citations {
				text, err := b.Store.DocumentText(context.Background(), owner, c.DocID)
				require.NoError(t, err)
				require.Equal(t, c.Quote, string([]rune(text)[*c.Start:*c.End]), "verbatim at its offsets")
				if want.docs != nil {
					require.Contains(t, want.docs, c.Title)
				}
			}
		})
	}
}

func TestAuditOfOneDocumentAgainstAnotherAuditsTheFirstNamed(t *testing.T) {
	b, titles := withSamples(t)
	email, policy := "", ""
	for id, title := range titles {
		switch {
		case strings.HasPrefix(title, "Email"):
			email = id
		case title == work2025:
			policy = id
		}
	}
	ref := b.Begin(chat.Content{
		Message: "Audit @" + titles[email] + " against @" + work2025, Action: chat.Audit,
		TipTap: composed(mentionNode("document", email, titles[email]), mentionNode("document", policy, work2025)),
	})
	docs := b.resolve(ref, chat.Audit)
	require.Equal(t, []string{email, policy}, docs.IDs)
	require.False(t, docs.HasText)
	found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Audit, DocIDs: docs.IDs[1:], Subject: email})
	b.write(ref, WriteRequest{Action: chat.Audit, DocIDs: docs.IDs[1:], Subject: email, ChunkIDs: found.ChunkIDs})
	text := b.Texts(ref)[chat.PieceKey(1)]
	require.Contains(t, text, "Severity")
	require.Contains(t, text, "not encrypted")
}

func TestMailIsAuditedAgainstTheDocumentsThatItTouches(t *testing.T) {
	for message, audited := range map[string]bool{
		"audit the email from Martin":                     true,
		"Audit the mail from Martin for me, please":       true,
		"Audit this against the email from Martin":        false, // the text is missing
		"Does our plan comply with the mail from Martin?": false,
	} {
		t.Run(message, func(t *testing.T) {
			b, titles := withSamples(t)
			mail := b.Upload("Email from Martin", "eml", []byte("raw"))
			b.Index(owner, mail, "From: Martin\n\nHi, I send the customer spreadsheet to my private address and I have not encrypted the file. I work remotely on five days per week.")
			docs := b.resolve(b.Say(message), chat.Audit)
			require.Equal(t, mail, docs.IDs[0])
			require.Equal(t, audited, len(docs.IDs) > 1, docs.IDs)
			if audited {
				require.Empty(t, missing(chat.Audit, docs))
				require.LessOrEqual(t, len(docs.IDs), 1+maxRuleDocs)
				var against []string
				for _, id := range docs.IDs[1:] {
					against = append(against, titles[id])
				}
				require.Contains(t, against, work2025)
			}
		})
	}
}

func TestUnknownNameIsAskedAboutAndAFollowUpKeepsItsDocument(t *testing.T) {
	b, titles := withSamples(t)
	require.True(t, b.resolve(b.Say("What about XYZ guidelines?"), "").Unresolved)
	for id, title := range titles {
		if title == contract {
			b.Exchange("Summarize the supplier contract", "**"+contract+"** says much.", id)
		}
	}
	docs := b.resolve(b.Say("What does it say about invoices?"), "")
	require.Len(t, docs.IDs, 1)
	require.Equal(t, contract, titles[docs.IDs[0]])
}
