package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"holdfast/session"
	"holdfast/static"
)

// A server answers HTTP for one controller. It decides nothing about sessions:
// a route decodes, calls and encodes.
//
// All fields are set before handler is called and not changed after. A field
// that is used by many requests at once is safe for that by itself.
type server struct {
	ctl     *session.Controller
	log     *slog.Logger
	closing context.Context // done when the process begins to end; streams end with it
	key     credentials
	hosts   []string // lower-case host names that a client may use, beside our own
	page    fs.FS
	about   status        // what GET /status says and does not change
	streams chan struct{} // holds a value for each open stream
	conns   atomic.Int64  // that are open
	frames  frameRing
	stall   time.Duration // a write without progress for so long ends its connection
}

// A route is one method and path, as http.ServeMux reads them.
type route struct {
	pattern string
	answer  handlerFunc
	query   []string // parameters that it has, all of which may be left out
	keyed   bool     // takes an Idempotency-Key
	public  bool     // needs no token, and takes any query; must not give away anything
}

// The parameters of routes that act on the bound session or on one by its id.
var (
	inputQuery  = []string{"enter", "stream"}
	eventsQuery = []string{"from", "tail", "watch", "terminal"}
)

func (s *server) routes() []route {
	return []route{
		{pattern: "GET /healthz", answer: s.getHealth, public: true},
		{pattern: "POST /login", answer: s.postLogin, public: true},
		{pattern: "GET /status", answer: s.getStatus},
		{pattern: "GET /metrics", answer: s.getMetrics},
		{pattern: "GET /profiles", answer: s.getProfiles},

		{pattern: "POST /new", answer: s.postNew},
		{pattern: "POST /resume", answer: s.postResume},
		{pattern: "POST /fork", answer: s.postFork},
		{pattern: "POST /switch", answer: s.postSwitch},
		{pattern: "POST /stop", answer: s.postStop},
		{pattern: "POST /input", answer: s.postInput, query: inputQuery, keyed: true},
		{pattern: "POST /resize", answer: s.postResize},
		{pattern: "POST /signal", answer: s.postSignal},
		{pattern: "GET /events", answer: s.getEvents, query: eventsQuery},

		{pattern: "GET /sessions", answer: s.listSessions, query: []string{"state", "q"}},
		{pattern: "POST /sessions", answer: s.createSession},
		{pattern: "GET /sessions/{id}", answer: s.getSession},
		{pattern: "PATCH /sessions/{id}", answer: s.patchSession},
		{pattern: "DELETE /sessions/{id}", answer: s.deleteSession},
		{pattern: "POST /sessions/{id}/start", answer: s.startSession},
		{pattern: "POST /sessions/{id}/fork", answer: s.forkSession},
		{pattern: "POST /sessions/{id}/switch", answer: s.postSwitch},
		{pattern: "POST /sessions/{id}/stop", answer: s.postStop},
		{pattern: "POST /sessions/{id}/input", answer: s.postInput, query: inputQuery, keyed: true},
		{pattern: "POST /sessions/{id}/resize", answer: s.postResize},
		{pattern: "POST /sessions/{id}/signal", answer: s.postSignal},
		{pattern: "GET /sessions/{id}/events", answer: s.getEvents, query: eventsQuery},
		{pattern: "GET /sessions/{id}/output", answer: s.getOutput, query: []string{"from", "to", "follow"}},
		{pattern: "GET /sessions/{id}/wait", answer: s.getWait, query: []string{"for", "from", "quiet", "match", "timeout"}},
		{pattern: "GET /sessions/{id}/turns", answer: s.getTurns},
		{pattern: "GET /sessions/{id}/recording", answer: s.getRecording, query: []string{"format"}},
	}
}

// handler puts the routes behind everything that a request must pass: the
// check of its Host, of its origin, and of its token.
func (s *server) handler() (http.Handler, error) {
	assets, err := pageRoutes(s.page)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	methods := make(map[string][]string)
	for _, rt := range append(s.routes(), assets...) {
		answer := rt.answer
		if !rt.public {
			answer = s.authorized(rt.strict)
		}
		mux.Handle(rt.pattern, s.handle(answer))
		method, path, _ := strings.Cut(rt.pattern, " ")
		methods[path] = append(methods[path], method)
	}
	for path, allowed := range methods {
		mux.Handle(path, s.handle(s.authorized(wrongMethod(allowed))))
	}
	mux.Handle("/", s.handle(s.authorized(noRoute)))

	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(s.handle(func(http.ResponseWriter, *http.Request) error {
		return &requestError{errCrossOrigin, "the request comes from a page of another origin"}
	}))
	return secured(s.checkHost(origins.Handler(s.canonical(mux)))), nil
}

// canonical refuses a path with empty, "." or ".." elements, which the mux
// would answer with a redirect.
func (s *server) canonical(next http.Handler) http.Handler {
	refuse := s.handle(noRoute)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.EscapedPath()
		clean := path.Clean(p)
		if strings.HasSuffix(p, "/") && clean != "/" {
			clean += "/"
		}
		if clean != p || p[0] != '/' {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func noRoute(_ http.ResponseWriter, r *http.Request) error {
	return &requestError{errNoRoute, fmt.Sprintf("nothing is at %s; docs/api.md lists the routes", shorten(r.URL.Path))}
}

func wrongMethod(allowed []string) handlerFunc {
	if slices.Contains(allowed, "GET") {
		allowed = append(allowed, "HEAD")
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", list)
		return &requestError{errMethod, fmt.Sprintf("%s is not allowed here; use %s", shorten(r.Method), list)}
	}
}

// pageRoutes has a public route for each file of the page, and "/" for its
// index.html.
func pageRoutes(page fs.FS) ([]route, error) {
	var routes []route
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(page, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		url := "/" + name
		if name == "index.html" {
			url = "/{$}"
		}
		routes = append(routes, route{pattern: "GET " + url, public: true, answer: serveFile(page, name, tag)})
		return nil
	})
	return routes, err
}

func serveFile(page fs.FS, name, tag string) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := page.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, f.(io.ReadSeeker)) // files of embed and fstest can seek
		return nil
	}
}

// secured adds the headers that confine what a browser does with an answer.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", static.Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// writeJSON sends v with a status. It is built whole before the first byte.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body.Bytes())
	return err
}
