package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// appendRole writes a session: for each line on stdin, a number, that many
// bytes in pieces. It says "done" after each.
func appendRole(args []string) error {
	s, err := Open(args[0], Options{SegmentSize: 100_000})
	if err != nil {
		return err
	}
	w, err := s.OpenWriter(args[1])
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return err
		}
		_, off := w.Bounds()
		for goal := off + n; off < goal; {
			piece := min(1+rnd.Int64N(5000), goal-off)
			if err := w.Append(outputFrom(off, int(piece))); err != nil {
				return err
			}
			off += piece
		}
		fmt.Println("done")
	}
	return errors.Join(lines.Err(), w.Close())
}

func TestWriterOfAnotherProcessIsFollowedWithoutALoss(t *testing.T) {
	s := openTestStore(t, "", Options{})
	id := mustHave(t, s).ID
	f := mustFollow(t, s, id)
	child := startRole(t, "append", s.Dir(), id)
	in, inErr := child.StdinPipe()
	out, outErr := child.StdoutPipe()
	if err := errors.Join(inErr, outErr, child.Start()); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	off := int64(0)
	// Big ones while they are written, small ones after silence.
	for _, n := range []int64{1_500_000, 1, 1, 700_000, 1} {
		if _, err := fmt.Fprintln(in, n); err != nil {
			t.Fatal(err)
		}
		if err := follow(t.Context(), f, off, off+n); err != nil {
			t.Fatal(err)
		}
		if off += n; !answers.Scan() || answers.Text() != "done" {
			t.Fatalf("the other process said %q", answers.Text())
		}
		if n, err := f.ReadAt(make([]byte, 1), off); n != 0 || err != io.EOF {
			t.Fatalf("read past what was written = %d, %v; want EOF", n, err)
		}
	}
	if err := errors.Join(in.Close(), child.Wait()); err != nil {
		t.Fatal(err)
	}
	row := mustRow(t, s, id)
	if row.Epoch != 2 {
		t.Errorf("epoch = %d, want 2", row.Epoch)
	}
}
