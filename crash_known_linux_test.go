package main

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"holdfast/session"
)

// A known is what one client knows of one session.
type known struct {
	id     string
	kind   string
	parent *known       // of a fork
	view   session.View // as it was last answered
	asked  asked        // what was not answered
	gone   bool         // it was deleted

	deleting atomic.Bool // its readers may lose it at any moment

	reading  sync.Mutex // guards the fields below
	seen     []byte     // its output, as one reader has got it
	compared int        // bytes of seen that were compared with the log
}

// asked is a request that is under way, or was when the server died: it is
// done or not done.
type asked struct {
	start, stop, remove, turn bool
	name                      string
	cols, rows                uint16
}

func (k *known) String() string { return k.kind + " " + k.id }

// told takes an answer that has the whole session.
func (k *known) told(v session.View) {
	if v.ID != "" { // or that was reported
		k.view, k.asked = v, asked{}
	}
}

// answered takes an answer to a request that needs a program. Only some
// programs end by themselves, and then it may be refused.
func (k *known) answered(w *world, what string, a answer, want int) {
	k.asked = asked{}
	if a.status != want && (live(k.view) && k.kind != "quick" || a.status != 409) {
		w.t.Errorf("%s: %s: %d %s", k, what, a.status, a.body)
	}
}

func live(v session.View) bool {
	return v.State == "pending" || v.State == "running" || v.State == "idle"
}

// differs says what of a session is not as its client was told, when it is v
// after a restart. A server that resumes has done so; unseen others may have
// started it and died.
func (k *known) differs(v session.View, resumes bool, unseen int) string {
	again := resumes && k.view.AutoResume // what is interrupted is live now
	return cmp.Or(
		k.stateDiffers(v, again, unseen > 0 && k.view.AutoResume),
		k.runsDiffer(v, again, unseen),
		k.turnsDiffer(v),
		k.valuesDiffer(v),
	)
}

func (k *known) stateDiffers(v session.View, again, unseen bool) string {
	was := k.view.State
	mayEnd := k.kind == "quick"
	switch {
	case v.Live != live(v):
		return fmt.Sprintf("state %s, live %v", v.State, v.Live)
	case v.State == "interrupted" && v.Cause != "gateway_crash":
		return fmt.Sprintf("interrupted by %q", v.Cause)
	case v.State == "interrupted" && v.AutoResume && again:
		return "it was not resumed: " + v.Problem
	case v.Live && !again:
		return "it was resumed"
	case k.asked.start, k.asked.stop, k.asked.remove, v.State == was: // a deletion begins with a stop
		return ""
	case v.State == "ended" && mayEnd && (live(k.view) || was == "interrupted" && (again || unseen)):
		return ""
	case v.State == "interrupted" && live(k.view), v.Live && (live(k.view) || was == "interrupted"):
		return ""
	}
	return fmt.Sprintf("state %s, was %s", v.State, was)
}

func (k *known) runsDiffer(v session.View, again bool, unseen int) string {
	least, most := k.view.Runs, k.view.Runs+unseen
	if k.asked.start {
		most++
	}
	if again {
		most++
	}
	if v.Live {
		least++
	}
	if v.Runs < least || v.Runs > most {
		return fmt.Sprintf("%d runs, want %d to %d", v.Runs, least, most)
	}
	return ""
}

func (k *known) turnsDiffer(v session.View) string {
	most := k.view.Turns
	if k.asked.turn {
		most++
	}
	if v.Turns < k.view.Turns || v.Turns > most {
		return fmt.Sprintf("%d turns, want %d to %d", v.Turns, k.view.Turns, most)
	}
	return ""
}

func (k *known) valuesDiffer(v session.View) string {
	switch {
	case v.Name != k.view.Name && (k.asked.name == "" || v.Name != k.asked.name):
		return fmt.Sprintf("name %q, want %q or %q", v.Name, k.view.Name, k.asked.name)
	case (v.Cols != k.view.Cols || v.Rows != k.view.Rows) && (v.Cols != k.asked.cols || v.Rows != k.asked.rows):
		return fmt.Sprintf("size %dx%d, want %dx%d", v.Cols, v.Rows, k.view.Cols, k.view.Rows)
	case v.Cursor < int64(len(k.seen)):
		return fmt.Sprintf("log of %d bytes, and a reader has %d", v.Cursor, len(k.seen))
	case v.AutoResume != k.view.AutoResume && !k.asked.stop && !k.asked.remove:
		return fmt.Sprintf("auto_resume %v", v.AutoResume)
	}
	return ""
}
