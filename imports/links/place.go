package links

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// Place is an added source, whose links are recognised by their prefix. A link may have the
// scheme http or https.
type Place struct {
	Source   chat.SourceType
	Prefixes []string // without the scheme: "docs.example.com/" or "example.com/wiki/"
}

func (p Place) has(u *url.URL) bool {
	address := u.Host + u.EscapedPath()
	return slices.ContainsFunc(p.Prefixes, func(prefix string) bool { return strings.HasPrefix(address, prefix) })
}

// CheckPrefix returns why a prefix cannot be used, or nil. taken are the prefixes of other
// sources.
func CheckPrefix(prefix string, taken []string) error {
	u, err := parseURL("https://" + prefix)
	if err != nil || u.Host+u.EscapedPath() != prefix || !strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//") {
		return fmt.Errorf("the link prefix %q must be a lower-case host and a path that ends in a slash, like example.com/wiki/", prefix)
	}
	if slices.Contains(driveHosts, u.Host) || behindRedirect(&url.URL{Host: u.Host, Path: "/url", RawQuery: "q=x"}) != "" {
		return errors.New("the link prefix " + prefix + " belongs to Google Drive")
	}
	for _, other := range taken {
		if strings.HasPrefix(prefix, other) || strings.HasPrefix(other, prefix) {
			return fmt.Errorf("the link prefix %q overlaps %q", prefix, other)
		}
	}
	return nil
}
