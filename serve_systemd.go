package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"holdfast/cli"
)

// A supervisor is the service manager that started this process, if one did,
// as systemd does: see sd_listen_fds(3) and sd_notify(3).
type supervisor struct {
	tcp  *net.TCPListener  // opened by it; nil: none
	unix *net.UnixListener // likewise
	tell string            // the datagram socket that it reads; empty: none
}

// firstGiven is the descriptor of the first socket that is handed over.
const firstGiven = 3

// takeSupervisor takes what the environment says of a service manager out of
// it: the programs of sessions are no services. Of sockets there may be one of
// each kind.
func takeSupervisor() (*supervisor, error) {
	given := make(map[string]string)
	for _, name := range []string{
		"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
	} {
		given[name] = os.Getenv(name)
		os.Unsetenv(name)
	}
	s := &supervisor{tell: given["NOTIFY_SOCKET"]}
	if given["LISTEN_PID"] != strconv.Itoa(os.Getpid()) {
		return s, nil // it was said to a process before us
	}
	n, err := strconv.ParseUint(given["LISTEN_FDS"], 10, 8)
	if err != nil {
		return nil, fmt.Errorf("LISTEN_FDS=%q is no number of sockets", given["LISTEN_FDS"])
	}
	for i := range int(n) {
		if err := s.take(firstGiven + i); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// take makes a listener of an inherited descriptor.
func (s *supervisor) take(fd int) error {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close() // the listener has a descriptor of its own, close-on-exec
	ln, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("descriptor %d is no socket to listen on: %v", fd, err)
	}
	switch ln := ln.(type) {
	case *net.TCPListener:
		if s.tcp == nil {
			s.tcp = ln
			return nil
		}
	case *net.UnixListener:
		if s.unix == nil {
			s.unix = ln
			return checkGiven(ln.Addr().String())
		}
	}
	ln.Close()
	return fmt.Errorf("descriptor %d is the second socket of its kind; hand over one TCP socket, one unix socket or both", fd)
}

// checkGiven refuses a unix socket that other users can open: who comes by it
// needs no token.
func checkGiven(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("unix socket that was handed over: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("other users can open the unix socket %s, of mode %04o; its unit needs SocketMode=0600", path, mode)
	}
	return nil
}

// apply makes the flags say what the supervisor has decided.
func (s *supervisor) apply(f *serveFlags) error {
	if s.tcp == nil {
		return nil
	}
	if f.chosen {
		return cli.Usage("--listen and a TCP socket that was handed over exclude each other", "leave out one of them")
	}
	f.listen = s.tcp.Addr().(*net.TCPAddr)
	return f.check()
}

// unixPath is where the unix socket that was handed over is, or empty.
func (s *supervisor) unixPath() string {
	if s.unix == nil {
		return ""
	}
	return s.unix.Addr().String()
}

// close closes what no server has taken over, and does no harm otherwise.
func (s *supervisor) close() {
	if s.tcp != nil {
		s.tcp.Close()
	}
	if s.unix != nil {
		s.unix.Close()
	}
}

// ready says that requests are answered from now on.
func (s *supervisor) ready(url string, log *slog.Logger) {
	s.notify("READY=1\nSTATUS=listening on "+url, log)
}

// stopping says that the end has begun.
func (s *supervisor) stopping(log *slog.Logger) {
	s.notify("STOPPING=1\nSTATUS=ending the programs", log)
}

// notifyTimeout is how long a supervisor that reads nothing may delay us.
const notifyTimeout = 2 * time.Second

// notify sends a message, and logs why it could not: the server works without.
func (s *supervisor) notify(message string, log *slog.Logger) {
	if s.tell == "" {
		return
	}
	err := errors.New("only paths and abstract names are known")
	if s.tell[0] == '/' || s.tell[0] == '@' {
		err = sendDatagram(s.tell, message)
	}
	if err != nil {
		log.Warn("service manager not told", "socket", s.tell, "err", err)
	}
}

func sendDatagram(socket, message string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	_, err = conn.Write([]byte(message))
	return err
}
