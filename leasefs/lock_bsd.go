//go:build unix && !linux && !darwin

package leasefs

// lockers is indexed by Family. These systems have no OFD locks; flock belongs
// to the open file too.
var lockers = []locker{{try: tryFlock, unlock: unlockFlock, busy: flockBusy}}
