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
			return c.pastReceipt(ctx, id, in, err)
		}
	}
	return l.input.push(ctx, in)
}

// A queue types the inputs of one life in the order in which they came. The
// sender that finds it idle types what the terminal takes of its own at once. A
// goroutine does the rest, until the line is empty: the wait of a sender may
// end before that.
type queue struct {
	l        *live
	timeout  time.Duration
	receipts *receipts // set by begin

	mu      sync.Mutex // guards the fields below; never held while typing
	items   []*item
	bytes   int  // of inputs in line, and of the one being typed
	answers int  // the same of answers
	opened  bool // the program runs
	busy    bool // somebody types
	closed  error

	// Used only by who is busy.
	mode   process.LineMode
	line   process.Line // what the terminal has of an unfinished line
	inLine int          // bytes of answers since the last input, in line mode
	turn   turnText
}

// An item is one input on its way.
type item struct {
	data     []byte
	key      string // Input.Key, if receipts has it
	size     int    // of data, as the queue counts it
	answer   bool   // to what the program asked: no input
	end      bool   // Input.End
	deadline time.Time
	done     chan struct{} // closed when the next two are final
	receipt  Receipt       // so far
	err      error
}

func newQueue(l *live, timeout time.Duration) *queue { return &queue{l: l, timeout: timeout} }

// push types in, or waits until it has been typed.
func (q *queue) push(ctx context.Context, in Input) (Receipt, error) {
	it := &item{data: in.Data, size: len(in.Data), end: in.End, deadline: time.Now().Add(q.timeout), done: make(chan struct{})}
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
		q.typeFirst()
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
			q.bytes -= it.size
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
		go q.typeAll(q.next())
	}
}

// close refuses all further input, and what is still in line, with err.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = err
	for _, it := range q.items {
		q.removedLocked(it)
		q.receipts.forget(it)
		it.finish(Receipt{}, err)
	}
	q.items = nil
}

// typeFirst types the first item in line as far as that takes no wait. The
// caller is busy, and is so no more.
func (q *queue) typeFirst() {
	it := q.next()
	if !q.typeNow(it) {
		go func() {
			q.typeRest(it)
			q.typeAll(q.next())
		}()
	} else if it = q.next(); it != nil {
		go q.typeAll(it)
	}
}

// typeAll types an item and all that are in line behind it. The caller is busy,
// and is so no more.
func (q *queue) typeAll(it *item) {
	for ; it != nil; it = q.next() {
		if !q.typeNow(it) {
			q.typeRest(it)
		}
	}
}

// next takes the first item out of the line. Without one it returns nil, and
// nobody is busy any more.
func (q *queue) next() *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		q.busy = false
		return nil
	}
	it := q.items[0]
	q.items = q.items[1:]
	return it
}

// typeNow types what the terminal takes of an item at once, and reports whether
// that was the end of it.
func (q *queue) typeNow(it *item) bool {
	err := q.admit(it)
	if err == nil {
		_, it.receipt.Cursor = q.l.w.Bounds()
		it.receipt.Written, err = q.l.proc.TryWrite(it.data)
	}
	if err == nil && it.receipt.Written < len(it.data) {
		return false
	}
	q.finish(it, err)
	return true
}

// typeRest types what typeNow has left of an item.
func (q *queue) typeRest(it *item) {
	ctx, cancel := context.WithDeadline(context.Background(), it.deadline)
	defer cancel()
	n, err := q.l.proc.Write(ctx, it.data[it.receipt.Written:])
	it.receipt.Written += n
	if errors.Is(err, context.DeadlineExceeded) {
		err = q.notTaken(it.receipt.Written)
	}
	q.finish(it, err)
}

// admit prepares an item to be typed, or says why it is not.
func (q *queue) admit(it *item) error {
	if err := q.checkLine(it.data); err != nil {
		return err
	}
	if it.answer {
		return q.admitAnswer(it)
	}
	q.inLine = 0
	if it.end {
		it.data = q.line.End(q.mode)
	}
	return nil
}

// finish follows what was typed of an item, and tells its sender.
func (q *queue) finish(it *item, err error) {
	if typed := it.data[:it.receipt.Written]; it.receipt.Written > 0 {
		q.line, _ = q.line.Type(q.mode, typed)
		if !it.answer {
			q.l.c.meter.Input.Add(int64(len(typed)))
			q.l.idle.touch()
			q.l.typed(q.turn.add(typed, it.receipt.Cursor, q.mode.Hidden))
		}
	}
	q.mu.Lock()
	q.removedLocked(it)
	if err != nil && it.receipt.Written == 0 {
		q.receipts.forget(it)
	} else {
		q.receipts.keep(it)
	}
	q.mu.Unlock()
	it.finish(it.receipt, gone(err))
}

// removedLocked follows the end of an item.
func (q *queue) removedLocked(it *item) {
	if it.answer {
		q.answers -= it.size
	} else {
		q.bytes -= it.size
	}
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
