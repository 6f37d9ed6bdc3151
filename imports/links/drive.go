package links

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

var (
	driveHosts = []string{"drive.google.com", "docs.google.com", "drive.usercontent.google.com"}
	fileID     = regexp.MustCompile(`^[A-Za-z0-9_-]{10,128}$`)
	// resourceKey is sent as a header, together with the file's id.
	resourceKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
)

// isDrive reports whether a link leads into Google Drive. It is false for documents that
// were published to the web and for forms: they are imported like any other page.
func isDrive(u *url.URL) bool {
	if !slices.Contains(driveHosts, u.Host) {
		return false
	}
	path := segments(u)
	return !(len(path) > 0 && path[0] == "forms") && !(len(path) > 2 && path[1] == "d" && path[2] == "e")
}

// driveLink reads a link such as
//
//	https://drive.google.com/file/d/ID/view
//	https://drive.google.com/open?id=ID
//	https://drive.google.com/uc?id=ID&export=download
//	https://docs.google.com/document/d/ID/edit
func driveLink(u *url.URL) (Link, error) {
	id := driveID(u)
	if !fileID.MatchString(id) {
		return Link{}, ErrMalformedDrive
	}
	link := Link{Source: chat.SourceDrive, ExternalID: id}
	show := url.URL{Scheme: "https", Host: "drive.google.com", Path: "/file/d/" + id + "/view"}
	if key := u.Query().Get("resourcekey"); resourceKey.MatchString(key) {
		link.ResourceKey = key
		show.RawQuery = url.Values{"resourcekey": {key}}.Encode()
	}
	link.URL = show.String()
	return link, nil
}

// driveID returns the id of a file; "" when the link has none, such as a link to a folder.
func driveID(u *url.URL) string {
	path := segments(u)
	if len(path) == 1 && slices.Contains([]string{"open", "uc", "download", "thumbnail"}, path[0]) {
		return u.Query().Get("id")
	}
	if len(path) >= 3 && path[1] == "d" && slices.Contains([]string{"file", "document", "spreadsheets", "presentation", "drawings"}, path[0]) {
		return path[2]
	}
	return ""
}

// segments splits a path. It leaves out the parts that select an account or a company:
// /a/example.com/… and …/u/0/….
func segments(u *url.URL) []string {
	path := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	if len(path) > 2 && path[0] == "a" {
		path = path[2:]
	}
	for i := 0; i+1 < min(len(path), 3); i++ {
		if path[i] == "u" && strings.Trim(path[i+1], "0123456789") == "" {
			return slices.Delete(path, i, i+2)
		}
	}
	return path
}
