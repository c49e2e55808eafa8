// Package leaks finds what the tests of a package have left running. Only tests
// import it.
package leaks

import (
	"runtime"
	"strings"
	"time"
)

// patience is how long goroutines may take to end. A test changes it.
var patience = 5 * time.Second

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
