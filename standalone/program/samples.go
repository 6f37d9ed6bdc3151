package program

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/samples"
	"github.com/palaver-chat/palaver/workflows"
)

// samplesMarker in the data folder says that the samples were loaded, so that a
// deleted sample stays deleted.
const samplesMarker = "samples_loaded"

// samplesTimeout limits how long the first start waits for the samples; their
// ingest continues after it.
const samplesTimeout = 5 * time.Second

// loadSamples loads the sample documents as public documents on the first run of a
// data folder. The next start completes an interrupted load, because a sample's id
// is derived from its name.
func (s *Stack) loadSamples(ctx context.Context) error {
	marker := filepath.Join(s.settings.DataDir, samplesMarker)
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	threads := &workflows.Client{Temporal: s.Parts.Temporal}
	var ids []string
	for _, sample := range samples.List() {
		id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("palaver sample "+sample.Name)).String()
		if err := s.loadSample(ctx, threads, id, sample); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := s.awaitSamples(ctx, ids); err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}

func (s *Stack) loadSample(ctx context.Context, threads *workflows.Client, id string, sample samples.Sample) error {
	raw, err := fs.ReadFile(samples.FS, sample.Name)
	if err != nil {
		return err
	}
	err = s.Parts.Store.CreateDocument(ctx, chat.Document{ // does nothing when it exists
		ID: id, Owner: chat.PublicOwner, Title: sample.Title, Status: chat.DocProcessing,
		SourceType: chat.SourceUpload, Format: sample.Type, Bytes: int64(len(raw)), CreatedAt: time.Now().UTC(),
	}, raw)
	if err != nil {
		return err
	}
	return threads.Ingest(ctx, chat.PublicOwner, id)
}

// awaitSamples waits until no sample is processing, up to samplesTimeout.
func (s *Stack) awaitSamples(ctx context.Context, ids []string) error {
	ctx, cancel := context.WithTimeout(ctx, samplesTimeout)
	defer cancel()
	for {
		documents, err := s.Parts.Store.DocumentsByID(ctx, chat.PublicOwner, ids)
		if err != nil {
			return err
		}
		processing := 0
		for _, d := range documents {
			if d.Status == chat.DocProcessing {
				processing++
			}
		}
		if processing == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
