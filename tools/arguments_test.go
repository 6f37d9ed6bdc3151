package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonicalWritesEachKeyOnceAndNumbersAsTheyWere(t *testing.T) {
	for given, want := range map[string]string{
		` { "b" : 1, "a" : [ 1 , 2 ] } `:          `{"a":[1,2],"b":1}`,
		`{"to":"alice","to":"bob"}`:               `{"to":"bob"}`,
		`{"a":{"x":1,"x":2}}`:                     `{"a":{"x":2}}`,
		`{"n":9007199254740993,"m":1.50,"k":1e2}`: `{"k":1e2,"m":1.50,"n":9007199254740993}`,
		`{"html":"<b>&</b>","s":"\u00e9"}`:        `{"html":"<b>&</b>","s":"é"}`,
		`{}`:                                      `{}`,
	} {
		got, ok := Canonical([]byte(given))
		require.True(t, ok, given)
		require.Equal(t, want, string(got))
		again, ok := Canonical(got)
		require.True(t, ok)
		require.Equal(t, want, string(again), "canonical arguments stay as they are")
	}
	for _, given := range []string{``, `null`, `[]`, `7`, `{`, `{} {}`, `{"a":}`, `"{}"`} {
		_, ok := Canonical([]byte(given))
		require.False(t, ok, given)
	}
}

func TestNumbersThatDifferBeyondFloatPrecisionAreDifferent(t *testing.T) {
	require.True(t, same([]byte(`{"n":1.0,"m":[1e2]}`), []byte(`{"m":[100],"n":1}`)))
	require.False(t, same([]byte(`{"n":9007199254740993}`), []byte(`{"n":9007199254740992}`)))
	require.False(t, same([]byte(`{"n":1}`), []byte(`{"n":"1"}`)))
	require.False(t, same([]byte(`{"n":1}`), []byte(`{"n":1,"m":null}`)))
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"a":1,"a":2,"b":[{"c":1e400}]}`))
	f.Fuzz(func(t *testing.T, given []byte) {
		got, ok := Canonical(given)
		if !ok {
			return
		}
		if !json.Valid(got) || !same(got, given) {
			t.Fatalf("%q became %q", given, got)
		}
		if again, ok := Canonical(got); !ok || string(again) != string(got) {
			t.Fatalf("%q became %q", got, again)
		}
	})
}
