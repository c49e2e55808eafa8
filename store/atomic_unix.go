//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the names in dir durable. A file system that cannot sync a
// folder says EINVAL or ENOTSUP: it has nothing to offer, which is no failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
