package main

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A family is a metric as the text format has it.
type family struct {
	help, kind string
	samples    []string // names with labels, in their order
	values     map[string]float64
}

var (
	helpLine   = regexp.MustCompile(`^# HELP (holdfast_[a-z_]+) (.+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE (holdfast_[a-z_]+) (counter|gauge|histogram)$`)
	sampleLine = regexp.MustCompile(`^(holdfast_[a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$`)
)

// parseMetrics reads the text format 0.0.4, stricter than Prometheus does, and
// with its rules for names.
func parseMetrics(t *testing.T, text string) map[string]*family {
	t.Helper()
	all := make(map[string]*family)
	var name string
	for n, line := range strings.SplitAfter(text, "\n") {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			if line != "" {
				t.Errorf("line %d: %q does not end", n+1, line)
			}
			continue
		}
		if m := helpLine.FindStringSubmatch(line); m != nil {
			if name = m[1]; all[name] != nil {
				t.Errorf("line %d: %s comes twice", n+1, name)
			}
			all[name] = &family{help: m[2], values: make(map[string]float64)}
			continue
		}
		f := all[name]
		if m := typeLine.FindStringSubmatch(line); m != nil && f != nil && m[1] == name && f.kind == "" {
			f.kind = m[2]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || f == nil || f.kind == "" {
			t.Fatalf("line %d: %q is nothing that may come here", n+1, line)
		}
		suffix, own := strings.CutPrefix(m[1], name)
		if _, twice := f.values[m[1]+m[2]]; twice || !own || suffix != "" && f.kind != "histogram" {
			t.Errorf("line %d: sample %s%s of %s, a %s", n+1, m[1], m[2], name, f.kind)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Errorf("line %d: value %q: %v", n+1, m[3], err)
		}
		f.samples = append(f.samples, m[1]+m[2])
		f.values[m[1]+m[2]] = v
	}
	for name, f := range all {
		f.check(t, name)
	}
	return all
}

// check goes by the naming rules, and by what a kind promises.
func (f *family) check(t *testing.T, name string) {
	t.Helper()
	if len(f.samples) == 0 || !strings.HasSuffix(f.help, ".") {
		t.Errorf("%s has %d samples, help %q", name, len(f.samples), f.help)
	}
	if strings.HasSuffix(name, "_total") != (f.kind == "counter") {
		t.Errorf("%s is a %s", name, f.kind)
	}
	if f.kind == "histogram" {
		f.checkHistogram(t, name)
	}
	for sample, v := range f.values {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v", sample, v)
		}
	}
}

func (f *family) checkHistogram(t *testing.T, name string) {
	t.Helper()
	buckets := f.samples[:len(f.samples)-2]
	bound, count := math.Inf(-1), 0.0
	for _, b := range buckets {
		le, found := strings.CutPrefix(b, name+`_bucket{le="`)
		next, err := strconv.ParseFloat(strings.TrimSuffix(le, `"}`), 64)
		if !found || err != nil || next <= bound || f.values[b] < count {
			t.Errorf("%s: bucket %s %v after one for %v with %v", name, b, f.values[b], bound, count)
		}
		bound, count = next, f.values[b]
	}
	if rest := f.samples[len(buckets):]; !math.IsInf(bound, 1) || rest[0] != name+"_sum" || rest[1] != name+"_count" || f.values[rest[1]] != count {
		t.Errorf("%s ends with a bucket for %v that has %v, %q, count %v", name, bound, count, rest, f.values[rest[1]])
	}
}

// metrics asks the server for its numbers, by their sample.
func (ts *testServer) metrics() map[string]float64 {
	ts.t.Helper()
	a := ts.do("GET", "/metrics", "")
	if got, want := a.header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8"; a.status != http.StatusOK || got != want {
		ts.t.Fatalf("metrics: %d, Content-Type %q, want %q", a.status, got, want)
	}
	values := make(map[string]float64)
	for _, f := range parseMetrics(ts.t, a.body) {
		maps.Copy(values, f.values)
	}
	return values
}

// wantMetrics compares some numbers.
func (ts *testServer) wantMetrics(want map[string]float64) {
	ts.t.Helper()
	got := ts.metrics()
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			ts.t.Errorf("%s = %v, want %v", name, g, v)
		}
	}
}

// The numbers are of a process of their own, which begins with nothing.
func TestMetricsCountWhatHappens(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	ts := p.client(t)
	ts.wantMetrics(map[string]float64{
		`holdfast_sessions{state="running"}`: 0, `holdfast_sessions{state="unreadable"}`: 0, "holdfast_sessions_live": 0, "holdfast_leases_held": 1,
		"holdfast_runs_total": 0, "holdfast_output_bytes_total": 0, "holdfast_input_bytes_total": 0, "holdfast_append_duration_seconds_count": 0,
		"holdfast_connections": 1, "holdfast_streams": 0, "holdfast_readers": 0, "holdfast_lease_refusals_total": 0, "holdfast_storage_errors_total": 0,
		fmt.Sprintf(`holdfast_build_info{version=%q,goversion=%q}`, version(), runtime.Version()): 1,
	})
	if _, ok := ts.metrics()[`holdfast_sessions{state="live"}`]; ok {
		t.Error("live is no state of its own")
	}
	v := create(ts, "it", "stty -echo; printf ready; read x; printf done; exec cat")
	ts.awaitOutput(v.ID, "ready")
	follow := ts.events("/sessions/" + v.ID + "/events?from=0")
	follow.await("live")
	ts.do("POST", "/sessions/it/input?enter=1", "hello")
	follow.await("output")
	ended := create(ts, "", "exit").ID
	ts.output(ended)
	eventually(t, "the end of its lease", func() bool { return ts.metrics()["holdfast_leases_held"] == 2 })
	damage(t, dir, ended, "{")
	now := ts.metrics()
	if now["holdfast_append_duration_seconds_count"] < 2 || now["holdfast_append_duration_seconds_sum"] <= 0 {
		t.Errorf("appends: %v in %v s", now["holdfast_append_duration_seconds_count"], now["holdfast_append_duration_seconds_sum"])
	}
	ts.wantMetrics(map[string]float64{
		`holdfast_sessions{state="running"}`: 1, `holdfast_sessions{state="unreadable"}`: 1, "holdfast_sessions_live": 1, "holdfast_leases_held": 2,
		"holdfast_runs_total": 2, "holdfast_output_bytes_total": float64(len("readydone")), "holdfast_input_bytes_total": float64(len("hello\r")),
		"holdfast_streams": 1, "holdfast_readers": 1, "holdfast_sessions_failing": 0,
	})
	follow.close()
	eventually(t, "the end of the stream", func() bool { now := ts.metrics(); return now["holdfast_streams"] == 0 && now["holdfast_readers"] == 0 })
	ts.do("POST", "/sessions/it/stop", "")
	now = ts.metrics()
	if now[`holdfast_sessions{state="stopped"}`] != 1 || now["holdfast_sync_duration_seconds_count"] < 1 {
		t.Errorf("after a stop: %v stopped, %v syncs", now[`holdfast_sessions{state="stopped"}`], now["holdfast_sync_duration_seconds_count"])
	}
}

func TestMetricsCountRefusedLeases(t *testing.T) {
	dir := shortStore(t)
	p := startServerProcess(t, "", dir)
	ts := p.client(t)
	if got := hold(t, dir, "", "run", "--name", "it", "--", "sh", "-c", "printf ready; exec cat"); got.Status != 0 {
		t.Fatalf("run = %+v", got)
	}
	_, kill := runHasIt(t, dir)
	defer kill()
	wantProblem(t, ts.do("POST", "/resume", `{"id":"it"}`), http.StatusConflict, "held")
	ts.wantMetrics(map[string]float64{"holdfast_lease_refusals_total": 1, "holdfast_sessions_live": 0, `holdfast_sessions{state="running"}`: 1})
}

// A name from outside stays within its quotes.
func TestMetricsAreEscaped(t *testing.T) {
	ts := startServer(t, nil)
	ts.s.about.Version = "a\\b\"c\nd"
	if got := ts.do("GET", "/metrics", "").body; !strings.Contains(got, `{version="a\\b\"c\nd"`) {
		t.Errorf("version is not escaped:\n%.300s", got)
	}
	ts.metrics()
}

func TestEveryMetricIsDocumented(t *testing.T) {
	page := readPage(t, "docs/operations.md")
	ts := startServer(t, nil)
	families := parseMetrics(t, ts.do("GET", "/metrics", "").body)
	for name, f := range families {
		if !regexp.MustCompile("(?m)^\\| `" + name + "`(?:\\{.*\\})? \\| " + f.kind + " \\|").MatchString(page) {
			t.Errorf("docs/operations.md has no %s %s", f.kind, name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(holdfast_[a-z_]+)").FindAllStringSubmatch(page, -1) {
		if families[m[1]] == nil {
			t.Errorf("docs/operations.md has %s, which is no metric", m[1])
		}
	}
	if list := slices.Sorted(maps.Keys(families)); len(list) < 10 {
		t.Errorf("there are only %q", list)
	}
}
