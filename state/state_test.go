package state

import (
	"errors"
	"testing"
)

var (
	allStates = []State{New, Pending, Running, Idle, Stopped, Ended, Interrupted}
	allEvents = []Event{Start, GoIdle, Resume, UserStop, Exit, GatewayShutdown}
)

// The table is written out cell by cell, in the order of allEvents; "-" is
// illegal. It is deliberately not derived from the matrix.
func TestEveryCell(t *testing.T) {
	const no = State("-")
	want := map[State][6]State{
		New:         {Running, no, no, no, no, no},
		Pending:     {no, no, no, Stopped, Ended, Interrupted},
		Running:     {no, Idle, Running, Stopped, Ended, Interrupted},
		Idle:        {no, Idle, Running, Stopped, Ended, Interrupted},
		Stopped:     {Running, no, no, Stopped, Stopped, Stopped},
		Ended:       {Running, no, no, Ended, Ended, Ended},
		Interrupted: {Running, no, no, Interrupted, Interrupted, Interrupted},
	}
	cells := 0
	for _, from := range allStates {
		for i, ev := range allEvents {
			cells++
			got, err := Next(from, ev)
			if want := want[from][i]; want == no {
				if !errors.Is(err, ErrIllegal) || got != from {
					t.Errorf("Next(%q, %q) = %q, %v; want the state unchanged and ErrIllegal", from, ev, got, err)
				}
			} else if err != nil || got != want {
				t.Errorf("Next(%q, %q) = %q, %v; want %q", from, ev, got, err, want)
			}
		}
	}
	if cells != 42 {
		t.Errorf("checked %d cells, want 42", cells)
	}
}

func TestUnknownNamesAreIllegal(t *testing.T) {
	for _, tt := range []struct {
		from State
		ev   Event
	}{{"paused", Start}, {Running, "reboot"}, {"paused", "reboot"}} {
		got, err := Next(tt.from, tt.ev)
		if !errors.Is(err, ErrIllegal) || got != tt.from {
			t.Errorf("Next(%q, %q) = %q, %v; want the state unchanged and ErrIllegal", tt.from, tt.ev, got, err)
		}
	}
}

func TestErrorNamesStateAndEvent(t *testing.T) {
	_, err := Next(Running, Start)
	if got, want := err.Error(), "illegal transition: start of a running session"; got != want {
		t.Errorf("error text = %q, want %q", got, want)
	}
}

func TestLive(t *testing.T) {
	want := map[State]bool{Pending: true, Running: true, Idle: true}
	for _, s := range allStates {
		if got := s.Live(); got != want[s] {
			t.Errorf("%q.Live() = %v, want %v", s, got, want[s])
		}
		if !s.Valid() {
			t.Errorf("%q.Valid() = false, want true", s)
		}
	}
	if State("paused").Valid() {
		t.Error(`State("paused").Valid() = true, want false`)
	}
}

func TestTerminationPrecedence(t *testing.T) {
	for _, tt := range []struct {
		stop, closing bool
		want          Event
	}{
		{false, false, Exit},
		{false, true, GatewayShutdown},
		{true, false, UserStop},
		{true, true, UserStop},
	} {
		if got := TerminationEvent(tt.stop, tt.closing); got != tt.want {
			t.Errorf("TerminationEvent(%v, %v) = %q, want %q", tt.stop, tt.closing, got, tt.want)
		}
	}
}

func TestClassifyInterrupt(t *testing.T) {
	for _, tt := range []struct {
		alive, restarted bool
		want             Class
		recovery         Recovery
	}{
		{true, false, Disconnected, WaitForAttach},
		{true, true, Orphaned, Respawn},
		{false, false, Crashed, Respawn},
		{false, true, Crashed, Respawn},
	} {
		got := ClassifyInterrupt(tt.alive, tt.restarted)
		if got != tt.want || got.Recovery() != tt.recovery {
			t.Errorf("ClassifyInterrupt(%v, %v) = %q, %q; want %q, %q",
				tt.alive, tt.restarted, got, got.Recovery(), tt.want, tt.recovery)
		}
	}
}
