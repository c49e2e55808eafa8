package main

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A server on all addresses prints one that others can use, and is called by
// each address that it is reached by, but by no name.
func TestAServerOnAllAddresses(t *testing.T) {
	var reached bool
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		r, err := runServe(t, filepath.Join(t.TempDir(), "store"), "--listen", listen, "--insecure-http")
		if err != nil && listen == "[::]:0" {
			t.Log("no IPv6:", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(r.url)
		if err != nil {
			t.Fatal(err)
		}
		if want := outward(runningAddrs()).String(); u.Hostname() != want {
			t.Errorf("--listen %s prints %s, want the address %s", listen, r.url, want)
		}
		var s status
		r.get("/status", &s) // by what was printed
		for _, addr := range runningAddrs() {
			ip := addr.(*net.IPNet).IP
			if !ip.IsGlobalUnicast() && !ip.IsLoopback() {
				continue // a link-local one needs a zone
			}
			own := net.JoinHostPort(ip.String(), u.Port())
			for host, want := range map[string]int{own: http.StatusOK, "evil.example": http.StatusMisdirectedRequest, "203.0.113.99": http.StatusMisdirectedRequest} {
				if got := healthOf(t, own, host); got != want {
					t.Errorf("--listen %s: Host %s at %s: status %d, want %d", listen, host, own, got, want)
				}
			}
			reached = reached || !ip.IsLoopback()
		}
	}
	if !reached {
		t.Log("this machine has no address but loopback")
	}
}

// healthOf asks the server at addr, which it calls host.
func healthOf(t *testing.T, addr, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestTheNameThatIsListenedByIsAllowed(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if addrs, err := net.LookupHost(name); err != nil || len(addrs) == 0 {
		t.Skipf("the name of this machine, %q, has no address: %v", name, err)
	}
	r := mustServe(t, filepath.Join(t.TempDir(), "store"), "--listen", name+":0", "--insecure-http")
	addr := strings.TrimPrefix(r.url, "http://")
	for host, want := range map[string]int{strings.ToUpper(name): http.StatusOK, name + ".evil.example": http.StatusMisdirectedRequest} {
		if got := healthOf(t, addr, host); got != want {
			t.Errorf("Host %s: status %d, want %d", host, got, want)
		}
	}
}

func TestTheAddressForOthers(t *testing.T) {
	nets := func(prefixes ...string) (addrs []net.Addr) {
		for _, p := range prefixes {
			ip, ipnet, err := net.ParseCIDR(p)
			if err != nil {
				t.Fatal(err)
			}
			ipnet.IP = ip
			addrs = append(addrs, ipnet)
		}
		return append(addrs, &net.IPAddr{IP: net.IPv4(192, 0, 2, 200)}) // of a multicast group, say
	}
	for _, tt := range []struct {
		addrs []net.Addr
		want  string
	}{
		{nil, "127.0.0.1"},
		{nets("127.0.0.1/8", "::1/128"), "127.0.0.1"},
		{nets("127.0.0.1/8", "169.254.3.4/16", "fe80::1/64"), "127.0.0.1"},
		{nets("::1/128", "fe80::1/64", "2001:db8::5/64", "2001:db8::6/64"), "2001:db8::5"},
		{nets("127.0.0.1/8", "2001:db8::5/64", "192.0.2.7/24", "198.51.100.1/24"), "192.0.2.7"},
	} {
		if got := outward(tt.addrs).String(); got != tt.want {
			t.Errorf("outward(%v) = %s, want %s", tt.addrs, got, tt.want)
		}
	}
	for _, tt := range []struct {
		ip    string
		hosts []string
		cert  string
		want  string
	}{
		{"127.0.0.1", nil, "", "http://127.0.0.1:7"},
		{"127.0.0.1", []string{"build7.example"}, "", "http://127.0.0.1:7"},
		{"::1", nil, "", "http://[::1]:7"},
		{"192.0.2.9", nil, "x", "https://192.0.2.9:7"},
		{"0.0.0.0", []string{"build7.example", "b"}, "x", "https://build7.example:7"},
		{"::", []string{"build7.example"}, "", "http://build7.example:7"},
	} {
		f := &serveFlags{hosts: tt.hosts, cert: tt.cert}
		addr := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(tt.ip), 7))
		if got := f.url(f.host(addr.IP), addr.Port); got != tt.want {
			t.Errorf("%s, %q: %s, want %s", net.JoinHostPort(tt.ip, strconv.Itoa(addr.Port)), tt.hosts, got, tt.want)
		}
	}
}
