package leasefs

import (
	"os"

	"golang.org/x/sys/windows"
)

const (
	// noFollow has no counterpart here.
	noFollow = 0

	// unlinksOpen says that a file opened by package os cannot be unlinked.
	unlinksOpen = false
)

func isLink(string) bool { return false }

func identify(f *os.File) (identity, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return identity{}, err
	}
	var info windows.ByHandleFileInformation
	var answer error
	err = conn.Control(func(fd uintptr) {
		answer = windows.GetFileInformationByHandle(windows.Handle(fd), &info)
	})
	if err != nil {
		return identity{}, err
	}
	return identity{
		fileID: fileID{
			device: uint64(info.VolumeSerialNumber),
			inode:  uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		},
		links:   uint64(info.NumberOfLinks),
		regular: info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0,
	}, answer
}

func identifyPath(path string) (identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	return identify(f)
}
