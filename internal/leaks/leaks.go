// Package leaks finds what the tests of a package have left running. Only tests
// import it.
package leaks

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// patience is how long goroutines may take to end. A test changes it.
var patience = 5 * time.Second

// Check returns code, which m.Run returned, or 1 and says why if the tests
// passed and left goroutines that have mark in them, or leases: held lists
// those, and may be nil.
func Check(w io.Writer, code int, mark string, held func() []string) int {
	if code != 0 {
		return code
	}
	if left := Goroutines(mark); left != "" {
		fmt.Fprintf(w, "goroutines left by the tests:\n%s\n", left)
		code = 1
	}
	if held != nil && len(held()) > 0 {
		fmt.Fprintf(w, "leases left by the tests: %q\n", held())
		code = 1
	}
	return code
}

// Goroutines returns the stacks of goroutines, other than the caller's, that
// have mark in them, such as the path of a package. It gives them a moment to
// end, and returns "" when there are none.
func Goroutines(mark string) string {
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for _, stack := range strings.Split(string(buf), "\n\n")[1:] {
			if strings.Contains(stack, mark) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}
