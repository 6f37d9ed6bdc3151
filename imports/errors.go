package imports

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/guard"
)

// Code says why an import failed.
type Code string

const (
	NotShared     Code = "not_shared"     // or it does not exist: sources do not say which
	TooLarge      Code = "too_large"      //
	RateLimited   Code = "rate_limited"   // a later try can succeed
	Network       Code = "network"        // a later try can succeed
	Timeout       Code = "timeout"        // a later try can succeed
	NotPublic     Code = "not_public"     // the address is not public
	Unsupported   Code = "unsupported"    // its type cannot be read
	NotConfigured Code = "not_configured" // this server cannot import from there
	Malformed     Code = "malformed_link" // not a link that can be imported
	QuotaReached  Code = "quota_reached"  // the owner has reached their quota
	Unreadable    Code = "unreadable"     // it was downloaded but cannot be read; the reader says why in its message
	Deleted       Code = "deleted"        // it was deleted while it was processed
	Internal      Code = "internal"       // a failure of Palaver
)

// MalformedDriveLink is the message for a link to Google Drive that does not name a file.
const MalformedDriveLink = "That doesn't look like a valid Google Drive link. Please paste a link that looks like: https://drive.google.com/file/d/..."

// Error is a failed import.
type Error struct {
	Code       Code
	Source     chat.SourceType
	Size       int64         // TooLarge: in bytes; 0 when it is not known
	Limit      int64         // TooLarge
	RetryAfter time.Duration // RateLimited, when the source says so
	Can        string        // Unsupported: the types that can be read
	Cause      error         // for the log; holds no key and no content
}

func (e *Error) Error() string {
	message := fmt.Sprintf("import from %s: %s", e.Source, e.Code)
	if e.Cause != nil {
		message += ": " + e.Cause.Error()
	}
	return message
}

func (e *Error) Unwrap() error { return e.Cause }

// Retryable reports whether another try can succeed.
func (e *Error) Retryable() bool {
	return e.Code == RateLimited || e.Code == Network || e.Code == Timeout
}

// Sentence returns the message for the person who requested the import.
func (e *Error) Sentence() string {
	drive, link := e.Source == chat.SourceDrive, e.Source == chat.SourceLink
	switch e.Code {
	case NotShared:
		if drive {
			return "I couldn't access that file. Please make sure it's shared with 'Anyone with the link' and try again."
		}
		if link {
			return "I couldn't access that page. Please make sure that it opens without signing in and try again."
		}
		return "I couldn't access that document. Please make sure that it exists and that you may read it, and try again."
	case TooLarge:
		return fmt.Sprintf("That file is too large to import (%s). The maximum file size is %s.", e.size(), megabytes(e.Limit))
	case RateLimited:
		if drive {
			return "Google Drive is temporarily limiting requests. Please try again in a few minutes."
		}
		return "That site is temporarily limiting requests. Please try again in a few minutes."
	case Malformed:
		if drive {
			return MalformedDriveLink
		}
		return "That doesn't look like a link that I can import. Please paste an https link to a page or a file."
	case QuotaReached:
		return "There is no room for that document. Please delete documents that you no longer need and try again."
	case Deleted:
		return "The document was deleted while it was being imported."
	case Internal:
		return "The document could not be imported. Please try again."
	case Timeout:
		return "That file took too long to download. Please try again in a few minutes."
	case NotPublic:
		return "I can only read pages at public addresses."
	case Unsupported:
		return "I can't read that kind of file. " + e.Can + " files can be imported."
	case NotConfigured:
		if drive {
			return "Importing from Google Drive is not set up on this server. Please upload the file instead."
		}
		if link {
			return "Importing from links is not set up on this server. Please upload the file instead."
		}
		return "Importing from there is not set up on this server. Please upload the file instead."
	}
	return "I had trouble downloading that file. Please check your internet connection and try again."
}

func (e *Error) size() string {
	if e.Size <= 0 {
		return "more than " + megabytes(e.Limit)
	}
	return megabytes(e.Size)
}

// megabytes rounds up, so that a file above the limit never seems to have its size.
func megabytes(n int64) string {
	tenths := (n*10 + 1<<20 - 1) >> 20
	return strings.TrimSuffix(strconv.FormatFloat(float64(tenths)/10, 'f', 1, 64), ".0") + "MB"
}

var (
	errTimeout = errors.New("no answer in time")
	errTooLong = errors.New("longer than allowed")
)

// asError makes an *Error of any error of a source.
func asError(ctx context.Context, source chat.SourceType, err error) error {
	var known *Error
	var refused *guard.Refused
	switch {
	case errors.As(err, &known):
		known.Source = source
		return known
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{Code: Timeout, Source: source, Cause: err}
	case errors.As(err, &refused):
		return &Error{Code: NotPublic, Source: source, Cause: refused}
	case errors.Is(err, guard.ErrRedirect):
		return &Error{Code: NotShared, Source: source, Cause: guard.ErrRedirect}
	}
	return &Error{Code: Network, Source: source, Cause: err}
}
