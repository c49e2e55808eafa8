package cli

import (
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Once the process is to end, work is waited for as long as it gets on, and
// not when the terminal takes nothing.
func TestWorkOnATerminalThatTakesNothing(t *testing.T) {
	over := make(chan struct{})
	close(over)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tty := &tty{out: w, over: over}
	left := make(chan error, 1)
	err = tty.outlast(func() error {
		var err error
		for err == nil {
			_, err = tty.Write(make([]byte, 64<<10))
		}
		left <- err
		return err
	})
	if err != errStuck {
		t.Errorf("outlast = %v, want %v", err, errStuck)
	}
	if _, err := tty.Write([]byte("x")); err != errStuck {
		t.Errorf("Write after that = %v, want %v", err, errStuck)
	}
	go io.Copy(io.Discard, r) // what was left behind ends with its next write
	if err := <-left; err != errStuck {
		t.Errorf("Write of what was left behind = %v, want %v", err, errStuck)
	}
	w.Close()
}

func TestWorkThatGoesOnAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		close(over)
		tty := &tty{over: over}
		want := errors.New("done")
		if err := tty.outlast(func() error { time.Sleep(time.Minute); return want }); err != want {
			t.Errorf("outlast = %v, want %v", err, want)
		}
	})
}
