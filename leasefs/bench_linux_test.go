package leasefs

import (
	"os"
	"testing"
)

func BenchmarkAcquireRelease(b *testing.B) {
	path := lockPath(b)
	o := self()
	o.Family = probed(b)
	for b.Loop() {
		l, err := Acquire(path, o)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareLock is open, lock, unlock, close and nothing else.
func BenchmarkBareLock(b *testing.B) {
	path := lockPath(b)
	for b.Loop() {
		bare(b, path, func(*os.File) error { return nil })
	}
}

// BenchmarkBareProtocol is the system calls of the whole protocol, on one
// goroutine and without a table.
func BenchmarkBareProtocol(b *testing.B) {
	path := lockPath(b)
	record := self().Self.encode()
	for b.Loop() {
		bare(b, path, func(f *os.File) error {
			if _, err := f.Stat(); err != nil {
				return err
			}
			if _, err := os.Lstat(path); err != nil {
				return err
			}
			if err := f.Truncate(0); err != nil {
				return err
			}
			if _, err := f.WriteAt(record, 0); err != nil {
				return err
			}
			return f.Truncate(0)
		})
	}
}

func bare(b *testing.B, path string, inside func(*os.File) error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	if err := tryByte(f); err != nil {
		b.Fatal(err)
	}
	if err := inside(f); err != nil {
		b.Fatal(err)
	}
	if err := unlockByte(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBusy is what a list of sessions asks for each of them.
func BenchmarkBusy(b *testing.B) {
	path := lockPath(b)
	l := mustAcquire(b, path, self())
	defer l.Release()
	f := probed(b)
	for b.Loop() {
		if busy, err := Busy(path, f); !busy || err != nil {
			b.Fatal(busy, err)
		}
	}
}

// probed is how the file system of temporary folders locks.
func probed(b *testing.B) Family {
	f, err := Probe(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	return f
}
