// Package backup copies the data folder of an installation without Postgres into one
// archive while Palaver runs, and restores it from there.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/db/sqlite"
)

// Names of the files that an archive may have.
const (
	Palaver  = "palaver.db"
	Temporal = "temporal.db"

	manifestName = "manifest.json"
	manifestMax  = 1 << 20
)

var (
	// databases are copied in this order. What happens between the two copies is only in
	// the copy of Palaver's database, and repairs end turns that Temporal does not have. In
	// the other order, Temporal would have turns that Palaver's database does not have.
	databases = []string{Temporal, Palaver}
	// others are the other files that a data folder needs.
	others = []string{"cookie_secret", "samples_loaded"}
)

// Manifest is the first file of an archive.
type Manifest struct {
	Release string    `json:"release"`
	At      time.Time `json:"at"`
	Files   []File    `json:"files"`
}

// File is a file of an archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Create writes an archive of the data folder dir to the new file at path. It contains the
// cookie secret, so only its owner can read it.
func Create(ctx context.Context, dir, path, release string, now time.Time) (_ Manifest, err error) {
	m := Manifest{Release: release, At: now.UTC().Truncate(time.Second)}
	if _, err := os.Stat(filepath.Join(dir, Palaver)); err != nil {
		return m, fmt.Errorf("no database to back up: %w", err)
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return m, err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	draft, err := os.MkdirTemp(filepath.Dir(path), ".palaver-backup-*") // next to the archive: that disk has the space
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if m.Files, err = collect(ctx, dir, draft); err != nil {
		return m, err
	}
	if err := pack(m, draft, out); err != nil {
		return m, err
	}
	return m, out.Sync()
}

// collect copies those of these files that exist from the data folder dir into draft.
func collect(ctx context.Context, dir, draft string) (files []File, err error) {
	for _, name := range slices.Concat(databases, others) {
		from, to := filepath.Join(dir, name), filepath.Join(draft, name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue // Temporal may be a separate server, and the secret a setting
		}
		if slices.Contains(databases, name) {
			if err = sqlite.Backup(ctx, from, to); err == nil {
				err = sqlite.Verify(ctx, to)
			}
		} else {
			err = copyFile(from, to)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", from, err)
		}
		f, err := describe(to)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func pack(m Manifest, draft string, out io.Writer) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	list, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	header := func(name string, bytes int64) error {
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: bytes, Mode: 0o600, ModTime: m.At})
	}
	if err := header(manifestName, int64(len(list))); err != nil {
		return err
	}
	if _, err := archive.Write(list); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := header(f.Name, f.Bytes); err != nil {
			return err
		}
		if err := readInto(filepath.Join(draft, f.Name), archive); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// Restore puts the files of the archive at path into the data folder dir, which no process
// may use. only names the one file to restore; empty: all. It moves the files that it
// replaces into a folder, and returns that folder as replaced.
func Restore(ctx context.Context, path, dir, only string, now time.Time) (m Manifest, replaced string, err error) {
	draft, err := os.MkdirTemp(dir, ".palaver-restore-*")
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if m, err = unpack(ctx, path, draft); err != nil {
		return m, "", fmt.Errorf("%s is not a complete backup: %w", path, err)
	}
	if only != "" {
		m.Files = slices.DeleteFunc(m.Files, func(f File) bool { return f.Name != only })
		if len(m.Files) == 0 {
			return m, "", fmt.Errorf("%s has no %s", path, only)
		}
	}
	for _, f := range m.Files { // check all files before moving the first
		if err := free(ctx, filepath.Join(dir, f.Name)); err != nil {
			return m, "", err
		}
	}
	aside := filepath.Join(dir, "before-restore-"+now.UTC().Format("20060102T150405.000"))
	for _, f := range m.Files {
		moved, err := moveAside(dir, f.Name, aside)
		if err != nil {
			return m, "", err
		}
		if moved {
			replaced = aside
		}
		if err := os.Rename(filepath.Join(draft, f.Name), filepath.Join(dir, f.Name)); err != nil {
			return m, replaced, err
		}
	}
	return m, replaced, nil
}

// free checks that no process uses a database.
func free(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || !slices.Contains(databases, filepath.Base(path)) {
		return nil
	}
	err := sqlite.Detach(ctx, path)
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return fmt.Errorf("%s: %w; stop all of Palaver first", path, err)
	case sqlite.Damaged(err):
		return nil // a damaged database is often the reason for the restore
	}
	return err
}

// moveAside moves a file and its -wal and -shm files: SQLite would apply those to the
// restored file.
func moveAside(dir, name, aside string) (moved bool, err error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		from := filepath.Join(dir, name+suffix)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return moved, err
		}
		if err := os.Rename(from, filepath.Join(aside, name+suffix)); err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// unpack writes the files of an archive into draft and checks them against its manifest.
func unpack(ctx context.Context, path, draft string) (m Manifest, err error) {
	in, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer func() { _ = in.Close() }()
	compressed, err := gzip.NewReader(in)
	if err != nil {
		return m, err
	}
	archive := tar.NewReader(compressed)
	h, err := archive.Next()
	if err != nil {
		return m, err
	}
	if h.Name != manifestName || h.Size > manifestMax {
		return m, errors.New("it has no manifest")
	}
	if err := json.NewDecoder(archive).Decode(&m); err != nil {
		return m, err
	}
	for _, want := range m.Files {
		if !slices.Contains(databases, want.Name) && !slices.Contains(others, want.Name) {
			return m, fmt.Errorf("unknown file %q", want.Name)
		}
		h, err := archive.Next()
		if err != nil {
			return m, err
		}
		if h.Name != want.Name || h.Size != want.Bytes || h.Typeflag != tar.TypeReg {
			return m, fmt.Errorf("%q does not match the manifest", h.Name)
		}
		to := filepath.Join(draft, want.Name)
		if err := writeFile(to, io.LimitReader(archive, want.Bytes)); err != nil {
			return m, err
		}
		if got, err := describe(to); err != nil || got != want {
			return m, errors.Join(fmt.Errorf("%s is damaged", want.Name), err)
		}
		if slices.Contains(databases, want.Name) {
			if err := sqlite.Verify(ctx, to); err != nil {
				return m, fmt.Errorf("%s: %w", want.Name, err)
			}
		}
	}
	return m, nil
}

func describe(path string) (File, error) {
	sum := sha256.New()
	if err := readInto(path, sum); err != nil {
		return File{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	return File{Name: filepath.Base(path), Bytes: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

func readInto(path string, w io.Writer) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	_, err = io.Copy(w, in)
	return err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return writeFile(to, in)
}

func writeFile(path string, from io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Sync(), out.Close())
}
