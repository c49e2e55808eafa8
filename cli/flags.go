package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A UsageError is a command line that cannot be run. Nothing was done.
type UsageError struct {
	text string
	hint string
}

// Usage returns a *UsageError: what is wrong, and what to do instead.
func Usage(text, hint string) error { return &UsageError{text, hint} }

func (e *UsageError) Error() string { return e.text + "; " + e.hint }

// ParseFlags parses args up to "--" and returns what follows; a word that is no
// flag before that is refused. With --help it prints the flags and returns
// flag.ErrHelp. The first line of usage is the form of the command.
func ParseFlags(fs *flag.FlagSet, args []string, usage string, stdout io.Writer) ([]string, error) {
	if err := parse(fs, args, 0, usage, stdout); err != nil {
		return nil, err
	}
	rest := fs.Args()
	n := len(args) - len(rest)
	switch {
	case len(rest) == 0 || n > 0 && args[n-1] == "--":
		return rest, nil
	case slices.Contains(rest, "--"):
		return nil, noArgument(fs, rest[0], usage)
	}
	return nil, Usage(fmt.Sprintf("%s has no argument %.64q", fs.Name(), rest[0]), meant(fs, args[:n], rest))
}

// meant is a command line in which "--" was forgotten.
func meant(fs *flag.FlagSet, before, behind []string) string {
	return "did you mean: " + commandText(slices.Concat([]string{"holdfast", fs.Name()}, before, []string{"--"}, behind))
}

// ParseWords parses flags that stand before, between or behind the words of a
// command, and returns the words: what follows "--" is among them.
func ParseWords(fs *flag.FlagSet, args []string, usage string, stdout io.Writer) ([]string, error) {
	words, rest, err := splitFlags(fs, args, usage, stdout)
	return append(words, rest...), err
}

// splitFlags parses flags, and returns the words among them and what follows
// "--".
func splitFlags(fs *flag.FlagSet, args []string, usage string, stdout io.Writer) (words, rest []string, err error) {
	for at := 0; ; at = len(args) - len(rest) + 1 {
		if err := parse(fs, args, at, usage, stdout); err != nil {
			return nil, nil, err
		}
		rest = fs.Args()
		if n := len(args) - len(rest); len(rest) == 0 || n > at && args[n-1] == "--" {
			return words, rest, nil
		}
		words = append(words, rest[0])
	}
}

// parse parses the flags at a place of args, up to the next word.
func parse(fs *flag.FlagSet, args []string, at int, usage string, stdout io.Writer) error {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	if err := fs.Parse(args[at:]); err != nil {
		return flagError(fs, err, args, usage, stdout)
	}
	return nil
}

func noArgument(fs *flag.FlagSet, word, usage string) error {
	usage, _, _ = strings.Cut(usage, "\n")
	return Usage(fmt.Sprintf("%s has no argument %.64q", fs.Name(), word), "usage: "+usage)
}

// flagError says what is wrong with a flag of args, or helps.
func flagError(fs *flag.FlagSet, err error, args []string, usage string, stdout io.Writer) error {
	if errors.Is(err, flag.ErrHelp) {
		return printUsage(fs, usage, stdout)
	}
	hint := fmt.Sprintf("holdfast %s --help lists the flags", fs.Name())
	if strings.HasPrefix(err.Error(), "flag provided but not defined: -") {
		return unknownFlag(fs, args, usage, hint)
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return Usage(FlagWord(&flag.Flag{Name: name})+" needs a value", hint)
	}
	var value, name string
	if n, _ := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &name); n == 2 {
		if f := fs.Lookup(strings.TrimSuffix(name, ":")); f != nil && isTime(f) {
			return noTime(f, value)
		}
	}
	if n, _ := fmt.Sscanf(err.Error(), "invalid boolean value %q for -%s", &value, &name); n == 2 {
		return Usage(fmt.Sprintf("%s %.64q is neither true nor false", FlagWord(&flag.Flag{Name: strings.TrimSuffix(name, ":")}), value), "give the flag alone")
	}
	return Usage(strings.Replace(err.Error(), " for flag -", " for flag --", 1), hint)
}

// unknownFlag refuses the flag of args that fs has stopped behind. It may be
// text, where that may stand behind "--"; flags behind it are still flags then.
func unknownFlag(fs *flag.FlagSet, args []string, usage, hint string) error {
	at := len(args) - fs.NArg() - 1
	before, behind := slices.Clone(args[:at]), slices.Clone(args[at:])
	var known []string
	fs.VisitAll(func(f *flag.Flag) {
		word := FlagWord(f)
		known = append(known, word)
		if f.DefValue == "false" && slices.Contains(behind, word) {
			before = append(before, word)
			behind = slices.DeleteFunc(behind, func(w string) bool { return w == word })
		}
	})
	usage, _, _ = strings.Cut(usage, "\n")
	if at > 0 && strings.Contains(usage, " [--] ") {
		hint = meant(fs, before, behind)
	}
	typed, _, _ := strings.Cut(args[at], "=")
	return Usage(fmt.Sprintf("unknown flag %.64q", typed), DidYouMean(typed, known, hint))
}

func isTime(f *flag.Flag) bool {
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	_, ok = g.Get().(time.Duration)
	return ok
}

// noTime refuses the value of a flag that takes a time.
func noTime(f *flag.Flag, value string) error {
	if value != "" && strings.Trim(value, "0123456789.") == "" {
		return Usage(fmt.Sprintf("%s %.64q has no unit", FlagWord(f), value), fmt.Sprintf("did you mean %.64ss?", value))
	}
	return Usage(fmt.Sprintf("%s %.64q is no time", FlagWord(f), value), "give one such as 500ms or 30s")
}

// printUsage prints what a command does and its flags. It returns flag.ErrHelp.
func printUsage(fs *flag.FlagSet, usage string, stdout io.Writer) error {
	if l, ok := stdout.(*flagList); ok {
		fs.VisitAll(func(f *flag.Flag) { l.flags = append(l.flags, f) })
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n", usage)
	fs.VisitAll(func(f *flag.Flag) { printFlag(&b, f) })
	if _, err := io.WriteString(stdout, Prose(stdout, b.String())); err != nil {
		return err
	}
	return flag.ErrHelp
}

// printFlag describes a flag in a line or two.
func printFlag(w io.Writer, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	if value != "" {
		value = " " + strings.ToUpper(value)
	}
	fmt.Fprintf(w, "  %s%s\n        %s", FlagWord(f), value, text)
	if f.DefValue != "" && f.DefValue != "false" {
		fmt.Fprintf(w, " (%s)", f.DefValue)
	}
	fmt.Fprintln(w)
}

// DidYouMean names the known word that is nearest to what was typed, or gives
// the other hint if none is near.
func DidYouMean(typed string, known []string, otherwise string) string {
	best, nearest := "", math.MaxInt
	for _, k := range known {
		if d := distance(strings.ToLower(typed), strings.ToLower(k)); d < nearest {
			best, nearest = k, d
		}
	}
	if nearest > max(2, len(typed)/3) || 2*nearest > len(typed) {
		return otherwise
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is how many bytes must be put in, taken out, replaced or swapped with
// the next to turn a into b.
func distance(a, b string) int {
	var before []int // the row before row
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			next[j+1] = min(cost, next[j]+1, row[j+1]+1)
		}
		before, row = row, next
	}
	return row[len(b)]
}

// StoreDefault describes what StoreDir chooses, for the help of commands.
const StoreDefault = "else $HOLDFAST_STORE, $XDG_STATE_HOME/holdfast or ~/.local/state/holdfast"

// NothingToResume is the hint of who is to go on with a session.
const NothingToResume = "without --resume and --continue one is made"

// CheckStore fails where no store is, for who wants what is in one. The hint
// says what makes one.
func CheckStore(dir, hint string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store in %.200q yet; %s, or give another --store", dir, hint)
	}
	return nil
}

// StoreDir is where the sessions are, unless the command line says so.
func StoreDir(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("HOLDFAST_STORE")
	}
	if dir != "" {
		return filepath.Abs(dir)
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "holdfast"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", Usage("no place for the sessions: "+strings.TrimPrefix(err.Error(), "user home dir: "), "give --store")
	}
	return filepath.Join(home, ".local", "state", "holdfast"), nil
}
