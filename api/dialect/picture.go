package dialect

import (
	"encoding/base64"
	"strings"
)

// PictureData returns the bytes in a data: URL of a picture. They are not validated yet.
func PictureData(url string) ([]byte, bool) {
	head, data, found := strings.Cut(url, ",")
	if !found || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	return raw, err == nil && len(raw) > 0
}
