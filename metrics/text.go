package metrics

import (
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of a Text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A Text is numbers for Prometheus to read. Names are as the caller gives them;
// each must come once.
type Text struct{ b strings.Builder }

// A Label tells the samples of a metric apart.
type Label struct{ Name, Value string }

// Gauge adds a number that goes up and down.
func (t *Text) Gauge(name, help string, value float64) {
	t.head(name, help, "gauge")
	t.sample(name, value)
}

// Gauges adds a gauge with a sample for each value of a label.
func (t *Text) Gauges(name, help, label string, values []string, number func(value string) float64) {
	t.head(name, help, "gauge")
	for _, v := range values {
		t.sample(name, number(v), Label{label, v})
	}
}

// Info adds a gauge that is 1 and says something by its labels.
func (t *Text) Info(name, help string, labels ...Label) {
	t.head(name, help, "gauge")
	t.sample(name, 1, labels...)
}

// Counter adds a number that only grows, from 0 at the start of the process.
// Its name must end in _total.
func (t *Text) Counter(name, help string, value int64) {
	t.head(name, help, "counter")
	t.sample(name, float64(value))
}

// Histogram adds durations, in seconds. Its name must end in _seconds.
func (t *Text) Histogram(name, help string, h *Histogram) {
	t.head(name, help, "histogram")
	var count int64
	for i := range h.buckets {
		count += h.buckets[i].Load()
		le := "+Inf"
		if i < len(bounds) {
			le = format(bounds[i].Seconds())
		}
		t.sample(name+"_bucket", float64(count), Label{"le", le})
	}
	t.sample(name+"_sum", time.Duration(h.sum.Load()).Seconds())
	t.sample(name+"_count", float64(count))
}

// String returns all that was added.
func (t *Text) String() string { return t.b.String() }

var helpEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

func (t *Text) head(name, help, kind string) {
	t.b.WriteString("# HELP " + name + " " + helpEscapes.Replace(help) + "\n# TYPE " + name + " " + kind + "\n")
}

var valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (t *Text) sample(name string, value float64, labels ...Label) {
	t.b.WriteString(name)
	for i, l := range labels {
		t.b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		t.b.WriteString(l.Name + `="` + valueEscapes.Replace(l.Value) + `"`)
	}
	if len(labels) > 0 {
		t.b.WriteString("}")
	}
	t.b.WriteString(" " + format(value) + "\n")
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
