package leasefs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHolderIsNamedToOthers(t *testing.T) {
	path := lockPath(t)
	o := self()
	o.Self.Addr = "http://127.0.0.1:7070"
	before := time.Now()
	l := mustAcquire(t, path, o)

	got, err := ReadHolder(path)
	if err != nil || got == nil {
		t.Fatalf("ReadHolder = %v, %v", got, err)
	}
	if got.Since.Before(before.Add(-time.Second)) || got.Since.After(time.Now()) {
		t.Errorf("held since %v, want now", got.Since)
	}
	want := o.Self
	want.Since = got.Since
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("ReadHolder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&want, tryElsewhere(t, path).Holder); diff != "" {
		t.Errorf("holder told to another process (-want +got):\n%s", diff)
	}

	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadHolder(path); got != nil || err != nil {
		t.Errorf("ReadHolder after Release = %v, %v, want no record", got, err)
	}
	if err := l.Release(); err != nil {
		t.Errorf("second Release: %v", err)
	}
	if got := tryElsewhere(t, path); !got.Got {
		t.Errorf("other process after Release: %+v", got)
	}
}

func TestSecondAcquireInThisProcessIsItsOwn(t *testing.T) {
	path := lockPath(t)
	mustAcquire(t, path, self())
	alias := filepath.Join(t.TempDir(), "alias.lock")
	if err := os.Link(path, alias); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, alias} {
		begun := time.Now()
		_, err := Acquire(path, self())
		held, ok := errors.AsType[*HeldError](err)
		if !ok || !held.Own || held.Holder == nil || held.Holder.PID != os.Getpid() || !errors.Is(err, ErrHeld) {
			t.Errorf("Acquire(%q) = %v, want held by this process", path, err)
		}
		if got, want := err.Error(), "session is in use by this process"; got != want {
			t.Errorf("text %q, want %q", got, want)
		}
		if time.Since(begun) > lockLimit {
			t.Errorf("a refusal by this process took %v", time.Since(begun))
		}
	}
	if diff := cmp.Diff([]string{path}, Held()); diff != "" {
		t.Errorf("Held (-want +got):\n%s", diff)
	}
}

// A classic fcntl lock would be gone: reading the file closes it.
func TestReadingTheLockFileInTheHolderKeepsTheLease(t *testing.T) {
	path := lockPath(t)
	mustAcquire(t, path, self())
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if got := tryElsewhere(t, path); !got.Held {
		t.Errorf("other process after the holder read the file: %+v, want a refusal", got)
	}
}

func TestLeaseOutlivesGarbageCollection(t *testing.T) {
	path := lockPath(t)
	if _, err := Acquire(path, self()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	if got := tryElsewhere(t, path); !got.Held {
		t.Errorf("other process after garbage collection: %+v, want a refusal", got)
	}
	for _, e := range table.entries {
		if e.lease == nil {
			t.Fatal("the table does not keep the lease")
		}
		if err := e.lease.Release(); err != nil {
			t.Error(err)
		}
	}
}

// onFirstTry runs do between the open and the first lock call.
func onFirstTry(do func()) testHooks {
	locks := lockers[0]
	real := locks.try
	locks.try = func(f *file) error {
		if do != nil {
			do()
			do = nil
		}
		return real(f)
	}
	return testHooks{locker: &locks}
}

// The descriptor is that of an unlinked file by the time it is locked.
func TestLockOnAnUnlinkedFileIsNotALease(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := lockPath(t)
			o := self()
			o.test = onFirstTry(func() {
				if err := replace(path); err != nil {
					t.Error(err)
				}
			})
			l := mustAcquire(t, path, o)
			if err := l.Check(); err != nil {
				t.Errorf("Check: %v", err)
			}
			if got := tryElsewhere(t, path); !got.Held {
				t.Errorf("other process: %+v, want a refusal", got)
			}
		})
	}
}

func TestReplacedFileHeldByAnotherIsRefused(t *testing.T) {
	path := lockPath(t)
	o := self()
	o.test = onFirstTry(func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		holdElsewhere(t, path)
	})
	if _, err := Acquire(path, o); !errors.Is(err, ErrHeld) {
		t.Errorf("Acquire = %v, want ErrHeld", err)
	}
}

func TestLockFileThatNeverStaysIsUnsafe(t *testing.T) {
	path := lockPath(t)
	o := self()
	locks := lockers[0]
	tries := 0
	locks.try = func(f *file) error {
		tries++
		return errors.Join(os.Remove(path), lockers[0].try(f))
	}
	o.test.locker = &locks
	if _, err := Acquire(path, o); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Acquire = %v, want ErrUnsafe", err)
	}
	if tries != maxRestarts {
		t.Errorf("%d tries, want %d", tries, maxRestarts)
	}
}

func TestWhatIsNotALockFileIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		make func(path string) error
		want error
	}{
		"link":      {func(path string) error { return os.Symlink(path+".target", path) }, ErrUnsafe},
		"folder":    {func(path string) error { return os.Mkdir(path, 0o700) }, nil},
		"no folder": {func(path string) error { return os.Remove(filepath.Dir(path)) }, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			path := lockPath(t)
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			_, err := Acquire(path, self())
			if err == nil || errors.Is(err, ErrHeld) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("Acquire = %v, want %v", err, test.want)
			}
			if _, err := os.Lstat(path + ".target"); err == nil {
				t.Error("the target of the link was created")
			}
		})
	}
}

func TestClaimComesWithTheLockAndTheRecord(t *testing.T) {
	path := lockPath(t)
	stale := self().Self
	stale.PID, stale.Since = 99999, time.Now()
	if err := os.WriteFile(path, stale.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := self()
	called := false
	o.Claim = func() error {
		called = true
		if busy, err := Busy(path, 0); !busy || err != nil {
			t.Errorf("Busy in Claim = %v, %v, want true", busy, err)
		}
		if h, err := ReadHolder(path); err != nil || h == nil || h.PID != o.Self.PID {
			t.Errorf("record in Claim = %v, %v, want ours", h, err)
		}
		return nil
	}
	mustAcquire(t, path, o)
	if !called {
		t.Error("Claim was not called")
	}
}

// Of what a holder left that died, nothing stays behind our record.
func TestRecordTakesThePlaceOfALongerOne(t *testing.T) {
	path := lockPath(t)
	stale := self().Self
	stale.Since, stale.Addr = time.Now(), strings.Repeat("x", maxAddr)
	if err := os.WriteFile(path, append(stale.encode(), stale.encode()...), 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustAcquire(t, path, self())
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, l.record) {
		t.Errorf("the lock file has %q, %v; want our record %q", b, err, l.record)
	}
}

// A store whose folder is a link is leased where the link leads now.
func TestLeaseIsOfThePathNotOfTheFolderBehind(t *testing.T) {
	path := lockPath(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	l := mustAcquire(t, filepath.Join(link, filepath.Base(path)), self())
	if got := tryElsewhere(t, path); !got.Held {
		t.Errorf("other process by the other path: %+v, want a refusal", got)
	}
	if err := errors.Join(os.Remove(link), os.Symlink(t.TempDir(), link)); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(); !errors.Is(err, ErrLost) {
		t.Errorf("Check after the link was moved = %v, want ErrLost", err)
	}
}

func TestFailedClaimLeavesNoLease(t *testing.T) {
	for _, test := range []struct {
		claim error
		isNew bool
		stays bool
	}{
		{errors.New("disk on fire"), false, true},
		{errors.New("disk on fire"), true, false},
		{fs.ErrNotExist, false, false},
	} {
		path := lockPath(t)
		o := self()
		o.New, o.Claim = test.isNew, func() error { return test.claim }
		if _, err := Acquire(path, o); err != test.claim {
			t.Errorf("Acquire = %v, want %v as it is", err, test.claim)
		}
		if busy, err := Busy(path, 0); busy || err != nil {
			t.Errorf("Busy after %v = %v, %v, want false", test.claim, busy, err)
		}
		if _, err := os.Stat(path); (err == nil) != test.stays {
			t.Errorf("lock file after %v: %v, want it to stay: %v", test.claim, err, test.stays)
		}
	}
}

func TestHeldErrorTellsPeople(t *testing.T) {
	since := time.Date(2026, 11, 30, 14, 5, 9, 0, time.Local)
	for _, test := range []struct {
		err  HeldError
		want string
	}{
		{HeldError{Holder: &Holder{PID: 4242, Host: "build7", Since: since.UTC()}}, "session is in use by pid 4242 on build7 since 2026-11-30 14:05:09"},
		{HeldError{Holder: &Holder{PID: 4242, Since: since}}, "session is in use by pid 4242 since 2026-11-30 14:05:09"},
		{HeldError{Holder: &Holder{PID: 1, Host: "a\x1b]0;x\a\u202eb\xff", Since: since}}, "session is in use by pid 1 on a?]0;x??b? since 2026-11-30 14:05:09"},
		{HeldError{Own: true, Holder: &Holder{PID: 4242}}, "session is in use by this process"},
		{HeldError{}, "session is in use by another process"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("text %q, want %q", got, test.want)
		}
	}
	if long := (&HeldError{Holder: &Holder{PID: 1, Host: strings.Repeat("é", 100)}}).Error(); len(long) > 130 {
		t.Errorf("text of %d bytes: %q", len(long), long)
	}
}

// A file system gives the number of a removed file to the next one: who has
// just let go of the one must not be taken for the holder of the other.
func TestLeasesOfNewFilesAreNeverHeld(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				l, err := Acquire(filepath.Join(dir, fmt.Sprintf("%d-%d.lock", g, i)), self())
				if err != nil {
					t.Errorf("Acquire of a new file: %v", err)
					return
				}
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
