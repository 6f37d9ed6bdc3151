package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/workflows"
)

// scanner is an OCR that knows what stands on each page.
type scanner struct {
	pages map[int]string
	read  []int // the pages that it was asked for
	err   error
}

func (s *scanner) Scan(_ context.Context, _ string, _ []byte, page int) (string, error) {
	s.read = append(s.read, page)
	return s.pages[page], s.err
}

// scannedLetters has five pages; the last three are pictures.
func (b *bundle) scannedLetters() string {
	b.T.Helper()
	raw, err := os.ReadFile("../extract/testdata/scanned.pdf")
	require.NoError(b.T, err)
	return b.Upload("Letters", "pdf", raw)
}

func (b *bundle) ingest1(id string) []int {
	b.T.Helper()
	scans, err := activitytest.Run[Scans](b.Fixture, b.Ingest, workflows.IngestRequest{Owner: owner, DocID: id})
	require.NoError(b.T, err)
	return scans.Pages
}

func (b *bundle) scanPage(id string, page, left int) error {
	_, err := activitytest.Run[any](b.Fixture, b.ScanPage, workflows.ScanRequest{IngestRequest: workflows.IngestRequest{Owner: owner, DocID: id}, Page: page, Left: left})
	return err
}

func (b *bundle) document(id string) chat.Document {
	b.T.Helper()
	d, err := b.Store.Document(b.T.Context(), owner, id)
	require.NoError(b.T, err)
	return d
}

// A worker that dies between two pages leaves exactly what this test does after the first one.
func TestScannedPagesAreReadOneByOneAndNotAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := &scanner{pages: map[int]string{3: "The third page is a receipt.", 5: "The fifth page is signed."}}
	b.OCR = s
	id := b.scannedLetters()
	require.Equal(t, []int{3, 4, 5}, b.ingest1(id))
	d := b.document(id)
	require.Equal(t, []any{chat.DocProcessing, 5, 3}, []any{d.Status, d.PageCount, d.UnreadPages}, "what is still to be read is shown")

	require.NoError(t, b.scanPage(id, 3, 2))
	require.Equal(t, 2, b.document(id).UnreadPages)
	require.Equal(t, []int{4, 5}, b.ingest1(id))
	for i, page := range []int{3, 4, 5} {
		require.NoError(t, b.scanPage(id, page, 2-i))
	}
	require.Equal(t, []int{3, 4, 5}, s.read)

	require.Empty(t, b.ingest1(id))
	d = b.document(id)
	require.Equal(t, []any{chat.DocReady, 5, 1}, []any{d.Status, d.PageCount, d.UnreadPages}, "nothing could be read on page 4")
	hits, err := b.Store.DocumentChunks(t.Context(), owner, id, 100)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(hits, func(h chat.Hit) bool {
		return slices.ContainsFunc(h.Pages, func(p chat.PageStart) bool { return p.Page == 5 })
	}), "citations lead to the page")
	require.NoError(t, b.scanPage(id, 3, 0), "a late retry does nothing")
	require.Len(t, s.read, 3)
}

func TestPagesThatCannotBeDrawnAreNotScanned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.OCR = &scanner{}
	read := documentText{Content: extract.Content{Unread: []int{1, 2, 4}, Lost: []int{2}}}
	require.Equal(t, []int{1, 4}, b.toScan(workflows.IngestRequest{}, read))
}

// The new version may have fewer pages: a scan that failed left all of its pages unread.
func TestPagesOfAnEarlierVersionAreNotScannedInTheNewOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := &scanner{err: errors.New("there is no such page")}
	b.OCR = s
	id := b.scannedLetters()
	_, err := activitytest.Run[any](b.Fixture, b.ScanPage, workflows.ScanRequest{IngestRequest: workflows.IngestRequest{Owner: owner, DocID: id}, Version: "earlier", Page: 9})
	require.NoError(t, err)
	require.Empty(t, s.read)
}

func TestPictureWithoutOCRFailsWithItsUnreadPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	raw := []byte("\x89PNG\r\n\x1a\n")
	d := b.ingested(b.Upload("Receipt", "png", raw))
	require.Equal(t, []any{chat.DocFailed, 1, 1}, []any{d.Status, d.PageCount, d.UnreadPages})
	require.Equal(t, messages.PictureText.Text, messages.Read(d.Error).Text)

	b.OCR = &scanner{pages: map[int]string{1: "Receipt 4711: nine euros for one lamp."}}
	id := b.Upload("Receipt", "png", raw)
	require.NoError(t, Now(t.Context(), b.Activities, workflows.IngestRequest{Owner: owner, DocID: id}))
	d = b.document(id)
	require.Equal(t, []any{chat.DocReady, 1, 0}, []any{d.Status, d.PageCount, d.UnreadPages})
}

func TestScanThatFailsIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := &scanner{err: errors.New("no process could be started")}
	b.OCR = s
	id := b.scannedLetters()
	require.Error(t, b.scanPage(id, 3, 2))
	s.err = nil
	require.Equal(t, []int{3, 4, 5}, b.ingest1(id))
}

// runWorkflow runs an ingest whose pages 7 and 8 are pictures.
func runWorkflow(t *testing.T, scan func(workflows.ScanRequest) error) (ingests []workflows.IngestRequest) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	(&Activities{}).Register(env)
	stored := map[int]bool{}
	env.OnActivity(acts.Ingest, mock.Anything, mock.Anything).Return(func(_ context.Context, r workflows.IngestRequest) (Scans, error) {
		ingests = append(ingests, r)
		left := Scans{Version: "v1"}
		for _, page := range []int{7, 8} {
			if !stored[page] && !r.WithoutScans {
				left.Pages = append(left.Pages, page)
			}
		}
		return left, nil
	})
	env.OnActivity(acts.ScanPage, mock.Anything, mock.Anything).Return(func(_ context.Context, r workflows.ScanRequest) error {
		err := scan(r)
		stored[r.Page] = err == nil
		return err
	})
	env.ExecuteWorkflow(Workflow, workflows.IngestRequest{Owner: owner, DocID: "d"})
	require.True(t, env.IsWorkflowCompleted())
	require.NoError(t, env.GetWorkflowError())
	return ingests
}

func TestDocumentIsIndexedAfterItsScannedPages(t *testing.T) {
	t.Parallel()
	var said []string
	ingests := runWorkflow(t, func(r workflows.ScanRequest) error {
		said = append(said, fmt.Sprint("page ", r.Page, " of ", r.Version, ", left ", r.Left))
		return nil
	})
	require.Equal(t, []string{"page 7 of v1, left 1", "page 8 of v1, left 0"}, said)
	require.Equal(t, []workflows.IngestRequest{{Owner: owner, DocID: "d"}, {Owner: owner, DocID: "d"}}, ingests)
}

func TestDocumentIsIndexedWithoutPagesThatNoWorkerCouldScan(t *testing.T) {
	t.Parallel()
	tries := 0
	ingests := runWorkflow(t, func(workflows.ScanRequest) error {
		tries++
		return errors.New("no process could be started")
	})
	require.Equal(t, 10, tries)
	require.Len(t, ingests, 2)
	require.True(t, ingests[1].WithoutScans)
}
