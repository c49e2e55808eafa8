package cli

import (
	"errors"
	"fmt"
	"io"

	"holdfast/session"
)

// feed types what a pipe or file has, as the program takes it, and ends the
// program's input with it. The end of the program is no error.
func feed(t typist, in io.Reader) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := in.Read(buf)
		for p := buf[:n]; len(p) > 0; {
			n, failed := t.Write(p)
			p = p[n:]
			if failed != nil && !errors.Is(failed, session.ErrNotTaken) && !errors.Is(failed, session.ErrQueueFull) {
				return notFed(failed)
			}
		}
		if err == io.EOF {
			return notFed(t.end())
		}
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
	}
}

func notFed(err error) error {
	if err == nil || errors.Is(err, session.ErrNotLive) {
		return nil
	}
	return fmt.Errorf("standard input: %w", err)
}
