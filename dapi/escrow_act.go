package dapi

import (
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Open creates a deal, compares its approval with what was asked for, signs and confirms it: the money is held when it answers. Calling
// it again with the same idempotency key and terms, within 7 days, holds it once. A deal whose approve window closed before is *EscrowNotOpened.
//
// Source: Limits, Idempotency.
func (s *Escrows) Open(ctx context.Context, deal EscrowCreate, options ...moneymovement.CallOption) (*Escrow, error) {
	options, key := keyed(options)
	created, err := s.Create(ctx, deal, options...)
	switch {
	case err != nil:
		return nil, err
	case created.IdempotencyKey != "" && created.IdempotencyKey != key:
		return nil, unproven(opCreateEscrow.ID, key, "the answer is about a deal of another key")
	case created.Status == EscrowStatusExpired:
		return created, &EscrowNotOpened{Head: s.low.head(&opCreateEscrow, string(created.ID)), Escrow: created}
	case EscrowActionTypeApprove.done(created.Status):
		return created, nil // an earlier call with this key went through
	}
	return s.act(ctx, deal, created.ID, EscrowActionTypeApprove, created.Action, options)
}

// EscrowNotOpened says that a deal's approve window closed before its money was held.
type EscrowNotOpened struct {
	errors.Head
	Escrow *Escrow
}

// Retryable is false: another deal needs another key.
func (e *EscrowNotOpened) Retryable() bool { return false }

// MovedByCall is errors.NotMoved: no money was held.
func (e *EscrowNotOpened) MovedByCall() errors.Movement { return errors.NotMoved }

func (e *EscrowNotOpened) Error() string {
	return "escrow " + string(e.Escrow.ID) + " expired before it was approved"
}

// Act prepares an action of a deal, compares its approval with the deal's terms, signs and confirms it. terms is what the deal was created
// with: its amount, currency and payee have to stand in the approval, and the action itself, else it is *signing.ApprovalRefused and
// nothing was sent. If the approval's 60 seconds pass before it is confirmed, the action is prepared once more under the same key. The status
// of the deal that comes back can be the one from before the action, as [Escrows.Confirm] says.
//
// Source: Authentication, Signing; Limits, Lifetimes and Idempotency.
func (s *Escrows) Act(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, options ...moneymovement.CallOption) (*Escrow, error) {
	options, _ = keyed(options)
	prepared, err := s.Prepare(ctx, id, action, options...)
	if err != nil {
		return nil, err
	}
	return s.act(ctx, terms, id, action, prepared, options)
}

// Confirm confirms an action that was prepared, perhaps in another process. What is signed is the action that the caller names, whatever
// prepared says it is. Its errors are those of [Escrows.Act], which calls it.
//
// A success says that the action was taken, and not that the chain has been read since: the deal that comes back is the stored projection, and
// can stand where it stood before the action. [Escrows.Wait] tells when its status follows.
func (s *Escrows) Confirm(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, prepared *EscrowAction, options ...moneymovement.CallOption) (*Escrow, error) {
	if prepared == nil {
		prepared = &EscrowAction{}
	}
	body, err := s.approver.confirm(ctx, prepared.Approval, signing.Intent{
		Operation:   "escrow." + string(action),
		ResourceID:  string(id),
		Amount:      terms.Amount,
		Currency:    string(terms.Currency),
		Destination: signing.Destination{Address: string(terms.Payee)},
	})
	if err != nil {
		return nil, err
	}
	options, key := keyed(options)
	deal, err := s.low.ConfirmEscrowAction(ctx, id, prepared.IdempotencyKey, body, options)
	if err == nil && deal.ID != id {
		return nil, unproven(opConfirmEscrowAction.ID, key, "the answer is about another deal")
	}
	return deal, err
}

// act confirms, and prepares once more if the window closed on the way. An approval that was used already, an action that is not
// available any more, or a lost answer may be the work of an earlier attempt with this key: the deal tells what came of it.
func (s *Escrows) act(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, prepared *EscrowAction, options []moneymovement.CallOption) (*Escrow, error) {
	began := s.approver.now()
	deal, err := s.Confirm(ctx, terms, id, action, prepared, options...)
	if closed := err; approvalClosed(closed) {
		if prepared, err = s.Prepare(ctx, id, action, options...); err == nil {
			deal, err = s.Confirm(ctx, terms, id, action, prepared, options...)
		}
		if err != nil && doubtful(closed) { // an answer before it was lost, and what came after does not tell which
			err = fmt.Errorf("%w; then: %w", closed, err)
		}
	}
	if doubtful(err) || approvalClosed(err) {
		return s.resolve(ctx, id, action, began, err)
	}
	return deal, err
}

// resolve reads the deal to see whether the action came through. After a lost answer, a projection from before it says nothing, and the next
// chain read is waited for.
func (s *Escrows) resolve(ctx context.Context, id EscrowID, action EscrowActionType, began time.Time, doubt error) (*Escrow, error) {
	_, conflict := errors.AsType[*errors.Conflict](doubt)
	_, lost := errors.AsType[*errors.OutcomeUnknown](doubt)
	refused := !lost && (conflict || approvalClosed(doubt)) // this attempt did nothing, so that any projection tells
	for waited := false; ; waited = true {
		read, err := s.Sync(ctx, id)
		switch {
		case err != nil, read.ID != id:
			return nil, doubt
		case action.done(read.Status):
			return read, nil
		case waited || refused || read.SyncedAt.After(began.Add(clockTolerance)):
			return nil, doubt
		}
		if transport.Pause(ctx, read.SyncedAt.Add(chainReadEvery+clockTolerance).Sub(s.approver.now())) != nil {
			return nil, doubt
		}
	}
}

// clockTolerance is how far the service's time, as this machine knows it, may be off: it comes in whole seconds, and less than two count as none.
const clockTolerance = 3 * time.Second

// done reports that a deal's status says that the action happened.
func (a EscrowActionType) done(status EscrowStatus) bool {
	switch a {
	case EscrowActionTypeApprove:
		return status == EscrowStatusActive || status == EscrowStatusReleased || status == EscrowStatusRefunded
	case EscrowActionTypeRelease:
		return status == EscrowStatusReleased
	case EscrowActionTypeRefund:
		return status == EscrowStatusRefunded
	}
	return false
}

// approvalClosed reports that an approval's window passed, by the service's clock or by this machine's.
func approvalClosed(err error) bool {
	if refused, ok := errors.AsType[*signing.ApprovalRefused](err); ok {
		return refused.Expired
	}
	_, expired := errors.AsType[*errors.ApprovalExpired](err)
	return expired
}
