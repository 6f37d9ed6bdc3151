package documents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
)

func TestModelsSearchWordsAndOpinionCanRaiseALowConfidence(t *testing.T) {
	for name, c := range map[string]struct {
		words, text string
		answerable  llm.Answerable
		want        chat.Confidence
	}{
		"only the model's words find it":      {"remuneration is transferred", "Remuneration is transferred on the 25th of each month.", "", chat.Medium},
		"scores low, the model says likely":   {"", "Money is never mentioned on this page about gardens.", llm.Likely, chat.Medium},
		"scores and model agree on nothing":   {"", "Money is never mentioned on this page about gardens.", llm.Unlikely, chat.Low},
		"scores low, and nobody was asked":    {"", "Money is never mentioned on this page about gardens.", "", chat.Low},
		"the model's words find nothing, too": {"quantum entanglement", "Money is never mentioned on this page about gardens.", "", chat.Low},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.Doc("Guideline", c.text)
			b.Doc("Other", "Photons carry energy. Gardens are green.")
			b.Search = retrieval.New(b.Store, nil)
			b.Kit.Model = byTask{
				llm.TaskIntent: llm.Intent{Action: chat.Inquire, Confidence: chat.High, SearchWords: c.words},
				llm.TaskDocs:   llm.DocResolution{Confidence: chat.High, SearchWords: c.words, Answerable: c.answerable},
			}
			ref := b.Begin(chat.Content{Message: "When does the money for my toil arrive on Fridays?"})
			must[Intent](b, b.InferIntent, ref)
			must[Docs](b, b.InferDocs, ref, chat.Action(""))
			got := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire})
			require.Equal(t, c.want, got.Confidence, "score %.2f", got.Score)
		})
	}
}
