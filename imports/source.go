package imports

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/links"
)

// Source declares a place that documents are imported from.
type Source struct {
	Type  chat.SourceType // stored with documents and imports: 1 to 20 characters of a-z, 0-9, _ and -, starting with a letter. Never change it.
	Label string          // for people, at most 60 characters
	// Links are the prefixes of the source's links without the scheme, such as
	// "docs.example.com/" or "example.com/wiki/". Links with http and https are recognised.
	Links []string
	// Look reads a document's metadata before the download. owner is the user who imports it.
	// The link was written by a user or a model, so do not trust it.
	Look func(ctx context.Context, owner string, link links.Link) (Remote, error)
	// Fetch downloads the document that Look has found. It stops after limit bytes and
	// returns an *Error with TooLarge.
	Fetch func(ctx context.Context, owner string, r Remote, limit int64) (Content, error)
}

// Sources are the places that documents are imported from.
type Sources []Source

var typeName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,19}$`)

const maxLabel = 60

// validate returns why the source cannot be added, or nil.
func (s Source) validate() error {
	switch n := utf8.RuneCountInString(s.Label); {
	case !typeName.MatchString(string(s.Type)):
		return errors.New("the type needs 1 to 20 of a-z, 0-9, _ and -, and begins with a letter")
	case n == 0 || n > maxLabel:
		return fmt.Errorf("the label needs 1 to %d characters", maxLabel)
	case s.Look == nil || s.Fetch == nil:
		return errors.New("it needs the functions Look and Fetch")
	case len(s.Links) == 0:
		return errors.New("it needs the prefixes of its links")
	}
	return nil
}

// Validate returns an error for the first source that cannot be added: a field is missing,
// or its type or one of its links is taken.
func (s Sources) Validate() error {
	types := map[chat.SourceType]bool{chat.SourceUpload: true, chat.SourceDrive: true, chat.SourceLink: true}
	var taken []string
	for _, x := range s {
		err := x.validate()
		if err == nil && types[x.Type] {
			err = errors.New("the type is taken")
		}
		for i := 0; err == nil && i < len(x.Links); i++ {
			err = links.CheckPrefix(x.Links[i], taken)
			taken = append(taken, x.Links[i])
		}
		if err != nil {
			return fmt.Errorf("import source %q: %w", x.Type, err)
		}
		types[x.Type] = true
	}
	return nil
}

// Places returns the links of the sources that declare them.
func (s Sources) Places() []links.Place {
	var places []links.Place
	for _, x := range s {
		if len(x.Links) > 0 {
			places = append(places, links.Place{Source: x.Type, Prefixes: x.Links})
		}
	}
	return places
}
