// Package metrics counts how long things take, and writes numbers in the text
// format of Prometheus, version 0.0.4. It knows nothing of what is counted.
package metrics

import (
	"sync/atomic"
	"time"
)

// bounds are the upper ends of a Histogram's buckets. They go from a write to
// the page cache to a disk that hangs.
var bounds = [...]time.Duration{
	10 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second,
}

// A Histogram counts durations by their size. The zero value is ready, and a
// nil one counts nothing. Its methods may be called from any goroutine.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Int64 // not added up; the last has what is over all bounds
	sum     atomic.Int64                  // nanoseconds
}

// Observe counts d: at the cost of two atomic additions.
func (h *Histogram) Observe(d time.Duration) {
	if h == nil {
		return
	}
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}
