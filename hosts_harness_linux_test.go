package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"holdfast/leasefs"
)

// A volume is a GlusterFS of one brick, on this machine's loopback, for hosts
// that share a store. Nothing of it is installed, or outlives the test.
type volume struct {
	t    *testing.T
	addr string // of the server
	dir  string // where each host mounts it
}

func newVolume(t *testing.T) *volume {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	needFUSE(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &volume{t: t, addr: ln.Addr().String(), dir: shortStore(t)}
	_, port, _ := net.SplitHostPort(v.addr)
	ln.Close()
	brick := t.TempDir()
	server := exec.Command("glusterfsd", "--no-daemon", "-f", v.volfile("server", fmt.Sprintf(serverVolume, brick, port)), "-l", "/dev/stderr")
	server.Stderr = io.Discard
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	eventually(t, "the file server", func() bool {
		c, err := net.Dial("tcp", v.addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return v
}

func needFUSE(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Fatalf("this cannot be tried here: %v; the kernel, or the container, needs FUSE", err)
	}
}

const serverVolume = `volume posix
  type storage/posix
  option directory %s
end-volume
volume locks
  type features/locks
  subvolumes posix
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port %s
  option rpc-auth-allow-insecure on
  option auth.addr.locks.allow 127.0.0.1
  subvolumes locks
end-volume
`

const clientVolume = `volume client
  type protocol/client
  option transport-type tcp
  option remote-host 127.0.0.1
  option remote-port %s
  option remote-subvolume locks
end-volume
`

func (v *volume) volfile(name, text string) string {
	v.t.Helper()
	path := filepath.Join(v.t.TempDir(), name+".vol")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// A sharedHost is a host with a name and a boot id of its own, which has a
// volume mounted by a client of its own. All hosts are this machine.
type sharedHost struct {
	*volume
	name   string
	exe    string // runs holdfast there
	client int    // pid of the file system's client
	link   *link  // to the file server
}

// host makes another host, until the test ends.
func (v *volume) host(name string) *sharedHost {
	t := v.t
	t.Helper()
	h := &sharedHost{volume: v, name: name, exe: filepath.Join(t.TempDir(), "holdfast"), link: newLink(t, v.addr)}
	_, port, _ := net.SplitHostPort(h.link.ln.Addr().String())
	_, line := startKeeper(t, syscall.CLONE_NEWNS|syscall.CLONE_NEWUTS, keepHost,
		name, v.volfile("client", fmt.Sprintf(clientVolume, port)), v.dir, h.exe, buildHoldfast(t), v.volfile("boot", rand.Text()+"\n"))
	if _, err := fmt.Sscanf(line, "mounted %d\n", &h.client); err != nil {
		t.Fatalf("mount on %s prints %q: %v", name, line, err)
	}
	return h
}

// keepHost mounts a volume and keeps it. The client that it starts ends with
// it.
const keepHost = `hostname "$1" && mount --bind "$6" /proc/sys/kernel/random/boot_id && { glusterfs --no-daemon -f "$2" -l /dev/null "$3" & client=$!; } &&
	until mountpoint -q "$3"; do kill -0 $client || exit 1; sleep 0.02; done &&
	printf '#!/bin/sh\nexec nsenter --target %s --mount --uts -- %s "$@"\n' $$ "$5" >"$4" && chmod +x "$4" &&
	echo mounted $client && cat; umount -l "$3"; kill -9 $client 2>/dev/null`

// hold runs a command on the host.
func (h *sharedHost) hold(store, stdin string, args ...string) (got said) {
	h.t.Helper()
	for range 30 { // a volume beside other work may be slow to answer
		got = holdBy(h.t, h.exe, store, stdin, args...)
		if !strings.Contains(got.Stderr, leasefs.ErrTimeout.Error()) {
			break
		}
	}
	return got
}

// onTerminal runs a command on a terminal of the host.
func (h *sharedHost) onTerminal(t *testing.T, store string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(h.exe, args...)
	cmd.Env = append(os.Environ(), "HOLDFAST_STORE="+store)
	return onTerminal(t, cmd)
}

// A link is the network between a host and the file server.
type link struct {
	ln net.Listener
	to string

	mu    sync.Mutex // guards the fields below
	cut   bool
	conns map[net.Conn]bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{ln: ln, to: to, conns: make(map[net.Conn]bool)}
	var carried sync.WaitGroup
	carried.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			carried.Go(func() { l.carry(c) })
		}
	})
	t.Cleanup(func() { ln.Close(); l.set(true); carried.Wait() })
	return l
}

// set cuts the link, or heals it.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	for c := range l.conns {
		if cut {
			c.Close()
		}
	}
}

// take keeps a connection until the link is cut. It reports false if it is.
func (l *link) take(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	return !l.cut
}

func (l *link) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	c.Close()
}

// carry hands on what comes by a connection, until either end is closed.
func (l *link) carry(c net.Conn) {
	defer l.drop(c)
	if !l.take(c) {
		return
	}
	s, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer l.drop(s)
	if !l.take(s) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { io.Copy(c, s); c.Close() })
	io.Copy(s, c)
	s.Close()
	back.Wait()
}
