package session_test

// A rule is what must be true of every state; its text is what is wrong when
// it is not.
type rule int8

const (
	whole rule = iota // none is broken
	twoHolders
	twoPrograms
	unleased
	overtaken
	untrue
	untold
	failedBound
	failedRow
	boundGone
	boundOther
	apart
	leftBehind
	deadlock
)

func (r rule) String() string {
	return [...]string{
		whole:       "nothing is wrong",
		twoHolders:  "two take the lease of a session for their own",
		twoPrograms: "two programs of a session are running",
		unleased:    "a row is written without its lease",
		overtaken:   "a row is written after somebody else has claimed it",
		untrue:      "a row says running, nobody has its lease, and no holder has died",
		untold:      "readers are told what is not saved",
		failedBound: "a resume that fails has moved the binding",
		failedRow:   "a resume that fails has changed the row",
		boundGone:   "a session is bound by who has deleted it",
		boundOther:  "bound is another session than the last that was resumed",
		apart:       "the leases are not those of the live sessions",
		leftBehind:  "a lease, bindMu, a reservation or a life is left behind",
		deadlock:    "all wait for each other",
	}[r]
}

// broken returns a rule that a state breaks, or whole.
func (w *world) broken() rule {
	if w.fault != whole {
		return w.fault
	}
	for s := range int8(sessions) {
		if r := w.brokenSession(s); r != whole {
			return r
		}
	}
	for p := range int8(processes) {
		if w.bindsGone(p) {
			return boundGone
		}
	}
	if w.quiet() {
		return w.brokenQuiet()
	}
	return whole
}

// brokenSession has the rules for one session.
func (w *world) brokenSession(s int8) rule {
	var holders, programs int
	for i := range w.actors {
		a := &w.actors[i]
		if a.op == nothing || a.op == over || a.s != s {
			continue
		}
		if a.file.held {
			holders++
		}
		if a.program {
			programs++
		}
		if a.told > a.saved {
			return untold
		}
	}
	switch r := w.rows[s]; {
	case holders > 1:
		return twoHolders
	case programs > 1:
		return twoPrograms
	case r.state == running && holders == 0 && !r.orphan:
		return untrue
	}
	return whole
}

// bindsGone reports whether a process has a session bound that it has deleted
// and is not about to unbind. What another process has deleted stays bound: it
// is found to be gone by who asks for it.
func (w *world) bindsGone(p int8) bool {
	s := w.procs[p].bound
	if s == none || w.rows[s].state != gone || w.rows[s].by != p {
		return false
	}
	for i := range requests {
		if a := w.actors[i]; a.op == remove && a.p == p && a.s == s {
			return false
		}
	}
	return true
}

// waiting reports whether a request is under way.
func (w *world) waiting() bool {
	for i := range requests {
		if o := w.actors[i].op; o != nothing && o != over {
			return true
		}
	}
	return false
}

// quiet reports whether no request is under way, no start and no end.
func (w *world) quiet() bool {
	for i := requests; i < len(w.actors); i++ {
		if a := &w.actors[i]; a.op == run && (a.told == 0 || !a.program) {
			return false
		}
	}
	return !w.waiting()
}

// brokenQuiet has the rules for a quiet state.
func (w *world) brokenQuiet() rule {
	for i := range w.actors {
		if a := &w.actors[i]; a.file.held != (a.op == run) || a.file.locked != a.file.held {
			return apart
		}
	}
	for _, p := range w.procs {
		if p.bound != p.admitted {
			return boundOther
		}
	}
	return whole
}

// brokenFailed has the rules for a resume that fails, at the moment when it
// does: it has the lease still, and after that only gives back.
func (w *world) brokenFailed(me *actor) rule {
	switch {
	case me.moved:
		return failedBound
	case me.was != gone && w.rows[me.s].state != me.was:
		return failedRow
	}
	return whole
}
