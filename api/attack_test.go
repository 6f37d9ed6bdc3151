package api

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/testkit/must"
)

// The attacks of docs/security.md on what one client may take of a process.

// large is a valid body of more than 1 MB for /v1/chat/completions.
func large() string {
	return `{"model":"palaver-documents","messages":[{"role":"assistant","content":"` + strings.Repeat("x", 1<<20) + `"},{"role":"user","content":"x"}]}`
}

func TestLargeBodiesOfOneAddressAreLimitedBeforeTheyAreParsed(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{LargeBodies: limiter.Rate{Limit: 2, Period: time.Hour}}))
	for n, want := range []int{200, 200, 429} {
		c := b.client() // a new cookie each time
		require.Equal(t, want, c.send("POST", "/v1/chat/completions", large()).StatusCode, n)
	}
	b.client().complete(m{"role": "user", "content": "small"})
}

func TestLargeBodiesAreParsedWithinAMemoryLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.AnswerTimeout = 200 * time.Millisecond })
	b.server.large.Memory = memlimit.New(1)
	release := must.Have(b.server.large.Memory.Acquire(t.Context(), 1))(t)
	refused(t, b.client().send("POST", "/v1/chat/completions", large()))
	release()
	b = setup(t)
	b.server.large.Memory = memlimit.New(1)
	require.Equal(t, 200, b.client().send("POST", "/v1/chat/completions", large()).StatusCode)
	must.Have(b.server.large.Memory.Acquire(t.Context(), 1))(t) // it was released
}

func TestBodyOfUnknownLengthIsNeverLarge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/v1/chat/completions", "/api/agui", "/api/ui/chat", "/api/v1/chat/stream", "/api/discoveries"} {
		req := must.Have(http.NewRequestWithContext(t.Context(), "POST", b.url+path, io.MultiReader(strings.NewReader(large()))))(t)
		req.Header.Set("Content-Type", "application/json")
		res := must.Have(http.DefaultClient.Do(req))(t)
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, path)
		require.NoError(t, res.Body.Close())
	}
}

func TestEveryRouteThatReadsJSONRefusesBodiesOfManyValues(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	many := `{"message":"x","messages":[` + strings.Repeat("0,", 400_000) + `0]}`
	deep := `{"message":"x","messages":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	for name, r := range walked(t, b) {
		way := r.ways(unknown(), unknown())[0]
		if way.body == "" || name == "POST /api/attachments" {
			continue
		}
		for _, body := range []string{many, deep} {
			res := c.send(method(name), way.path, body)
			said := must.Have(io.ReadAll(res.Body))(t)
			if res.StatusCode != http.StatusNotFound { // it was not read
				assert.Regexp(t, `(at most \d+|too many) values`, string(said), name)
			}
		}
	}
}

// 12 connections of one caller that read nothing stopped the uploads and downloads of
// everybody.
func TestDownloadsThatNobodyReadsTakeNothingFromOthers(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) {
		d.Config.MaxUploadBytes, d.Config.UploadMemory = 16<<20, 64<<20
		d.Config.WriteTimeout, d.Config.AnswerTimeout = time.Hour, time.Hour
	})
	b.server.sending = memlimit.New(64 << 20)
	mallory, ann := b.client(), b.client()
	file := bytes.Repeat([]byte("x"), 12<<20)
	ready := func(c *client) (id string) {
		id = uuid.NewString()
		require.NoError(t, b.store.CreateDocument(t.Context(), chat.Document{ID: id, Owner: c.id(), Title: "x", Bytes: int64(len(file))}, file))
		require.NoError(t, b.store.StoreText(t.Context(), c.id(), id, string(file), []chat.Chunk{{ID: id + ".0", DocID: id, Text: "x", End: 1}}, nil))
		return id
	}
	theirs, hers := ready(mallory), ready(ann)
	address := must.Have(url.Parse(b.url))(t)
	cookie := mallory.Jar.Cookies(address)[0]
	for n := range 12 {
		c := must.Have(net.Dial("tcp", address.Host))(t)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4<<10))
		path := []string{"original", "text"}[n%2]
		must.Have(fmt.Fprintf(c, "GET /api/documents/%s/%s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n", theirs, path, cookie))(t)
		must.Have(io.ReadFull(c, make([]byte, 100)))(t) // the file was read and is being sent
	}
	ann.call(202, "POST", "/api/documents", m{"title": "x", "text": "Some text."})
	for _, path := range []string{"original", "text"} {
		res := ann.send("GET", "/api/documents/"+hers+"/"+path, nil)
		require.Equal(t, 200, res.StatusCode, path)
		require.Len(t, must.Have(io.ReadAll(res.Body))(t), len(file))
	}
	for range 4 {
		c := must.Have(net.Dial("tcp", address.Host))(t)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4<<10))
		must.Have(fmt.Fprintf(c, "GET /api/documents/%s/text HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n", theirs, cookie))(t)
		must.Have(io.ReadFull(c, make([]byte, 100)))(t)
	}
	refused(t, mallory.send("GET", "/api/documents/"+theirs+"/text", nil))

	must.Have(b.server.memory.Acquire(t.Context(), 64<<20))(t) // by uploads
	require.Equal(t, 200, ann.send("GET", "/api/documents/"+hers+"/text", nil).StatusCode, "downloads have memory of their own")
}

// A client that named a thread approved calls that another client had been shown.
func TestTextApprovesOnlyCallsThatThisClientWasShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = painting
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread, "agent": "assistant"}).until("interrupt")
	say := func(c *client, text string) string {
		return saidOf(c.call(200, "POST", "/v1/chat/completions", m{"model": "palaver-assistant", "messages": []m{{"role": "user", "content": text}}}, "X-Thread-Id", someThread))
	}
	pending := func() any { return c.call(200, "GET", "/api/chat/history/"+someThread, nil)["pending_interrupt"] }
	for _, yes := range []string{"ok", "1", "no"} {
		bot := b.as(credential.Key, c.id())
		assert.Contains(t, say(bot, yes), "generate_image", "%s: the question is shown", yes)
		require.NotNil(t, pending(), yes)
	}
	bot := b.as(credential.Key, c.id())
	say(bot, "ok")
	assert.NotContains(t, say(bot, "ok"), "1. Approve")
	require.Nil(t, pending(), "the client was shown the calls and has approved them")
}
