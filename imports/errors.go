package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
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

// Error is a failed import.
type Error struct {
	Code       Code
	Source     chat.SourceType
	Size       int64         // TooLarge: in bytes; 0 when it is not known
	Limit      int64         // TooLarge
	RetryAfter time.Duration // RateLimited, when the source says so
	Can        []string      // Unsupported: the types that can be read; empty: those of Google Drive
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

// Message returns the message for the person who requested the import.
func (e *Error) Message() messages.Message {
	by := func(ofDrive, ofLink, ofOther messages.Message) messages.Message {
		switch e.Source {
		case chat.SourceDrive:
			return ofDrive
		case chat.SourceLink:
			return ofLink
		}
		return ofOther
	}
	switch e.Code {
	case NotShared:
		return by(messages.ImportNoFile, messages.ImportNoPage, messages.ImportNoDocument)
	case TooLarge:
		if e.Size <= 0 {
			return messages.ImportTooLargeAtAll.With(messages.Params{"limit": e.Limit})
		}
		return messages.ImportTooLarge.With(messages.Params{"size": e.Size, "limit": e.Limit})
	case RateLimited:
		return by(messages.ImportDriveBusy, messages.ImportSiteBusy, messages.ImportSiteBusy)
	case Malformed:
		return by(messages.ImportNoDriveLink, messages.ImportNoLink, messages.ImportNoLink)
	case QuotaReached:
		return messages.ImportNoRoom
	case Deleted:
		return messages.ImportDeleted
	case Internal:
		return messages.ImportInternal
	case Timeout:
		return messages.ImportTimeout
	case NotPublic:
		return messages.ImportNotPublic
	case Unsupported:
		if len(e.Can) == 0 {
			return messages.ImportDriveType
		}
		return messages.ImportType.With(messages.Params{"types": e.Can})
	case NotConfigured:
		return by(messages.ImportNoDrive, messages.ImportNotConfigured, messages.ImportNoSource)
	}
	return messages.ImportNetwork
}

// Failed returns the step that ends an import with this error.
func (e *Error) Failed() chat.ImportStep {
	return chat.ImportStep{State: chat.ImportFailed, Code: string(e.Code), Message: e.Message().Stored()}
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
