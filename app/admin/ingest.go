package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/ingest"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/workflows"
)

// Ingester loads files as documents of an owner.
type Ingester struct {
	Store db.Store
	Model llm.Model
	Types extract.Types
	OCR   ingest.OCR // nil: scanned pages stay unread
	Owner string
	MaxMB int // of a file
	Log   *slog.Logger
}

// Load loads files, and the files in folders, waits until they are ready, and writes the
// result of each to out. It skips files that were loaded before: a document's id is
// derived from owner, name and content. It skips files of other types in folders. The
// error says how many files failed.
func (in Ingester) Load(ctx context.Context, paths []string, out io.Writer) error {
	files, err := filesIn(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no files to load")
	}
	failed := 0
	for _, file := range files {
		said, err := in.load(ctx, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, errUnknownType) && !slices.Contains(paths, file): // found in a folder
			said = "skipped, " + err.Error()
		case err != nil:
			failed++
			said = "FAILED, " + err.Error()
		}
		if err := say(out, "%s: %s\n", file, said); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be loaded", failed, len(files))
	}
	return nil
}

// filesIn returns the files, and for folders all files below them that are not hidden.
func filesIn(paths []string) ([]string, error) {
	var files []string
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if path != root && strings.HasPrefix(entry.Name(), ".") {
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !entry.IsDir() {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

var errUnknownType = errors.New("its type cannot be read")

func (in Ingester) load(ctx context.Context, path string) (said string, err error) {
	raw, err := readLimited(path, in.MaxMB)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	kind, ok := in.Types.Detect(name, "", raw)
	if !ok {
		return "", fmt.Errorf("%w; %s can", errUnknownType, in.Types.Labels())
	}
	title, _ := naming.FromFile(name)
	id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "palaver ingest\n%s\n%s\n%s", in.Owner, name, raw)).String()
	err = in.Store.CreateDocument(ctx, chat.Document{ // does nothing when it exists
		ID: id, Owner: in.Owner, Title: title, Name: naming.Normal(chat.OneLine(name)), Status: chat.DocProcessing,
		SourceType: chat.SourceUpload, Format: kind, Bytes: int64(len(raw)), CreatedAt: time.Now().UTC(),
	}, raw)
	if err != nil {
		return "", err
	}
	if err := ingest.Now(ctx, in.activities(), workflows.IngestRequest{Owner: in.Owner, DocID: id}); err != nil {
		return "", err
	}
	d, err := in.Store.Document(ctx, in.Owner, id)
	if err != nil {
		return "", err
	}
	if d.Status != chat.DocReady {
		return "", errors.New(messages.Read(d.Error).Text)
	}
	return fmt.Sprintf("ready, %d passages", d.Chunks), nil
}

func (in Ingester) activities() *ingest.Activities {
	return &ingest.Activities{Kit: &activities.Kit{Store: in.Store, Model: in.Model, Log: in.Log}, DocumentTypes: in.Types, OCR: in.OCR}
}

func readLimited(path string, maxMB int) ([]byte, error) {
	limit := int64(maxMB) << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(raw)) > limit:
		return nil, fmt.Errorf("larger than MAX_UPLOAD_MB=%d", maxMB)
	case len(raw) == 0:
		return nil, errors.New("empty")
	}
	return raw, nil
}
