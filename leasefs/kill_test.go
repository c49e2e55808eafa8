package leasefs

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

// Three processes take the lease in turn and kill themselves with it in hand.
// Whoever is refused meanwhile is told of one that was alive.
func TestRefusalNamesTheTrueHolderWhileHoldersAreKilled(t *testing.T) {
	path := lockPath(t)
	var (
		mu    sync.Mutex
		ended = map[int]time.Time{} // by pid; zero: alive
	)
	stop := make(chan struct{})
	var slots sync.WaitGroup
	for range 3 {
		slots.Go(func() {
			for !closed(stop) {
				cmd := command(t, "die", path)
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ended[cmd.Process.Pid] = time.Time{}
				mu.Unlock()
				cmd.Wait()
				mu.Lock()
				ended[cmd.Process.Pid] = time.Now()
				mu.Unlock()
			}
		})
	}

	var free, named, unnamed int
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		begun := time.Now()
		l, err := Acquire(path, self())
		held, refused := errors.AsType[*HeldError](err)
		switch {
		case err == nil:
			free++
			l.Release()
		case !refused:
			t.Fatalf("Acquire: %v", err)
		case held.Holder == nil:
			unnamed++
		default:
			named++
			mu.Lock()
			at, known := ended[held.Holder.PID]
			mu.Unlock()
			if !known || !at.IsZero() && at.Before(begun) {
				t.Errorf("refused by pid %d (ours: %v), which had ended %v before", held.Holder.PID, known, begun.Sub(at))
			}
		}
	}
	close(stop)
	slots.Wait()
	t.Logf("%d processes killed; free %d times, true holder named %d times, none named %d times", len(ended), free, named, unnamed)
	if unnamed != 0 || named == 0 || free == 0 {
		t.Errorf("free %d, named %d, unnamed %d; want some, some, none", free, named, unnamed)
	}
}

// dieRole holds the lease for a random while, now and then for longer than a
// refusal is doubted, and kills itself with it in the end.
func dieRole(path string) error {
	for {
		l, err := Acquire(path, self())
		if errors.Is(err, ErrHeld) {
			continue
		}
		if err != nil {
			return err
		}
		most := 5 * time.Millisecond
		if rand.N(4) == 0 {
			most = 300 * time.Millisecond
		}
		<-time.After(rand.N(most))
		if rand.N(3) > 0 {
			me, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			return me.Kill()
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
}

func TestLeaseIsFreeAsSoonAsItsHolderWasKilled(t *testing.T) {
	path := lockPath(t)
	for range 10 {
		holder, _ := holdElsewhere(t, path)
		_, err := Acquire(path, self())
		held, refused := errors.AsType[*HeldError](err)
		if !refused || held.Own || held.Holder == nil || held.Holder.PID != holder.Process.Pid {
			t.Fatalf("Acquire while pid %d holds: %v", holder.Process.Pid, err)
		}
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		holder.Wait()
		l, err := Acquire(path, self())
		if err != nil {
			t.Fatalf("Acquire after pid %d was killed: %v", holder.Process.Pid, err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
