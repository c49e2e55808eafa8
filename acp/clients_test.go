package acp

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Real clients drive the real agent. They are in their own language, under
// test/.
func TestClients(t *testing.T) {
	if _, err := os.Stat("../node_modules/@agentclientprotocol/sdk"); err != nil {
		t.Fatal("the clients are not there; run npm ci first")
	}
	agent := filepath.Join(t.TempDir(), "holdfast")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", agent, "holdfast")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the agent: %v\n%s", err, out)
	}
	tests, err := filepath.Glob("test/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatalf("tests of clients: %q, %v", tests, err)
	}
	node := exec.CommandContext(t.Context(), "node", append([]string{"--test", "--test-concurrency=2", "--test-reporter=spec"}, tests...)...)
	node.Env = append(os.Environ(), "HOLDFAST="+agent)
	node.WaitDelay = 10 * time.Second // acpx leaves a process running for a while
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("node: %v", err)
	}
}
