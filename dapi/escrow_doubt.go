package dapi

import (
	"cmp"
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// resolve reads the deal to see whether the action was taken. After a lost response, a stored deal from before it
// proves nothing, so resolve waits for the next chain read. An approval signs only its own action. If this version does
// not know the status, a consumed approval proves that the action was taken, once the deal does not offer the action
// any more.
func (s *Escrows) resolve(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType,
	began time.Time, attempt *attempt, cause error,
) (*Escrow, doubt, error) {
	_, conflict := errors.AsType[*errors.Conflict](cause)
	_, consumed := errors.AsType[*errors.ApprovalConsumed](cause)
	refused := conflict || approvalClosed(cause) // this attempt did nothing, so the stored deal is good enough
	for waited := false; ; waited = true {
		read, err := s.Sync(ctx, id)
		switch {
		case err != nil:
			return nil, knownDoubt, unread(cause, err, attempt.known.Scope.Key)
		case read.ID != id, read.differs(terms) != nil:
			return nil, knownDoubt, cause
		case read.took(action), attempt.done(), consumed && !read.Status.Known() && !read.Can(action):
			return read, noDoubt, nil
		case refused:
			return read, noDoubt, cause
		case waited || read.SyncedAt.After(began.Add(clockTolerance)):
			return nil, knownDoubt, cause
		}
		synced := cmp.Or(read.SyncedAt, s.approver.now()) // without SyncedAt, the chain may have been read just now
		if err := transport.Pause(ctx, synced.Add(chainReadEvery+clockTolerance).Sub(s.approver.now())); err != nil {
			return nil, knownDoubt, withContextError(cause, err)
		}
	}
}

// unread returns the doubt about an action after a read of its deal that failed with err. If the service asked to come
// back later, the doubt says so, because the next call reads the deal again.
func unread(cause, err error, key string) error {
	cause = withContextError(cause, err)
	call, _ := errors.CallInfoOf(err)
	if call.RetryAt.IsZero() {
		return cause
	}
	unknown := unknownOutcome(cause, call.Operation, moneymovement.Key(key), againDeal)
	if call.RetryAt.After(unknown.RetryAt) {
		unknown.RetryAt = call.RetryAt
	}
	return unknown
}

// readLater reports a doubt that a read of the deal did not end, because the service asked to come back later.
func readLater(err error) bool {
	unknown, ok := err.(*errors.OutcomeUnknown) //nolint:errorlint // as in inDoubt
	if !ok {
		return false
	}
	call, _ := errors.CallInfoOf(unknown.Cause)
	return call.Operation == opSyncEscrow.ID && !call.RetryAt.IsZero()
}
