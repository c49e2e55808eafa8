//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProfilesFileThatChangesWhileItIsServed(t *testing.T) {
	dir := shortStore(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "profiles.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const broken = `profiles.json, line 2: profile "x": has no "start"`
	write("{\n\"x\": {}}")
	if _, err := runServe(t, dir); err == nil || !strings.HasPrefix(err.Error(), broken) {
		t.Errorf("serve with a broken file: %v, want %s", err, broken)
	}
	if got := hold(t, dir, "", "acp"); got.Status != 1 || !strings.HasPrefix(got.Stderr, "holdfast: "+broken) {
		t.Errorf("acp with a broken file: %+v, want %s", got, broken)
	}
	if got := hold(t, dir, "", "ls"); got.Status != 0 {
		t.Errorf("ls with a broken file: %+v", got)
	}
	write("{}")
	r := mustServe(t, dir)
	ts := &testServer{t: t, url: r.url, unix: unixClient(t, filepath.Join(dir, "sock"))}
	wantProblem(t, ts.do("POST", "/new", `{"profile":"own"}`), http.StatusUnprocessableEntity, "invalid-value")
	write(`{"own": {"start": ["true"]}}`)
	must[map[string]any](ts, ts.do("POST", "/new", `{"profile":"own"}`), http.StatusCreated)
	if got := must[profileList](ts, ts.do("GET", "/profiles", ""), http.StatusOK); len(got.Profiles["own"].Start) != 1 {
		t.Errorf("GET /profiles = %v, want the new one too", got)
	}
	write("{\n\"x\": {}}")
	for _, a := range []answer{ts.do("GET", "/profiles", ""), ts.do("POST", "/new", `{"profile":"own"}`), ts.do("POST", "/switch", `{"profile":"own"}`)} {
		if p := wantProblem(t, a, http.StatusConflict, "profiles-unreadable"); !strings.HasPrefix(p.Detail, broken) {
			t.Errorf("detail = %q, want %q", p.Detail, broken)
		}
	}
	must[map[string]any](ts, ts.do("POST", "/new", `{"argv":["true"]}`), http.StatusCreated)
}
