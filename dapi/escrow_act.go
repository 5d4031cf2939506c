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

// Act takes an action of a deal, such as `release` or `refund`: it prepares the action, compares its approval with the
// deal's terms, signs the approval and confirms it.
//
// Pass as terms the EscrowCreate with which you created the deal. The approval must have the same amount, currency and
// payee, and must be for this action. Otherwise the error is *signing.ApprovalRefused, and Act does not confirm the
// action.
//
// The returned deal can still have the status from before the action: see [Escrows.Confirm].
//
// # Repeating
//
// key identifies the action. If you call Act again with the same key, the action is taken once. Act fails with
// *errors.InvalidInput if the key is empty. If the approval's 60 seconds pass before the confirm, Act prepares the
// action once more under the same key. [FirstUse] and [FirstUsedAt] mean the same as for [Payouts.Pay].
//
// If an earlier call may have taken the action, pass FirstUsedAt without FirstUse. Act then reads the deal first, and
// returns it if it shows the action. If the deal cannot be read, Act signs nothing. It does the same if this client
// knows of such a call.
//
// # Errors
//
// A refusal is about one call.
//
//   - *errors.OutcomeUnknown: this call, or an earlier one of this client, may have taken the action. Call Act again
//     with the same key.
//
//   - *errors.Conflict: the action is not available. Act has read the deal, and the deal does not show that the action
//     was taken.
//
//   - *[KeyTooOld]: the service may have forgotten the key. This call signed nothing.
func (s *Escrows) Act(
	ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, key moneymovement.Key,
	options ...KeyOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opPrepareEscrowAction); err != nil {
		return nil, err
	}
	var opts keyOptions
	for _, option := range options {
		option.set(&opts)
	}
	if err := checkPayment(&opPrepareEscrowAction, key, s.check(&terms), opts.check, checkEscrowID(id)); err != nil {
		return nil, s.memory.refusedInput(s.actionScope(id, string(key)), opts.firstUse, err)
	}
	attempt, left, err := s.memory.begin(s.actionScope(id, string(key)), opts.firstUse)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	leave, err := s.line.enter(ctx, string(key))
	if err != nil {
		return conclude(attempt, left, opPrepareEscrowAction.ID, id, nil, err)
	}
	defer leave()
	s = s.withCurrentKey()
	switch {
	case left == assumedDoubt && opts.firstUsed == nil: // nobody knows of an earlier call; the deal itself shows one
		left = noDoubt
	case left != noDoubt:
		deal, err := s.look(ctx, terms, id, action, opts, key)
		if err != nil || deal != nil {
			return conclude(attempt, left, opPrepareEscrowAction.ID, id, deal, err)
		}
	}
	if err := opts.checkAge(opPrepareEscrowAction.ID, key, s.approver.latest()); err != nil {
		return conclude(attempt, left, opPrepareEscrowAction.ID, id, nil, err)
	}
	var response moneymovement.Response
	prepared, err := s.Prepare(ctx, id, action, moneymovement.IdempotencyKey(key),
		moneymovement.CaptureResponse(&response))
	opts.capture(response)
	if err != nil && !mayHaveMoved(err) {
		return conclude(attempt, left.after(err), opPrepareEscrowAction.ID, id, nil, err)
	}
	var deal *Escrow
	var open doubt
	if err == nil {
		deal, open, err = s.act(ctx, terms, id, action, prepared, attempt, moneymovement.CaptureResponse(&response))
		opts.capture(response)
	} else {
		deal, open, err = s.resolve(ctx, terms, id, action, s.approver.now(), attempt, err)
	}
	if err != nil {
		deal = nil
	}
	return conclude(attempt, max(left, open), opPrepareEscrowAction.ID, id, deal, err)
}

// look reads a deal of which an earlier call may have taken the action. It returns the deal if it shows the action, and
// nil if it does not.
func (s *Escrows) look(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, opts keyOptions,
	key moneymovement.Key,
) (*Escrow, error) {
	head := errors.CallInfo{Operation: opSyncEscrow.ID, IdempotencyKey: string(key), Resource: string(id)}
	var response moneymovement.Response
	deal, err := s.Sync(ctx, id, moneymovement.CaptureResponse(&response))
	opts.capture(response)
	switch {
	case err != nil:
		return nil, unread(unproven(head, err), err, string(key))
	case deal.ID != id:
		return nil, unproven(head, errors.New("the response is about another deal"))
	case deal.differs(terms) != nil:
		return nil, unproven(head, deal.differs(terms))
	case deal.took(action):
		return deal, nil
	}
	return nil, nil
}

// Confirm confirms an action that was prepared, perhaps in another process. The approval must be for the action that
// you pass, even if prepared.Type is another one. Confirm has the same errors as [Escrows.Act].
//
// A nil error means that the service took the action. The returned deal is the stored one. The service may not have
// read the chain since, so the deal can have the status from before the action. To wait for the new status, call
// [Escrows.Wait].
func (s *Escrows) Confirm(
	ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, prepared *EscrowAction,
	options ...moneymovement.CallOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opConfirmEscrowAction); err != nil {
		return nil, err
	}
	if err := transport.Validate(opConfirmEscrowAction.ID, s.check(&terms)); err != nil {
		return nil, err
	}
	deal, err := s.confirm(ctx, s.low, terms, id, action, prepared, false, options...)
	if prepared != nil {
		scope := s.scope(prepared.IdempotencyKey)
		if action != EscrowActionTypeApprove {
			scope = s.actionScope(id, prepared.IdempotencyKey)
		}
		s.memory.confirmed(scope, err)
	}
	return deal, err
}

// actionScope returns the scope of the key of an action.
func (s *Escrows) actionScope(id EscrowID, key string) transport.KeyScope {
	return transport.KeyScopeOf(&opPrepareEscrowAction, string(s.low.account), key, string(id))
}

// confirm is Confirm. With allowExpired it signs an approval that has expired by this machine's clock.
func (s *Escrows) confirm(ctx context.Context, low lowLevel, terms EscrowCreate, id EscrowID, action EscrowActionType,
	prepared *EscrowAction, allowExpired bool, options ...moneymovement.CallOption,
) (*Escrow, error) {
	if prepared == nil {
		prepared = &EscrowAction{}
	}
	head := errors.CallInfo{Operation: opConfirmEscrowAction.ID, IdempotencyKey: prepared.IdempotencyKey,
		Resource: string(id)}
	if action == EscrowActionTypeApprove {
		if other := s.memory.sign(s.scope(prepared.IdempotencyKey), string(id)); other != "" {
			return nil, unproven(head, &TermsDiffer{CallInfo: head, Member: "id", Asked: other, Got: string(id)})
		}
	}
	body, low, err := s.approver.confirm(ctx, low, &opConfirmEscrowAction, prepared.Approval, signing.Intent{
		Operation:   "escrow." + string(action),
		ResourceID:  string(id),
		Amount:      terms.Amount,
		Currency:    string(terms.Currency),
		Destination: signing.Destination{Address: string(terms.Payee)},
	}, allowExpired, options)
	if err != nil {
		return nil, err
	}
	deal, err := s.approver.noteDeal(low.ConfirmEscrowAction(ctx, id, prepared.IdempotencyKey, body, options).Value())
	if err != nil {
		return nil, err
	}
	if deal == nil {
		if deal, err = s.Sync(ctx, id); err != nil {
			return nil, unread(unproven(head,
				fmt.Errorf("the service accepted the confirm and returned no deal, and the deal cannot be read: %w",
					err)), err, prepared.IdempotencyKey)
		}
		if !deal.took(action) { // perhaps not yet: the stored deal can be from before
			return nil, unproven(head,
				errors.New("the service accepted the confirm, but the deal does not show that the action was taken"))
		}
	}
	if deal.ID != id {
		return nil, unproven(head, errors.New("the response is about another deal"))
	}
	if differs := deal.differs(terms); differs != nil {
		differs.CallInfo = head
		return nil, unproven(head, differs)
	}
	return deal, nil
}

// act confirms an action. If the approval expires first, act prepares the action once more. The action may already have
// happened, in another attempt with this key. That is possible if the approval was used before, if the action is no
// longer on offer, and if a response was lost. In these three cases act reads the deal, which shows what happened. If
// the action was refused and the deal does not show it, act returns the deal with the error.
func (s *Escrows) act(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType,
	prepared *EscrowAction, attempt *attempt, options ...moneymovement.CallOption,
) (*Escrow, doubt, error) {
	began, key := s.approver.now(), moneymovement.Key(attempt.known.Scope.Key)
	keyed := s.low.withKey(key)
	if err := checkPrepared(id, action, prepared, key); err != nil {
		return nil, doubtOf(err), err
	}
	deal, err := s.confirm(ctx, keyed, terms, id, action, prepared, false, options...)
	if approvalClosed(err) {
		first := prepared
		write := []moneymovement.WriteOption{moneymovement.IdempotencyKey(key)}
		for _, option := range options {
			write = append(write, option)
		}
		if prepared, err = s.Prepare(ctx, id, action, write...); err == nil {
			err = checkPrepared(id, action, prepared, key)
		}
		if err == nil { // if it is the same approval again, only the service can say that it has expired
			deal, err = s.confirm(ctx, keyed, terms, id, action, prepared, prepared.Approval.same(first.Approval),
				options...)
		}
	}
	if readLater(err) {
		return nil, knownDoubt, err
	}
	if mayHaveMoved(err) || approvalClosed(err) {
		return s.resolve(ctx, terms, id, action, began, attempt, err)
	}
	return deal, doubtOf(err), err
}

// checkPrepared checks that an action is the one that was asked for. The service returns the key, which addresses the
// action.
func checkPrepared(id EscrowID, action EscrowActionType, prepared *EscrowAction, key moneymovement.Key) error {
	head := errors.CallInfo{Operation: opPrepareEscrowAction.ID, IdempotencyKey: string(key), Resource: string(id)}
	switch {
	case prepared == nil || prepared.IdempotencyKey != string(key):
		return unproven(head, errors.New("the action has another idempotency key, or none"))
	case prepared.Type.Known() && prepared.Type != action: // for an unknown type, the approval decides
		return &TermsDiffer{CallInfo: head, Member: "action.type", Asked: string(action), Got: string(prepared.Type)}
	}
	return nil
}

// clockTolerance is the largest error of ServiceNow. The service sends its time in whole seconds, and the SDK ignores a
// difference of less than two seconds.
const clockTolerance = 3 * time.Second

// took reports that a deal shows that the action was taken. For a status that this version does not know,
// AvailableActions proves an approval: before it, there is nothing to release or refund.
func (d *Escrow) took(action EscrowActionType) bool {
	switch action {
	case EscrowActionTypeApprove:
		if d.Status.Known() {
			return d.Status.approved()
		}
		return !d.Can(EscrowActionTypeApprove) && (d.Can(EscrowActionTypeRelease) || d.Can(EscrowActionTypeRefund))
	case EscrowActionTypeRelease:
		return d.Status == EscrowStatusReleased
	case EscrowActionTypeRefund:
		return d.Status == EscrowStatusRefunded
	}
	return false
}

// approvalClosed reports that an approval has expired, by the service's clock or by this machine's.
func approvalClosed(err error) bool {
	if windowClosed(err) {
		return true
	}
	_, expired := errors.AsType[*errors.ApprovalExpired](err)
	return expired
}
