package acp

import (
	"bufio"
	"errors"
	"io"
)

const (
	maxMessage = 32 << 20 // bytes of a message
	keepBuffer = 1 << 20  // bytes of the buffer that stay for the next message
)

// errTooLong reports a message over the limit. It was skipped.
var errTooLong = errors.New("message is longer than 32 MiB")

// lines reads messages, each on a line of its own.
type lines struct {
	r   *bufio.Reader
	max int // bytes of a message
	buf []byte
}

func newLines(r io.Reader, max int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line without its end; it is valid until the next call.
// It returns errTooLong for a line that was skipped, and the error of the
// reader for one that has no end: half a message is none.
func (l *lines) next() ([]byte, error) {
	if l.buf = l.buf[:0]; cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(l.buf)+len(part) > l.max {
			return nil, l.skip(err)
		}
		switch {
		case err == nil && len(l.buf) == 0:
			return part, nil
		case err == nil:
			l.buf = append(l.buf, part...)
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		l.buf = append(l.buf, part...)
	}
}

// skip reads to the end of a line of which the last read gave err.
func (l *lines) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLong
}
