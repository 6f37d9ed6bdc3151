package dialect_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/agui"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/dialect/discovery"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/dialect/openai"
	"github.com/palaver-chat/palaver/chat"
)

// Four bodies of 16 MB took 2 GB and 50 seconds of CPU time.
func TestBodiesOfManyValuesAreRefusedBeforeTheyAreParsed(t *testing.T) {
	agents := chat.Agents{{Name: chat.AgentDocuments, Label: "Documents"}}
	parsers := map[string]func([]byte) error{
		"openai":          func(raw []byte) error { _, err := openai.Parse(raw, agents, nil, openai.Headers{}); return err },
		"aisdk":           func(raw []byte) error { _, err := aisdk.Parse(raw, agents); return err },
		"agui":            func(raw []byte) error { _, err := agui.Parse(raw, agents); return err },
		"agui stop":       func(raw []byte) error { _, err := agui.ParseStop(raw); return err },
		"langgraph":       func(raw []byte) error { _, err := langgraph.ParseStream(raw, agents); return err },
		"native":          func(raw []byte) error { _, err := native.ParseChat(raw, agents); return err },
		"native resume":   func(raw []byte) error { _, err := native.ParseResume(raw); return err },
		"agent v2":        func(raw []byte) error { _, err := agentv2.ParseStream(raw, agents); return err },
		"discovery":       func(raw []byte) error { _, err := discovery.ParseMessage(raw, agents); return err },
		"every small one": func(raw []byte) error { return dialect.Decode(raw, &map[string]any{}) },
	}
	const n = 2_000_000
	many := func(value string) string { return "[" + strings.Repeat(value+",", n) + value + "]" }
	bodies := map[string]string{
		"messages":     `{"messages":` + many("{}") + `}`,
		"numbers":      `{"messages":` + many("0") + `}`,
		"content":      `{"messages":[{"role":"user","content":` + many("0") + `}]}`,
		"tools":        `{"tools":` + many("[]") + `}`,
		"keys":         `{` + strings.Repeat(`"a":1,`, n) + `"b":1}`,
		"nested":       strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
		"nested lists": `{"state":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`,
	}
	for dialect, parse := range parsers {
		for name, body := range bodies {
			raw := []byte(body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := parse(raw)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "body must have at most", "%s: %s", dialect, name)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%s: %s", dialect, name)
		}
	}
}

func TestTextsDoNotCountAsValues(t *testing.T) {
	var out struct {
		Text string `json:"text"`
	}
	text := strings.Repeat(`{[,\"\\`, 100_000)
	require.NoError(t, dialect.Decode([]byte(`{"text":"`+text+`"}`), &out))
	require.Len(t, out.Text, 500_000)
	require.Error(t, dialect.Decode([]byte(`{"text":"\`), &out), "a text that does not end")
}
