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

// A file is an open lock file.
type file = os.File

func openFile(path string, flags int, mode uint32) (*file, error) {
	return os.OpenFile(path, flags, os.FileMode(mode))
}

func fileOf(f *os.File) *file { return f }

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
		size:    int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow),
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
