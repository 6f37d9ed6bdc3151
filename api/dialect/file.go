package dialect

import (
	"encoding/base64"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// File is a file inside a message: a picture, which the model sees, or a document, which is
// stored like an upload and tagged.
type File struct {
	Field     string // of the request
	Name      string // empty: unknown
	MediaType string
	Data      []byte
}

// IsPicture reports whether the file is a picture. Other files are documents.
func (f File) IsPicture() bool { return strings.HasPrefix(f.MediaType, "image/") }

// ReadDataURL returns the media type and the bytes of a data: URL. They are not validated yet.
func ReadDataURL(ref string) (mediaType string, data []byte, ok bool) {
	head, body, found := strings.Cut(ref, ",")
	head, isData := strings.CutPrefix(head, "data:")
	if !found || !isData {
		return "", nil, false
	}
	head, encoded := strings.CutSuffix(head, ";base64")
	var err error
	if encoded {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		body, err = url.PathUnescape(body)
		data = []byte(body)
	}
	if err != nil || len(data) == 0 {
		return "", nil, false
	}
	mediaType, _, err = mime.ParseMediaType(head)
	if err != nil { // "data:,text"
		mediaType = "text/plain"
	}
	return mediaType, data, true
}

// Attach stores the files inside a message and adds them to it: pictures as attachments, and
// documents as tags. The same file is stored once.
func Attach(c *gin.Context, s Server, in *Submit, files []File) error {
	for _, f := range files {
		list := &in.Content.TaggedDocs
		var id string
		var err error
		if f.IsPicture() {
			list = &in.Content.Attachments
			id, err = s.KeepPicture(c, in.ThreadID, f.Data)
		} else {
			id, err = s.KeepDocument(c, in.ThreadID, f)
		}
		if err != nil {
			return RenamedFields{Err: err, Name: func(string) string { return f.Field }}
		}
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	return nil
}
