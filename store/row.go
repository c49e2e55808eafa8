package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"holdfast/state"
)

const (
	// rowVersion is the version of session.json that this package writes,
	// and the newest that it reads.
	rowVersion = 1

	// maxRow is the size in bytes that session.json may have: twice what
	// Linux takes as arguments and environment of a program.
	maxRow = 4 << 20
)

var errTooBig = fmt.Errorf("session.json is over %d bytes", maxRow)

// A Row is what session.json says of a session. Rows handed out by this
// package are shared: change only a Clone, or the row that Writer.Update lends.
type Row struct {
	ID        string            `json:"id"`
	Name      string            `json:"name,omitzero"`
	Argv      []string          `json:"argv,omitzero"`
	Cwd       string            `json:"cwd,omitzero"`
	Env       map[string]string `json:"env,omitzero"`
	Profile   string            `json:"profile,omitzero"`
	State     state.State       `json:"state"`
	Cause     state.Cause       `json:"cause,omitzero"`
	Parent    string            `json:"parent,omitzero"`    // the session it is a fork of
	ForkedAt  *int64            `json:"forked_at,omitzero"` // where in the parent's log, bytes
	CreatedAt time.Time         `json:"created_at,omitzero"`
	StartedAt time.Time         `json:"started_at,omitzero"` // of the last run
	EndedAt   time.Time         `json:"ended_at,omitzero"`   // of the last run
	ActiveAt  time.Time         `json:"active_at,omitzero"`  // last output or input
	ExitCode  *int              `json:"exit_code,omitzero"`
	Signal    string            `json:"signal,omitzero"`

	// PID and PIDStart identify the program of the last run on the machine
	// start that Boot names. Boot is set by the writer; PID and PIDStart
	// are cleared when a writer opens the session under another boot id.
	PID      int    `json:"pid,omitzero"`
	PIDStart uint64 `json:"pid_start,omitzero"` // clock ticks since boot
	Boot     string `json:"boot,omitzero"`

	Cols uint16 `json:"cols,omitzero"`
	Rows uint16 `json:"rows,omitzero"`

	// Cursor and Oldest are the end and the start of the output log in
	// bytes when the row was written. Set by the writer.
	Cursor int64 `json:"cursor"`
	Oldest int64 `json:"oldest"`

	Turns      int    `json:"turns,omitzero"`
	Runs       int    `json:"runs,omitzero"`
	AutoResume bool   `json:"auto_resume"`
	Epoch      int64  `json:"epoch"`            // raised by each writer
	Problem    string `json:"problem,omitzero"` // why the last start failed

	// extra has the members of the JSON object that this version does not
	// know, byte for byte. Never changed, so clones share it.
	extra map[string]json.RawMessage
}

// rowFile is the JSON object in session.json, less the unknown members.
type rowFile struct {
	Version int `json:"version"`
	Row
}

// knownMembers are the names of the JSON object's members, from the tags.
var knownMembers = sync.OnceValue(func() map[string]bool {
	known := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rowFile]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	delete(known, "") // the embedded struct and extra
	return known
})

// Clone returns a copy that shares nothing changeable with r.
func (r *Row) Clone() *Row {
	c := *r
	c.Argv = slices.Clone(r.Argv)
	c.Env = maps.Clone(r.Env)
	if r.ForkedAt != nil {
		c.ForkedAt = new(*r.ForkedAt)
	}
	if r.ExitCode != nil {
		c.ExitCode = new(*r.ExitCode)
	}
	return &c
}

// encode returns r as session.json has it, or why it may not be written. What
// it returns, decodeRow accepts.
func (r *Row) encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(rowFile{rowVersion, *r}); err != nil {
		return nil, err
	}
	if len(r.extra) > 0 {
		b.Truncate(b.Len() - len("}\n"))
		for _, name := range slices.Sorted(maps.Keys(r.extra)) {
			quoted, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, ",%s:%s", quoted, r.extra[name])
		}
		b.WriteString("}\n")
	}
	if b.Len() > maxRow {
		return nil, errTooBig
	}
	return b.Bytes(), nil
}

// decodeRow reads the content of a session.json. An error is a *DamagedError
// without an ID, and the row is then nil.
func decodeRow(b []byte) (*Row, error) {
	r, err := parseRow(b)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, &DamagedError{Reason: err.Error()}
	}
	return r, nil
}

func parseRow(b []byte) (*Row, error) {
	switch {
	case len(b) > maxRow:
		return nil, errTooBig
	case len(bytes.Trim(b, "\x00")) == 0:
		return nil, errors.New("session.json is empty") // or NULs, as a power cut leaves
	case !utf8.Valid(b):
		return nil, errors.New("session.json is not UTF-8")
	}
	// encoding/json takes "NAME" for "name": the names are compared here,
	// and a file with others is put together again without them.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, reason(err)
	}
	if err := checkVersion(members["version"]); err != nil {
		return nil, err
	}
	var file rowFile
	for name, raw := range members {
		if !knownMembers()[name] {
			if file.extra == nil {
				file.extra = make(map[string]json.RawMessage)
			}
			file.extra[name] = raw
			delete(members, name)
		}
	}
	if file.extra != nil {
		known, err := json.Marshal(members)
		if err != nil {
			return nil, reason(err)
		}
		b = known
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, reason(err)
	}
	return &file.Row, nil
}

func checkVersion(raw json.RawMessage) error {
	var v int
	switch err := json.Unmarshal(raw, &v); {
	case raw == nil:
		return errors.New("session.json has no version")
	case err != nil || v < 1:
		return errors.New("session.json has a version that is no version")
	case v > rowVersion:
		return fmt.Errorf("written by a newer holdfast (version %d)", v)
	}
	return nil
}

// check says why r may be neither written nor believed.
func (r *Row) check() error {
	switch {
	case !ValidID(r.ID):
		return fmt.Errorf("%q is no session id", r.ID)
	case !r.State.Valid() || r.State == state.New:
		return fmt.Errorf("%q is no state of a session", r.State)
	case r.Cursor < 0 || r.Oldest < 0 || r.Oldest > r.Cursor:
		return fmt.Errorf("a log from %d to %d is impossible", r.Oldest, r.Cursor)
	case r.Epoch < 0 || r.Turns < 0 || r.Runs < 0:
		return errors.New("a count is negative")
	}
	return r.checkText()
}

// checkText refuses strings that JSON cannot hold: written, they would come
// back as other strings.
func (r *Row) checkText() error {
	texts := []string{r.Name, r.Cwd, r.Profile, string(r.Cause), r.Parent, r.Signal, r.Boot, r.Problem}
	texts = append(texts, r.Argv...)
	for name, value := range r.Env {
		texts = append(texts, name, value)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q is not UTF-8", s)
		}
	}
	return nil
}

// reason puts an error of encoding/json in words for people.
func reason(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("session.json has a JSON %s, not an object", wrong.Value)
		}
		member := strings.TrimPrefix(wrong.Field, "Row.")
		return fmt.Errorf("session.json has a JSON %s as %q", wrong.Value, member)
	}
	return fmt.Errorf("session.json is not JSON: %v", err)
}
