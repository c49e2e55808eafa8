package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/store"
)

// errNotServed reports that no program runs in a session, and that there is no
// server that could start it.
var errNotServed = errors.New("no program runs in the session, and no server has the store")

// notLive is why a session without a program cannot be used.
func notLive(h host, v *session.View) error {
	if v.State == session.Unreadable {
		return store.ErrDamaged
	}
	if _, ok := h.(local); ok {
		return errNotServed
	}
	return session.ErrNotLive
}

// Explain says to the person at the terminal what is wrong with a session that
// was called ref, and what to do. A nil error stays one.
func Explain(ref string, err error) error {
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return fmt.Errorf("%w; close it there", e)
	}
	if e, ok := errors.AsType[*session.AmbiguousError](err); ok {
		list := make([]string, len(e.Candidates))
		for i, v := range e.Candidates {
			list[i] = fmt.Sprintf("%s (%s)", label(&v), v.State)
		}
		return fmt.Errorf("%.64q fits %d sessions: %s; give the id of one", ref, len(list), strings.Join(list, ", "))
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSession(ref, "holdfast ls lists them")
	case errors.Is(err, store.ErrDamaged):
		return fmt.Errorf("session %.64q is unreadable; holdfast show has the reason", ref)
	case errors.Is(err, errNotServed):
		word := commandText([]string{ref})
		return fmt.Errorf("session %.64q is not live, and no server on this host has the store; start holdfast serve, then holdfast start %s, or go on in this terminal with holdfast run --resume %s", ref, word, word)
	case errors.Is(err, session.ErrNotLive):
		return fmt.Errorf("session %.64q is not live: no program runs in it; holdfast start %s starts it again", ref, commandText([]string{ref}))
	case errors.Is(err, session.ErrLive):
		return fmt.Errorf("session %.64q is live already; holdfast attach %s joins it", ref, commandText([]string{ref}))
	}
	return inWords(err)
}

// inWords calls a program that cannot be run by the word of the command line.
func inWords(err error) error {
	if refuses(err, "argv") && !strings.Contains(err.Error(), "not UTF-8") { // that may be of an argument
		return errors.New("program" + strings.TrimPrefix(err.Error(), "argv"))
	}
	return err
}

// noSession says that no session is called ref, and how to find the one that was
// meant.
func noSession(ref, hint string) error {
	if len(ref) < session.MinPrefix && strings.Trim(ref, "0123456789abcdefABCDEF") == "" {
		hint = fmt.Sprintf("the beginning of an id counts from %d characters on; %s", session.MinPrefix, hint)
	}
	return fmt.Errorf("there is no session %.64q; %s", ref, hint)
}

// called returns the session that ref means, or says to the person at the
// terminal why there is none, and which one may have been meant.
func called(ctx context.Context, h host, ref string) (session.View, error) {
	v, err := h.find(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return v, noSession(ref, DidYouMean(ref, sessionWords(ctx, h), "holdfast ls lists them"))
	}
	return v, Explain(ref, err)
}

// Called returns the session of a controller that ref means, or says as the
// commands do why there is none.
func Called(ctx context.Context, ctl *session.Controller, ref string) (session.View, error) {
	return called(ctx, local{ctl}, ref)
}

// spelled adds to the refusal of a profile the one that was meant, if one is
// near.
func spelled(ctx context.Context, h host, profile string, err error) error {
	if !refuses(err, "profile") {
		return inWords(err)
	}
	known, _ := h.profiles(ctx)
	if hint := DidYouMean(profile, known, ""); hint != "" {
		return fmt.Errorf("there is no profile %.64q; %s", profile, hint)
	}
	return err
}

// refuses reports whether err is about the value of a member of a request.
func refuses(err error, field string) bool {
	e, ok := errors.AsType[*session.SpecError](err)
	return ok && e.Field == field
}
