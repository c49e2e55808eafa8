package main

import (
	"io"
	"net/http"
	"runtime"

	"holdfast/leasefs"
	"holdfast/metrics"
	"holdfast/session"
)

// getMetrics tells Prometheus what this server has done, and what there is.
func (s *server) getMetrics(w http.ResponseWriter, r *http.Request) error {
	views, err := s.ctl.List(session.Filter{})
	if err != nil {
		return err
	}
	var t metrics.Text
	t.Info("holdfast_build_info", "Version of the server, and of Go. Always 1.",
		metrics.Label{Name: "version", Value: s.about.Version}, metrics.Label{Name: "goversion", Value: runtime.Version()})
	t.Gauge("holdfast_start_time_seconds", "Unix time at which the server was started.", float64(s.about.StartedAt.UnixMilli())/1000)
	s.sessionMetrics(&t, views)
	t.Gauge("holdfast_leases_held", "Leases that this process holds, the server's own included.", float64(len(leasefs.Held())))
	t.Gauge("holdfast_connections", "Connections of clients that are open.", float64(s.conns.Load()))
	t.Gauge("holdfast_streams", "Event streams, followed outputs, input streams and waits that are open.", float64(len(s.streams)))
	t.Gauge("holdfast_readers", "Readers that follow the output of a session.", float64(s.ctl.Readers()))

	did, stored := s.ctl.Meter(), s.ctl.StoreMeter()
	t.Counter("holdfast_runs_total", "Programs that were started.", did.Runs.Load())
	t.Counter("holdfast_output_bytes_total", "Bytes of output that were kept.", stored.Appended.Load())
	t.Counter("holdfast_input_bytes_total", "Bytes of input that programs have taken.", did.Input.Load())
	t.Counter("holdfast_storage_errors_total", "Times that output of a session could no longer be written.", did.StorageErrors.Load())
	t.Counter("holdfast_lease_refusals_total", "Leases that another process had when they were asked for.", leasefs.Refusals())
	t.Counter("holdfast_leases_lost_total", "Sessions that were lost to another process, or whose files could not be synced.", did.LostLeases.Load())
	t.Histogram("holdfast_append_duration_seconds", "Time that it took to append output to a log.", &stored.Appends)
	t.Histogram("holdfast_sync_duration_seconds", "Time that the disk took to sync a file with output.", &stored.Syncs)

	w.Header().Set("Content-Type", metrics.ContentType)
	_, err = io.WriteString(w, t.String())
	return err
}

func (s *server) sessionMetrics(t *metrics.Text, views []session.View) {
	in := make(map[string]int)
	live, troubled := 0, 0
	for _, v := range views {
		in[v.State]++
		if v.Live {
			live++
		}
		if v.StorageError != "" {
			troubled++
		}
	}
	t.Gauges("holdfast_sessions", "Sessions of the store, by their state.", "state", session.States, func(state string) float64 { return float64(in[state]) })
	t.Gauge("holdfast_sessions_live", "Sessions with a program in this server.", float64(live))
	t.Gauge("holdfast_sessions_failing", "Sessions whose output cannot be written now.", float64(troubled))
}
