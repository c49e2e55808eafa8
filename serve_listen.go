package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"holdfast/cli"
	"holdfast/leasefs"
	"holdfast/store"
)

// listeners are the two ways in. They are open, and nobody is answered yet,
// from open until listen.
type listeners struct {
	tcp, unix net.Listener
	url       string // of tcp, without the token
	socket    string // path of unix
	private   string // folder made for socket alone; empty: it is in the store
	file      string // server.json, once it was written
}

// open listens where the flags say, and on the store's unix socket, unless the
// supervisor does. The caller holds the server's lease, so that another socket
// which is there is a leftover.
func (f *serveFlags) open(dir string, super *supervisor) (*listeners, error) {
	given := super.unixPath()
	removeLeftovers(dir, given)
	tcp, err := super.tcp, error(nil)
	if tcp == nil {
		tcp, err = net.ListenTCP("tcp", f.listen)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, f.portTaken(err)
	}
	if err != nil {
		return nil, err
	}
	addr := tcp.Addr().(*net.TCPAddr)
	ls := &listeners{tcp: tcp, url: f.url(f.host(addr.IP), addr.Port)}
	if given != "" {
		ls.unix, ls.socket = super.unix, given
		return ls, nil
	}
	if err := ls.listenUnix(dir); err != nil {
		ls.close()
		return nil, err
	}
	return ls, nil
}

// portTaken says what to do about a port that another program has, and whether
// that is a server like this one.
func (f *serveFlags) portTaken(err error) error {
	whose := ""
	ask := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}} // by no proxy
	if resp, err := ask.Get(f.url(loopbackOf(f.listen.IP), f.listen.Port) + "/status"); err == nil {
		resp.Body.Close()
		if resp.Header.Get("WWW-Authenticate") == realm {
			whose = ", by the holdfast server of another store"
		}
	}
	return fmt.Errorf("%w%s; give --listen another port, or port 0 for a free one", err, whose)
}

func (f *serveFlags) url(host string, port int) string {
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// host is what a browser opens to reach ip: if that stands for all addresses
// of this machine, the first allowed name, or else one that other devices can
// use too.
func (f *serveFlags) host(ip net.IP) string {
	switch {
	case !ip.IsUnspecified():
		return ip.String()
	case len(f.hosts) > 0:
		return f.hosts[0]
	}
	return outward(runningAddrs()).String()
}

// loopbackOf is ip, or loopback if that stands for all addresses.
func loopbackOf(ip net.IP) string {
	if len(ip) == 0 || ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return ip.String()
}

// outward is the first of addrs that another machine could know, IPv4 before
// IPv6, or else loopback.
func outward(addrs []net.Addr) net.IP {
	best := net.IPv4(127, 0, 0, 1)
	for _, addr := range addrs {
		n, ok := addr.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() {
			continue
		}
		if n.IP.To4() != nil {
			return n.IP
		}
		if best.IsLoopback() {
			best = n.IP
		}
	}
	return best
}

// runningAddrs has the addresses of the interfaces that have a link, in the
// system's order. What cannot be asked is left out: nothing depends on it.
func runningAddrs() (addrs []net.Addr) {
	const linked = net.FlagUp | net.FlagRunning // a bridge of no container is up, and has none
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&linked == linked {
			more, _ := i.Addrs()
			addrs = append(addrs, more...)
		}
	}
	return addrs
}

// maxSocketPath is how long the path of a socket can be on every system:
// sun_path of the BSDs and macOS, less its NUL.
const maxSocketPath = 103

// listenUnix listens in the store, or in a private folder if a path in the
// store would be too long.
func (ls *listeners) listenUnix(dir string) error {
	const name, folder = "sock", "holdfast-"
	ls.socket = filepath.Join(dir, name)
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if len(ls.socket) <= maxSocketPath {
			break
		}
		if base == "" || len(base)+len(folder)+len(name)+12 > maxSocketPath { // 10 digits, 2 slashes
			continue
		}
		private, err := os.MkdirTemp(base, folder) // 0700
		if err != nil {
			return fmt.Errorf("socket: %w", err)
		}
		ls.private, ls.socket = private, filepath.Join(private, name)
	}
	if len(ls.socket) > maxSocketPath {
		return fmt.Errorf("no place for the unix socket: its path would be longer than %d bytes in the store and in $XDG_RUNTIME_DIR and $TMPDIR; "+
			"set one of them to a shorter folder", maxSocketPath)
	}
	unix, err := net.Listen("unix", ls.socket)
	if err != nil {
		return err
	}
	ls.unix = unix // removes the socket when it is closed
	return os.Chmod(ls.socket, 0o600)
}

// close ends the listeners and removes what they had on disk. It may be
// called after they were closed by others.
func (ls *listeners) close() {
	if ls.file != "" {
		os.Remove(ls.file)
	}
	ls.tcp.Close()
	if ls.unix != nil {
		ls.unix.Close()
	}
	if ls.private != "" {
		os.Remove(ls.private)
	}
}

// disown leaves the files in the store to the server that may have it now.
func (ls *listeners) disown() {
	ls.file = ""
	if unix, ok := ls.unix.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false)
	}
}

// announce writes server.json.
func (ls *listeners) announce(dir string) error {
	b, err := json.Marshal(cli.ServerFile{PID: os.Getpid(), Address: ls.url, Socket: ls.socket})
	if err != nil {
		return err
	}
	if err := store.ReplaceFile(cli.ServerPath(dir), append(b, '\n'), false); err != nil {
		return err
	}
	ls.file = cli.ServerPath(dir)
	return nil
}

// removeLeftovers removes what a server had no time to remove, but for a
// socket that was given to us.
func removeLeftovers(dir, given string) {
	if own := filepath.Join(dir, "sock"); own != given {
		os.Remove(own)
	}
	old, err := cli.ReadServerFile(dir)
	os.Remove(cli.ServerPath(dir))
	if err != nil || old.Socket == given {
		return
	}
	if private := filepath.Dir(old.Socket); strings.HasPrefix(filepath.Base(private), "holdfast-") {
		os.Remove(old.Socket)
		os.Remove(private) // fails if anything else is in it
	}
}

// servedElsewhere says who serves the store, and where.
func servedElsewhere(dir string, held *leasefs.HeldError) error {
	who := strings.TrimPrefix(held.Error(), "session ")
	if cli.Elsewhere(held.Holder) {
		return fmt.Errorf("store %s, which is another host; use the server there, or holdfast run and the other commands here", who)
	}
	if f, err := cli.ReadServerFile(dir); err == nil {
		return fmt.Errorf("store %s; use the server at %s, or another --store", who, f.Address)
	}
	return fmt.Errorf("store %s; use that server, or another --store", who)
}

// loadToken returns the token of a store, and makes it the first time.
func loadToken(dir string) (string, error) {
	path := filepath.Join(dir, "token")
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", errors.New("other users can read the store's token file; remove it, and the next start makes another token")
	}
	b, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret := make([]byte, 32)
		rand.Read(secret)
		token := base64.RawURLEncoding.EncodeToString(secret)
		return token, store.ReplaceFile(path, []byte(token+"\n"), true)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if secret, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(secret) != 32 {
		return "", errors.New("the store's token file is damaged; remove it, and the next start makes another token")
	}
	return token, nil
}
