package imports

import (
	"net/http"
	"strings"
	"time"
)

// A version is a checksum of the content, and what its source calls the version, if anything:
// "SUM VALIDATOR". Before the download, only the validator is known: " VALIDATOR".

// SameVersion reports whether two versions are of the same content. Empty versions are
// never the same.
func SameVersion(a, b string) bool {
	aSum, aValidator, _ := strings.Cut(a, " ")
	bSum, bValidator, _ := strings.Cut(b, " ")
	return aSum != "" && aSum == bSum || aValidator != "" && aValidator == bValidator
}

// settled is the age from which on a time of the last change, in whole seconds, identifies
// a version (RFC 9110, 8.8.2.2).
const settled = time.Minute

// maxValidator is the longest validator that is stored, in bytes.
const maxValidator = 200

// validator returns a value of the server that changes with the page: the ETag, or else the
// time of the last change. It is empty when there is none that identifies a version.
func validator(h http.Header) string {
	value := strings.Join(strings.Fields(h.Get("ETag")), "_")
	if value == "" {
		changed, err := http.ParseTime(h.Get("Last-Modified"))
		sent, failed := http.ParseTime(h.Get("Date"))
		if err == nil && failed == nil && sent.Sub(changed) >= settled {
			value = changed.UTC().Format(time.RFC3339)
		}
	}
	if len(value) > maxValidator || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return value
}
