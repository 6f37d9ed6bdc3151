package ingest

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/workflows"
)

// OCR reads pages that are pictures (extract.OCR).
type OCR interface {
	Scan(ctx context.Context, sourceType string, raw []byte, page int) (string, error)
}

// Scans are the pages of a version of a document that OCR is to read.
type Scans struct {
	Version string `json:"version,omitempty"`
	Pages   []int  `json:"pages,omitempty"`
}

// toScan returns the pages that OCR is still to read, at most extract.MaxScans of a document.
func (a *Activities) toScan(r workflows.IngestRequest, read documentText) (pages []int) {
	if a.OCR == nil || r.WithoutScans {
		return nil
	}
	for _, page := range read.Unread {
		if _, done := read.scans[page]; !done && !slices.Contains(read.Lost, page) && len(read.scans)+len(pages) < extract.MaxScans {
			pages = append(pages, page)
		}
	}
	return pages
}

// ScanPage reads one page of a document by OCR and stores its text. It does not read a page
// again that is stored, and does nothing to a document that is not processing, or has another
// version by now.
func (a *Activities) ScanPage(parent context.Context, r workflows.ScanRequest) error {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	return a.EndError(w, ctx, activities.TurnRef{Owner: r.Owner}, "scan page", a.scan(ctx, r))
}

func (a *Activities) scan(ctx context.Context, r workflows.ScanRequest) error {
	known, err := a.Store.Document(ctx, r.Owner, r.DocID)
	if err != nil {
		return ignoreNotFound(err)
	}
	release, err := a.IngestMemory.Acquire(ctx, scanMemory*known.Bytes)
	if err != nil {
		return err
	}
	defer release()
	doc, raw, err := a.Store.RawDocument(ctx, r.Owner, r.DocID)
	if err != nil {
		return ignoreNotFound(err)
	}
	if doc.SourceVersion != r.Version {
		return nil
	}
	done, err := a.Store.Scans(ctx, r.Owner, r.DocID, doc.SourceVersion)
	if err != nil {
		return err
	}
	if _, stored := done[r.Page]; !stored && doc.Status == chat.DocProcessing {
		text, err := a.OCR.Scan(ctx, doc.Format, raw, r.Page)
		if err != nil {
			return err
		}
		if err := a.Store.PutScan(ctx, r.Owner, r.DocID, doc.SourceVersion, r.Page, text); err != nil {
			return err
		}
	}
	a.progress(ctx, r.IngestRequest, readDone*(known.PageCount-r.Left)/max(known.PageCount, 1))
	return ignoreNotFound(a.Store.SetDocumentPages(ctx, r.Owner, r.DocID, known.PageCount, r.Left))
}

// scanMemory is how many bytes of memory the process takes for each byte of an upload, one
// page of which is read.
const scanMemory = 3
