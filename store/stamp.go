package store

import (
	"io/fs"
	"time"
)

// settle is how old a file's time must be, by this host's clock, before equal
// stamps are believed to mean equal content: two changes within one tick of a
// file system's clock look the same.
const settle = 100 * time.Millisecond

// A stamp tells two versions of a file apart without reading them. Each
// replacement is a new file, so it nearly always has another inode. The zero
// stamp equals no file's.
type stamp struct {
	inode uint64 // 0 where the system has none
	mtime int64  // nanoseconds since 1970
	size  int64  // bytes; of a folder: whatever the file system says
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{inode: inode(info), mtime: info.ModTime().UnixNano(), size: info.Size()}
}

// settled returns st if it can be believed later, and otherwise the zero
// stamp. It is asked after the content was read.
func (st stamp) settled() stamp {
	if age := time.Since(time.Unix(0, st.mtime)); age < settle {
		return stamp{}
	}
	return st
}
