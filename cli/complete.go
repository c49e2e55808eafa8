package cli

import (
	"context"
	"flag"
	"io"
	"strings"
	"time"

	"holdfast/session"
	"holdfast/state"
)

// A Candidate is a word that may come next on a command line.
type Candidate struct {
	Word  string
	About string // for the person who chooses; may be empty
}

// A flagList takes the flags of a command where its help would be printed.
type flagList struct {
	io.Writer
	flags []*flag.Flag
}

// Flags returns the flags of a command, as its help has them.
func Flags(run func(ctx context.Context, args []string, stdout, stderr io.Writer) error) []*flag.Flag {
	l := &flagList{Writer: io.Discard}
	run(context.Background(), []string{"--help"}, l, io.Discard) // fails with flag.ErrHelp
	return l.flags
}

// FlagWord is a flag as it is typed.
func FlagWord(f *flag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// completionTime is how long the completion of a word may take: somebody has
// pressed a key.
const completionTime = 2 * time.Second

// Sessions returns the words that mean a session of the store in dir, which is
// chosen as by StoreDir, of those that fit: its name if no other session has
// that, else its id. If no name begins with what was typed, the ids of all that
// fit are among them. Without a store there are none.
//
// Names that are nothing to type are left out: those with control characters,
// and those that would be taken for a flag.
func Sessions(ctx context.Context, dir, typed string, fit func(*session.View) bool) []Candidate {
	var views []session.View
	complete(ctx, dir, func(ctx context.Context, h host) { views, _ = h.list(ctx) })
	named := make(map[string]int)
	for _, v := range views {
		named[v.Name]++
	}
	var names, ids, others []Candidate
	begins := false
	for _, v := range views {
		if !fit(&v) {
			continue
		}
		about := cut(stateText(&v)+": "+programText(&v), 60)
		if typable(v.Name) && named[v.Name] == 1 {
			begins = begins || strings.HasPrefix(v.Name, typed)
			names = append(names, Candidate{v.Name, about})
			others = append(others, Candidate{v.ID, Plain(v.Name)})
		} else {
			ids = append(ids, Candidate{v.ID, cut(strings.TrimSpace(Plain(v.Name)+" "+about), 60)})
		}
	}
	if !begins {
		ids = append(ids, others...)
	}
	return append(names, ids...)
}

// Profiles returns the names of the profiles of the store in dir, if there is
// one.
func Profiles(ctx context.Context, dir string) (names []string) {
	complete(ctx, dir, func(ctx context.Context, h host) { names, _ = h.profiles(ctx) })
	return names
}

// complete asks who has the store in dir, unless that goes wrong.
func complete(ctx context.Context, dir string, ask func(ctx context.Context, h host)) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	c := newCommand("completion", "")
	c.store = dir
	if _, err := c.parse(nil, io.Discard, 0, 0); err != nil {
		return
	}
	h, err := c.open(ctx)
	if err != nil {
		return
	}
	defer h.close()
	ask(ctx, h)
}

func typable(name string) bool {
	return name != "" && name == Plain(name) && !strings.HasPrefix(name, "-") && name == strings.TrimSpace(name)
}

// Any, Live and Past are sessions that a word may mean: any, those that have a
// program, here or elsewhere, and those that can be given theirs back.
func Any(*session.View) bool    { return true }
func Live(v *session.View) bool { return state.State(v.State).Live() }
func Past(v *session.View) bool { return !Live(v) && v.State != session.Unreadable }
