package metrics

import (
	"strings"
	"testing"
	"time"
)

func TestHistogramCountsAtItsBounds(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, 10 * time.Microsecond, 10*time.Microsecond + 1, time.Second, 5 * time.Second, time.Hour} {
		h.Observe(d)
	}
	(*Histogram)(nil).Observe(time.Second)
	var text Text
	text.Histogram("x_seconds", "How long.\nReally \\.", &h)
	for _, want := range []string{
		"# HELP x_seconds How long.\\nReally \\\\.\n# TYPE x_seconds histogram\nx_seconds_bucket{le=\"1e-05\"} 2\nx_seconds_bucket{le=\"5e-05\"} 3\n",
		"x_seconds_bucket{le=\"0.5\"} 3\nx_seconds_bucket{le=\"1\"} 4\nx_seconds_bucket{le=\"5\"} 5\nx_seconds_bucket{le=\"+Inf\"} 6\n",
		"x_seconds_sum 3606.000020001\nx_seconds_count 6\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text has no\n%sin\n%s", want, text.String())
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	var h Histogram
	for b.Loop() {
		h.Observe(3 * time.Millisecond)
	}
}
