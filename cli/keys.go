package cli

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	commandKey      = 0x1d // Ctrl-]
	leaveKey        = 0x03 // Ctrl-C, in the command line
	endKey          = 0x04 // Ctrl-D
	escKey          = 0x1b
	commandKeyKitty = "\x1b[93;5u" // the same in the keyboard protocol of kitty
	lineEnds        = "\r\n\x03\x04\x1d"
	pasteBegins     = "\x1b[200~"
	pasteEnds       = "\x1b[201~"

	// pasteQuiet is how long nothing comes of a paste that has no end, and
	// before what somebody types anew.
	pasteQuiet = time.Second

	// maxTyped is how many bytes of keys wait for a program. What is typed
	// past them is lost.
	maxTyped = 1 << 20
)

// keys are what is typed at a terminal. They go to the program that is shown,
// and from the command key on to the command line.
//
// One goroutine reads the terminal until it is gone. It waits for nobody else,
// so that the command key works whatever the program does.
//
// So keys can be lost: more than maxTyped wait, or a write of them fails. What
// comes behind a hole means something else than what was typed: the end of a
// paste can be a command by itself. Therefore it is lost too, with a bell, until
// that was told, a paste that the hole is in has ended, and nothing came for
// pasteQuiet. A program that was sent the beginning of a paste is sent an end.
type keys struct {
	pressed func() // the command key was; called with mu held. nil: there is none

	mu     sync.Mutex          // guards the fields below
	more   sync.Cond           // of mu: something was typed that somebody waits for, or the end came
	direct func(p []byte) bool // see through; called with mu held
	given  bool                // next has returned keys that may not be on their way yet
	typed  []byte              // for the program
	line   []byte              // for the command line
	asking bool                // the command line is open
	reads  bool                // the command line waits for keys
	woken  bool                // the next Read returns, also without keys
	leave  func()              // a key that leaves the command line came while it did not wait; nil: it may
	paste  bool                // within a bracketed paste
	marked int                 // how much of the mark that ends or begins one was read
	last   time.Time           // when something was typed, or lost
	lost   bool                // something was; what is typed is too
	untold bool                // of what was lost, next has not told all
	opened bool                // a paste may have begun for the program that it has not got the end of
	owed   bool                // the program gets the end of a paste before anything else
	over   bool                // nobody answers the command line any more
	end    error               // of the terminal
}

// watchKeys reads a terminal.
func watchKeys(in io.Reader, pressed func()) *keys {
	k := &keys{pressed: pressed}
	k.more.L = &k.mu
	go k.watch(in)
	return k
}

func (k *keys) watch(in io.Reader) {
	buf := make([]byte, 4<<10)
	for {
		n, err := in.Read(buf)
		k.mu.Lock()
		k.take(buf[:n])
		k.end = err
		if len(k.typed)+len(k.line) > 0 || k.untold || err != nil {
			k.more.Broadcast()
		}
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take takes what is typed. The caller holds mu.
func (k *keys) take(p []byte) {
	now := time.Now()
	anew := now.Sub(k.last) >= pasteQuiet
	k.last = now
	if anew && !k.untold && !k.paste {
		k.lost = false
	}
	k.sort(p, anew)
}

// sort sorts what was typed, which was anew if there was a pause before it. The
// caller holds mu.
func (k *keys) sort(p []byte, anew bool) {
	if !k.asking {
		pasted := k.paste
		before, after, pressed := k.cutCommandKey(p, anew)
		k.put(before, pasted)
		if !pressed {
			return
		}
		k.asking, p = true, after
		k.pressed()
	}
	k.line = append(k.line, p...)
	if k.leave != nil && !k.reads && endOfLeave(p) > 0 {
		k.leave()
	}
}

// put has p go to the program, or be lost. It begins within a paste if pasted
// is set. The caller holds mu.
func (k *keys) put(p []byte, pasted bool) {
	switch {
	case len(p) == 0:
		return
	case k.lost:
		k.untold = true
		return
	case len(k.typed)+len(p) > maxTyped:
		k.lost, k.untold = true, true
		if pasted {
			k.typed = append(k.typed, pasteEnds...)
		}
		return
	case k.owed:
		p = append([]byte(pasteEnds), p...)
		k.owed, k.opened = false, true
	}
	if k.direct != nil && !k.given && len(k.typed) == 0 && k.direct(p) {
		k.opened = k.paste
		return
	}
	k.typed = append(k.typed, p...)
}

// cutCommandKey finds the command key, which is none within a paste. It is one
// by itself after a pause: nobody would get out of a paste whose end was lost
// otherwise, and what is really pasted comes with more, or at once.
func (k *keys) cutCommandKey(p []byte, anew bool) (before, after []byte, found bool) {
	if key := string(p); (key == string(rune(commandKey)) || key == commandKeyKitty) && anew {
		k.paste, k.marked = false, 0
	}
	for i, b := range p {
		cuts := k.pressed != nil && !k.paste
		if cuts && b == commandKey {
			return p[:i], p[i+1:], true
		}
		if after, ok := bytes.CutPrefix(p[i:], []byte(commandKeyKitty)); ok && cuts {
			return p[:i], after, true
		}
		k.followPaste(b)
	}
	return p, nil, false
}

// followPaste knows a bracketed paste by its marks, wherever reads cut them.
func (k *keys) followPaste(b byte) {
	mark := pasteBegins
	if k.paste {
		mark = pasteEnds
	}
	switch b {
	case mark[k.marked]:
		k.marked++
	case mark[0]:
		k.marked = 1
	default:
		k.marked = 0
	}
	if k.marked == len(mark) {
		k.paste, k.marked = !k.paste, 0
		k.opened = k.opened || k.paste
	}
}

// through has keys go to their program by direct, from the goroutine that reads
// them, as long as that takes them without a wait; nil ends that. What it does
// not take, and what comes behind that, is for next.
func (k *keys) through(direct func(p []byte) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.direct = direct
}

// next waits for keys of the program and returns all there are; lost reports
// that some behind them are lost, and is returned without keys, too. It says
// that those it returned before are on their way. When there are no more it
// returns the error that the terminal ended with, or that of ctx.
func (k *keys) next(ctx context.Context) (p []byte, lost bool, err error) {
	stop := context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.more.Broadcast()
	})
	defer stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given = false
	if len(k.typed) == 0 && !k.paste {
		k.opened = false
	}
	for len(k.typed) == 0 && !k.untold && ctx.Err() == nil && k.end == nil {
		k.more.Wait()
	}
	p, lost = k.typed, k.untold
	k.given = len(p) > 0
	k.typed, k.untold = nil, false
	if lost {
		k.last = time.Now()
	}
	switch {
	case len(p) > 0:
	case k.end != nil:
		err = k.end
	default:
		err = ctx.Err()
	}
	return p, lost, err
}

// lose says that what next returned is lost. The caller tells.
func (k *keys) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed, k.lost, k.last = nil, true, time.Now()
	k.owed, k.opened = k.owed || k.opened, false
}

// ask opens the command line, if the command key has not.
func (k *keys) ask() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asking = true
}

// isAsking reports whether the command line is open, or about to be.
func (k *keys) isAsking() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asking
}

// stopReading ends the Read that waits and all later ones: this process is to
// end, whatever the command line asks.
func (k *keys) stopReading() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.more.Broadcast()
}

// answered closes the command line. The program gets first, and what was typed
// behind the line. It may be another program than before.
func (k *keys) answered(first string, another bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asking = false
	k.owed = k.owed && !another
	k.put([]byte(first), false)
	p := k.line
	k.line = nil
	k.sort(p, false)
	k.more.Broadcast()
}

// unasked is what a terminal sends without a key: answers to the program, that
// it has the focus or lost it, and its mouse.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
const unasked = `^(?:\x1b\[(?:[IO]|[?>=][\d;:]*\$?[a-zA-Z]|[\d;]*(?:[nRtxc]|\$y)|<[\d;]*[Mm]|M(?s:...))|` +
	`\x1b[P\]_][^\x07\x1b]*(?:\x07|\x1b\\))*$`

// byPerson reports whether a key is in what came from a terminal. The rest of
// an answer that came in two pieces counts as one.
func byPerson(p []byte) bool {
	byItself, _ := regexp.Match(unasked, p)
	return !byItself
}

// leavable has leave called when somebody wants to leave the command line while
// it does not read, but waits for something else. The caller must call what it
// returns, with whether it left: then the key is no other line's.
func (k *keys) leavable(leave func()) (stop func(left bool)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leave = leave; endOfLeave(k.line) > 0 {
		leave()
	}
	return func(left bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.leave = nil
		if left {
			k.line = k.line[endOfLeave(k.line):]
		}
	}
}

// wake has the command line look again, without a key.
func (k *keys) wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.woken = true
	k.more.Broadcast()
}

// gone reports whether the terminal is.
func (k *keys) gone() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end != nil
}

// Read gives the command line what is typed while it is open, up to a key that
// may end it: what follows can be for the program.
func (k *keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads = true
	for len(k.line) == 0 && k.end == nil && !k.over && !k.woken {
		k.more.Wait()
	}
	woken := k.woken
	k.reads, k.woken = false, false
	switch {
	case k.over:
		return 0, io.EOF
	case len(k.line) == 0 && woken:
		return 0, nil
	case len(k.line) == 0:
		return 0, k.end
	}
	n := copy(p, k.line[:pieceOf(k.line)])
	k.line = k.line[n:]
	return n, nil
}

// pieceOf is how much of what was typed the command line is given at once: up
// to a key that may end it, and the Esc key by itself. Esc is what no sequence
// of another key follows.
func pieceOf(line []byte) int {
	for i, b := range line {
		esc := b == escKey && (i+1 == len(line) || line[i+1] < ' ')
		switch {
		case esc && i > 0:
			return i
		case esc, strings.IndexByte(lineEnds, b) >= 0:
			return i + 1
		}
	}
	return len(line)
}

// endOfLeave is where what was typed goes on behind the last key that leaves
// the command line; 0 if there is none.
func endOfLeave(line []byte) (end int) {
	for at := 0; at < len(line); {
		at += pieceOf(line[at:])
		switch line[at-1] {
		case escKey, leaveKey, commandKey:
			end = at
		}
	}
	return end
}
