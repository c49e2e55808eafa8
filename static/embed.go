// Package static is the page that a browser shows: its files, embedded in the
// binary, and the policy they run under.
//
// The page is plain ES modules without a build step. The terminal emulator in
// web/vendor is copied there by scripts/page and is not in the repository: a
// binary built without it has a page that shows output as plain text and says
// so. Nothing in the page asks another host for anything.
package static

import (
	"embed"
	"io/fs"
)

// Policy is the Content-Security-Policy that FS must be served with. It
// allows no inline script and no inline style; web/styles.js says how the
// emulator lives with that.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed web
var files embed.FS

// FS has the page, index.html at its top. Its files hold no secret: they are
// to be served before login, since it is the page that logs in.
var FS = page()

func page() fs.FS {
	sub, err := fs.Sub(files, "web")
	if err != nil {
		panic(err) // only for a malformed path, and "web" is not
	}
	return sub
}
