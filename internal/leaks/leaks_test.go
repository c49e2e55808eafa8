package leaks

import (
	"strings"
	"testing"
	"time"
)

func TestGoroutinesAreFound(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 0
	stop := make(chan struct{})
	go forgotten(stop)
	stop <- struct{}{} // it runs
	if got := Goroutines("leaks.forgotten"); !strings.Contains(got, "leaks.forgotten") {
		t.Errorf("Goroutines = %q, want the one that is left", got)
	}
	var said strings.Builder
	if code := Check(&said, 0, "leaks.forgotten", nil); code != 1 || !strings.Contains(said.String(), "goroutines left") {
		t.Errorf("Check = %d, %q; want 1, and the one that is left", code, &said)
	}
	close(stop)
	patience = time.Minute
	if got := Goroutines("leaks.forgotten"); got != "" {
		t.Errorf("Goroutines = %q, want none after its end", got)
	}
	if code := Check(&said, 0, "leaks.forgotten", func() []string { return []string{"a.lock"} }); code != 1 || !strings.Contains(said.String(), `["a.lock"]`) {
		t.Errorf("Check = %d, %q; want 1, and the lease", code, &said)
	}
	if code := Check(&said, 2, "leaks.forgotten", nil) + Check(&said, 0, "leaks.forgotten", nil); code != 2 {
		t.Errorf("Check of 2 and of 0 = %d together, want 2", code)
	}
}

func forgotten(stop chan struct{}) {
	<-stop
	<-stop
}
