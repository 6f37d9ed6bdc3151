package documents

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	rules "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm/offline"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

// yearly are documents of one kind, and others that are about the same.
var yearly = map[string]string{
	"Travel Policy 2025":  "# Travel Policy 2025\n\n## Meals\n\nThe company pays at most 45 euros per day for meals.\n\n## Hotels\n\nA hotel may cost at most 160 euros per night.",
	"Travel Policy 2024":  "# Travel Policy 2024\n\n## Meals\n\nThe company pays at most 38 euros per day for meals.\n\n## Hotels\n\nA hotel may cost at most 140 euros per night.",
	"Mietvertrag 2025":    "# Mietvertrag 2025\n\nDie monatliche Miete beträgt 640 Euro. Die Kündigungsfrist beträgt drei Monate.",
	"Mietvertrag 2023":    "# Mietvertrag 2023\n\nDie monatliche Miete beträgt 590 Euro. Die Kündigungsfrist beträgt zwei Monate.",
	"Service Contract v2": "# Service Contract v2\n\nThe supplier answers incidents within four hours.",
	"Service Contract v1": "# Service Contract v1\n\nThe supplier answers incidents within nine hours.",
	"Sales":               "# Sales\n\n## March\n\nThe branch in Lyon sold 310 bicycles.\n\n## April\n\nThe branch in Lyon sold 275 bicycles.",
	"Parking":             "# Parking\n\nA parking space costs 55 euros per month.",
}

// A follow-up that names another year, month or version is answered from what is of it, or not at
// all.
func TestFollowUpForAnotherEditionIsAnsweredFromItOrNotAtAll(t *testing.T) {
	for name, open := range map[string]func(*testing.T) db.Store{
		"SQLite": nil,
		"Postgres": func(t *testing.T) db.Store {
			s, err := postgres.Open(context.Background(), pgtest.Database(t))
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			if open != nil {
				b.Fixture.Store.Store = open(t)
			}
			b.Kit.Model = offline.New(rules.Rules())
			b.Search = retrieval.New(b.Fixture.Store, b.Kit.Model)
			b.Env = b.NewEnv(worker.Options{})
			ids := map[string]string{}
			for title, text := range yearly {
				ids[title] = b.Doc(title, text)
			}
			for _, c := range []struct {
				first, of, second string
				says, not         []string
			}{
				{"How much does the company pay for meals per day in 2025?", "Travel Policy 2025", "and in 2024?", []string{"38 euros", "Travel Policy 2024"}, []string{"45", "160"}},
				{"What does the travel policy 2025 say about hotels?", "Travel Policy 2025", "And 2024?", []string{"140 euros"}, []string{"160", "38"}},
				{"What does the travel policy 2024 say about hotels?", "Travel Policy 2024", "what about the 2025 one?", []string{"160 euros"}, []string{"140"}},
				{"What does the travel policy 2025 say about hotels?", "Travel Policy 2025", "and in 2019?", []string{"nothing for 2019"}, []string{"160", "140", "“"}},
				{"What does the travel policy 2025 say about hotels?", "Travel Policy 2025", "and for version 3?", []string{"nothing for v3"}, []string{"160", "“"}},
				{"Wie hoch ist die Miete im Mietvertrag 2025?", "Mietvertrag 2025", "und im Jahr 2023?", []string{"590 Euro", "Laut"}, []string{"640"}},
				{"Wie hoch ist die Miete im Mietvertrag 2025?", "Mietvertrag 2025", "und 2024?", []string{"Für 2024 habe ich"}, []string{"640", "590", "“"}},
				{"How fast does the supplier answer incidents under the service contract v2?", "Service Contract v2", "and under version 1?", []string{"nine hours"}, []string{"four hours"}},
				{"How many bicycles were sold in Lyon in March?", "Sales", "and in April?", []string{"275"}, []string{"310"}},
				{"How many bicycles were sold in Lyon in March?", "Sales", "and in June?", []string{"nothing for June"}, []string{"310", "275", "“"}},
				{"How much does a parking space cost?", "Parking", "and in 2024?", []string{"nothing for 2024"}, []string{"55", "“"}},
			} {
				b.Thread = uuid.NewString()
				b.Exchange(c.first, "It says something [1].", ids[c.of])
				ref := b.Say(c.second)
				in := b.understand(ref)
				require.Equal(t, chat.Inquire, in.Action, c.second)
				docs := b.resolve(ref, "")
				found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire, DocIDs: docs.IDs, Hint: !docs.Sure})
				b.write(ref, WriteRequest{Action: chat.Inquire, DocIDs: docs.IDs, ChunkIDs: found.ChunkIDs, Weak: found.Confidence == chat.Low})
				answer := b.Texts(ref)[chat.PieceKey(1)]
				for _, part := range c.says {
					require.Contains(t, answer, part, "%s → %s", c.first, c.second)
				}
				for _, part := range c.not {
					require.NotContains(t, answer, part, "%s → %s", c.first, c.second)
				}
			}
		})
	}
}
