package session

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/session/process"
	"holdfast/store"
)

// samples are 32 KiB as programs print them.
var samples = map[string][]byte{
	"text":    []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, and then it sits down.\r\n", 475)),
	"colours": []byte(strings.Repeat("\x1b[32m-rw-r--r--\x1b[0m 1 root root   44 Nov 30 23:05 some \"quoted\" name.go\r\n", 437)),
}

// BenchmarkModes follows the modes of a terminal.
func BenchmarkModes(b *testing.B) {
	for name, data := range samples {
		b.Run("data="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var m Modes
			for b.Loop() {
				m.Write(data)
			}
		})
	}
}

// BenchmarkStream reads a chunk of a backlog.
func BenchmarkStream(b *testing.B) {
	for name, data := range samples {
		b.Run("data="+name, func(b *testing.B) {
			c := benched(b)
			id := c.rested(b, bytes.Repeat(data, 100))
			b.SetBytes(chunkBytes)
			b.ReportAllocs()
			var s *Stream
			for b.Loop() {
				for left := chunkBytes; left > 0; {
					if s == nil {
						var err error
						if s, err = c.Stream(StreamOptions{ID: id, From: FromOffset(0)}); err != nil {
							b.Fatal(err)
						}
					}
					e, err := s.Next(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					left -= len(e.Data)
					if e.Kind == KindLive {
						s.Close()
						s = nil
					}
				}
			}
			s.Close()
		})
	}
}

// BenchmarkList encodes a list of sessions at rest: the same again, or with one
// that has changed.
func BenchmarkList(b *testing.B) {
	for _, changed := range []bool{false, true} {
		b.Run(fmt.Sprintf("sessions=1000/changed=%v", changed), func(b *testing.B) {
			c := benched(b)
			var id string
			for range 1000 {
				id = c.rested(b, nil)
			}
			w := bufio.NewWriterSize(io.Discard, 64<<10)
			for n := 0; b.Loop(); n++ {
				if changed {
					name := fmt.Sprint("n", n)
					if _, err := c.Patch(id, Patch{Name: &name}); err != nil {
						b.Fatal(err)
					}
				}
				list, err := c.EncodedList(Filter{})
				if err != nil {
					b.Fatal(err)
				}
				list.Encode(w)
			}
		})
	}
}

// A bench is a controller of an empty store.
type bench struct{ *Controller }

func benched(b *testing.B) bench {
	st, err := store.Open(b.TempDir(), store.Options{Boot: process.BootID()})
	if err != nil {
		b.Fatal(err)
	}
	c, err := Open(Config{Store: st, Front: "serve", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return bench{c}
}

// rested makes a session that has printed and ended.
func (c bench) rested(b *testing.B, output []byte) string {
	b.Helper()
	row := newRow()
	row.State, row.Argv, row.Cwd = "ended", []string{"true"}, "/"
	dir := filepath.Join(c.store.Dir(), "sessions", row.ID)
	w, err := c.store.Create(row, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "output", fmt.Sprintf("%020d", 0)), output, 0o600); err != nil {
		b.Fatal(err)
	}
	return row.ID
}
