package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

func TestStepsOfATurnShareWhatTheyReadExceptInASpace(t *testing.T) {
	for _, test := range []struct {
		space string
		want  bool
	}{{"", true}, {"a space", false}} {
		var r turnReads
		ref := TurnRef{Owner: "ann", TurnID: "turn", Space: test.space}
		r.begin(ref, db.TurnContext{Profile: chat.Profile{Industry: "tea"}})
		r.of(ref, func(known *reads) { known.docs["doc"] = chat.Document{ID: "doc"} })

		r.of(ref, func(known *reads) {
			_, all := inOrder(known.docs, []string{"doc"})
			require.Equal(t, test.want, all, "a document, space %q", test.space)
			require.Equal(t, test.want, known.begun, "the profile, space %q", test.space)
		})
		other := ref
		other.Owner = "ben"
		r.of(other, func(known *reads) { require.Empty(t, known.docs, "another owner") })
		r.forget(ref.TurnID)
	}
}

// spaces is a store with one space; err is that of reading it.
type spaces struct {
	db.Store
	space chat.Space
	err   error
}

func (s spaces) ThisSpace(context.Context, string) (chat.Space, error) { return s.space, s.err }

// Rule C19.
func TestTurnsInASpaceHaveTheToolsOfServersThatItAllows(t *testing.T) {
	var all tools.List
	for _, server := range []string{"", "files", "search"} {
		all = append(all, tools.Tool{Name: "look" + server, Server: server, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil }})
	}
	for name, test := range map[string]struct {
		in      string
		servers []string
		err     error
		want    []string
	}{
		"in no space":            {"", nil, nil, []string{"look", "lookfiles", "looksearch"}},
		"all":                    {"space", []string{chat.EveryServer}, nil, []string{"look", "lookfiles", "looksearch"}},
		"one":                    {"space", []string{"search"}, nil, []string{"look", "looksearch"}},
		"none":                   {"space", nil, nil, []string{"look"}},
		"a space that is unread": {"space", []string{chat.EveryServer}, db.ErrNotFound, []string{"look"}},
	} {
		k := &Kit{Store: spaces{space: chat.Space{ID: test.in, ToolServers: test.servers}, err: test.err}, Tools: tools.NewBox(slog.New(slog.DiscardHandler), all),
			Log: slog.New(slog.DiscardHandler), Model: noModel{}}
		ctx := t.Context()
		if test.in != "" {
			ctx = db.InSpace(ctx, test.in)
		}
		var got []string
		for _, tool := range k.OfferedTools(ctx, "ann", chat.AgentAssistant, false, false) {
			got = append(got, tool.Name)
		}
		require.Equal(t, test.want, got, name)
		require.Equal(t, test.want, k.withoutPinned(ctx, "ann", chat.AgentAssistant, []string{"look", "lookfiles", "looksearch"}), "%s: approvals", name)
	}
}

type noModel struct{ llm.Model }

func (noModel) Info() llm.Info { return llm.Info{} }
