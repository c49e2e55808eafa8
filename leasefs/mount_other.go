//go:build !linux

package leasefs

// checkMount has nothing to ask here.
func checkMount(*file) error { return nil }

// onLocalDisk is not known here.
func onLocalDisk(string) bool { return false }
