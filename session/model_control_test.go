package session_test

// The controller's locks.
var (
	lockBind = &action{name: "lock bindMu", do: func(w *world, me *actor) verdict {
		if w.procs[me.p].bindMu {
			return waits
		}
		w.procs[me.p].bindMu, me.bind = true, true
		return goes
	}}
	unlockBind = &action{name: "unlock bindMu", do: func(w *world, me *actor) verdict {
		if !me.bind {
			return skips
		}
		w.procs[me.p].bindMu, me.bind = false, false
		return goes
	}}
	reserve = &action{name: "reserve", do: func(w *world, me *actor) verdict {
		switch w.procs[me.p].reserved[me.s] {
		case short:
			return waits
		case long:
			return fails
		}
		w.procs[me.p].reserved[me.s], me.reserved = short, true
		return goes
	}}
	reserveLong = &action{name: "reserve", do: func(w *world, me *actor) verdict {
		if w.procs[me.p].reserved[me.s] != free {
			return waits
		}
		w.procs[me.p].reserved[me.s], me.reserved = long, true
		return goes
	}}
	unreserve = &action{name: "unreserve", do: func(w *world, me *actor) verdict {
		if !me.reserved {
			return skips
		}
		w.procs[me.p].reserved[me.s], me.reserved = free, false
		return goes
	}}
)

// The life of a session in this process.
var (
	enter = &action{name: "enter", do: func(w *world, me *actor) verdict {
		switch life := w.life(me.p, me.s); {
		case life.op != run:
			*life = actor{op: run, p: me.p, s: me.s}
			me.entered = true
			return goes
		case life.told == 1:
			return isLive
		default:
			return waits
		}
	}}
	lookUp = &action{name: "look up", do: func(w *world, me *actor) verdict {
		if w.life(me.p, me.s).op == run {
			return quits
		}
		return goes
	}}
	spawn = &action{
		name: "spawn", do: func(w *world, me *actor) verdict {
			w.life(me.p, me.s).program = true
			return goes
		},
		orName: "fail to spawn", or: func(*world, *actor) verdict { return fails },
	}
	kill = &action{name: "kill", do: func(w *world, me *actor) verdict {
		life := w.life(me.p, me.s)
		if !me.entered || !life.program {
			return skips
		}
		life.program = false
		return goes
	}}
	publishStart = &action{name: "publish", do: func(w *world, me *actor) verdict {
		life := w.life(me.p, me.s)
		life.told, life.file, life.latest = 1, me.file, me.latest
		me.file, me.entered, me.latest, me.was = file{}, false, false, gone
		return goes
	}}
	publishEnd = &action{name: "publish", do: func(w *world, me *actor) verdict {
		me.told = 2
		return goes
	}}
	// The program of a life that is published ends by itself, or by a signal.
	exit = &action{name: "exit", do: func(w *world, me *actor) verdict {
		if me.told == 0 {
			return waits
		}
		me.program = false
		return goes
	}}
	// A program that is live here is ended before its session is removed.
	end = &action{name: "signal", do: func(w *world, me *actor) verdict {
		life := w.life(me.p, me.s)
		switch {
		case life.op != run:
			return skips
		case life.told == 0 || !life.program:
			return waits
		}
		life.program = false
		life.pc++
		return stays
	}}
	// What has a program leaves by itself; a request takes a life along that
	// it could not give one.
	leave = &action{name: "leave", do: func(w *world, me *actor) verdict {
		switch {
		case me.op == run:
			return goes
		case !me.entered:
			return skips
		}
		*w.life(me.p, me.s) = actor{}
		me.entered = false
		return goes
	}}
)

// The binding.
var (
	// The start has returned.
	admit = &action{name: "unreserve", do: func(w *world, me *actor) verdict {
		w.procs[me.p].admitted = me.s
		return unreserve.do(w, me)
	}}
	bind = &action{name: "bind", do: func(w *world, me *actor) verdict {
		w.procs[me.p].bound, me.moved = me.s, true
		return goes
	}}
	unbind = &action{name: "unbind", do: func(w *world, me *actor) verdict {
		p := &w.procs[me.p]
		switch {
		case p.bindMu:
			return waits
		case p.bound == me.s:
			p.bound, p.admitted = none, none
		}
		return goes
	}}
)
