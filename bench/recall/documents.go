package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

const folder = "usr/share/doc/debian-policy"

// documents returns the manual and the checklist: from dir, or the installed ones,
// or downloaded with apt-get and not kept.
func documents(ctx context.Context, dir string) (policy, checklist string, err error) {
	if dir != "" {
		return both(dir)
	}
	policy, checklist, err = both("/" + folder)
	if !errors.Is(err, fs.ErrNotExist) {
		return policy, checklist, err
	}
	temporary, err := os.MkdirTemp("", "palaver-policy-")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if err := fetch(ctx, temporary); err != nil {
		return "", "", fmt.Errorf("debian-policy is not installed and cannot be fetched (use -docs): %w", err)
	}
	return both(filepath.Join(temporary, folder))
}

// fetch unpacks the package debian-policy into dir.
func fetch(ctx context.Context, dir string) error {
	if out, err := in(ctx, dir, "apt-get", "download", "debian-policy").CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get download: %w: %s", err, bytes.TrimSpace(out))
	}
	packages, err := filepath.Glob(filepath.Join(dir, "debian-policy_*.deb"))
	if err != nil || len(packages) != 1 {
		return errors.New("apt-get download left no package")
	}
	if out, err := in(ctx, dir, "dpkg-deb", "-x", packages[0], dir).CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg-deb: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func in(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	return c
}

func both(dir string) (policy, checklist string, err error) {
	if policy, err = read(filepath.Join(dir, "policy.txt")); err != nil {
		return "", "", err
	}
	checklist, err = read(filepath.Join(dir, "upgrading-checklist.txt"))
	return policy, checklist, err
}

// read returns the text of a file, which may be gzipped with the suffix .gz.
func read(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		return string(text), nil
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err = io.ReadAll(z)
	return string(text), err
}
