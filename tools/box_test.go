package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

const anything = `{"type":"object"}`

func tool(name, schema string) Tool {
	return Tool{Name: name, Schema: json.RawMessage(schema), Approval: Never, Run: func(context.Context, Call) (Result, error) {
		return Result{Content: name}, nil
	}}
}

func names(list []Tool) (out []string) {
	for _, t := range list {
		out = append(out, t.Name)
	}
	return out
}

func TestBoxMergesSourcesAndTheFirstToolOfANameWins(t *testing.T) {
	mine, theirs := tool("a", anything), tool("a", anything)
	theirs.Description = "theirs"
	b := NewBox(slog.New(slog.DiscardHandler), List{mine, tool("b", anything)}, List{theirs, tool("c", anything)})
	got := b.Tools(t.Context(), "ann", chat.AgentInfo{})
	require.Equal(t, []string{"a", "b", "c"}, names(got))
	require.Empty(t, got[0].Description)
}

func TestBoxLeavesOutInvalidTools(t *testing.T) {
	headless := tool("headless", anything)
	headless.Run = nil
	b := NewBox(slog.New(slog.DiscardHandler), List{
		tool("", anything), tool("has space", anything), tool(strings.Repeat("x", 65), anything), headless,
		tool("no-schema", ""), tool("not-json", "{"), tool("list", "[]"), tool("bad", `{"type":"nonsense"}`),
		tool("reads-files", `{"$ref":"file:///etc/passwd"}`), tool("reads-the-web", `{"$ref":"https://example.com/schema"}`),
		tool("fine", anything),
	})
	require.Equal(t, []string{"fine"}, names(b.Tools(t.Context(), "ann", chat.AgentInfo{})))
}

func TestBoxFillsInSafeDefaults(t *testing.T) {
	odd := tool("odd", anything)
	odd.Approval = "sometimes"
	b := NewBox(slog.New(slog.DiscardHandler), List{odd})
	got := b.Tools(t.Context(), "ann", chat.AgentInfo{})
	require.Len(t, got, 1)
	require.Equal(t, Ask, got[0].Approval)
	require.Equal(t, 10*time.Second, got[0].Timeout)
}

func TestAgentIsOfferedItsToolsOnly(t *testing.T) {
	b := NewBox(slog.New(slog.DiscardHandler), List{tool("draw", anything), tool("look", anything)})
	reader := chat.AgentInfo{Tools: func(name string) bool { return name != "draw" }}
	require.Equal(t, []string{"draw", "look"}, names(b.Tools(t.Context(), "ann", chat.AgentInfo{})))
	require.Equal(t, []string{"look"}, names(b.Tools(t.Context(), "ann", reader)))
	var none *Box
	require.Empty(t, none.Tools(t.Context(), "ann", reader))
}

func TestMisfitDescribesTheProblem(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1},"s":{"enum":["a","b"]}},"required":["n"],"additionalProperties":false}`)
	for arguments, want := range map[string]string{
		`{"n":1}`:           "",
		`{"n":1,"s":"b"}`:   "",
		` {"n": 2} `:        "",
		``:                  "not valid JSON",
		`{"n":1} {}`:        "not valid JSON",
		`[1]`:               "not a JSON object",
		`"{}"`:              "not a JSON object",
		`{}`:                "n: is missing",
		`{"n":0}`:           "n: minimum",
		`{"n":1.5}`:         "n: got number, want integer",
		`{"n":1,"x":1}`:     "x: is not allowed",
		`{"n":1,"s":"c"}`:   "s: value must be one of 'a', 'b'",
		`{"n":"1","s":"c"}`: "; ",
	} {
		got := Misfit(schema, json.RawMessage(arguments))
		if want == "" {
			require.Empty(t, got, arguments)
		} else {
			require.Contains(t, got, want, arguments)
		}
	}
	require.LessOrEqual(t, len(Misfit(schema, json.RawMessage(`{"n":"`+strings.Repeat("x", 10_000)+`"}`))), 600)
	require.NotEmpty(t, Misfit(json.RawMessage(`{"type":7}`), json.RawMessage(`{}`)))
}

func TestInvalidArgumentsAreNamedByTheirPlaces(t *testing.T) {
	call := chat.CallRef{ID: "c1", Name: "file", Editable: true}
	texts := map[string]string{
		chat.CallKey("c1"): `{"title":"Rain","to":{"name":"Ann"}}`,
		chat.SchemaKey("file"): `{"type":"object","properties":{"title":{"type":"string","pattern":"^[A-Z]"},"tags":{"type":"array","items":{"type":"string"}},
			"to":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},"required":["title"],"additionalProperties":false}`,
	}
	places := func(given string) (at []string) {
		_, invalid := Edited(texts, call, json.RawMessage(given))
		require.NotNil(t, invalid, given)
		for _, p := range invalid.Problems {
			at = append(at, strings.Join(p.At, "."))
		}
		return at
	}
	require.Equal(t, []string{"title"}, places(`{"title":"rain"}`))
	require.Equal(t, []string{"title"}, places(`{}`), "missing")
	require.Equal(t, []string{"more"}, places(`{"title":"Rain","more":1}`), "not in the schema")
	require.Equal(t, []string{"tags.1"}, places(`{"title":"Rain","tags":["a",2]}`))
	require.Equal(t, []string{"to.name"}, places(`{"title":"Rain","to":{}}`))
}

// Rule N18.
func TestInfoHasEffectServerAndShortDescription(t *testing.T) {
	for want, tool := range map[chat.ToolEffect]Tool{
		chat.EffectReads: {}, chat.EffectChanges: {SideEffects: true}, chat.EffectDestroys: {SideEffects: true, Destructive: true},
	} {
		require.Equal(t, want, tool.Info().Effect)
	}
	long := Tool{Name: "file", Server: "office", Description: strings.Repeat("ä", 5000)}.Info()
	require.Equal(t, "office", long.Server)
	require.LessOrEqual(t, utf8.RuneCountInString(long.Description), chat.MaxToolDescription)
}

func FuzzMisfitNeverPanics(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"patternProperties":{"(":{}}}`, `{"x":1}`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if CheckSchema(json.RawMessage(schema)) == nil {
			_ = Misfit(json.RawMessage(schema), json.RawMessage(arguments))
		}
	})
}

func TestEditedArguments(t *testing.T) {
	call := chat.CallRef{ID: "c1", Name: "draw", Editable: true}
	texts := map[string]string{
		chat.CallKey("c1"):     `{"prompt":"a cat","n":1}`,
		chat.SchemaKey("draw"): `{"type":"object","properties":{"prompt":{"type":"string"},"n":{"type":"integer"}},"required":["prompt"]}`,
	}
	for given, want := range map[string]struct{ edited, problem string }{
		``:                              {"", ""},
		`null`:                          {"", ""},
		` {"n":1.0, "prompt":"a cat"} `: {"", ""}, // means the same
		`{"prompt":"a dog"}`:            {`{"prompt":"a dog"}`, ""},
		`{"prompt":1}`:                  {"", "prompt: got number, want string"},
		`{`:                             {"", "the arguments are not valid JSON"},
		`{"prompt":"` + strings.Repeat("x", chat.MaxArguments) + `"}`: {"", "the arguments are larger than 64 kB"},
	} {
		edited, invalid := Edited(texts, call, json.RawMessage(given))
		require.Equal(t, want.edited, string(edited), given)
		if want.problem == "" {
			require.Nil(t, invalid, given)
		} else {
			require.EqualError(t, invalid, want.problem)
		}
	}
	texts[chat.EditedKey("c1")] = `{"prompt":"a dog"}`
	edited, invalid := Edited(texts, call, json.RawMessage(`{"prompt":"a dog"}`))
	require.Nil(t, edited, "the same as the earlier edit")
	require.Nil(t, invalid)
	edited, _ = Edited(texts, call, json.RawMessage(`{"prompt":"a cat","n":1}`))
	require.NotNil(t, edited)
	delete(texts, chat.EditedKey("c1"))
	call.Editable = false
	_, invalid = Edited(texts, call, json.RawMessage(`{"prompt":"a dog"}`))
	require.EqualError(t, invalid, "the arguments of draw cannot be changed")
	_, invalid = Edited(texts, call, json.RawMessage(`{"n":1,"prompt":"a cat"}`))
	require.Nil(t, invalid, "nothing was changed")
}
