package main

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pageLimits are the rows of the page, each with the constant that it is true
// of.
var pageLimits = []struct {
	what string
	file string
	name string // of the constant
	unit func(int64) string
}{
	{"connections, for each of port and socket", "server_limits.go", "maxConns", howMany},
	{"open event streams, followed outputs, input streams and waits", "server_limits.go", "maxStreams", howMany},
	{"header of a request", "serve.go", "maxHeader", howMuch},
	{"header of a request", "serve.go", "headerTimeout", howLong},
	{"body with JSON", "server_decode.go", "maxJSON", howMuch},
	{"body with JSON", "server_decode.go", "bodyTimeout", howLong},
	{"body with input", "server_decode.go", "maxInput", howMuch},
	{"body with input", "server_decode.go", "bodyTimeout", howLong},
	{"`Idempotency-Key`", "server_input.go", "maxKey", howMuch},
	{"pause between two requests of a connection", "serve.go", "idleTimeout", howLong},
	{"a part of an answer that a client does not take", "server_handle.go", "writePiece", howMuch},
	{"a part of an answer that a client does not take", "serve.go", "stallTimeout", howLong},
	{"requests in flight when the server ends", "serve.go", "endGrace", howLong},
	{"login of a browser", "server_auth.go", "cookieAge", howLong},
	{"input that waits for a program", "session/input.go", "maxQueued", howMuch},
	{"time for a program to take an input", "session/controller.go", "InputTimeout", howLong},
	{"line in line mode, without its end", "session/process/termios_linux.go", "maxLine", howMuch},
	{"answers remembered by `Idempotency-Key`", "session/receipts.go", "maxReceipts", howMany},
	{"sessions without a program whose answers are remembered", "session/receipts.go", "maxPast", howMany},
	{"output in one event", "session/stream.go", "chunkBytes", howMuch},
	{"output before a reader that names no cursor", "session/stream.go", "tailBytes", howMuch},
	{"pause between two `ping` of a stream", "session/stream.go", "pingEvery", howLong},
	{"time of a wait", "server_wait.go", "waitTimeout", howLong},
	{"time of a wait", "server_wait.go", "maxWait", howLong},
	{"output in the answer of a wait", "session/wait.go", "maxWaitOutput", howMuch},
	{"name of a session", "session/spec.go", "MaxName", howMuch},
	{"from SIGTERM to SIGKILL", "session/controller.go", "StopGrace", howLong},
	{"from SIGTERM to SIGKILL", "session/controller.go", "ShutdownGrace", howLong},
	{"output after a program's exit, by jobs it left", "session/process/process.go", "drainGrace", howLong},
	{"sessions that are resumed at once at the start", "session/auto.go", "autoResumes", howMany},
	{"size of a file with output", "store/outlog.go", "defaultSegmentSize", howMuch},
	{"`profiles.json`", "store/atomic.go", "maxFile", howMuch},
	{"an answer to a lock call", "leasefs/lock.go", "lockLimit", howLong},
	{"lines of the log that nobody reads", "serve_log.go", "logLines", howMany},
}

// The limits of the page are those of the code.
func TestTheLimitsOfThePage(t *testing.T) {
	_, table, _ := strings.Cut(readPage(t, "docs/operations.md"), "\n## Limits\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \|`).FindAllStringSubmatch(table, -1)[1:]
	limits := map[string]string{}
	for _, row := range rows {
		limits[row[1]] = row[2]
	}
	compared := map[string]bool{}
	for _, tt := range pageLimits {
		want := tt.unit(constantOf(t, tt.file, tt.name))
		got, found := limits[tt.what]
		if !regexp.MustCompile(`(^|[ ,])` + want + `($|[ ,])`).MatchString(got) {
			t.Errorf("docs/operations.md has %q for %q (a row: %v), want %s", got, tt.what, found, want)
		}
		compared[tt.what] = true
	}
	for what := range limits {
		if !compared[what] {
			t.Errorf("the row of %q is not compared with the code", what)
		}
	}
}

// constantOf returns what a file of ours has for a constant, or for a default.
func constantOf(t *testing.T, file, name string) int64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)(?:^\s*(?:const )?` + name + `\s*=|setDefault\(&cfg\.` + name + `,)\s*(.+?)\)?\s*(?://.*)?$`).FindStringSubmatch(readPage(t, file))
	if m == nil {
		t.Fatalf("%s has no %s", file, name)
	}
	expr := m[1]
	for unit, d := range map[string]time.Duration{"Hour": time.Hour, "Minute": time.Minute, "Second": time.Second, "Millisecond": time.Millisecond} {
		expr = strings.ReplaceAll(expr, "time."+unit, strconv.FormatInt(int64(d), 10))
	}
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expr)
	if err != nil {
		t.Fatalf("%s: %s = %s: %v", file, name, m[1], err)
	}
	n, _ := constant.Int64Val(v.Value)
	return n
}

func howMany(n int64) string { return strconv.FormatInt(n, 10) }

func howMuch(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func howLong(n int64) string {
	d := time.Duration(n)
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d >= u.unit && d%u.unit == 0 {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
