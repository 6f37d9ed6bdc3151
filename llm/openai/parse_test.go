package openai

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

const fits = `{"action":"audit","confidence":"low","enable_web_search":true,"multi_action_detected":false,"actions":["audit","inquire"],"reasoning":"a } brace and a \" quote"}`

func TestDecodeIgnoresTextAroundTheJSON(t *testing.T) {
	t.Parallel()
	s, err := compile(llm.IntentSchema)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bare":             fits,
		"white space":      "\n\t " + fits + "\n",
		"byte order mark":  "\ufeff" + fits,
		"fence":            "```json\n" + fits + "\n```",
		"fence, no name":   "```\n" + fits + "\n```",
		"prose before":     "Sure! Here is the JSON you asked for:\n" + fits,
		"prose after":      fits + "\nLet me know if you need more.",
		"prose with brace": "The set {a, b} is classified as follows: " + fits,
		"a draft first":    `{"action":"dance"} no, wait: ` + fits,
		"encoded twice":    `"{\"action\":\"audit\",\"confidence\":\"low\",\"enable_web_search\":true,\"multi_action_detected\":false,\"actions\":[],\"reasoning\":\"\"}"`,
		"unclosed fence":   "```json\n" + fits,
	} {
		var got llm.Intent
		if err := s.decode(text, &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Action != chat.Audit || !got.WebSearch {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestDecodeRejectsInvalidAnswers(t *testing.T) {
	t.Parallel()
	s, err := compile(llm.IntentSchema)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":        "",
		"prose":          "I cannot help with that.",
		"cut":            fits[:len(fits)-20],
		"missing fields": `{"confidence":"low"}`,
		"unknown action": `{"action":"dance","confidence":"low","enable_web_search":true,"multi_action_detected":false,"actions":[],"reasoning":""}`,
		"wrong type":     `{"action":"audit","confidence":"low","enable_web_search":"yes","multi_action_detected":false,"actions":[],"reasoning":""}`,
		"one too many":   `{"action":"audit","confidence":"low","enable_web_search":true,"multi_action_detected":false,"actions":[],"reasoning":"","x":1}`,
	} {
		var got llm.Intent
		if err := s.decode(text, &got); err == nil {
			t.Errorf("%s: taken as %+v", name, got)
		} else if err.Error() == "" {
			t.Errorf("%s: no error text for the model", name)
		}
	}
}

func TestDecodeTakesAnswersWithoutOptionalFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]llm.Intent{
		`{"action":"audit","confidence":"low"}`:                                                           {Action: "audit", Confidence: "low"},
		`{"action":"audit","confidence":"high","reasoning":null,"actions":null,"enable_web_search":true}`: {Action: "audit", Confidence: "high", WebSearch: true},
	} {
		s, err := compile(llm.IntentSchema)
		if err != nil {
			t.Fatal(err)
		}
		var got llm.Intent
		if err := s.decode(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		var wire struct{ Required []string }
		if err := json.Unmarshal(s.wire, &wire); err != nil || !slices.Contains(wire.Required, "reasoning") {
			t.Errorf("strict modes want every property required; sent %s", s.wire)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{fits, "```json\n" + fits + "```", "{", "{}", "{{{{", "[[[[", `"{"`, `{"action":1e999}`, "\x00{\xff}", "``````", `{"a":{"a":{"a":`} {
		f.Add(seed)
	}
	s, err := compile(llm.IntentSchema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got llm.Intent
		if err := s.decode(text, &got); err == nil && !got.Action.Valid() {
			t.Errorf("%q was taken as %+v", text, got)
		}
	})
}

func TestSchemaCannotReadFiles(t *testing.T) {
	t.Parallel()
	_, err := compile(llm.Schema{Name: "x", JSON: []byte(`{"$ref":"file:///etc/passwd"}`)})
	if err == nil {
		t.Error("a file reference was followed")
	}
}

func TestPlainTextIsReadAsJSONDoes(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`""`, `" A bü"`, `"bücher"`, `null`, `"a \"quote\""`, "\"a\xffb\"", `"a\nb"`, `"\u00e4"`, `7`, `{"a":1}`, `["a"]`} {
		var want string
		err := json.Unmarshal([]byte(raw), &want)
		got, ok := plainText([]byte(raw))
		if ok && (err != nil || got != want) {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
	if _, ok := plainText([]byte(`" token"`)); !ok {
		t.Error("a token takes the slow way")
	}
}
