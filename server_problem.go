package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/state"
	"holdfast/store"
)

// What is wrong with a request before any session is asked. A *requestError
// wraps one of them.
var (
	errMalformed    = errors.New("malformed request")
	errUnauthorized = errors.New("no valid token")
	errCrossOrigin  = errors.New("cross-origin request")
	errNoRoute      = errors.New("no such path")
	errMethod       = errors.New("method not allowed")
	errTooLarge     = errors.New("body too large")
	errRange        = errors.New("no such range of output")
	errHost         = errors.New("unknown host name")
	errStreams      = errors.New("too many open streams")
)

// A requestError is one of the errors above with what its sender should know.
type requestError struct {
	is     error
	detail string
}

func (e *requestError) Error() string { return e.detail }
func (e *requestError) Unwrap() error { return e.is }

// A problemType is one kind of RFC 9457 answer. Clients match its name, so
// that a name never changes its meaning.
type problemType struct {
	match  func(error) bool
	status int
	name   string // completes problemPrefix to the "type"
	title  string // never varies
	hint   string // what to do, added to the error's text; may be empty
}

// problemPrefix begins the tag URI (RFC 4151) of every type.
const problemPrefix = "tag:holdfast,2026:"

// problemTypes has every error that a client is told about; the first match
// counts. Any other error is a 500 without a word about its cause.
var problemTypes = []problemType{
	{is(errMalformed), 400, "malformed-request", "Malformed request", ""},
	{is(errUnauthorized), 401, "unauthorized", "Valid token needed", ""},
	{is(errCrossOrigin), 403, "cross-origin", "Cross-origin request", ""},
	{is(errNoRoute), 404, "no-such-path", "No such path", ""},
	{is(errMethod), 405, "method-not-allowed", "Method not allowed", ""},
	{is(errTooLarge), 413, "body-too-large", "Body too large", ""},
	{is(errRange), 416, "no-such-range", "No such range of output", ""},
	{as[*store.GapError], 416, "no-such-range", "No such range of output", ""},
	{is(session.ErrPastEnd), 416, "no-such-range", "No such range of output", "start at the session's cursor or before"},
	{is(errHost), 421, "unknown-host", "Unknown host name", ""},
	{is(errStreams), 503, "too-many-streams", "Too many open streams", ""},

	{is(store.ErrNotFound), 404, "no-such-session", "No such session", "GET /sessions lists them"},
	{as[*session.AmbiguousError], 409, "ambiguous", "Ambiguous session", "use the id of one of the candidates"},
	{is(leasefs.ErrHeld), 409, "held", "Session is held by another process", "close it there, or fork it"},
	{is(session.ErrBusy), 409, "busy", "Session is busy", "try again when that is done"},
	{is(session.ErrLive), 409, "already-live", "Session is already live", "stop it first, or resume it to bind it"},
	{is(session.ErrNotLive), 409, "not-live", "Session is not live here", "start or resume it first"},
	{is(process.ErrExited), 409, "not-live", "Session is not live here", "start or resume it first"},
	{is(session.ErrNothingBound), 409, "nothing-bound", "No session is bound", "POST /new or /resume binds one"},
	{is(store.ErrDamaged), 409, "unreadable", "Session is unreadable", "its files were left as they are"},
	{as[*session.ProfilesError], 409, "profiles-unreadable", "Profiles are unreadable", ""},
	{is(state.ErrIllegal), 409, "illegal-transition", "Not possible in this state", ""},
	{is(store.ErrFenced), 409, "lease-lost", "Session was taken over", "another process writes it now"},

	{as[*session.SpecError], 422, "invalid-value", "Invalid value", ""},
	{is(process.ErrUnknownSignal), 422, "unknown-signal", "Unknown signal", "use a name such as INT, TERM or HUP"},
	{is(session.ErrLineTooLong), 422, "line-too-long", "Line too long for line mode", ""},
	{is(session.ErrKeyReused), 422, "key-reused", "Idempotency key reused", "send another Idempotency-Key with another input"},
	{is(session.ErrQueueFull), 429, "queue-full", "Input queue is full", "try again when the program has read what is queued"},
	{is(session.ErrNotTaken), 429, "not-taken", "Program does not read its input", "\"written\" bytes were typed, the rest was withdrawn"},

	{is(session.ErrExhausted), 503, "exhausted", "Out of system resources", "stop a session, or raise the limits of the server"},
	{is(session.ErrClosing), 503, "closing", "Server is ending", "try again in a moment"},
	{is(leasefs.ErrReadOnly), 503, "store-read-only", "Store is read-only", ""},
	{is(leasefs.ErrUnsafe), 503, "store-unsafe", "Store cannot be locked safely", ""},
	{is(leasefs.ErrTimeout), 503, "lock-timeout", "Store does not answer", "its file server may be restarting; try again"},
	{as[*fs.PathError], 503, "store-unreadable", "Store cannot be read", "try again"},
	{is(session.ErrStorage), 507, "storage-failed", "Store cannot be written", ""},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A problem is the answer to one failed request: the members of RFC 9457, and
// what a program wants to know beside the text.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`

	Holder     *session.Holder `json:"holder,omitempty"`     // of a held session
	Candidates []candidate     `json:"candidates,omitempty"` // that an ambiguous reference fits
	Field      string          `json:"field,omitempty"`      // JSON member with an invalid value
	Written    *int            `json:"written,omitempty"`    // bytes of an input that were typed
}

func problemFor(err error) problem {
	i := slices.IndexFunc(problemTypes, func(t problemType) bool { return t.match(err) })
	if i < 0 {
		const status = http.StatusInternalServerError
		return problem{Type: "about:blank", Title: http.StatusText(status), Status: status}
	}
	t := problemTypes[i]
	p := problem{Type: problemPrefix + t.name, Title: t.title, Status: t.status, Detail: err.Error()}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		p.Detail = e.Err.Error() // a path of the store says nothing to a client
	}
	if t.hint != "" {
		p.Detail += "; " + t.hint
	}
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		p.Holder = session.HolderOf(e)
	}
	if e, ok := errors.AsType[*session.AmbiguousError](err); ok {
		p.Candidates = candidates(e.Candidates)
	}
	if e, ok := errors.AsType[*session.SpecError](err); ok {
		p.Field = e.Field
	}
	if e, ok := errors.AsType[*inputError](err); ok {
		p.Written = &e.written
	}
	return p
}

// A candidate is a session that an ambiguous reference fits.
type candidate struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

func candidates(views []session.View) []candidate {
	list := make([]candidate, len(views))
	for i, v := range views {
		list[i] = candidate{v.ID, v.Name, v.State}
	}
	return list
}

// realm is what a request without a token is told to bring. It also tells a
// holdfast server from others.
const realm = `Bearer realm="holdfast"`

// fail answers a request whose handler has written nothing.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemFor(err)
	if p.Status >= 500 {
		s.log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "err", err)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", realm)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // the members are strings and numbers
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	w.Write(append(body, '\n'))
}
