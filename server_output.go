package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/session"
	"holdfast/store"
)

// outputBuffer is how much of a log is read, and sent, at once.
const outputBuffer = 64 << 10

// A span is the part of a log that a request asks for: [from, to). The log
// had [oldest, end) when it was asked.
type span struct {
	from, to    int64
	oldest, end int64
	partial     bool // asked for by a Range header
	follow      bool // go on to to, or without end if to is negative
}

// getOutput sends a log as it is. What it was not able to send whole it cuts
// off, without the last chunk or short of the Content-Length.
func (s *server) getOutput(w http.ResponseWriter, r *http.Request) error {
	id, err := s.target(r)
	if err != nil {
		return err
	}
	f, err := s.ctl.Follow(id)
	if err != nil {
		return err
	}
	defer f.Close()
	var sp span
	if sp.oldest, sp.end, err = f.Bounds(); err != nil {
		return err
	}
	h := w.Header()
	if err := sp.parse(r); err != nil {
		if errors.Is(err, errRange) {
			h.Set("Content-Range", fmt.Sprintf("bytes */%d", sp.end))
		}
		return err
	}
	if err := readable(f, sp); err != nil {
		return err
	}
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Holdfast-From", strconv.FormatInt(sp.from, 10))
	h.Set("Holdfast-Oldest", strconv.FormatInt(sp.oldest, 10))
	h.Set("Holdfast-Cursor", strconv.FormatInt(sp.end, 10))
	if sp.follow {
		return s.followOutput(w, r, id, f, sp)
	}
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Length", strconv.FormatInt(sp.to-sp.from, 10))
	status := http.StatusOK
	if sp.partial {
		status = http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", sp.from, sp.to-1, sp.end))
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	return copyOutput(w, f, sp.from, sp.to)
}

// readable finds an error while there can still be an answer that tells it.
func readable(f *store.Follower, sp span) error {
	if sp.from >= sp.end {
		return nil
	}
	var first [1]byte
	_, err := f.ReadAt(first[:], sp.from)
	return err
}

// copyOutput sends the bytes of [from, to), all of which are in the log.
func copyOutput(w io.Writer, f *store.Follower, from, to int64) error {
	return f.Each(make([]byte, min(outputBuffer, to-from)), from, to, func(p []byte) error {
		_, err := w.Write(p)
		return err
	}, func(from, to int64) error { return &store.GapError{From: from, To: to} })
}

// followOutput sends a log from a place on and what is appended to it, until
// it has reached to, or the run is over and all of it was sent.
func (s *server) followOutput(w http.ResponseWriter, r *http.Request, id string, f *store.Follower, sp span) error {
	ctx, release, err := s.openStream(r)
	if err != nil {
		return err
	}
	defer release()
	if _, err := s.ctl.Row(id); err != nil { // while there can still be an answer that tells it
		return err
	}
	ctl := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	if err := ctl.Flush(); err != nil || r.Method == http.MethodHead {
		return err
	}
	buf := make([]byte, outputBuffer)
	for at := sp.from; sp.to < 0 || at < sp.to; {
		more := f.Changed()       // before the look, so that nothing falls between look and wait
		row, err := s.ctl.Row(id) // before the log: if it says that the run is over, the last byte is there
		if err != nil {
			return err
		}
		piece := buf
		if sp.to >= 0 {
			piece = buf[:min(int64(len(buf)), sp.to-at)]
		}
		n, err := f.ReadAt(piece, at)
		if n > 0 {
			if _, err := w.Write(piece[:n]); err != nil {
				return err
			}
			at += int64(n)
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if !row.State.Live() && s.ctl.Final(row) {
			return nil
		}
		if err := ctl.Flush(); err != nil {
			return err
		}
		select {
		case <-more:
		case <-time.After(time.Second): // nothing tells of the death of a process that holds the session
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// parse reads the query, and the Range header where there is no query.
func (sp *span) parse(r *http.Request) (err error) {
	q := r.URL.Query()
	if sp.follow, err = flagIn(q, "follow"); err != nil {
		return err
	}
	header := r.Header.Get("Range")
	if header != "" && (sp.follow || q.Has("from") || q.Has("to")) {
		return malformed("a Range header cannot be combined with from, to or follow")
	}
	if header != "" && r.Header.Get("If-Range") == "" { // no validator of ours could match
		return sp.parseRange(header)
	}
	return sp.parseQuery(q)
}

func (sp *span) parseQuery(q url.Values) error {
	from, err := sp.offset(q, "from", sp.oldest)
	if err != nil {
		return err
	}
	if from > sp.end {
		return &requestError{errRange, fmt.Sprintf("from is %d, and the output ends at %d", from, sp.end)}
	}
	to := sp.end
	if sp.follow {
		to = -1
	}
	if to, err = sp.offset(q, "to", to); err != nil {
		return err
	}
	if to >= 0 && to < from {
		return malformed("to is %d, before from at %d", to, from)
	}
	if !sp.follow {
		to = min(to, sp.end)
	}
	sp.from, sp.to = max(from, sp.oldest), to
	if to >= 0 && to < sp.from {
		return &requestError{errRange, fmt.Sprintf("the output from %d to %d is gone; the oldest byte is at %d", from, to, sp.oldest)}
	}
	return nil
}

// offset returns a place of the query as an offset in the log.
func (sp *span) offset(q url.Values, name string, otherwise int64) (int64, error) {
	c, err := cursorIn(q, name, session.FromOffset(otherwise))
	return c.Place(sp.oldest, sp.end), err
}

// parseRange reads a header of RFC 9110, section 14.2. Its offsets are those
// of the log. What it cannot read, and several ranges at once, count as no
// header at all.
func (sp *span) parseRange(header string) error {
	sp.from, sp.to = sp.oldest, sp.end
	unit, set, _ := strings.Cut(header, "=")
	first, last, ok := strings.Cut(strings.TrimSpace(set), "-")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return nil
	}
	var from int64
	to := sp.end
	a, okA := session.ParseOffset(first)
	b, okB := session.ParseOffset(last)
	switch {
	case first == "" && okB:
		from = max(sp.end-b, sp.oldest)
	case okA && last == "":
		from = a
	case okA && okB && a <= b:
		from, to = a, min(b, sp.end-1)+1
	default:
		return nil
	}
	if from < sp.oldest || from >= sp.end {
		return &requestError{errRange, fmt.Sprintf("the output has the bytes from %d to %d", sp.oldest, sp.end)}
	}
	sp.from, sp.to, sp.partial = from, to, true
	return nil
}
