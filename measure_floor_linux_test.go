package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/creack/pty"
)

// rawCat types back what it reads, at once, when it has said so.
const rawCat = `stty raw -echo; printf ready; exec cat`

// terminal runs argv on a terminal of 80 by 24.
func (m *measurement) terminal(argv ...string) (*os.File, *exec.Cmd) {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	m.must(err)
	return tty, cmd
}

// readBare is the floor of output: nothing but a read loop on the terminal.
func (m *measurement) readBare(file string, want int64) time.Duration {
	m.Helper()
	start := time.Now()
	tty, cat := m.terminal("cat", file)
	defer tty.Close()
	got, _ := drain(tty)
	m.must(cat.Wait())
	elapsed := time.Since(start)
	if got != want {
		m.Fatalf("cat prints %d bytes, want %d", got, want)
	}
	return elapsed
}

// drain counts the bytes up to any error, a terminal has EIO at its end, and
// returns the last of them.
func drain(r io.Reader) (n int64, tail []byte) {
	buf := make([]byte, 64<<10)
	last := make([]byte, 0, 1024)
	for {
		got, err := r.Read(buf)
		n += int64(got)
		if keep := buf[max(0, got-512):got]; len(last)+len(keep) <= cap(last) {
			last = append(last, keep...)
		} else {
			last = append(last[:copy(last, last[len(last)-min(len(last), 512):])], keep...)
		}
		if err != nil {
			return n, last
		}
	}
}

// await reads until it has seen text.
func (m *measurement) await(r io.Reader, text string) {
	m.Helper()
	var got []byte
	buf := make([]byte, 4<<10)
	for !bytes.Contains(got, []byte(text)) {
		n, err := r.Read(buf)
		if got = append(got, buf[:n]...); err != nil {
			m.Fatalf("%q and no %q: %v", got, text, err)
		}
	}
}

// key is one that stays where it is, so that a program which redraws what it shows
// has nothing to add.
const key = "x\b"

// echo returns how long one key takes to come back.
func (m *measurement) echo(rw io.ReadWriter) time.Duration {
	m.Helper()
	start := time.Now()
	_, err := io.WriteString(rw, key)
	m.must(err)
	m.await(rw, "x")
	return time.Since(start)
}

// echoes takes n keys.
func (m *measurement) echoes(rw io.ReadWriter, n int) (times []time.Duration) {
	m.Helper()
	for range n {
		times = append(times, m.echo(rw))
	}
	return times
}

// A floorProcess answers what no program of ours is needed for; see serveFloor.
type floorProcess struct {
	url    string
	socket string // echoes
}

func (m *measurement) floor() *floorProcess {
	m.Helper()
	exe, err := os.Executable()
	m.must(err)
	f := &floorProcess{socket: m.TempDir() + "/sock"}
	cmd := exec.CommandContext(m.Context(), exe, f.socket)
	cmd.Env = append(os.Environ(), roleEnv+"=floor")
	cmd.Stderr = m.Output()
	out, err := cmd.StdoutPipe()
	m.must(err)
	m.must(cmd.Start())
	m.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	m.must(err)
	f.url = strings.TrimSpace(line)
	return f
}

// unix connects to the echo of the floor.
func (m *measurement) unix(f *floorProcess) net.Conn {
	m.Helper()
	conn, err := net.Dial("unix", f.socket)
	m.must(err)
	m.Cleanup(func() { conn.Close() })
	return conn
}
