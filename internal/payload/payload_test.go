package payload_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/palaver-chat/palaver/internal/payload"
	"github.com/palaver-chat/palaver/testkit/must"
)

var (
	older = strings.Repeat("o", 32)
	newer = strings.Repeat("n", 32)
)

func keys(t *testing.T, list string) *payload.Keys {
	t.Helper()
	k := must.Have(payload.NewKeys(list))(t)
	return k
}

func plain(t *testing.T, text string) []*commonpb.Payload {
	t.Helper()
	p := must.Have(converter.GetDefaultDataConverter().ToPayload(text))(t)
	return []*commonpb.Payload{p}
}

func TestWhichKeysDecryptWhichPayloads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, writer, reader string
		plain, read          bool
	}{
		{"the same key", older, older, false, true},
		{"no key", "", "", true, true},
		{"a key is announced before it encrypts", payload.Plain + "," + older, "", true, true},
		{"a key that only decrypts", older, payload.Plain + "," + older, false, true},
		{"plain histories after a key is set", "", older, true, true},
		{"a replaced key", older, newer + ", " + older, false, true},
		{"the new key, before all processes use it", newer + "," + older, older + "," + newer, false, true},
		{"a key that is missing", older, newer, false, false},
		{"no key any more", older, "", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const secret = "what somebody wrote"
			before := plain(t, secret)
			sent := must.Have(keys(t, test.writer).Encode(before))(t)
			require.Equal(t, test.plain, bytes.Contains(sent[0].GetData(), []byte(secret)))
			require.Contains(t, string(before[0].GetData()), secret, "the caller's payload is not changed")
			got, err := keys(t, test.reader).Decode(sent)
			if !test.read {
				require.ErrorIs(t, err, payload.ErrKey)
				require.NotContains(t, err.Error(), secret)
				return
			}
			require.NoError(t, err)
			require.True(t, proto.Equal(before[0], got[0]))
		})
	}
}

func TestEncryptionIsRandomAuthenticatedAndHappensOnce(t *testing.T) {
	t.Parallel()
	k := keys(t, older)
	one := must.Have(k.Encode(plain(t, "x")))(t)
	two := must.Have(k.Encode(plain(t, "x")))(t)
	require.NotEqual(t, one[0].GetData(), two[0].GetData())
	again := must.Have(k.Encode(one))(t)
	require.True(t, proto.Equal(one[0], again[0]), "a call that is retried is not encrypted twice")
	for i := range one[0].GetData() {
		changed := proto.Clone(one[0]).(*commonpb.Payload)
		changed.Data[i] ^= 1
		_, err := k.Decode([]*commonpb.Payload{changed})
		require.ErrorIs(t, err, payload.ErrKey, "byte %d", i)
	}
	for _, short := range [][]byte{nil, {1}, one[0].GetData()[:20]} {
		changed := proto.Clone(one[0]).(*commonpb.Payload)
		changed.Data = short
		require.ErrorIs(t, must.ErrOf(k.Decode([]*commonpb.Payload{changed})), payload.ErrKey)
	}
}

func TestShortKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"short", older + ",", older + "," + payload.Plain, ","} {
		_, err := payload.NewKeys(list)
		require.Error(t, err, list)
		require.NotContains(t, err.Error(), older)
	}
}

// Rule S15.
func TestOnlyOperatorsAndTheWebUIHavePayloadsDecrypted(t *testing.T) {
	t.Parallel()
	const token, ui = "a token of operators", "https://temporal.example.com"
	k := keys(t, older)
	sent := must.Have(k.Encode(plain(t, "what somebody wrote")))(t)
	body := must.Have(protojson.Marshal(&commonpb.Payloads{Payloads: sent}))(t)
	for _, test := range []struct {
		name    string
		token   string
		method  string
		path    string
		from    string
		header  map[string]string
		body    []byte
		status  int
		decoded bool
		exposed bool
	}{
		{name: "on the same host, of a server that others reach", from: "127.0.0.1:4", exposed: true, status: 401},
		{name: "a bearer token, of a server that others reach", exposed: true, token: token, header: map[string]string{"Authorization": "Bearer " + token}, status: 200, decoded: true},
		{name: "on the same host", from: "127.0.0.1:4", status: 200, decoded: true},
		{name: "through a proxy on the same host", from: "127.0.0.1:4", header: map[string]string{"X-Forwarded-For": "203.0.113.1"}, status: 401},
		{name: "from elsewhere", status: 401},
		{name: "on the same host, but a token is set", token: token, from: "127.0.0.1:4", status: 401},
		{name: "a bearer token", token: token, header: map[string]string{"Authorization": "Bearer " + token}, status: 200, decoded: true},
		{name: "a wrong password", token: token, header: map[string]string{"Authorization": "Basic Om9wZXJhdG9yczogYSB0b2tlbg=="}, status: 401},
		{name: "the right password", token: token, header: map[string]string{"Authorization": "Basic eDphIHRva2VuIG9mIG9wZXJhdG9ycw=="}, status: 200, decoded: true},
		{name: "a wrong token", token: token, header: map[string]string{"Authorization": "Bearer x"}, status: 401},
		{name: "an empty token", token: "", header: map[string]string{"Authorization": "Bearer "}, status: 401},
		{name: "the Web UI", token: token, header: map[string]string{"Origin": ui, "Authorization": "Bearer " + token}, status: 200, decoded: true},
		{name: "the Web UI of a browser that has not signed in", token: token, header: map[string]string{"Origin": ui}, status: 401},
		{name: "another page", from: "127.0.0.1:4", header: map[string]string{"Origin": "https://evil.example"}, status: 403},
		{name: "a preflight of the Web UI", token: token, method: http.MethodOptions, header: map[string]string{"Origin": ui}, status: 204},
		{name: "a preflight of another page", token: token, method: http.MethodOptions, header: map[string]string{"Origin": "null"}, status: 403},
		{name: "no payloads", from: "127.0.0.1:4", body: []byte("{"), status: 400},
		{name: "another path", from: "127.0.0.1:4", path: payload.Path + "/x/decode", status: 404},
		{name: "a body that is too large", from: "127.0.0.1:4", body: bytes.Repeat([]byte(" "), 9<<20), status: 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			method, path, content := test.method, test.path, test.body
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = payload.Path + "/decode"
			}
			if content == nil {
				content = body
			}
			r := httptest.NewRequest(method, path, bytes.NewReader(content)) // from 192.0.2.1
			if test.from != "" {
				r.RemoteAddr = test.from
			}
			r.Header.Set("Content-Type", "application/json")
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			payload.Endpoint{Keys: k, Token: test.token, Exposed: test.exposed, Origins: []string{ui}}.Handler().ServeHTTP(w, r)
			require.Equal(t, test.status, w.Code, w.Body)
			var got struct{ Payloads []struct{ Data []byte } }
			if test.decoded {
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
				require.Equal(t, `"what somebody wrote"`, string(got.Payloads[0].Data))
			}
			// The endpoint asks for the password when a browser opens it, not for requests of
			// the Web UI.
			asks := test.status == 401 && test.token != "" && test.header["Origin"] == ""
			require.Equal(t, asks, w.Header().Get("WWW-Authenticate") != "")
			allowed := ""
			if test.header["Origin"] == ui {
				allowed = ui
			}
			require.Equal(t, allowed, w.Header().Get("Access-Control-Allow-Origin"))
		})
	}
}
