package session_test

import (
	"slices"
	"testing"
)

// variants are the protocol without one of its parts, each with requests that
// are enough to show what it is there for.
var variants = []struct {
	name   string
	asks   [requests][]ask
	weaken func(lists map[op][]*action)
	breaks rule
}{
	{
		"without bindMu", [...][]ask{{{resume, 0}}, {{resume, 1}}, nil},
		func(lists map[op][]*action) { lists[resume] = without(lists[resume], lockBind) }, boundOther,
	},
	{
		"without the inode check", [...][]ask{{{remove, 0}}, {{resume, 0}}, {{resume, 0}}},
		func(lists map[op][]*action) {
			for _, o := range []op{resume, remove, check} {
				replace(lists[o], compare, trust)
			}
		}, twoHolders,
	},
	{
		"unlink after unlock", [...][]ask{{{remove, 0}}, {{resume, 0}}, {{resume, 0}}},
		func(lists map[op][]*action) { lists[remove] = moved(lists[remove], unlock, unlink) }, twoHolders,
	},
	{
		"bound before the program has started", oneResume,
		func(lists map[op][]*action) { lists[resume] = moved(lists[resume], bind, open) }, failedBound,
	},
	{
		"saved before the program has started", oneResume,
		func(lists map[op][]*action) { lists[resume] = moved(lists[resume], saveStart, spawn) }, failedRow,
	},
	{
		"start published before it is saved", oneResume,
		func(lists map[op][]*action) { lists[resume] = moved(lists[resume], publishStart, saveStart) }, untold,
	},
	{
		"end published before it is saved", oneResume,
		func(lists map[op][]*action) { lists[run] = moved(lists[run], publishEnd, saveEnd) }, untold,
	},
	{
		"lease released before the end is saved", oneResume,
		func(lists map[op][]*action) { lists[run] = moved(lists[run], unlock, saveEnd) }, untrue,
	},
	{
		"lease kept by a resume that failed", oneResume,
		func(lists map[op][]*action) { lists[undo] = without(lists[undo], unlock) }, leftBehind,
	},
	{
		"truth made without the lease", [...][]ask{{{check, 0}}, nil, nil},
		func(lists map[op][]*action) { lists[check] = []*action{doubt, askBusy, settle} }, unleased,
	},
	{
		"deleted without unbinding", [...][]ask{{{resume, 0}}, {{remove, 0}}, nil},
		func(lists map[op][]*action) { lists[remove] = without(lists[remove], unbind) }, boundGone,
	},
	{
		"resume waits for a delete under bindMu", [...][]ask{{{resume, 0}}, {{remove, 0}}, nil},
		func(lists map[op][]*action) { replace(lists[resume], reserve, reserveLong) }, deadlock,
	},
}

var oneResume = [requests][]ask{{{resume, 0}}, nil, nil}

func replace(list []*action, a, by *action) { list[slices.Index(list, a)] = by }

func without(list []*action, a *action) []*action {
	return slices.DeleteFunc(slices.Clone(list), func(b *action) bool { return a == b })
}

// moved returns list with a right before another action.
func moved(list []*action, a, before *action) []*action {
	list = without(list, a)
	return slices.Insert(list, slices.Index(list, before), a)
}

// TestRulesHoldInEveryOrder is worth something only if it can fail.
func TestEachPartOfTheProtocolIsNeeded(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			lists := protocol()
			v.weaken(lists)
			found := model{lists, v.asks}.explore()
			if found.broken != v.breaks {
				t.Errorf("found after %d states: %v; want: %v", found.states, found.broken, v.breaks)
			}
			t.Logf("%d states, then %v:\n%s", found.states, found.broken, found.trace)
		})
	}
}
