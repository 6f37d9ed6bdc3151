package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/export"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/request"
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
	w := &download{ResponseWriter: c.Writer, name: "palaver-" + s.now().Format(time.DateOnly) + ".zip",
		begin: context.AfterFunc(due, cancel)}
	err := export.Write(ctx, s.Store, who.ID, s.now(), w)
	if err != nil && !w.begun {
		if errors.Is(due.Err(), context.DeadlineExceeded) { // until now the export has only read the database
			return fmt.Errorf("begin the export: %w", db.ErrUnavailable)
		}
		return err
	}
	s.Audit.Record(entry(who, audit.Exported, map[string]any{"complete": err == nil}))
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
