package session_test

const crash = "crashes"

// each calls yield with every state that can follow w.
func (m model) each(w world, yield func(actor name, did string, next world)) {
	for i := range w.actors {
		for _, begun := range m.begun(&w, i) {
			for _, alternative := range []bool{false, true} {
				next := w
				next.actors[i] = begun
				who := next.name(i)
				if did, ok := m.step(&next, i, alternative); ok {
					yield(who, did, next)
				}
			}
		}
	}
	for p := range int8(processes) {
		if next, ok := w.crash(p); ok {
			yield(name{i: requests + lives + p}, crash, next)
		}
	}
}

// begun returns what an actor may be at now.
func (m model) begun(w *world, i int) (all []actor) {
	switch a := w.actors[i]; {
	case a.op == over:
		return nil
	case a.op != nothing:
		return []actor{a}
	case i >= requests:
		return nil
	}
	for _, q := range m.asks[i] {
		all = append(all, actor{op: q.op, p: processOf[i], s: q.s})
	}
	return all
}

// step lets an actor do its next action, or the other thing that may come of
// it. It reports false if that cannot be now.
func (m model) step(w *world, i int, alternative bool) (did string, ok bool) {
	me := &w.actors[i]
	for {
		list := m.lists[me.op]
		if me.undoes {
			list = m.lists[undo]
		}
		if int(me.pc) == len(list) {
			w.answer(i)
			return "answered", !alternative
		}
		a := list[me.pc]
		do, did := a.do, a.name
		if alternative && a.or != nil {
			do, did = a.or, a.orName
		}
		switch v := do(w, me); {
		case v == skips:
			me.pc++
		case v == waits, alternative && a.or == nil:
			return "", false
		default:
			w.goOn(me, v, list)
			if int(me.pc) == len(list) && !me.undoes {
				w.answer(i)
			}
			return did, true
		}
	}
}

// goOn sets what an actor does next.
func (w *world) goOn(me *actor, v verdict, list []*action) {
	switch v {
	case goes:
		me.pc++
	case again:
		me.pc = index(list, open)
	case isLive:
		me.pc = index(list, admit)
	case fails, quits:
		if v == fails && me.op == resume {
			w.fault = w.brokenFailed(me)
		}
		me.pc, me.undoes = 0, true
		me.latest, me.was = false, gone
	}
}

// answer ends an actor, which must have given back what it took.
func (w *world) answer(i int) {
	me := &w.actors[i]
	if me.file.inode != 0 || me.bind || me.reserved || me.entered {
		w.fault = leftBehind
	}
	w.end(i)
}

func (w *world) end(i int) {
	w.actors[i] = actor{}
	if i < requests {
		w.actors[i].op = over
	}
}

// crash ends a process that is at something: the kernel frees its locks and
// hangs up its programs. It starts again with nothing bound, and gets the
// requests that it has not had yet.
func (w world) crash(p int8) (_ world, ok bool) {
	if w.procs[p].crashed {
		return w, false
	}
	for i, a := range w.actors {
		if a.op == nothing || a.op == over || a.p != p {
			continue
		}
		if a.file.held && w.rows[a.s].state == running {
			w.rows[a.s].orphan = true
		}
		w.end(i)
		ok = true
	}
	w.procs[p] = newProc
	w.procs[p].crashed = true
	return w, ok
}
