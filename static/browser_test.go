package static_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var screenshots = flag.Bool("screenshots", false, "write docs/screenshots anew")

// The page is tested where it runs: in a browser, against the real server.
// Its tests are written in its own language, under test/.
func TestPage(t *testing.T) {
	if _, err := os.Stat("../node_modules/playwright-core"); err != nil {
		t.Fatal("the page's packages are not there; run npm ci first")
	}
	server := filepath.Join(t.TempDir(), "holdfast")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", server, "holdfast")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	tests, err := filepath.Glob("test/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatalf("tests of the page: %q, %v", tests, err)
	}
	// The limit is of a file as well as of a test; see pageTest for those.
	node := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-concurrency=2", "--test-timeout=600000", "--test-reporter=spec"}, tests...)...)
	node.Env = append(os.Environ(), "HOLDFAST="+server)
	if *screenshots {
		node.Env = append(node.Env, "HOLDFAST_SCREENSHOTS=../docs/screenshots")
	}
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("node: %v", err)
	}
}
