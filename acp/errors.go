package acp

import (
	"errors"

	"holdfast/leasefs"
	"holdfast/session"
	"holdfast/session/process"
	"holdfast/store"
)

// held is what data of a refusal has when another process holds the session.
type held struct {
	Holder *session.Holder `json:"holder"`
}

// errorOf is what a client gets to know of an error. The text of one that is
// not known stays in the log.
func (c *conn) errorOf(err error) *rpcError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*leasefs.HeldError](err); ok {
		return &rpcError{codeHeld, e.Error(), held{session.HolderOf(e)}}
	}
	if e, ok := errors.AsType[*session.SpecError](err); ok {
		return refuse(codeParams, "%v", e)
	}
	if e, ok := errors.AsType[*session.ProfilesError](err); ok {
		return refuse(codeInternal, "%v", e)
	}
	for _, known := range []struct {
		err  error
		code int
	}{
		{store.ErrNotFound, codeNotFound},
		{store.ErrDamaged, codeInternal},
		{session.ErrLineTooLong, codeParams},
		{session.ErrBusy, codeRequest},
		{session.ErrNotLive, codeRequest},
		{errCancelled, codeCancelled},
		{errEnded, codeCancelled},
		{session.ErrClosing, codeCancelled},
		{session.ErrQueueFull, codeInternal},
		{session.ErrNotTaken, codeInternal},
		{session.ErrStorage, codeInternal},
		{session.ErrExhausted, codeInternal},
		{process.ErrExited, codeRequest},
		{leasefs.ErrReadOnly, codeInternal},
		{leasefs.ErrUnsafe, codeInternal},
		{leasefs.ErrTimeout, codeInternal},
	} {
		if errors.Is(err, known.err) {
			return refuse(known.code, "%v", err)
		}
	}
	c.cfg.Log.Error("request failed", "err", err)
	return refuse(codeInternal, "internal error")
}
