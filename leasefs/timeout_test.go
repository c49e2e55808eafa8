package leasefs

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// What is promised to callers.
const (
	promisedLimit = 2 * time.Second
	promisedDoubt = 100 * time.Millisecond
)

// hanging returns lock calls that do not answer before the channel is closed.
func hanging(try, unlock bool) (testHooks, chan struct{}) {
	answer := make(chan struct{})
	locks := lockers[0]
	if try {
		locks.try = func(f *file) error {
			<-answer
			return lockers[0].try(f)
		}
	}
	if unlock {
		locks.unlock = func(f *file) error {
			<-answer
			return lockers[0].unlock(f)
		}
	}
	return testHooks{locker: &locks}, answer
}

func TestLockCallThatHangsIsGivenUp(t *testing.T) {
	path := lockPath(t)
	synctest.Test(t, func(t *testing.T) {
		o := self()
		var answer chan struct{}
		o.test, answer = hanging(true, false)
		returned := make(chan error, 1)
		go func() {
			_, err := Acquire(path, o)
			returned <- err
		}()
		time.Sleep(promisedLimit - time.Nanosecond)
		synctest.Wait()
		if len(returned) != 0 {
			t.Fatalf("just before the limit: Acquire = %v", <-returned)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if len(returned) == 0 {
			close(answer)
			t.Fatal("at the limit: Acquire still waits")
		}
		if err := <-returned; !errors.Is(err, ErrTimeout) {
			t.Fatalf("at the limit: Acquire = %v, want ErrTimeout", err)
		}
		if got := Held(); got != nil {
			t.Errorf("Held = %v, want none", got)
		}

		// No second thread waits for the same answer.
		begun := time.Now()
		if _, err := Acquire(path, self()); !errors.Is(err, ErrTimeout) || time.Since(begun) != 0 {
			t.Errorf("Acquire with a call in flight = %v after %v, want ErrTimeout at once", err, time.Since(begun))
		}

		close(answer)
		synctest.Wait()
		l, err := Acquire(path, self())
		if err != nil {
			t.Fatalf("Acquire after the late lock: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestUnlockCallThatHangsCountsAsHeld(t *testing.T) {
	path := lockPath(t)
	synctest.Test(t, func(t *testing.T) {
		o := self()
		var answer chan struct{}
		o.test, answer = hanging(false, true)
		l, err := Acquire(path, o)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := l.Release(); !errors.Is(err, ErrTimeout) || time.Since(begun) != promisedLimit {
			t.Errorf("Release = %v after %v, want ErrTimeout after %v", err, time.Since(begun), promisedLimit)
		}
		if got := Held(); len(got) != 1 {
			t.Errorf("Held = %v, want the lease", got)
		}
		if _, err := Acquire(path, self()); !errors.Is(err, ErrTimeout) {
			t.Errorf("Acquire = %v, want ErrTimeout", err)
		}
		close(answer)
		synctest.Wait()
		if got := Held(); got != nil {
			t.Errorf("Held after the answer = %v, want none", got)
		}
	})
}

// refusing refuses some times, then locks.
func refusing(times int) testHooks {
	locks := lockers[0]
	locks.try = func(f *file) error {
		if times--; times >= 0 {
			return errRefused
		}
		return lockers[0].try(f)
	}
	return testHooks{locker: &locks}
}

func TestRefusalIsDoubtedForAHundredMilliseconds(t *testing.T) {
	holder := self().Self
	holder.Since = time.Now()
	for name, test := range map[string]struct {
		times  int
		record []byte
		atMost time.Duration
		held   bool
	}{
		"freed in time":   {3, nil, promisedDoubt, false},
		"held, named":     {1 << 30, holder.encode(), promisedDoubt + maxWait, true},
		"held, not named": {1 << 30, []byte("torn"), 2*promisedDoubt + maxWait, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := lockPath(t)
			if err := os.WriteFile(path, test.record, 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				o := self()
				o.test = refusing(test.times)
				begun := time.Now()
				l, err := Acquire(path, o)
				if took := time.Since(begun); took > test.atMost || test.held && took < promisedDoubt {
					t.Errorf("it took %v, want at most %v", took, test.atMost)
				}
				if got := errors.Is(err, ErrHeld); got != test.held {
					t.Fatalf("Acquire = %v, want held: %v", err, test.held)
				}
				if l != nil {
					l.Release()
				}
			})
		})
	}
}

func TestDamagedRecordIsReadAgainForAHundredMilliseconds(t *testing.T) {
	path := lockPath(t)
	holder := self().Self
	holder.Since = time.Now().UTC()
	torn := holder.encode()[:40]
	synctest.Test(t, func(t *testing.T) {
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if h, err := ReadHolder(path); h != nil || !errors.Is(err, errRecord) || time.Since(begun) != promisedDoubt {
			t.Errorf("ReadHolder = %v, %v after %v", h, err, time.Since(begun))
		}
		go func() {
			time.Sleep(promisedDoubt / 2)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if _, err := f.WriteAt(holder.encode(), 0); err != nil {
				t.Error(err)
			}
		}()
		if h, err := ReadHolder(path); err != nil || h == nil || h.PID != holder.PID {
			t.Errorf("ReadHolder of a record that becomes whole = %v, %v", h, err)
		}
	})
}

// A disk of this machine has all the time that it takes, and its calls are
// made without a goroutine.
func TestOnlyServersHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func() (int, error) { time.Sleep(2 * promisedLimit); return 1, nil }
		for _, tt := range []struct {
			family Family
			value  int
			err    error
		}{{0, 0, ErrTimeout}, {localDisk, 1, nil}} {
			if value, err := limited(tt.family, slow, nil); value != tt.value || err != tt.err {
				t.Errorf("a slow call of family %d: %d, %v, want %d, %v", tt.family, value, err, tt.value, tt.err)
			}
		}
		time.Sleep(2 * promisedLimit) // until the call that was given up returns
	})
}
