package store

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/state"
)

const testID = "0b5b1b7a-3c57-4d0a-9b5e-6f1c2a3b4c5d"

// fullRow returns a row with every field set.
func fullRow() *Row {
	at := time.Date(2026, 11, 30, 14, 5, 9, 123456789, time.UTC)
	return &Row{
		ID: testID, Name: "a <b> & \"c\" ☃\x00", Argv: []string{"bash", "", "-c", "x\ny"}, Cwd: "/tmp",
		Env: map[string]string{"A": "1", "": "2"}, Profile: "shell", State: state.Interrupted,
		Cause: state.CauseGatewayCrash, Parent: NewID(), ForkedAt: new(int64(0)), CreatedAt: at,
		StartedAt: at.Add(1), EndedAt: at.Add(2), ActiveAt: at.Add(3), ExitCode: new(0), Signal: "KILL",
		PID: 4242, PIDStart: 1 << 63, Boot: "boot", Cols: 65535, Rows: 1, Cursor: 1 << 62, Oldest: 1,
		Turns: 2, Runs: 3, AutoResume: true, Epoch: 4, Problem: "no such program",
		extra: map[string]json.RawMessage{"later": json.RawMessage(`{"nested": [1e400, {"x":"\u00e9"}]}`)},
	}
}

func mustEncode(t testing.TB, r *Row) []byte {
	t.Helper()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRowSurvivesEncoding(t *testing.T) {
	bare := &Row{ID: testID, State: state.Running}
	empty := &Row{ID: testID, State: state.Running, Argv: []string{}, Env: map[string]string{}}
	for _, want := range []*Row{fullRow(), bare, empty} {
		got, err := decodeRow(mustEncode(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := rowDiff(want, got); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
	}
}

func TestRowIsOneLineOfJSONWithTheDocumentedNames(t *testing.T) {
	row := fullRow()
	row.Parent, row.Name, row.extra = "", "a & b", nil
	want := `{"version":1,"id":"` + testID + `","name":"a & b","argv":["bash","","-c","x\ny"],"cwd":"/tmp",` +
		`"env":{"":"2","A":"1"},"profile":"shell","state":"interrupted","cause":"gateway_crash","forked_at":0,` +
		`"created_at":"2026-11-30T14:05:09.123456789Z","started_at":"2026-11-30T14:05:09.12345679Z",` +
		`"ended_at":"2026-11-30T14:05:09.123456791Z","active_at":"2026-11-30T14:05:09.123456792Z",` +
		`"exit_code":0,"signal":"KILL","pid":4242,"pid_start":9223372036854775808,"boot":"boot",` +
		`"cols":65535,"rows":1,"cursor":4611686018427387904,"oldest":1,"turns":2,"runs":3,` +
		`"auto_resume":true,"epoch":4,"problem":"no such program"}` + "\n"
	if diff := cmp.Diff(want, string(mustEncode(t, row))); diff != "" {
		t.Errorf("encoding (-want +got):\n%s", diff)
	}
}

func TestCloneSharesNothingChangeable(t *testing.T) {
	row := fullRow()
	c := row.Clone()
	if diff := rowDiff(row, c); diff != "" {
		t.Fatalf("clone (-want +got):\n%s", diff)
	}
	c.Argv[0], c.Env["A"], *c.ExitCode, *c.ForkedAt = "changed", "changed", 9, 9
	want := fullRow()
	want.Parent = row.Parent
	if diff := rowDiff(want, row); diff != "" {
		t.Errorf("the original changed with its clone (-want +got):\n%s", diff)
	}
}

func TestUnknownMembersSurviveByteForByte(t *testing.T) {
	// "Name" and "STATE" are other members than "name" and "state".
	in := `{"zz":{"deep":[{"n":12345678901234567890.0123,"s":"\u003c"}]},"version":1,"id":"` + testID + `","Name":7,"STATE":"x",` +
		`"state":"running", "a\"b": null , "list":[ 1, 2 ],"name":"n"}`
	row, err := decodeRow([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if row.Name != "n" || row.State != state.Running {
		t.Errorf("name, state = %q, %q; want n, running", row.Name, row.State)
	}
	changed := row.Clone()
	changed.Name = "renamed"
	out := string(mustEncode(t, changed))
	for _, member := range []string{
		`"zz":{"deep":[{"n":12345678901234567890.0123,"s":"\u003c"}]}`,
		`"Name":7`, `"STATE":"x"`, `"a\"b":null`, `"list":[ 1, 2 ]`, `"name":"renamed"`,
	} {
		if !strings.Contains(out, member) {
			t.Errorf("encoding has no %s: %s", member, out)
		}
	}
}

// badRows are contents of session.json that must be refused, and why.
func badRows() map[string]string {
	with := func(members string) string {
		return `{"version":1,"id":"` + testID + `","state":"running"` + members + `}`
	}
	good := with("")
	return map[string]string{
		"":                             "session.json is empty",
		strings.Repeat("\x00", 634):    "session.json is empty",
		good + "\x00\x00":              "session.json is not JSON: invalid character '\\x00' after top-level value",
		good[:len(good)-1]:             "session.json is not JSON: unexpected end of JSON input",
		good + good:                    "session.json is not JSON: invalid character '{' after top-level value",
		"\xff\xfe{":                    "session.json is not UTF-8",
		"null":                         "session.json has no version",
		"[]":                           "session.json has a JSON array, not an object",
		"7":                            "session.json has a JSON number, not an object",
		"{}":                           "session.json has no version",
		`{"version":2,"id":9}`:         "written by a newer holdfast (version 2)",
		`{"version":"1"}`:              "session.json has a version that is no version",
		`{"version":0}`:                "session.json has a version that is no version",
		`{"version":null}`:             "session.json has a version that is no version",
		`{"version":1}`:                `"" is no session id`,
		`{"VERSION":1}`:                "session.json has no version",
		with(`,"id":"../../etc"`):      `"../../etc" is no session id`,
		with(`,"state":"new"`):         `"new" is no state of a session`,
		with(`,"state":""`):            `"" is no state of a session`,
		with(`,"state":7`):             `session.json has a JSON number as "state"`,
		with(`,"argv":"bash"`):         `session.json has a JSON string as "argv"`,
		with(`,"argv":[1]`):            `session.json has a JSON number as "argv"`,
		with(`,"env":{"A":{}}`):        `session.json has a JSON object as "env"`,
		with(`,"pid":1.5`):             `session.json has a JSON number 1.5 as "pid"`,
		with(`,"pid_start":-1`):        `session.json has a JSON number -1 as "pid_start"`,
		with(`,"cols":70000`):          `session.json has a JSON number 70000 as "cols"`,
		with(`,"cursor":1e30`):         `session.json has a JSON number 1e30 as "cursor"`,
		with(`,"cursor":-1`):           "a log from 0 to -1 is impossible",
		with(`,"cursor":1,"oldest":2`): "a log from 2 to 1 is impossible",
		with(`,"epoch":-1`):            "a count is negative",
		with(`,"created_at":"today"`):  "session.json is not JSON: parsing time",
		with(`,"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000)): "session.json is not JSON: invalid character '[' exceeded max depth",
		with(`,"name":"` + strings.Repeat("x", maxRow) + `"`):                   "session.json is over 4194304 bytes",
	}
}

func TestDecodeRefusesWhatIsNoRow(t *testing.T) {
	for in, want := range badRows() {
		row, err := decodeRow([]byte(in))
		damage, ok := errors.AsType[*DamagedError](err)
		if !ok || row != nil {
			t.Errorf("decode of %.60q = %v, %v; want a *DamagedError", in, row, err)
			continue
		}
		if !errors.Is(err, ErrDamaged) || damage.ID != "" || !strings.HasPrefix(damage.Reason, want) {
			t.Errorf("decode of %.60q: %v; want the reason %q", in, err, want)
		}
	}
}

func TestEncodeRefusesWhatWouldNotComeBack(t *testing.T) {
	for name, spoil := range map[string]func(*Row){
		"argv":  func(r *Row) { r.Argv = []string{"caf\xe9"} },
		"env":   func(r *Row) { r.Env = map[string]string{"A": "\xff"} },
		"cwd":   func(r *Row) { r.Cwd = "/caf\xe9" },
		"state": func(r *Row) { r.State = state.New },
		"id":    func(r *Row) { r.ID = "x" },
		"size":  func(r *Row) { r.Problem = strings.Repeat("x", maxRow) },
		"year":  func(r *Row) { r.EndedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		row := fullRow()
		spoil(row)
		if b, err := row.encode(); err == nil {
			t.Errorf("encode of a bad %s gives %.80q, want an error", name, b)
		}
	}
}

func TestDamagedErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  DamagedError
		want string
	}{
		{DamagedError{Reason: "session.json is empty"}, "session is damaged: session.json is empty"},
		{DamagedError{testID, "session.json is empty"}, "session " + testID + " is damaged: session.json is empty"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("Error() = %q, want %q", got, tc.want)
		}
	}
}

func FuzzDecodeRow(f *testing.F) {
	full, err := fullRow().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{"version":1,"id":"` + testID + `","state":"idle","env":{"A":"1"},"env":null,"Id":1}`))
	f.Add([]byte(`{"version":1,"id":"` + testID + `","state":"idle","created_at":"0000-01-01T00:00:00+23:59","ud800":"\ud800"}`))
	for in := range badRows() {
		if len(in) < 1000 {
			f.Add([]byte(in))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		first, err := decodeRow(in)
		if err != nil {
			if first != nil || !errors.Is(err, ErrDamaged) {
				t.Fatalf("decode = %v, %v; want nil and ErrDamaged", first, err)
			}
			return
		}
		encoded := mustEncode(t, first)
		again, err := decodeRow(encoded)
		if err != nil {
			t.Fatalf("decode of our own encoding: %v\n%s", err, encoded)
		}
		if diff := rowDiff(first, again); diff != "" {
			t.Fatalf("round trip (-first +again):\n%s", diff)
		}
	})
}
