//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal is a program on a real terminal, and a person who types and looks.
type terminal struct {
	t      *testing.T
	master *os.File
	pieces chan []byte // of what the program prints; closed at its end
	shown  []byte      // since the last keys
}

// onTerminal runs a program on a terminal of 100 columns until the test ends.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, master: master, pieces: make(chan []byte)}
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(tm.pieces)
		for {
			buf := make([]byte, 4<<10)
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			tm.pieces <- buf[:n]
		}
	})
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the whole session of a shell without jobs
		for range tm.pieces {
		}
		reader.Wait()
		cmd.Wait()
		master.Close()
	})
	return tm
}

// press sends keys.
func (tm *terminal) press(keys string) {
	tm.t.Helper()
	tm.shown = nil
	if _, err := tm.master.WriteString(keys); err != nil {
		tm.t.Fatal(err)
	}
}

// await takes what is printed until it has text.
func (tm *terminal) await(text string) {
	tm.t.Helper()
	timeout := time.After(patience)
	for !bytes.Contains(tm.shown, []byte(text)) {
		select {
		case piece, ok := <-tm.pieces:
			if !ok {
				tm.t.Fatalf("the program on the terminal has ended; it printed:\n%s\nwant %q", tm.visible(), text)
			}
			tm.shown = append(tm.shown, piece...)
		case <-timeout:
			tm.t.Fatalf("the terminal shows:\n%s\nwant %q", tm.visible(), text)
		}
	}
}

func (tm *terminal) visible() string {
	return strings.TrimSpace(invisible.ReplaceAllString(string(tm.shown), ""))
}
