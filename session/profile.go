package session

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Profile has the argv templates of a program. {id} stands for the session's
// id, {parent} for the id of the session that it is forked from and {cwd} for
// its folder. An empty template means the one above it.
type Profile struct {
	Start  []string `json:"start"`
	Resume []string `json:"resume,omitempty"`
	Fork   []string `json:"fork,omitempty"`
}

// builtin has the flags that the programs document. Codex and opencode choose
// their own conversation ids, so that the newest one of the folder is taken.
var builtin = map[string]Profile{
	"claude": {
		Start:  []string{"claude", "--session-id", "{id}"},
		Resume: []string{"claude", "--resume", "{id}"},
		Fork:   []string{"claude", "--resume", "{parent}", "--fork-session", "--session-id", "{id}"},
	},
	"codex": {
		Start:  []string{"codex"},
		Resume: []string{"codex", "resume", "--last"},
		Fork:   []string{"codex", "fork", "--last"},
	},
	"gemini": {
		Start:  []string{"gemini", "--session-id", "{id}"},
		Resume: []string{"gemini", "--resume", "{id}"},
		Fork:   []string{"gemini", "--session-id", "{id}"},
	},
	"opencode": {
		Start:  []string{"opencode"},
		Resume: []string{"opencode", "--continue"},
		Fork:   []string{"opencode", "--continue", "--fork"},
	},
}

// userShell is the shell that a session gets when its user names no program.
func userShell() string {
	if sh := os.Getenv("SHELL"); sh != "" {
		return sh
	}
	return "/bin/sh"
}

// expand fills the placeholders of a template.
func expand(template []string, id, parent, cwd string) []string {
	r := strings.NewReplacer("{id}", id, "{parent}", parent, "{cwd}", cwd)
	argv := make([]string, len(template))
	for i, arg := range template {
		argv[i] = r.Replace(arg)
	}
	return argv
}

// profile returns a profile by name; no name is the zero Profile.
func (c *Controller) profile(name string) (Profile, error) {
	if name == "" {
		return Profile{}, nil
	}
	all, err := c.Profiles()
	if err != nil {
		return Profile{}, err
	}
	if p, ok := all[name]; ok {
		return p, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	return Profile{}, &SpecError{"profile", name, "no such profile; there are " + known + ", and profiles.json in the store adds more"}
}

// plainShell reports whether argv is a shell with nothing but flags: it can be
// started again without repeating any work. With -c it is a script.
func plainShell(argv []string) bool {
	switch filepath.Base(argv[0]) {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "tcsh", "csh", "nu", "elvish", "xonsh":
	default:
		return false
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			return false
		}
		if strings.HasPrefix(arg, "--command") || !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c") {
			return false
		}
	}
	return true
}
