package imports

import (
	"net/http"
	"strings"
	"time"
)

// A version is a sum of the content, or a time at the source. That of a page has a
// second part, the validator that its server has sent, if any: "SUM VALIDATOR". Before
// the download the validator is all that is known: " VALIDATOR".

// SameVersion reports whether two versions are of the same content. Versions that tell
// nothing are never the same.
func SameVersion(a, b string) bool {
	aSum, aValidator, _ := strings.Cut(a, " ")
	bSum, bValidator, _ := strings.Cut(b, " ")
	return aSum != "" && aSum == bSum || aValidator != "" && aValidator == bValidator
}

// settled is the age from which a time of a change in whole seconds tells versions
// apart (RFC 9110, 8.8.2.2).
const settled = time.Minute

// maxValidator bounds what is stored of an answer's header, in bytes.
const maxValidator = 200

// validator is what changes with a page, as its server says: the ETag, or else the time
// of the last change. It is empty when there is none that tells versions apart.
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
