package fullstack

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/must"
)

const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// zipped returns a zip archive; parts are names and contents in turn.
func zipped(t *testing.T, parts ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w := must.Have(z.Create(parts[i]))(t)
		must.Have(io.WriteString(w, parts[i+1]))(t)
	}
	require.NoError(t, z.Close())
	return out.String()
}

func listOfParts(mediaType string) string {
	return `<Types><Override PartName="/x" ContentType="application/vnd.openxmlformats-officedocument.` + mediaType + `+xml"/></Types>`
}

func relationTo(id, kind, target string) string {
	return `<Relationships><Relationship Id="` + id + `" Type="` + relations + `/` + kind + `" Target="` + target + `"/></Relationships>`
}

func TestAnswersFromOfficeFilesHaveVerbatimCitations(t *testing.T) {
	t.Parallel()
	const fact = "The harbour master closes the lighthouse at 22 hours."
	files := map[string]string{
		"docx": zipped(t, "[Content_Types].xml", listOfParts("wordprocessingml.document.main"),
			"_rels/.rels", relationTo("r1", "officeDocument", "word/document.xml"),
			"word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Rules of the harbour — in short.</w:t></w:r></w:p><w:p><w:r><w:t>`+fact+`</w:t></w:r></w:p></w:body></w:document>`),
		"pptx": zipped(t, "[Content_Types].xml", listOfParts("presentationml.slide"),
			"_rels/.rels", relationTo("r1", "officeDocument", "ppt/presentation.xml"),
			"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", relationTo("rId1", "slide", "slides/slide1.xml"),
			"ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a"><p:sp><a:p><a:r><a:t>`+fact+`</a:t></a:r></a:p></p:sp></p:sld>`),
		"csv": "rule;since\n" + fact + ";2026\n",
	}
	s := stacktest.Start(t)
	for format, content := range files {
		t.Run(format, func(t *testing.T) {
			c := newTalk(t, func() string { return s.URL }, s.Client)
			var doc struct {
				ID, Status, Error, Format string
				SourceType                string `json:"source_type"`
			}
			c.uploadFile("Harbour rules."+format, content, &doc)
			require.Equal(t, format, doc.Format)
			require.Equal(t, "upload", doc.SourceType)
			require.Eventually(t, func() bool {
				c.do(http.StatusOK, http.MethodGet, "/api/documents/"+doc.ID, nil, &doc)
				return doc.Status != "processing"
			}, waitTimeout, 20*time.Millisecond)
			require.Equal(t, "ready", doc.Status, doc.Error)
			answer := last(c.ask("When does the harbour master close the lighthouse?", tags(doc.ID)))
			require.Equal(t, "response", answer.Type, "%+v", answer)
			require.NotEmpty(t, answer.Citations)
			resp := c.request(context.Background(), http.MethodGet, "/api/documents/"+doc.ID+"/text", nil)
			defer resp.Body.Close()
			stored := must.Have(io.ReadAll(resp.Body))(t)
			cite := answer.Citations[0]
			require.Equal(t, cite.Quote, string([]rune(string(stored))[*cite.Start:*cite.End]))
			require.Contains(t, cite.Quote, "lighthouse at 22 hours")
		})
	}
}
