//go:build !linux

package storm

import "errors"

func limitFiles(int, bool) error {
	return errors.New("only Linux can limit the files of another process")
}
