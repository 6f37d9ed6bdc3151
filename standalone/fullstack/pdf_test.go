package fullstack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

// pdfFile returns a PDF with one line per page and a title in its metadata.
func pdfFile(title string, pages ...string) string {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", "<< /Title (" + title + ") >>"}
	var kids []string
	for _, line := range pages {
		content := "BT /F1 11 Tf 50 780 Td (" + line + ") Tj ET"
		objects = append(objects, fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", len(objects)))
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	out := "%PDF-1.5\n"
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(out))
		out += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return out + fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, table.String(), len(objects)+1, len(out))
}

func TestPDFCitationsHaveTheirPageAndTheDocumentItsOwnTitle(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	var doc struct{ ID, Status, Error, Title, Name string }
	c.uploadFile("scan_17.pdf", pdfFile("Harbour rules 2026", "Harbour rules 2026. Every ship reports its cargo to the harbour office.", "The harbour master closes the lighthouse at 22 hours."), &doc)
	require.Equal(t, "scan 17", doc.Title, "the title is the file's name until the document is processed")
	require.Eventually(t, func() bool {
		c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
		return doc.Status != "processing"
	}, waitTimeout, 20*time.Millisecond)
	require.Equal(t, "ready", doc.Status, doc.Error)
	require.Equal(t, "Harbour rules 2026", doc.Title)
	require.Equal(t, "scan_17.pdf", doc.Name)

	answer := last(c.ask("When does the harbour master close the lighthouse?", tags(doc.ID)))
	require.Equal(t, "response", answer.Type, "%+v", answer)
	require.NotEmpty(t, answer.Citations)
	require.Contains(t, answer.Citations[0].Quote, "22 hours")
	require.Equal(t, 2, answer.Citations[0].Page)
	require.Equal(t, "Harbour rules 2026", answer.Citations[0].Title)

	byFileName := newTalk(t, func() string { return s.URL }, s.Client)
	answer = last(byFileName.ask("Summarize scan_17.pdf", object{}))
	require.Equal(t, "response", answer.Type, "the file's name must find the document: %+v", answer)
	require.NotEmpty(t, answer.Citations)
	require.Equal(t, doc.ID, answer.Citations[0].DocID)
}
