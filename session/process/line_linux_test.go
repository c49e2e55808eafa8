package process

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// kernelLines types into a terminal of its own, which no program has, and reads
// the lines that the kernel makes of it.
type kernelLines struct {
	master, tty *os.File
}

func newKernelLines(t *testing.T) *kernelLines {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); tty.Close() })
	return &kernelLines{master, tty}
}

// setMode changes the terminal's mode, which starts anew, and returns it.
func (k *kernelLines) setMode(t *testing.T, change func(*unix.Termios)) LineMode {
	t.Helper()
	fd := int(k.tty.Fd())
	mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Lflag &^= unix.ECHO // nobody reads it
	change(mode)
	if err := unix.IoctlSetTermios(fd, unix.TCSETSF, mode); err != nil {
		t.Fatal(err)
	}
	return lineMode(mode)
}

// lastLine types b and the end-of-file character, and returns the line that this
// one ended.
func (k *kernelLines) lastLine(t *testing.T, b []byte) []byte {
	t.Helper()
	const mark = "\x04MARK\n"
	if _, err := k.master.Write(append(bytes.Clone(b), mark...)); err != nil {
		t.Fatal(err)
	}
	var last []byte
	buf := make([]byte, 8192)
	for {
		n, err := unix.Read(int(k.tty.Fd()), buf)
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:n]) == "MARK\n" {
			return last
		}
		last = bytes.Clone(buf[:n])
	}
}

func TestLineIsTheKernelsLine(t *testing.T) {
	modes := map[string]func(*unix.Termios){
		"default":  func(*unix.Termios) {},
		"UTF-8":    func(m *unix.Termios) { m.Iflag |= unix.IUTF8 },
		"no CR":    func(m *unix.Termios) { m.Iflag = m.Iflag&^unix.ICRNL | unix.IGNCR | unix.IUTF8 },
		"raw CR":   func(m *unix.Termios) { m.Iflag &^= unix.ICRNL },
		"no flush": func(m *unix.Termios) { m.Lflag |= unix.NOFLSH },
		"no isig":  func(m *unix.Termios) { m.Lflag &^= unix.ISIG; m.Iflag &^= unix.IXON },
		"no iext":  func(m *unix.Termios) { m.Lflag &^= unix.IEXTEN },
		"echo":     func(m *unix.Termios) { m.Lflag |= unix.ECHO; m.Iflag |= unix.IUTF8 },
		"eol":      func(m *unix.Termios) { m.Cc[unix.VEOL], m.Cc[unix.VEOL2] = ';', '.' },
		"disabled": func(m *unix.Termios) { m.Cc[unix.VINTR], m.Cc[unix.VERASE] = 0, 0 },
		"b erases": func(m *unix.Termios) { m.Cc[unix.VERASE], m.Cc[unix.VKILL] = 'b', '_' },
	}
	pieces := []string{"a", "b", "_", " ", "  ", "-", "é", "漢", "\xa9", "\xc3", "\xd7", "\xe4", "\x00", "\xff",
		"\n", "\r", ";", ".", "\x03", "\x1c", "\x1a", "\x11", "\x13", "\x7f", "\x7f", "\x17", "\x15", "\x16", "\x12"}
	for name, change := range modes {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			k := newKernelLines(t)
			for range 300 {
				m := k.setMode(t, change)
				var typed []byte
				for range rnd.IntN(25) {
					typed = append(typed, pieces[rnd.IntN(len(pieces))]...)
				}
				l, _ := Line{}.Type(m, typed)
				if l.literal { // or the end of file would be taken as it is
					typed = append(typed, 'x')
					l, _ = l.Type(m, []byte("x"))
				}
				if got := k.lastLine(t, typed); !bytes.Equal(got, l.text) {
					t.Fatalf("typed %q: the kernel has %q, Line %q", typed, got, l.text)
				}
			}
		})
	}
}

// Only the end of line mode ends a line.
func TestLineOutlivesAChangeOfEcho(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*unix.Termios)
		want   string
	}{
		{"echo", func(m *unix.Termios) { m.Lflag |= unix.ECHO }, "abcd"},
		{"raw and back", func(m *unix.Termios) { m.Lflag &^= unix.ICANON }, "d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKernelLines(t)
			var l Line
			first := k.setMode(t, func(*unix.Termios) {})
			l, _ = l.Type(first, []byte("abc"))
			if _, err := k.master.WriteString("up\nabc"); err != nil {
				t.Fatal(err)
			}
			fd := int(k.tty.Fd())
			if n, err := unix.Read(fd, make([]byte, 10)); n != 3 || err != nil { // then abc is in too
				t.Fatalf("first line: %d bytes, %v", n, err)
			}
			mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			before := *mode
			tt.change(mode)
			for _, m := range []*unix.Termios{mode, &before} {
				if err := unix.IoctlSetTermios(fd, unix.TCSETS, m); err != nil {
					t.Fatal(err)
				}
				l, _ = l.Type(lineMode(m), nil)
			}
			l, _ = l.Type(first, []byte("d"))
			if got := string(l.text); got != tt.want {
				t.Errorf("Line has %q, want %q", got, tt.want)
			}
			if got := string(k.lastLine(t, []byte("d"))); got != tt.want {
				t.Errorf("the kernel has %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMaxLineIsTheKernels(t *testing.T) {
	k := newKernelLines(t)
	k.setMode(t, func(*unix.Termios) {})
	for n, want := range map[int]int{MaxLine: MaxLine, MaxLine + 1: MaxLine, MaxLine + 100: MaxLine} {
		if got := len(k.lastLine(t, pattern(n))); got != want {
			t.Errorf("of a line of %d bytes the kernel kept %d, want %d", n, got, want)
		}
	}
}

func TestLineModeOfAProgram(t *testing.T) {
	p := sh(t, `printf one; read x; stty raw; printf two; exec sleep 1000`)
	readUntil(t, p, "one")
	m, err := p.LineMode()
	if err != nil || m != cooked {
		t.Errorf("mode of a new terminal = %+v, %v; want %+v", m, err, cooked)
	}
	typeIn(t, p, "\n")
	readUntil(t, p, "two")
	if m, err := p.LineMode(); m.Canonical || err != nil {
		t.Errorf("raw mode = %+v, %v", m, err)
	}
	p.Close()
	if _, err := p.LineMode(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, os.ErrClosed)
	}
}
