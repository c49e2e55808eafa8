package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"holdfast/session"
)

// mar puts a notice over the last row of the screen. Where nobody looks at a
// screen it is a line on standard error, once.
func (f *front) mar(text string) {
	if f.ask == nil {
		if text != f.told {
			fmt.Fprintln(os.Stderr, "holdfast:", Plain(text))
			f.told = text
		}
		return
	}
	f.marred = true
	f.covered[0], f.covered[1] = f.tty.size()
	text = cut(" "+Plain(text)+" ", f.width())
	f.tty.write(saveCursor + lastRow + normal + reverse + text + normal + clearLine + restoreCursor)
}

// unmar takes the notice away. It fails with errRepaint where the terminal has
// another size by now: what stands on the last row may be the session's.
func (f *front) unmar() error {
	if !f.marred {
		return nil
	}
	f.marred = false
	if cols, rows := f.tty.size(); f.covered != [2]int{cols, rows} {
		return errRepaint
	}
	f.tty.write(saveCursor + lastRow + normal + clearLine + restoreCursor)
	return nil
}

func (f *front) tellGap(e *session.Event) {
	if f.ask == nil {
		tellGap(os.Stderr, e.From, e.To)
		return
	}
	f.tty.write(fmt.Sprintf("\r\n[%d bytes of output are gone]\r\n", e.To-e.From))
}

// tellRun marks where a program begins anew, unless it is the first that a copy
// runs. Who comes back to there is told of it again.
func (f *front) tellRun(e *session.Event) {
	told := e.Run == f.ran || f.view.ForkedAt != nil && e.Cursor == *f.view.ForkedAt
	f.ran = e.Run
	if f.ask != nil && !told {
		f.tty.write("\r\n")
		f.remark("the program was started again")
	}
}

// tellNews tells what a command has to say of the session that it has made,
// where the session's own output begins: behind what it was copied from.
func (f *front) tellNews(e *session.Event) {
	var own int64
	if f.view.ForkedAt != nil {
		own = *f.view.ForkedAt
	}
	switch e.Kind {
	case session.KindOutput, session.KindBytes, session.KindLive:
	default:
		return
	}
	if f.news == nil || e.Cursor-int64(len(e.Data)) < own {
		return
	}
	if own > 0 {
		f.tty.write("\r\n")
	}
	for _, text := range f.news {
		f.remark(text)
	}
	f.news = nil
}

// tellArrival says which session somebody has come to, and what can be done
// there. It stands before the session's output: between that and what follows,
// programs would not find what they have drawn.
func (f *front) tellArrival() {
	text := "this is " + shortLabel(&f.view) + "; Ctrl-] opens a command line"
	if f.mode == watches {
		text += "; " + f.whyWatches()
	}
	f.remark(text)
}

// whyWatches says that nothing can be typed here, and who can.
func (f *front) whyWatches() string {
	text := "this terminal only watches"
	if f.view.Holder != nil {
		text += ": " + heldBy(f.view.Holder).Error()
	}
	return text
}

// remark writes a line that is not the session's.
func (f *front) remark(text string) {
	for _, line := range wrap("["+Plain(text)+"]", f.width()) {
		f.tty.write(strings.TrimRight(line, " ") + "\r\n")
	}
}

// write puts output on the terminal, without what would make it answer where
// that is not for it to do: in a replay, or while another terminal does.
func (f *front) write(p []byte) error {
	var err error
	if f.answers || !f.tty.interactive() {
		_, err = f.tty.Write(p)
	} else {
		err = f.replay.To(f.tty, p)
	}
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// repaint makes the terminal show the session anew, from the end of its log.
func (f *front) repaint() {
	if f.ask == nil {
		return
	}
	f.tty.Write(f.modes.Reset())
	f.tty.write(clearScreen)
	if f.news == nil {
		f.tellArrival()
	}
	f.modes, f.at, f.ran, f.inLine = session.Modes{}, session.Cursor{}, 0, false
}

// leave gives the terminal back as a shell expects it.
func (f *front) leave() {
	if f.tty.shown {
		f.tty.Write(f.modes.Reset())
	}
	f.tty.cook()
}

func (f *front) width() int {
	cols, _ := f.tty.size()
	return cols
}

// resize gives the command line and the session, if it is shown, the size of
// the terminal. It may be called by another goroutine.
func (f *front) resize() {
	cols, rows := f.tty.size()
	if cols == 0 {
		return
	}
	if f.ask != nil {
		f.ask.SetSize(cols, rows)
		f.keys.wake()
	}
	f.claim()
}

// claim gives the session that is shown the size of the terminal. It may be
// called by another goroutine.
func (f *front) claim() {
	cols, rows := f.tty.size()
	f.mu.Lock()
	ctx, id := f.showing, f.shown
	f.mu.Unlock()
	if cols > 0 && ctx != nil && ctx.Err() == nil && f.mode != watches {
		f.h.resize(ctx, id, cols, rows) // one that is not live there keeps its size
	}
}

// leaveGrace is how long keys that were pressed before the command key have to
// get to their program.
const leaveGrace = 250 * time.Millisecond

// typeKeys types what is typed at the terminal until the session is not shown
// any more.
func (f *front) typeKeys(ctx context.Context, id string, end context.CancelCauseFunc) {
	typing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveGrace, cancel) })()
	t := f.h.typist(typing, id)
	defer t.Close()
	var claims sync.WaitGroup
	defer claims.Wait()
	f.keys.through(func(p []byte) bool {
		sent := t.writeNow(p)
		if sent {
			f.claimBy(p, &claims)
		}
		return sent
	})
	defer f.keys.through(nil)
	for {
		p, lost, err := f.keys.next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				end(errGone)
			}
			return
		}
		if lost {
			f.ring()
		}
		if len(p) == 0 {
			continue
		}
		if _, err := t.Write(p); err != nil {
			f.ring()
			f.keys.lose()
		}
		f.claimBy(p, &claims)
	}
}

// claimBy claims the size of the session for who has typed p, which is on its
// way: of several terminals that of the person who types decides. It waits for
// nothing.
func (f *front) claimBy(p []byte, claims *sync.WaitGroup) {
	if f.foreign.Load() && byPerson(p) && f.foreign.CompareAndSwap(true, false) {
		claims.Go(f.claim)
	}
}

// refuseKeys takes keys that are typed where nothing is, until the session is
// not shown any more. The first of them has it said why, others ring.
func (f *front) refuseKeys(ctx context.Context, end context.CancelCauseFunc) {
	for {
		p, _, err := f.keys.next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			end(errGone)
			return
		case !byPerson(p):
		case f.ask != nil && !f.refused:
			f.refused = true
			end(errWatches)
			return
		default:
			f.ring()
		}
	}
}

// ring rings the bell of the person who types.
func (f *front) ring() {
	if f.tty.interactive() {
		f.tty.write(bell)
	}
}

// typeFed types what comes from a pipe or file.
func (f *front) typeFed(ctx context.Context, id string, end context.CancelCauseFunc) {
	t := f.h.typist(ctx, id)
	defer t.Close()
	if err := feed(t, f.tty.in); err != nil {
		end(err)
	}
}

// endText says how a run ended.
func endText(v *session.View) string {
	if exit := exitText(v); exit != "" {
		return v.State + ", with " + exit
	}
	return v.State
}
