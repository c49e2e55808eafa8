//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package process

import "syscall"

// sealDescriptors does nothing: Go opens everything close-on-exec, and what this
// process inherited is not sealed here.
func sealDescriptors() {}

// wantHandle and awaitExit have nothing to wait on: reap blocks a thread.
func wantHandle(*syscall.SysProcAttr) *int { return new(int) }

func awaitExit(int) {}
