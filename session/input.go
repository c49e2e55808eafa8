package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/session/process"
)

// maxQueued is how many bytes of input may wait for a session's program.
const maxQueued = 1 << 20

// Errors of input. Each but ErrNotTaken means that nothing was typed.
var (
	// ErrQueueFull reports that too much input waits for the program.
	ErrQueueFull = errors.New("input queue is full")

	// ErrNotTaken reports that the program did not take all input in time.
	// The rest was withdrawn; the Receipt that comes with it says how much
	// was typed.
	ErrNotTaken = errors.New("program does not take its input")

	// ErrLineTooLong reports a line that the terminal, in line mode, would
	// cut.
	ErrLineTooLong = errors.New("line too long for the terminal")

	// ErrKeyReused reports an Idempotency-Key that came with other input
	// before.
	ErrKeyReused = errors.New("idempotency key was used for other input")
)

// Input is what one request types.
type Input struct {
	Data []byte // not changed, and not kept after the answer
	Key  string // Idempotency-Key; empty: none

	// End types, instead of Data, what ends the input of a program that reads
	// lines; nothing if it does not.
	End bool
}

// A Receipt says what was typed.
type Receipt struct {
	Written int   `json:"written"` // bytes that the terminal took
	Cursor  int64 `json:"cursor"`  // end of the log before the first of them
}

// Input types into a live session, or one whose start is in flight, and
// answers when the terminal has taken every byte. One Input is never mixed
// with another. When ctx ends, the wait does; the typing goes on.
//
// It returns ErrQueueFull, ErrNotTaken, ErrLineTooLong, ErrKeyReused, and for
// a session that is not live here the errors of Resize.
func (c *Controller) Input(ctx context.Context, id string, in Input) (Receipt, error) {
	l := c.lookup(id)
	if l == nil {
		var err error
		if l, err = c.alive(id); err != nil {
			return Receipt{}, err
		}
	}
	return l.input.push(ctx, in)
}

// A queue types the inputs of one life in the order in which they came. The
// sender that finds it idle starts a goroutine that types until the line is
// empty. No sender types by itself: its wait may end before the typing does.
type queue struct {
	l       *live
	timeout time.Duration

	mu       sync.Mutex // guards the fields below; never held while typing
	items    []*item
	bytes    int  // of inputs in line, and of the one being typed
	answers  int  // the same of answers
	opened   bool // the program runs
	busy     bool // somebody types
	closed   error
	receipts receipts

	// Used only by who is busy.
	mode   process.LineMode
	line   process.Line // what the terminal has of an unfinished line
	inLine int          // bytes of answers since the last input, in line mode
	turn   turnText
}

// An item is one input on its way.
type item struct {
	data     []byte
	answer   bool // to what the program asked: no input
	end      bool // Input.End
	deadline time.Time
	done     chan struct{} // closed when receipt and err are set
	receipt  Receipt
	err      error
}

func newQueue(l *live, timeout time.Duration) *queue { return &queue{l: l, timeout: timeout} }

// push types in, or waits until it has been typed.
func (q *queue) push(ctx context.Context, in Input) (Receipt, error) {
	it := &item{data: in.Data, end: in.End, deadline: time.Now().Add(q.timeout), done: make(chan struct{})}
	q.mu.Lock()
	if first, err := q.receipts.find(in, it); first != nil || err != nil {
		q.mu.Unlock()
		return wait(ctx, first, err)
	}
	if err := q.refusalLocked(len(in.Data)); err != nil {
		q.receipts.forget(it)
		q.mu.Unlock()
		it.finish(Receipt{}, err)
		return Receipt{}, err
	}
	q.items = append(q.items, it)
	q.bytes += len(in.Data)
	mine := q.opened && !q.busy
	q.busy = q.busy || mine
	q.mu.Unlock()
	if mine {
		go q.typeAll()
	}
	return q.await(ctx, it)
}

// refusalLocked says why an input of n bytes is not taken.
func (q *queue) refusalLocked(n int) error {
	if q.closed != nil {
		return q.closed
	}
	if q.bytes > 0 && q.bytes+n > maxQueued { // one alone always fits
		return fmt.Errorf("%w: %d bytes wait for the program", ErrQueueFull, q.bytes)
	}
	return nil
}

// await waits for an item; at its deadline it withdraws one that is still in
// line.
func (q *queue) await(ctx context.Context, it *item) (Receipt, error) {
	select {
	case <-it.done:
		return it.receipt, it.err
	default:
	}
	timer := time.NewTimer(time.Until(it.deadline))
	defer timer.Stop()
	select {
	case <-it.done:
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	case <-timer.C:
		q.withdraw(it)
		<-it.done
	}
	return it.receipt, it.err
}

// wait waits for an input that came before under the same key.
func wait(ctx context.Context, it *item, err error) (Receipt, error) {
	if err != nil {
		return Receipt{}, err
	}
	select {
	case <-it.done:
		return it.receipt, it.err
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
}

func (it *item) finish(r Receipt, err error) {
	it.receipt, it.err, it.data = r, err, nil
	close(it.done)
}

// withdraw takes an item out of the line, unless it is being typed.
func (q *queue) withdraw(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.items {
		if other == it {
			q.items = append(q.items[:i], q.items[i+1:]...)
			q.bytes -= len(it.data)
			q.receipts.forget(it)
			it.finish(Receipt{}, q.notTaken(0))
			return
		}
	}
}

func (q *queue) notTaken(n int) error {
	return fmt.Errorf("%w: %d bytes were typed in %s", ErrNotTaken, n, q.timeout)
}

// open lets the input that came during the start go.
func (q *queue) open() {
	q.mu.Lock()
	q.opened = true
	mine := !q.busy && len(q.items) > 0
	q.busy = q.busy || mine
	q.mu.Unlock()
	if mine {
		go q.typeAll()
	}
}

// close refuses all further input, and what is still in line, with err.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = err
	for _, it := range q.items {
		q.removedLocked(it, len(it.data))
		q.receipts.forget(it)
		it.finish(Receipt{}, err)
	}
	q.items = nil
}

// typeAll types until the line is empty.
func (q *queue) typeAll() {
	for q.typeNext() {
	}
}

// typeNext types the first item in line, if there is one. The caller is busy.
func (q *queue) typeNext() bool {
	q.mu.Lock()
	if len(q.items) == 0 {
		q.busy = false
		q.mu.Unlock()
		return false
	}
	it := q.items[0]
	q.items = q.items[1:]
	q.mu.Unlock()

	n := len(it.data)
	receipt, err := q.typeOut(it)
	q.mu.Lock()
	q.removedLocked(it, n)
	if err != nil && receipt.Written == 0 {
		q.receipts.forget(it) // a repetition may still type it
	}
	q.mu.Unlock()
	it.finish(receipt, err)
	return true
}

// removedLocked follows the end of an item of n bytes.
func (q *queue) removedLocked(it *item, n int) {
	if it.answer {
		q.answers -= n
	} else {
		q.bytes -= n
	}
}

// typeOut gives one input to the terminal.
func (q *queue) typeOut(it *item) (Receipt, error) {
	if it.answer {
		q.typeAnswer(it)
		return Receipt{}, nil
	}
	if err := q.checkLine(it.data); err != nil {
		return Receipt{}, err
	}
	if it.end {
		it.data = q.line.End(q.mode)
	}
	_, end := q.l.w.Bounds()
	ctx, cancel := context.WithDeadline(context.Background(), it.deadline)
	defer cancel()
	n, err := q.l.proc.Write(ctx, it.data)
	typed := it.data[:n]
	q.l.c.meter.Input.Add(int64(n))
	q.inLine = 0
	q.line, _ = q.line.Type(q.mode, typed)
	q.l.idle.touch()
	q.l.typed(q.turn.add(typed, end, q.mode.Hidden))
	if errors.Is(err, context.DeadlineExceeded) {
		err = q.notTaken(n)
	}
	return Receipt{n, end}, gone(err)
}

// checkLine refuses what a terminal in line mode would cut without a word.
func (q *queue) checkLine(data []byte) error {
	mode, err := q.l.proc.LineMode()
	if err != nil {
		return nil // the write says what is wrong
	}
	q.mode = mode
	if _, fits := q.line.Type(mode, data); !fits {
		return fmt.Errorf("%w: it takes %d bytes before Enter", ErrLineTooLong, process.MaxLine)
	}
	return nil
}
