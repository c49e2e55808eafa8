package cli

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"holdfast/session"
)

func (c client) create(ctx context.Context, s session.Spec) (v session.View, err error) {
	// JSON would change these without a word.
	err = cmp.Or(session.CheckText("argv", s.Argv...), session.CheckText("cwd", s.Cwd), session.CheckText("name", s.Name), session.CheckText("profile", s.Profile))
	if err != nil {
		return v, err
	}
	return v, c.post(ctx, "/sessions", s, &v)
}

func (c client) start(ctx context.Context, id string) (v session.View, err error) {
	return v, c.post(ctx, pathOf(id, "/start"), struct{}{}, &v)
}

func (c client) fork(ctx context.Context, id string, f session.ForkSpec) (v session.View, err error) {
	if err := session.CheckText("name", f.Name); err != nil {
		return v, err
	}
	return v, c.post(ctx, pathOf(id, "/fork"), f, &v)
}

func (c client) rename(ctx context.Context, id, name string) (v session.View, err error) {
	if err := session.CheckText("name", name); err != nil {
		return v, err
	}
	return v, c.send(ctx, http.MethodPatch, pathOf(id, ""), session.Patch{Name: &name}, &v)
}

func (c client) switchTo(ctx context.Context, id string, s session.SwitchSpec) (v session.View, err error) {
	return v, c.post(ctx, pathOf(id, "/switch"), s, &v)
}

func (c client) turns(ctx context.Context, id string) ([]session.Turn, error) {
	var answer struct{ Turns []session.Turn }
	err := c.do(ctx, http.MethodGet, pathOf(id, "/turns"), nil, &answer)
	return answer.Turns, err
}

func (c client) profiles(ctx context.Context) ([]string, error) {
	var answer struct{ Profiles map[string]session.Profile }
	err := c.do(ctx, http.MethodGet, "/profiles", nil, &answer)
	return slices.Sorted(maps.Keys(answer.Profiles)), err
}

func (c client) resize(ctx context.Context, id string, cols, rows int) error {
	return c.post(ctx, pathOf(id, "/resize"), map[string]int{"cols": cols, "rows": rows}, nil)
}
