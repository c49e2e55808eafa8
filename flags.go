package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// parseFlags parses args up to "--" and returns what follows; a word that is no
// flag before that is refused. With --help it prints the flags and returns
// flag.ErrHelp.
func parseFlags(fs *flag.FlagSet, args []string, usage string, stdout io.Writer) ([]string, error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := fs.Parse(args)
	if rest := fs.Args(); err == nil {
		if n := len(args) - len(rest); len(rest) > 0 && (n == 0 || args[n-1] != "--") {
			usage, _, _ = strings.Cut(usage, "\n")
			return nil, &usageError{fmt.Sprintf("%s has no argument %q", fs.Name(), shorten(rest[0])), "usage: " + usage}
		}
		return rest, nil
	}
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "usage: %s\n\n", usage)
		fs.VisitAll(func(f *flag.Flag) { printFlag(stdout, f) })
		return nil, flag.ErrHelp
	}
	hint := fmt.Sprintf("holdfast %s --help lists the flags", fs.Name())
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		var known []string
		fs.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
		name = "--" + strings.TrimLeft(name, "-")
		return nil, &usageError{fmt.Sprintf("unknown flag %q", name), didYouMean(name, known, hint)}
	}
	return nil, &usageError{err.Error(), hint}
}

// printFlag describes a flag in a line or two.
func printFlag(w io.Writer, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	if value != "" {
		value = " " + strings.ToUpper(value)
	}
	fmt.Fprintf(w, "  --%s%s\n        %s", f.Name, value, text)
	if f.DefValue != "" && f.DefValue != "false" {
		fmt.Fprintf(w, " (%s)", f.DefValue)
	}
	fmt.Fprintln(w)
}

// didYouMean names the known word that is nearest to what was typed, or gives
// the other hint if none is near.
func didYouMean(typed string, known []string, otherwise string) string {
	best, nearest := "", math.MaxInt
	for _, k := range known {
		if d := distance(typed, k); d < nearest {
			best, nearest = k, d
		}
	}
	if nearest > max(2, len(typed)/3) {
		return otherwise
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is how many bytes must be put in, taken out or replaced to turn a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// A byteSize is a flag value like 256MiB, 1GiB or 0.
type byteSize int64

// String implements flag.Value.
func (s *byteSize) String() string {
	n := int64(*s)
	for _, unit := range []string{"", "KiB", "MiB"} {
		if n == 0 || n%1024 != 0 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + "GiB"
}

// Set implements flag.Value.
func (s *byteSize) Set(v string) error {
	digits, shift := v, 0
	for unit, by := range map[string]int{"K": 10, "M": 20, "G": 30, "T": 40} {
		for _, suffix := range []string{unit + "iB", unit} {
			if d, ok := strings.CutSuffix(v, suffix); ok {
				digits, shift = d, by
			}
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64>>shift {
		return errors.New("must be a size such as 500MiB or 2GiB")
	}
	*s = byteSize(n << shift)
	return nil
}
