//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Nothing is shown of what is over in a moment, and nothing is left of what
// was.
func TestProgressIsShownToWhoWaitsAtATerminal(t *testing.T) {
	write := func(stderr io.Writer, wanted bool) {
		synctest.Test(t, func(t *testing.T) {
			p := showProgress(stderr, wanted)
			w := &countingWriter{Writer: io.Discard, progress: p}
			for _, pause := range []time.Duration{0, progressEvery, 1, progressEvery, 1} {
				time.Sleep(pause)
				w.Write(make([]byte, 1<<20))
			}
			p.clear()
			p.clear()
		})
	}
	got := onTerminal(t, func(tty *os.File) error {
		write(tty, true)
		return nil
	})
	if want := "\r3 MiB written\x1b[K\r5 MiB written\x1b[K\r\x1b[K\x04"; got != want {
		t.Errorf("on a terminal: %q, want %q", got, want)
	}
	if got := onTerminal(t, func(tty *os.File) error {
		write(tty, false)
		return nil
	}); got != "\x04" {
		t.Errorf("on a terminal that has the export itself: %q", got)
	}
	var b bytes.Buffer
	if write(&b, true); b.Len() > 0 {
		t.Errorf("without a terminal: %q", &b)
	}
}
