//go:build long && linux

package fullstack

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// TestLongFloodOfLargeUploadsIsBounded sends large files from one address at the same time,
// each as a new person. The server accepts at most the address's quota, and its peak memory
// stays below what docs/limits.md states for the largest uploads, and a little more.
func TestLongFloodOfLargeUploadsIsBounded(t *testing.T) {
	const (
		uploads    = 10
		size       = 48 << 20
		quota      = 256 << 20
		mostMemory = 1400 << 20
	)
	p := stacktest.StartProcess(t, stacktest.Flag("quota-per-address", "storage=256MB"))
	content := bytes.Repeat([]byte("The harbour closes at ten, and this sentence is one of many.\n"), size/61)
	var group sync.WaitGroup
	statuses, ids, people := make([]int, uploads), make([]string, uploads), make([]*talk, uploads)
	for i := range people {
		people[i] = newTalk(t, func() string { return p.URL }, p.NewUser())
		group.Go(func() { statuses[i], ids[i] = uploadFile(people[i], "large"+strconv.Itoa(i)+".txt", content) })
	}
	group.Wait()
	taken := 0
	for i, c := range people {
		if statuses[i] != http.StatusAccepted {
			require.Contains(t, []int{0, http.StatusTooManyRequests, http.StatusServiceUnavailable}, statuses[i])
			continue
		}
		taken++
		var doc struct{ Status string }
		require.Eventually(t, func() bool {
			c.do(http.StatusOK, http.MethodGet, "/api/documents/"+ids[i], nil, &doc)
			return doc.Status != "processing"
		}, 5*time.Minute, 100*time.Millisecond)
	}
	require.NotZero(t, taken)
	require.LessOrEqual(t, taken, quota/len(content))
	peak := must.Have(stack.PeakMemory(p.Pid()))(t)
	t.Logf("%d of %d uploads were accepted; at most %d MB of memory", taken, uploads, peak>>20)
	require.Less(t, peak, int64(mostMemory))
}

// uploadFile uploads a file. The status is 0 when the server closed the connection before
// the file was sent completely.
func uploadFile(c *talk, name string, content []byte) (status int, id string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	w, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return -1, ""
	}
	resp, err := c.client.Post(c.url()+"/api/documents", form.FormDataContentType(), &body)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	var doc struct{ ID string }
	_ = json.Unmarshal(said, &doc) // an error has no id
	return resp.StatusCode, doc.ID
}
