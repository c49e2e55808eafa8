package session

import (
	"bytes"
	"context"
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

// answer types the answers to what was asked in the output from a place on,
// which is in the log by now, unless a terminal does.
func (l *live) answer(from int64) {
	if len(l.asked) == 0 {
		return
	}
	if _, to := l.w.Bounds(); l.c.terminals.absent(l.id, from, to) {
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
		data: data, answer: true, deadline: time.Now().Add(answerPatience), done: make(chan struct{}),
	})
	q.answers += len(data)
	mine := q.opened && !q.busy
	q.busy = q.busy || mine
	q.mu.Unlock()
	if mine {
		go q.typeAll()
	}
}

// typeAnswer gives answers to the terminal, unless they come too late or the line
// that they would make is too long.
func (q *queue) typeAnswer(it *item) {
	if q.checkLine(it.data) != nil || time.Now().After(it.deadline) {
		return
	}
	if q.mode.Canonical {
		if q.inLine+len(it.data) > maxLineAnswers {
			return
		}
		q.inLine += len(it.data)
	}
	ctx, cancel := context.WithDeadline(context.Background(), it.deadline)
	defer cancel()
	n, _ := q.l.proc.Write(ctx, it.data)
	q.line, _ = q.line.Type(q.mode, it.data[:n])
}
