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
	close(stop)
	patience = time.Minute
	if got := Goroutines("leaks.forgotten"); got != "" {
		t.Errorf("Goroutines = %q, want none after its end", got)
	}
}

func forgotten(stop chan struct{}) {
	<-stop
	<-stop
}
