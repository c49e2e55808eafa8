package main

import (
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	"holdfast/session"
)

// maxKey is the length of an Idempotency-Key in bytes.
const maxKey = 255

// inputPiece is how much of an input stream is typed at once.
const inputPiece = 4 << 10

// An inputError is why an input was not typed whole.
type inputError struct {
	error
	written int // bytes that were
}

func (e *inputError) Unwrap() error { return e.error }

type inputRequest struct {
	Text  string `json:"text"`
	Enter bool   `json:"enter"`
}

func (s *server) postInput(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	enter, err := flagIn(q, "enter")
	if err != nil {
		return err
	}
	stream, err := flagIn(q, "stream")
	if err != nil {
		return err
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		return malformed("the Idempotency-Key is longer than %d bytes", maxKey)
	}
	if stream {
		if enter || key != "" || isJSON(r) {
			return malformed("an input stream is raw bytes; it has no JSON, no enter and no Idempotency-Key")
		}
		return s.streamInput(w, r)
	}
	data, err := readInput(w, r, enter)
	if err != nil {
		return err
	}
	id, err := s.target(r)
	if err != nil {
		return err
	}
	receipt, err := s.ctl.Input(r.Context(), id, session.Input{Data: data, Key: key})
	if err != nil {
		return &inputError{err, receipt.Written}
	}
	return writeJSON(w, http.StatusOK, receipt)
}

func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

// readInput returns what a request wants typed. Enter is a carriage return,
// which is what the key sends.
func readInput(w http.ResponseWriter, r *http.Request, enter bool) ([]byte, error) {
	data, err := readBody(w, r, maxInput)
	if err != nil {
		return nil, err
	}
	if isJSON(r) {
		var in inputRequest
		if err := decodeJSON(data, &in); err != nil {
			return nil, err
		}
		data, enter = []byte(in.Text), enter || in.Enter
	}
	if enter {
		data = append(data, '\r')
	}
	if len(data) == 0 {
		return nil, malformed("there is nothing to type: the input is empty")
	}
	return data, nil
}

// streamInput types a body as it arrives. Each piece is an input of its own,
// and the next one is read when the program has taken it. The answer has the
// total and the end of the log before the first piece.
func (s *server) streamInput(w http.ResponseWriter, r *http.Request) error {
	id, err := s.target(r)
	if err != nil {
		return err
	}
	ctx, release, err := s.openStream(r)
	if err != nil {
		return err
	}
	defer release()
	ctl := http.NewResponseController(w)
	unblock := context.AfterFunc(ctx, func() { ctl.SetReadDeadline(time.Unix(1, 0)) })
	defer unblock()

	var total session.Receipt
	buf := make([]byte, inputPiece)
	for first := true; ; first = false {
		n, err := r.Body.Read(buf)
		if n > 0 {
			receipt, err := s.ctl.Input(ctx, id, session.Input{Data: buf[:n]})
			total.Written += receipt.Written
			if err != nil {
				return &inputError{err, total.Written}
			}
			if first {
				total.Cursor = receipt.Cursor
			}
		}
		if err == io.EOF {
			return writeJSON(w, http.StatusOK, total)
		}
		if err != nil {
			return malformed("the body breaks off after %d bytes were typed", total.Written)
		}
	}
}
