package session

import (
	"bytes"
	"time"
)

const (
	maxAnswers     = 4 << 10     // bytes that wait to be typed, at most
	maxLineAnswers = 1 << 10     // bytes of them in one line, in line mode: it needs room for a person's own
	answerPatience = time.Second // after that nobody waits for an answer any more
)

// ask collects the answers to what a program asks.
func (l *live) ask(seq []byte, end byte) {
	if a := answerTo(seq, end, &l.modes, l.w.Row()); len(l.asked)+len(a) <= maxAnswers {
		l.asked = append(l.asked, a...)
	}
}

// claim reports whether what was asked in the next n bytes of output, which will
// stand at a place in the log, is answered here and not by a terminal. Behind
// the append it would be too late: a terminal might have read it, answered, and
// left.
func (l *live) claim(from int64, n int) bool {
	return len(l.asked) > 0 && l.c.terminals.absent(l.id, from, from+int64(n))
}

// answer types the answers to what was asked in the output that was kept last,
// if they are to be given here.
func (l *live) answer(mine bool) {
	if mine {
		l.input.answer(bytes.Clone(l.asked))
	}
	l.asked = l.asked[:0]
}

// answer puts answers in line, behind the inputs that wait, if there is room.
// They are no input: nobody gets a receipt for them, they are no part of a
// turn, and they wake no idle session.
func (q *queue) answer(data []byte) {
	q.mu.Lock()
	if q.closed != nil || q.answers+len(data) > maxAnswers {
		q.mu.Unlock()
		return
	}
	q.items = append(q.items, &item{
		data: data, size: len(data), answer: true, deadline: time.Now().Add(answerPatience), done: make(chan struct{}),
	})
	q.answers += len(data)
	mine := q.opened && !q.busy
	q.busy = q.busy || mine
	q.mu.Unlock()
	if mine {
		go q.typeAll(q.next())
	}
}

// admitAnswer refuses answers that come too late, and those that would make too
// long a line. Nobody asks why.
func (q *queue) admitAnswer(it *item) error {
	if time.Now().After(it.deadline) {
		return ErrNotTaken
	}
	if q.mode.Canonical {
		if q.inLine+len(it.data) > maxLineAnswers {
			return ErrLineTooLong
		}
		q.inLine += len(it.data)
	}
	return nil
}
