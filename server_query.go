package main

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"holdfast/session"
)

// strict refuses a query that the route would not do as it was meant: one that
// cannot be read, and a parameter that the route does not have, or twice. So it
// is with an Idempotency-Key where it would do nothing.
func (rt route) strict(w http.ResponseWriter, r *http.Request) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return malformed("the query of the URL is not valid: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(rt.query, name) {
			return unknown("query parameter", name, rt.query)
		}
		if len(q[name]) > 1 {
			return malformed("%s stands twice in the query; give it once", name)
		}
	}
	if r.Method == http.MethodPost && !rt.keyed && r.Header.Get("Idempotency-Key") != "" {
		return malformed("of what is posted only input takes an Idempotency-Key; to make a session once, give it a name, and look with GET /sessions/NAME before you try again")
	}
	return rt.answer(w, r)
}

// flagIn returns a switch of the query: 1 or true, 0, false or not there.
func flagIn(q url.Values, name string) (bool, error) {
	switch v := q.Get(name); v {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, malformed("%s is %q; it must be 1 or 0", name, shorten(v))
	}
}

// cursorIn returns a place in the log that the query names.
func cursorIn(q url.Values, name string, otherwise session.Cursor) (session.Cursor, error) {
	v := q.Get(name)
	if v == "" {
		return otherwise, nil
	}
	c, ok := session.ParseCursor(v)
	if !ok {
		return otherwise, malformed("%s is %q; it must be an offset in bytes, or -N for the last N", name, shorten(v))
	}
	return c, nil
}

// tailIn returns how much of the end of the log a stream is to begin with.
func tailIn(q url.Values) (session.Cursor, error) {
	v := q.Get("tail")
	if v == "" {
		return session.Cursor{}, nil
	}
	n, ok := session.ParseOffset(v)
	if !ok || n == 0 {
		return session.Cursor{}, malformed("tail is %q; it must be a number of bytes", shorten(v))
	}
	return session.Tail(n), nil
}

// durationIn returns a time of the query, from least to maxWait.
func durationIn(q url.Values, name string, otherwise, least time.Duration) (time.Duration, error) {
	v := q.Get(name)
	if v == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > maxWait {
		return 0, malformed("%s is %q; it must be a time such as 500ms or 30s, %s at most", name, shorten(v), maxWait)
	}
	return d, nil
}
