package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/tools"
)

// Row W10 of the trial with real models.
func TestArgumentsThatAReaderUnderstandsAreTaken(t *testing.T) {
	schema := []byte(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{
		"query":{"type":"string"},"limit":{"type":"integer"},"share":{"type":["number","null"]},"deep":{"type":"boolean"},
		"ids":{"type":"array","items":{"type":"string"}},"at":{"type":"object","required":["x"],"properties":{"x":{"type":"integer"},"y":{"type":"string"}}},
		"any":{"anyOf":[{"type":"integer"},{"type":"null"}]},"page":{"$ref":"#/$defs/page"},"pages":{"type":"array","items":{"$ref":"#/$defs/page"}},
		"sizes":{"type":"array","items":{"type":"integer"}}},"$defs":{"page":{"type":"object","properties":{"no":{"type":"integer"},"title":{"type":"string"}}}}}`)
	for given, want := range map[string]string{
		`{"query":"gifts","ids":null,"limit":null}`:           `{"query":"gifts"}`,
		`{"query":"gifts","limit":"5"}`:                       `{"query":"gifts","limit":5}`,
		`{"query":"gifts","share":"0.5"}`:                     `{"query":"gifts","share":0.5}`,
		`{"query":"gifts","any":"7"}`:                         `{"query":"gifts","any":7}`,
		`{"query":"gifts","deep":"true"}`:                     `{"query":"gifts","deep":true}`,
		`{"query":"gifts","ids":"[\"a\"]"}`:                   `{"query":"gifts","ids":["a"]}`,
		`{"query":"gifts","at":{"x":"3","y":null}}`:           `{"query":"gifts","at":{"x":3}}`,
		"{\"query\":\"gifts\nof\"}":                           `{"query":"gifts\nof"}`,
		`[{"query":"gifts"}]`:                                 `{"query":"gifts"}`,
		`{"query":5}`:                                         `{"query":"5"}`,
		`{"query":"gifts","sizes":["5",6]}`:                   `{"query":"gifts","sizes":[5,6]}`,
		`{"query":"gifts","sizes":"[\"5\"]"}`:                 `{"query":"gifts","sizes":[5]}`,
		`{"query":"gifts","page":{"no":"3"}}`:                 `{"query":"gifts","page":{"no":3}}`,
		`{"query":"gifts","pages":[{"no":"3","title":null}]}`: `{"query":"gifts","pages":[{"no":3}]}`,
		`{"query":"5","share":null}`:                          `{"query":"5","share":null}`,
		// What is not clear stays as it is, and is refused with its reason.
		`{"query":null}`:                 `{"query":null}`,
		`{"query":"gifts","limit":"5x"}`: `{"query":"gifts","limit":"5x"}`,
		`{"query":"gifts","limit":5.5}`:  `{"query":"gifts","limit":5.5}`,
		`{"query":"gifts","other":null}`: `{"query":"gifts"}`,
		`{"query":"gifts","other":1}`:    `{"query":"gifts","other":1}`,
		`{'query':'gifts'}`:              `{'query':'gifts'}`,
		`[]`:                             `[]`,
	} {
		got := string(tools.Meant(schema, []byte(given)))
		if got != want {
			require.JSONEq(t, want, got, given)
		}
	}
}
