package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/session"
)

func TestWhatIsWrongWithAJSONBody(t *testing.T) {
	for body, want := range map[string]string{
		``:                                      "the body is empty; send a JSON object with cols, rows",
		`x`:                                     "the body is not a JSON object; send one with cols, rows",
		`{"cols":80,}`:                          "not valid JSON at byte 12: invalid character '}' looking for beginning of object key string",
		`{"cols":"80"}`:                         `"cols" is a string; it must be a whole number`,
		`{"cols":1.5}`:                          `"cols" is the number 1.5; it must be a whole number`,
		`{"cols":99999999999999999999}`:         `"cols" is the number 99999999999999999999; it must be a whole number`,
		`{"cols":true}`:                         `"cols" is true or false; it must be a whole number`,
		`{"cols":[]}`:                           `"cols" is an array; it must be a whole number`,
		`{"columns":80}`:                        `unknown member "columns"; there are cols, rows`,
		`{"cols":80} {}`:                        "something follows the JSON object at byte 11",
		`{"cols":80`:                            "the JSON object has no end",
		"{\"\xff\":1}":                          "the body is not valid UTF-8",
		`{"` + strings.Repeat("x", 99) + `":1}`: `unknown member "` + strings.Repeat("x", 64) + `…"; there are cols, rows`,
	} {
		err := decodeJSON([]byte(body), new(resizeRequest))
		if err == nil || err.Error() != want || !errors.Is(err, errMalformed) {
			t.Errorf("decodeJSON(%q) = %v, want %q", body, err, want)
		}
	}
	if err := decodeJSON([]byte(`{"id":"x"}`), &struct{}{}); err == nil || err.Error() != `unknown member "id"; this request has none; docs/api.md says what it takes` {
		t.Errorf("a member where none is known: %v", err)
	}
	var fork forkRequest
	err := decodeJSON([]byte(`{"until":1}`), &fork)
	if want := `unknown member "until"; there are id, at, turn, argv, profile, name`; err == nil || err.Error() != want {
		t.Errorf("members of an embedded struct: %v, want %q", err, want)
	}
	err = decodeJSON([]byte(`{"session":"x"}`), new(struct {
		ID string `json:"id"`
	}))
	if want := `unknown member "session"; the only one is id`; err == nil || err.Error() != want {
		t.Errorf("a member where one is known: %v, want %q", err, want)
	}
	err = decodeJSON([]byte(`{"col":80}`), new(resizeRequest))
	if want := `unknown member "col"; there are cols, rows; did you mean "cols"?`; err == nil || err.Error() != want {
		t.Errorf("a member that is nearly known: %v, want %q", err, want)
	}
	var in resizeRequest
	if err := decodeJSON([]byte(" {\"cols\":80,\"rows\":24}\n"), &in); err != nil || *in.Cols != 80 || *in.Rows != 24 {
		t.Errorf("decodeJSON of a good body = %+v, %v", in, err)
	}
}

// What is accepted says the same when it is encoded and decoded again; what
// is not is the sender's fault and says so.
func FuzzRequestJSON(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"argv":["bash","-c","x"],"env":{"A":"b"},"cols":80}`, `{"argv":null}`, `{"auto_resume":false}`, `{"name":"\ud800"}`, `{"rows":1e3}`,
		`{} {}`, `[]`, `{"argv":["a"`, `{"x":1}`, "{\"name\":\"\x00\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var first session.Spec
		if err := decodeJSON(in, &first); err != nil {
			if !errors.Is(err, errMalformed) || problemFor(err).Status != 400 {
				t.Fatalf("decodeJSON(%q) = %v, not a malformed request", in, err)
			}
			return
		}
		b, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		var again session.Spec
		if err := decodeJSON(b, &again); err != nil {
			t.Fatalf("decode of our own encoding %s: %v", b, err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("round trip (-first +again):\n%s", diff)
		}
	})
}
