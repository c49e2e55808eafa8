package leasefs

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkLease takes a lease and gives it back, beside the system calls of
// that, in the order of the protocol and with nothing between them.
func BenchmarkLease(b *testing.B) {
	path := lockPath(b)
	o := self()
	o.Family = probed(b)
	b.Run("side=holdfast", func(b *testing.B) {
		for b.Loop() {
			l, err := Acquire(path, o)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("side=bare", func(b *testing.B) {
		record := o.Self.encode()
		for b.Loop() {
			if err := bare(path, record); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// bare does what the package comment lists, on a local disk.
func bare(path string, record []byte) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: lockOffset, Len: 1}
	unlock := unix.Flock_t{Type: unix.F_UNLCK, Start: lockOffset, Len: 1}
	err = errors.Join(
		unix.Fstat(fd, &st),
		unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock),
		unix.Lstat(path, &st),
	)
	_, written := unix.Pwrite(fd, record, 0)
	return errors.Join(err, written,
		unix.Ftruncate(fd, 0),
		unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unlock),
		unix.Close(fd),
	)
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
