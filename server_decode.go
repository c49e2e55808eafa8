package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/cli"
)

const (
	maxJSON  = 64 << 10 // bytes of a JSON body
	maxInput = 1 << 20  // bytes of an input, raw or as JSON

	// bodyTimeout is how long a whole body may take. A slow sender waits in
	// its own request; no session is reserved for it meanwhile.
	bodyTimeout = 30 * time.Second
)

func malformed(format string, args ...any) error {
	return &requestError{errMalformed, fmt.Sprintf(format, args...)}
}

// readBody returns the whole body, of at most limit bytes.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	ctl := http.NewResponseController(w)
	ctl.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &requestError{errTooLarge, fmt.Sprintf("the body is larger than %d bytes", limit)}
	}
	if err != nil {
		return nil, malformed("the body breaks off: %v", err)
	}
	ctl.SetReadDeadline(time.Time{}) // or it would end the request itself later
	return body, nil
}

// readJSON reads the body into v, a pointer to a struct. A body is needed.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r, maxJSON)
	if err != nil {
		return err
	}
	return decodeJSON(body, v)
}

// readOptionalJSON is readJSON for a route that has all it needs without a
// body. It also makes sure that a body says nothing the route would ignore.
func readOptionalJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := readBody(w, r, maxJSON)
	if err != nil || len(body) == 0 {
		return err
	}
	return decodeJSON(body, v)
}

// decodeJSON accepts one JSON object with no other members than v, a pointer
// to a struct, has fields for. Its error wraps errMalformed, and v is then
// not to be used.
func decodeJSON(body []byte, v any) error {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return malformed("the body is empty; send a JSON object with %s", members(v))
	case !utf8.Valid(body):
		return malformed("the body is not valid UTF-8")
	case body[0] != '{':
		return malformed("the body is not a JSON object; send one with %s", members(v))
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return jsonFault(err, v)
	}
	if dec.InputOffset() != int64(len(body)) {
		return malformed("something follows the JSON object at byte %d", dec.InputOffset())
	}
	return checkNames(body, v)
}

// checkNames refuses what encoding/json made something of: a member in other
// letters, or twice, an element that is null, half of a surrogate pair.
func checkNames(body []byte, v any) error {
	broken := !bytes.ContainsRune(body, utf8.RuneError) && !bytes.Contains(bytes.ToLower(body), []byte(`\ufffd`))
	dec := json.NewDecoder(bytes.NewReader(body))
	var open []map[string]bool // names of the objects that are open; nil for an array
	name := ""                 // of the value that comes next; empty: a name comes, or an element
	for {
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		text, isText := token.(string)
		if isText && broken && strings.ContainsRune(text, utf8.RuneError) {
			return malformed("a string has half of a surrogate pair")
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		if isText && inObject && name == "" {
			if open[len(open)-1][text] {
				return malformed("%q stands twice", shorten(text))
			}
			if len(open) == 1 && !slices.Contains(memberNames(v), text) {
				return unknown("member", text, memberNames(v))
			}
			open[len(open)-1][text], name = true, text
			continue
		}
		if token == nil && (len(open) > 1 || !inObject) {
			return malformed("null cannot stand inside an array or an object here")
		}
		name = ""
		switch token {
		case json.Delim('{'):
			open = append(open, make(map[string]bool))
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			if open = open[:len(open)-1]; len(open) == 0 {
				return nil
			}
		}
	}
}

// jsonFault says in the words of the sender what encoding/json found.
func jsonFault(err error, v any) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := e.Field[strings.LastIndexByte(e.Field, '.')+1:] // without the Go name of an embedded struct
		return malformed("%q is %s; it must be %s", field, article(e.Value), kindName(e.Type))
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return malformed("not valid JSON at byte %d: %v", e.Offset, e)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("the JSON object has no end")
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if name, err := strconv.Unquote(quoted); err == nil {
			return unknown("member", name, memberNames(v))
		}
	}
	return malformed("not valid JSON")
}

// unknown refuses a name that a request gives to something which it does not
// have, and says which there are.
func unknown(kind, name string, known []string) error {
	there := "there are " + strings.Join(known, ", ")
	switch len(known) {
	case 0:
		there = "this request has none; docs/api.md says what it takes"
	case 1:
		there = "the only one is " + known[0]
	}
	if meant := cli.DidYouMean(name, known, ""); meant != "" {
		there += "; " + meant
	}
	return malformed("unknown %s %q; %s", kind, shorten(name), there)
}

// memberNames are the JSON members of the struct that v points to.
func memberNames(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// members lists them for people.
func members(v any) string {
	if names := memberNames(v); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "no members"
}

func article(value string) string {
	if kind, number, ok := strings.Cut(value, " "); ok {
		return "the " + kind + " " + shorten(number)
	}
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	}
	return "a " + value
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return "a whole number"
	}
}
