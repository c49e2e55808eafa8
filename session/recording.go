package session

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"holdfast/store"
)

// recordingIdle is how many seconds of a pause a player shows: a session may
// have been idle for days.
const recordingIdle = 2

// castHeader is the first line of an asciicast v2 file.
// https://docs.asciinema.org/manual/asciicast/v2/
type castHeader struct {
	Version   int               `json:"version"`
	Width     uint16            `json:"width"`
	Height    uint16            `json:"height"`
	Timestamp int64             `json:"timestamp,omitempty"`
	IdleLimit float64           `json:"idle_time_limit"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env"`
	Replaced  int64             `json:"holdfast_replaced_bytes"` // that were no UTF-8
	Missing   int64             `json:"holdfast_missing_bytes"`  // that are no longer there
}

// Record writes what the log of a session has now as an asciicast v2
// recording: live sessions too. Bytes that are no UTF-8 become U+FFFD, and the
// header counts them. It returns how many bytes of output are gone and not in
// the recording, or store.ErrNotFound before it writes.
func (c *Controller) Record(ctx context.Context, w io.Writer, id string) (missing int64, err error) {
	row, err := c.store.Row(id)
	if err != nil {
		return 0, err
	}
	r, err := c.newRecorder(ctx, row)
	if err != nil {
		return 0, err
	}
	defer r.f.Close()
	out := bufio.NewWriterSize(w, chunkBytes)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	head := castHeader{Version: 2, IdleLimit: recordingIdle, Missing: r.oldest, Title: row.Name, Env: map[string]string{"TERM": "xterm-256color"}}
	head.Width, head.Height = row.Cols, row.Rows
	if len(r.marks) > 0 {
		head.Timestamp = r.start.Unix()
	}
	if size, ok := r.firstSize(); ok {
		head.Width, head.Height = size.Cols, size.Rows
	}
	err = r.each(func(e castEvent) error { // once to count, once to write
		head.Replaced += int64(e.replaced)
		head.Missing += e.missing
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := enc.Encode(head); err != nil {
		return 0, err
	}
	if err := r.each(func(e castEvent) error {
		if e.code == "" {
			return nil
		}
		return enc.Encode([]any{e.after.Seconds(), e.code, e.data})
	}); err != nil {
		return 0, err
	}
	return head.Missing, out.Flush()
}

// A castEvent is one line of a recording.
type castEvent struct {
	after    time.Duration // since the start
	code     string        // o: output, r: resize; empty: nothing to show
	data     string
	replaced int   // bytes of data that were no UTF-8
	missing  int64 // bytes before it that are no longer there
}

// A recorder goes through a log and its journal side by side.
type recorder struct {
	ctx         context.Context
	f           *store.Follower
	oldest, end int64
	marks       []store.Entry // times and sizes, in the order of their places
	start       time.Time     // of the recording
}

func (c *Controller) newRecorder(ctx context.Context, row *store.Row) (*recorder, error) {
	f, err := c.store.Follow(row.ID)
	if err != nil {
		return nil, err
	}
	r := &recorder{ctx: ctx, f: f, start: row.CreatedAt}
	if r.oldest, r.end, err = f.Bounds(); err == nil {
		r.marks, _, err = f.Entries(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	for _, m := range r.marks {
		if m.At >= r.oldest {
			r.start = m.Time
			break
		}
	}
	return r, nil
}

// firstSize is the size of the terminal at the first byte that is there.
func (r *recorder) firstSize() (size store.Entry, ok bool) {
	for _, m := range r.marks {
		if m.At > r.oldest && ok {
			break
		}
		if m.Cols > 0 && m.Rows > 0 {
			size, ok = m, true
		}
	}
	return size, ok
}

// each calls fn for everything that the recording has.
func (r *recorder) each(fn func(castEvent) error) error {
	at, now := r.oldest, time.Duration(0)
	first, _ := r.firstSize()
	size := [2]uint16{first.Cols, first.Rows}
	var rest []byte // of a character whose end is still to come
	for _, m := range append(r.marks, store.Entry{At: r.end}) {
		next := min(max(m.At, at), r.end)
		err := r.span(at, next, &rest, func(e castEvent) error {
			e.after = now
			return fn(e)
		})
		if err != nil {
			return err
		}
		if at = next; m.Time.IsZero() {
			break
		}
		now = max(now, m.Time.Sub(r.start))
		if m.Cols > 0 && m.Rows > 0 && m.At >= r.oldest && size != [2]uint16{m.Cols, m.Rows} {
			size = [2]uint16{m.Cols, m.Rows}
			if err := fn(castEvent{after: now, code: "r", data: sizeText(m)}); err != nil {
				return err
			}
		}
	}
	if len(rest) > 0 {
		text, replaced := toText(rest)
		return fn(castEvent{after: now, code: "o", data: text, replaced: replaced})
	}
	return nil
}

// span calls fn for the output of [from, to). A character at its end that is
// not whole is left in rest.
func (r *recorder) span(from, to int64, rest *[]byte, fn func(castEvent) error) error {
	return r.f.Each(make([]byte, chunkBytes), from, to, func(p []byte) error {
		p = append(*rest, p...)
		whole := wholeRunes(p)
		*rest = append([]byte(nil), p[whole:]...)
		if err := r.ctx.Err(); err != nil || whole == 0 {
			return err
		}
		text, replaced := toText(p[:whole])
		return fn(castEvent{code: "o", data: text, replaced: replaced})
	}, func(from, to int64) error {
		return fn(castEvent{missing: to - from})
	})
}

// toText replaces each byte that is no UTF-8 by U+FFFD, and counts them.
func toText(p []byte) (text string, replaced int) {
	if utf8.Valid(p) {
		return string(p), 0
	}
	b := make([]rune, 0, len(p))
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			replaced++
		}
		b = append(b, r)
		p = p[n:]
	}
	return string(b), replaced
}

func sizeText(e store.Entry) string {
	return strconv.Itoa(int(e.Cols)) + "x" + strconv.Itoa(int(e.Rows))
}
