package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// credentials are what opens the server: the token itself, and the value of
// the cookie that stands for it in a browser. The cookie's value does not give
// the token away, and a new token makes old cookies worthless.
type credentials struct {
	token, cookie string
}

func newCredentials(token string) credentials {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("holdfast page cookie"))
	return credentials{token, hex.EncodeToString(mac.Sum(nil))}
}

// cookieAge is how long a browser stays logged in.
const cookieAge = 30 * 24 * time.Hour

// authorized lets only the user of this server through.
func (s *server) authorized(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.knows(r) {
			return next(w, r)
		}
		if tokenOf(r) != "" {
			return errWrongToken
		}
		return &requestError{errUnauthorized,
			"send the token as \"Authorization: Bearer TOKEN\": it is in the file \"token\" of the server's store, and behind #token= in the URL " +
				"that the server prints at its start; or use the unix socket in the store, which needs none"}
	}
}

var errWrongToken = &requestError{errUnauthorized,
	"the token that came is not this server's; the right one is in the file \"token\" of the server's store, and in the URL that the server prints at its start"}

// tokenOf is the token that r has as a header, or empty.
func tokenOf(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// knows reports whether r comes by the unix socket, or has the token or the
// cookie that stands for it.
func (s *server) knows(r *http.Request) bool {
	if byUnix(r) {
		return true
	}
	if token := tokenOf(r); token != "" && equal(token, s.key.token) {
		return true
	}
	return slices.ContainsFunc(r.CookiesNamed(cookieName(r)), func(c *http.Cookie) bool {
		return equal(c.Value, s.key.cookie)
	})
}

// equal compares in a time that says nothing about where two values differ.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// byUnix reports whether r came by the unix socket, which only its owner can
// open.
func byUnix(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// cookieName has the port that the browser uses, since cookies of one host
// are not kept apart by port.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "holdfast"
	}
	return "holdfast_" + port
}

type loginRequest struct {
	Token string `json:"token"`
}

// postLogin trades the token, which the page has from its URL's fragment, for
// the cookie. There is no limit on guesses: 256 random bits need none.
func (s *server) postLogin(w http.ResponseWriter, r *http.Request) error {
	var in loginRequest
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	if !equal(in.Token, s.key.token) {
		return errWrongToken
	}
	http.SetCookie(w, &http.Cookie{
		Name:     cookieName(r),
		Value:    s.key.cookie,
		Path:     "/",
		MaxAge:   int(cookieAge.Seconds()),
		HttpOnly: true,
		Secure:   r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https", // a lie makes a cookie that is of no use
		SameSite: http.SameSiteStrictMode,
	})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// checkHost refuses a name that is not ours. A page whose own name was made to
// point here (DNS rebinding) is of the same origin for its browser, and only
// the name gives it away.
func (s *server) checkHost(next http.Handler) http.Handler {
	refuse := s.handle(func(_ http.ResponseWriter, r *http.Request) error {
		return &requestError{errHost, fmt.Sprintf("this server is not called %q; start it with --allow-host to use that name", shorten(r.Host))}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !byUnix(r) && !s.ourHost(r) {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ourHost allows loopback names, the address that the client connected to, and
// the names that the user gave. The port does not matter: it may be forwarded.
func (s *server) ourHost(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "localhost" || slices.Contains(s.hosts, name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || local != nil && local.AddrPort().Addr().Unmap().WithZone("") == ip // a browser's Host has no zone
}

// hostName is the host of "host:port" in lower case, without port, brackets
// and final dot.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
