package leasefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Probe finds out which locks work in dir, by two opens of a file of its own
// there, which is gone afterwards. It fails with ErrUnsafe, saying why, if
// none do or if the file system is mounted so that other hosts do not see
// them; with ErrReadOnly, or with ErrTimeout.
func Probe(dir string) (Family, error) {
	return limited(0, func() (Family, error) {
		f, err := probe(dir, lockers)
		if err == nil && onLocalDisk(dir) {
			f |= localDisk
		}
		return f, err
	}, nil)
}

// IsProbe reports whether name is that of a file that Probe makes. It may be
// removed at any time: a process that died has left it, or the probe begins
// anew.
func IsProbe(name string) bool {
	ok, _ := filepath.Match(probePattern, name)
	return ok
}

const probePattern = "probe-*.lock"

func probe(dir string, lockers []locker) (family Family, err error) {
	for range maxRestarts {
		family, err = probeOnce(dir, lockers)
		if !errors.Is(err, errMoved) {
			break
		}
	}
	return family, err
}

func probeOnce(dir string, lockers []locker) (Family, error) {
	first, err := os.CreateTemp(dir, probePattern)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return 0, fmt.Errorf("%w: %v", ErrReadOnly, pathless(err))
	}
	if err != nil {
		return 0, fmt.Errorf("probe locks: %w", err)
	}
	defer os.Remove(first.Name())
	defer first.Close()
	second, err := openFile(first.Name(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errMoved
	}
	if err != nil {
		return 0, fmt.Errorf("probe locks: %w", err)
	}
	defer second.Close()
	if err := checkMount(fileOf(first)); err != nil {
		return 0, err
	}

	for i, locks := range lockers {
		if err = excludes(locks, fileOf(first), second); !errors.Is(err, ErrUnsafe) {
			return Family(i), err
		}
	}
	return 0, err
}

// excludes checks that a lock on one open file keeps the other out, that it
// can be asked for, and that it ends with the unlock.
func excludes(locks locker, first, second *file) error {
	if err := locks.try(first); err != nil {
		return unlessRefused(err, "a new file is locked")
	}
	twice := locks.try(second)
	busy, asked := locks.busy(second)
	unlocked := locks.unlock(first)
	switch {
	case twice == nil:
		return fmt.Errorf("%w: the same lock is granted twice", ErrUnsafe)
	case !errors.Is(twice, errRefused):
		return twice
	case asked != nil:
		return asked
	case !busy:
		return fmt.Errorf("%w: a locked file is said to be free", ErrUnsafe)
	case unlocked != nil:
		return unlocked
	}
	if err := locks.try(second); err != nil {
		return unlessRefused(err, "a lock stays after its unlock")
	}
	return locks.unlock(second)
}

// unlessRefused returns err, or ErrUnsafe for a refusal that is wrong.
func unlessRefused(err error, why string) error {
	if errors.Is(err, errRefused) {
		return fmt.Errorf("%w: %s", ErrUnsafe, why)
	}
	return err
}
