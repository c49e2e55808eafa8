package leasefs

import (
	"errors"
	"io/fs"
	"os"
)

// Guard removes something that is leased, so that nobody's live lease loses
// what it protects: it acquires the lease, calls remove, and then unlinks the
// lock file while it is still held. It fails with an error of Acquire, remove
// not having been called, or with that of remove, the lock file being left,
// unless the error matches fs.ErrNotExist.
func Guard(path string, o Options, remove func() error) error {
	l, err := Acquire(path, o)
	if err != nil {
		return err
	}
	err = remove()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, l.Remove())
	}
	return errors.Join(err, l.Release())
}

// Busy reports whether anybody, this process included, has the lease on the
// lock file at path. It takes nothing that would refuse another. A missing
// file is not busy. It fails with ErrTimeout if there is no answer within 2 s.
func Busy(path string, f Family) (bool, error) {
	return limited(f, func() (bool, error) {
		file, err := openFile(path, os.O_RDONLY|noFollow, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer file.Close()
		return f.locker().busy(file)
	}, nil)
}
