package cli

import (
	"encoding/json"
	"os"
	"path/filepath"

	"holdfast/leasefs"
	"holdfast/session/process"
	"holdfast/store"
)

// A ServerFile is server.json: where the server of a store is. It counts only
// while somebody holds the lease on ServerLock.
type ServerFile struct {
	PID     int    `json:"pid"`
	Address string `json:"address"` // URL without the token
	Socket  string `json:"socket"`
}

// ServerPath is where the ServerFile of the store in dir is.
func ServerPath(dir string) string { return filepath.Join(dir, "server.json") }

// ServerLock is the path that the server of the store in dir leases.
func ServerLock(dir string) string { return filepath.Join(dir, "server.lock") }

// Elsewhere reports whether the holder of a lease is on another host, so that
// its addresses mean nothing here.
func Elsewhere(h *leasefs.Holder) bool {
	host, err := os.Hostname()
	return h != nil && err == nil && (h.Host != host || h.Boot != process.BootID())
}

// ReadServerFile reads what the last server of the store in dir has left, or
// the one that runs. Without any it fails with fs.ErrNotExist.
func ReadServerFile(dir string) (f ServerFile, err error) {
	b, err := store.ReadFile(ServerPath(dir))
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	return f, err
}
