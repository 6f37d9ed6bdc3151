package service

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
	"github.com/palaver-chat/palaver/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/retrieval/extract"
)

// IngestPaths loads files, and the files in folders, as owner's documents, waits until
// they are ready, and writes the result of each to out. It skips files that were loaded
// before: a document's id is derived from owner, name and content. It skips files of
// other types in folders. The error says how many files failed.
func IngestPaths(ctx context.Context, cfg *config.Config, log *slog.Logger, owner string, paths []string, out io.Writer) error {
	model, err := NewModel(cfg)
	if err != nil {
		return err
	}
	store, err := OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	files, err := filesIn(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no files to load")
	}
	in := ingester{
		store: store, owner: owner, limit: int64(cfg.MaxUploadMB) * megabyte,
		activities: &activities.Activities{DocumentTypes: extract.All(), Store: store, Model: model, Log: log},
	}
	failed := 0
	for _, file := range files {
		said, err := in.load(ctx, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, errNoDocument) && !slices.Contains(paths, file): // found in a folder
			said = "left out, " + err.Error()
		case err != nil:
			failed++
			said = "FAILED, " + err.Error()
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", file, said); err != nil {
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

var errNoDocument = errors.New("not a file of a type that can be read (" + extract.All().Labels() + ")")

type ingester struct {
	store      db.Store
	activities *activities.Activities
	owner      string
	limit      int64
}

func (in *ingester) load(ctx context.Context, path string) (said string, err error) {
	raw, err := readLimited(path, in.limit)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	kind, ok := extract.All().Detect(name, "", raw)
	if !ok {
		return "", errNoDocument
	}
	id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "palaver ingest\n%s\n%s\n%s", in.owner, name, raw)).String()
	err = in.store.CreateDocument(ctx, chat.Document{ // does nothing when it exists
		ID: id, Owner: in.owner, Title: strings.TrimSuffix(name, filepath.Ext(name)), Status: chat.DocProcessing,
		SourceType: kind, Bytes: int64(len(raw)), CreatedAt: time.Now().UTC(),
	}, raw)
	if err != nil {
		return "", err
	}
	if err := activities.IngestNow(ctx, in.activities, activities.IngestRequest{Owner: in.owner, DocID: id}); err != nil {
		return "", err
	}
	d, err := in.store.Document(ctx, in.owner, id)
	if err != nil {
		return "", err
	}
	if d.Status != chat.DocReady {
		return "", errors.New(d.Error)
	}
	return fmt.Sprintf("ready, %d passages", d.Chunks), nil
}

func readLimited(path string, limit int64) ([]byte, error) {
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
		return nil, fmt.Errorf("larger than MAX_UPLOAD_MB=%d", limit/megabyte)
	case len(raw) == 0:
		return nil, errors.New("empty")
	}
	return raw, nil
}
