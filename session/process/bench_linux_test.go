package process

import (
	"os/exec"
	"testing"

	"github.com/creack/pty"
)

const chunk = 64 << 10

// readChunks reads b.N times 64 KiB.
func readChunks(b *testing.B, read func([]byte) (int, error)) {
	b.SetBytes(chunk)
	buf := make([]byte, chunk)
	for b.Loop() {
		for n := 0; n < chunk; {
			m, err := read(buf)
			if err != nil {
				b.Fatal(err)
			}
			n += m
		}
	}
}

// BenchmarkRead reads what a program prints without end.
func BenchmarkRead(b *testing.B) {
	b.Run("side=holdfast", func(b *testing.B) {
		p := launch(b, Spec{Path: "/usr/bin/yes", Argv: []string{"yes", line}})
		b.ReportAllocs()
		readChunks(b, p.Read)
	})
	b.Run("side=bare", func(b *testing.B) {
		cmd := exec.Command("/usr/bin/yes", line)
		f, err := pty.Start(cmd)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			f.Close()
			_ = cmd.Wait() // the hangup ended it
		})
		readChunks(b, f.Read)
	})
}

const line = "a line of text as a program prints it, about as long as a terminal is wide"

// BenchmarkStart starts a program and sees it end.
func BenchmarkStart(b *testing.B) {
	b.Run("side=holdfast", func(b *testing.B) {
		for b.Loop() {
			p, err := Start(Spec{Path: "/bin/true", Argv: []string{"true"}, Cols: 80, Rows: 24})
			if err != nil {
				b.Fatal(err)
			}
			readAll(b, p)
			p.Wait()
			p.Close()
		}
	})
	b.Run("side=bare", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/true")
			f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				b.Fatal(err)
			}
			for buf := make([]byte, 4096); err == nil; {
				_, err = f.Read(buf)
			}
			_ = cmd.Wait()
			f.Close()
		}
	})
}

// BenchmarkType follows a key, and a line of a paste, on the line of a terminal.
func BenchmarkType(b *testing.B) {
	for name, keys := range map[string]string{"key": "x", "line": line + "\r"} {
		b.Run("input="+name, func(b *testing.B) {
			m := LineMode{Canonical: true, crToNL: true}
			b.SetBytes(int64(len(keys)))
			for b.Loop() {
				if _, fits := (Line{}).Type(m, []byte(keys)); !fits {
					b.Fatal("the line does not fit")
				}
			}
		})
	}
}
