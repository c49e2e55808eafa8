package session

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"holdfast/session/process"
)

// The size of a terminal that nobody asked for, in character cells.
const defaultCols, defaultRows = 80, 24

// A Spec says what to run in a new session. With no Argv the profile's start
// template is run, with no profile either the user's shell. With both, Argv is
// run now, and the profile says how to resume and fork it.
type Spec struct {
	Argv       []string          `json:"argv"`
	Cwd        string            `json:"cwd"` // absolute; empty: the folder of this process
	Env        map[string]string `json:"env"` // beside the environment of this process
	Name       string            `json:"name"`
	Profile    string            `json:"profile"`
	Cols       *int              `json:"cols"` // 1..65535; nil: 80
	Rows       *int              `json:"rows"` // 1..65535; nil: 24
	AutoResume *bool             `json:"auto_resume"`
}

// A ForkSpec says how a fork differs from its parent. At is a cursor, Turn the
// number of a turn; the log is copied up to there, with neither of them whole.
type ForkSpec struct {
	At      *int64   `json:"at"`
	Turn    *int     `json:"turn"`
	Argv    []string `json:"argv"`
	Profile string   `json:"profile"`
	Name    string   `json:"name"`
}

// A SwitchSpec names the program that a switch goes on with.
type SwitchSpec struct {
	Profile string   `json:"profile"`
	Argv    []string `json:"argv"`
}

// A Patch changes what a person calls a session and whether it is resumed with
// the server. Nil leaves a value as it is.
type Patch struct {
	Name       *string `json:"name"`
	AutoResume *bool   `json:"auto_resume"`
}

// MaxName is the length of a session's name in bytes.
const MaxName = 200

// joiner is the one invisible character that a name may have: it makes one
// picture of several.
const joiner = '\u200d'

func checkName(name string) error {
	switch {
	case len(name) > MaxName:
		return &SpecError{"name", name[:32] + "…", "longer than 200 bytes"}
	case !utf8.ValidString(name):
		return CheckText("name", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) && r != joiner }):
		return &SpecError{"name", name, "has control characters or invisible ones"}
	case name != "" && strings.TrimSpace(name) == "":
		return &SpecError{"name", name, "is only space"}
	}
	return nil
}

// CheckText refuses values of a member of a request that are not UTF-8. Neither
// JSON nor the store can hold them: they would come back as others. It returns
// a *SpecError.
func CheckText(member string, values ...string) error {
	for _, v := range values {
		if utf8.ValidString(v) {
			continue
		}
		hint := "give it in UTF-8"
		switch member {
		case "argv":
			hint = "let the program read it from a file, or a shell make it with printf"
		case "cwd":
			hint = "rename the folder, or use a symbolic link to it that has another name"
		}
		return &SpecError{member, v, "not UTF-8, and a session can have no other text; " + hint}
	}
	return nil
}

// checkSize returns one dimension of a terminal, in character cells.
func checkSize(field string, n *int, otherwise uint16) (uint16, error) {
	if n == nil {
		return otherwise, nil
	}
	if *n < 1 || *n > 65535 {
		return 0, &SpecError{field, strconv.Itoa(*n), "must be from 1 to 65535"}
	}
	return uint16(*n), nil
}

// checkDir returns dir in absolute form, or says why no program can run in it.
// The empty dir is this process's own.
func checkDir(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", &SpecError{"cwd", ".", "the current folder cannot be found: " + cause(err) + "; go to another one, or name one"}
		}
	}
	if !filepath.IsAbs(dir) {
		return "", &SpecError{"cwd", dir, "must be an absolute path"}
	}
	if err := CheckText("cwd", dir); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &SpecError{"cwd", dir, "no such folder"}
	case err != nil:
		return "", &SpecError{"cwd", dir, "cannot be opened: " + cause(err)}
	case !info.IsDir():
		return "", &SpecError{"cwd", dir, "not a folder"}
	}
	return filepath.Clean(dir), nil
}

// checkProgram returns the path of the program that argv runs in dir.
func checkProgram(argv []string, dir string, env map[string]string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", &SpecError{"argv", "", "names no program"}
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return "", &SpecError{"argv", arg, "has a NUL character"}
		}
	}
	if err := CheckText("argv", argv...); err != nil {
		return "", err
	}
	path, err := lookPath(argv[0], dir, env)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", &SpecError{"argv", argv[0], "not executable"}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", &SpecError{"argv", argv[0], "no such program"}
	default:
		return "", &SpecError{"argv", argv[0], cause(err)}
	}
}

// lookPath finds a program as its session would: a name with a slash from the
// session's folder, another one in the session's PATH.
func lookPath(name, dir string, env map[string]string) (string, error) {
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	path, ok := env["PATH"]
	if !ok {
		return exec.LookPath(name)
	}
	err := error(exec.ErrNotFound)
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		found, e := exec.LookPath(filepath.Join(d, name))
		if e == nil {
			return found, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = e
		}
	}
	return "", err
}

func checkEnv(env map[string]string) error {
	for k, v := range env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return &SpecError{"env", k, "not a valid variable"}
		}
	}
	return nil
}

// storeVariable has the store of a program.
const storeVariable = "HOLDFAST_STORE"

// environment is what a program gets: the environment of this process less
// everything that is ours, the terminal's, and the spec's own.
func environment(store, id string, own map[string]string) []string {
	var env []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		if _, replaced := own[key]; !replaced && !strings.HasPrefix(key, "HOLDFAST_") && key != "TERM" && key != "COLORTERM" {
			env = append(env, kv)
		}
	}
	set := map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}
	maps.Copy(set, own)
	set["HOLDFAST_SESSION"], set[storeVariable] = id, store
	for k, v := range set {
		env = append(env, k+"="+v)
	}
	return env
}

// cause is what the system says of an error, without the paths and ids of files
// that its reader did not name.
func cause(err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// programOf is what a process needs to run argv in a session.
func (c *Controller) programOf(id string, argv []string, dir string, env map[string]string, cols, rows uint16) (process.Spec, error) {
	dir, err := checkDir(dir)
	if err != nil {
		return process.Spec{}, err
	}
	path, err := checkProgram(argv, dir, env)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Path: path, Argv: argv, Dir: dir, Env: environment(c.store.Dir(), id, env), Cols: cols, Rows: rows,
	}, nil
}
