package chat

import "testing"

func TestArgumentsAreAlwaysAJSONObject(t *testing.T) {
	for written, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, " \n{} ": `{}`, "": `{}`, "null": `{}`, "[]": `{}`, `"{}"`: `{}`, `{"a":`: `{}`, "{}{}": `{}`, "{a}": `{}`,
	} {
		if got := Arguments(written); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}
