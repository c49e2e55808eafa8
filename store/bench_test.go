package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"holdfast/state"
)

// BenchmarkReplaceFile compares a replacement with its bare system calls.
func BenchmarkReplaceFile(b *testing.B) {
	data := make([]byte, 700)
	for _, bc := range []struct {
		name    string
		durable bool
	}{{"durable=true", true}, {"durable=false", false}} {
		b.Run(bc.name+"/side=holdfast", func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f")
			for b.Loop() {
				if err := ReplaceFile(path, data, bc.durable); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bc.name+"/side=bare", func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f")
			for b.Loop() {
				bareReplace(b, path, data, bc.durable)
			}
		})
	}
}

func bareReplace(b *testing.B, path string, data []byte, durable bool) {
	f, err := os.OpenFile(path+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	f.Write(data)
	f.Sync()
	f.Close()
	if err := os.Rename(path+".tmp", path); err != nil {
		b.Fatal(err)
	}
	if durable {
		syncDir(filepath.Dir(path))
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, durable := range []bool{true, false} {
		b.Run(fmt.Sprintf("durable=%v", durable), func(b *testing.B) {
			w := mustCreate(b, openTestStore(b, "", Options{}), newRow())
			for b.Loop() {
				if _, err := w.Update(durable, func(r *Row) error { r.Turns++; return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRow(b *testing.B) {
	s := openTestStore(b, "", Options{})
	live := mustCreate(b, s, newRow())
	rest := mustHave(b, s)
	age(b, sessionPath(s, rest.ID))
	for name, id := range map[string]string{"live=true": live.id, "live=false": rest.ID} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mustRow(b, s, id)
			}
		})
	}
}

func BenchmarkDecodeRow(b *testing.B) {
	data := mustEncode(b, newRow())
	for b.Loop() {
		if _, err := decodeRow(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTenThousandSessions reads all rows of a big store for the first
// time, and tells what each costs in memory.
func BenchmarkTenThousandSessions(b *testing.B) {
	const sessions = 10_000
	dir := filepath.Join(b.TempDir(), "store")
	s := openTestStore(b, dir, Options{})
	for range sessions {
		row := newRow()
		row.State, row.Boot = state.Ended, "4f6c1a1e-8f0e-4c39-9d83-0f7d5f2f7a10"
		folder := s.folder(row.ID)
		if err := os.MkdirAll(filepath.Join(folder, outputDir), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, sessionFile), mustEncode(b, row), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	age(b, filepath.Join(dir, "sessions"))
	var bytes uint64
	b.Run("list=first", func(b *testing.B) {
		for b.Loop() {
			fresh := openTestStore(b, dir, Options{})
			before := heap()
			readAll(b, fresh)
			bytes = heap() - before
			runtime.KeepAlive(fresh)
		}
		b.ReportMetric(float64(bytes)/sessions, "B/row")
	})
	b.Run("list=again", func(b *testing.B) {
		readAll(b, s)
		for b.Loop() {
			readAll(b, s)
		}
	})
	b.Run("list=ids", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.IDs(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func readAll(b *testing.B, s *Store) {
	ids, err := s.IDs()
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range ids {
		mustRow(b, s, id)
	}
}

// heap returns the bytes in live objects.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
