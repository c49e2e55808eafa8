package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"holdfast/store"
)

// A ProfilesError says what is wrong with the store's profiles.json, and where.
type ProfilesError struct{ Reason string }

func (e *ProfilesError) Error() string { return "profiles.json" + e.Reason }

// Profiles returns the built-in profiles and those of the store's
// profiles.json, which win, by name. The file is read each time, so that what
// its user changes counts at once.
//
// It returns a *ProfilesError.
func (c *Controller) Profiles() (map[string]Profile, error) {
	all := maps.Clone(builtin)
	all["shell"] = Profile{Start: []string{userShell()}}
	path := filepath.Join(c.store.Dir(), "profiles.json")
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file // its user may keep it elsewhere
	}
	b, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, &ProfilesError{": " + cause(err)}
	}
	own, err := parseProfiles(b)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, own)
	return all, nil
}

// parseProfiles reads what a profiles.json has.
func parseProfiles(b []byte) (map[string]Profile, error) {
	own := make(map[string]Profile)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err == nil && t != json.Delim('{') {
		return nil, wrongProfile(b, 0, "", "is no object")
	}
	name, at := "", int64(0)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			break
		}
		name, at = t.(string), d.InputOffset()
		var p Profile
		err = d.Decode(&p)
		if member, ok := unknownMember(err); ok {
			return nil, wrongProfile(b, at, name, "has "+member+`, which is none of "start", "resume" and "fork"`)
		}
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, wrongProfile(b, at+e.Offset, name, e.Value+" where "+wanted(e.Field)+" must be")
		}
		if err != nil {
			break
		}
		if len(p.Start) == 0 {
			return nil, wrongProfile(b, at, name, `has no "start"`)
		}
		if word := otherWord(p); word != "" {
			return nil, wrongProfile(b, at, name, "has {"+word+"}, which is none of {id}, {parent} and {cwd}; { "+word+" } is no placeholder")
		}
		own[name] = p
	}
	// A Decoder neither looks behind the object nor knows where it fails.
	if err := json.Unmarshal(b, new(any)); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = e.Offset - 1
		}
		return nil, wrongProfile(b, at, name, err.Error())
	}
	return own, nil
}

// braced is a word that looks like a placeholder. Behind one of these characters
// it means something to another program, as in ${home}, @{u} or {{json}}.
var braced = regexp.MustCompile(`(?:^|[^$@#%{\\])\{([a-z]+)\}`)

// otherWord returns the first word in a profile that looks like a placeholder
// and is none.
func otherWord(p Profile) string {
	for _, arg := range expand(slices.Concat(p.Start, p.Resume, p.Fork), " ", " ", " ") {
		if m := braced.FindStringSubmatch(arg); m != nil {
			return m[1]
		}
	}
	return ""
}

// unknownMember returns the member, in quotes, that a Decoder does not know.
func unknownMember(err error) (name string, ok bool) {
	if err == nil {
		return "", false
	}
	return strings.CutPrefix(err.Error(), "json: unknown field ")
}

// wanted is what a member of a profile must be; no name is the profile itself.
func wanted(member string) string {
	if member == "" {
		return "an object"
	}
	return "a list of texts"
}

// wrongProfile says what is wrong at an offset of a profiles.json.
func wrongProfile(b []byte, at int64, name, problem string) error {
	at = min(max(at, 0), int64(len(b)))
	where := fmt.Sprintf(", line %d: ", 1+bytes.Count(b[:at], []byte("\n")))
	if name != "" {
		where += fmt.Sprintf("profile %.64q: ", name)
	}
	return &ProfilesError{where + problem + `; a profile is like {"notes": {"start": ["vim", "notes.txt"]}}`}
}
