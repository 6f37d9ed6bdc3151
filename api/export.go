package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/export"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

// exportTimeout limits a whole export.
const exportTimeout = 30 * time.Minute

// exportMe streams an archive of all data of the caller. A caller can run one export at a
// time in this process.
func (s *server) exportMe(c *gin.Context) error { return s.limits.OneExport(s.writeExport)(c) }

func (s *server) writeExport(c *gin.Context) error {
	who := identity.Of(c)
	return s.streamExport(c, "palaver", map[string]any{}, func(ctx context.Context, w io.Writer) error {
		return export.Write(ctx, s.Store, who.ID, s.now(), w)
	})
}

// exportSpace streams an archive of a space to a manager.
func (s *server) exportSpace(c *gin.Context, id string) error {
	return s.limits.OneExport(func(c *gin.Context) error {
		ctx := c.Request.Context()
		var members []chat.SpaceMember
		sp, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
			sp, err := s.Store.Space(ctx, who.ID, id, chat.Manager)
			if err == nil {
				members, err = s.Store.SpaceMembers(ctx, who.ID, id)
			}
			return sp, err
		})
		if err != nil {
			return err
		}
		return s.streamExport(c, "space", map[string]any{"space": id}, func(ctx context.Context, w io.Writer) error {
			return export.WriteSpace(ctx, s.Store, identity.Of(c).ID, sp, members, s.now(), w)
		})
	})(c)
}

// streamExport streams an archive that write makes, and records it with the detail.
func (s *server) streamExport(c *gin.Context, name string, detail map[string]any, write func(context.Context, io.Writer) error) error {
	who := identity.Of(c)
	if err := s.limits.AdmitExport(c.Request.Context(), who); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(request.ClientContext(c), exportTimeout)
	defer cancel()
	ended, stop := s.expiry(who)
	defer stop()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	due := c.Request.Context() // its deadline is when the download must have begun
	w := &download{ResponseWriter: c.Writer, name: name + "-" + s.now().Format(time.DateOnly) + ".zip",
		begin: context.AfterFunc(due, cancel)}
	err := write(ctx, w)
	if err != nil && !w.begun {
		if errors.Is(due.Err(), context.DeadlineExceeded) { // until now the export has only read the database
			return fmt.Errorf("begin the export: %w", db.ErrUnavailable)
		}
		return err
	}
	detail["complete"] = err == nil
	s.Audit.Record(entry(who, audit.Exported, detail))
	if err != nil {
		s.Log.Warn("export failed; download aborted", "request_id", request.ID(c), "error", err)
		panic(http.ErrAbortHandler) // the client must see an aborted download, not a complete one
	}
	return nil
}

// download sends a file of unknown length.
type download struct {
	http.ResponseWriter
	name  string
	begin func() (inTime bool) // stops the answer deadline; false: it has passed
	begun bool
}

func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		if !d.begin() {
			return 0, context.DeadlineExceeded
		}
		d.begun = true
		d.Header().Set("Content-Type", "application/zip")
		d.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	}
	return d.ResponseWriter.Write(p)
}
