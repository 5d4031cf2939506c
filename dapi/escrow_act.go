package dapi

import (
	"cmp"
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Open creates a deal, compares its terms and its approval with what was asked for, signs and confirms it: the money is
// held when it returns. key says which deal is meant: calling it again with the same key and terms, within 7 days,
// holds the money once. An empty key is *errors.InvalidInput. A deal whose approve window closed before is
// *[EscrowNotOpened]; other windows, another payee or amount than asked are *[TermsDiffer], and nothing was signed.
//
// A refusal speaks for its call, as [Payouts.Pay] says: a deal whose money may have been held, by this call or an
// earlier one, ends in *errors.OutcomeUnknown. So does one that echoes other terms when it is active already, or in the
// answer to the confirm. [FirstUse] counts as it does for Pay.
//
// Source: Limits, Idempotency.
func (s *Escrows) Open(
	ctx context.Context, deal EscrowCreate, key moneymovement.Key, options ...OpenOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opCreateEscrow); err != nil {
		return nil, err
	}
	var wish keyWish
	for _, option := range options {
		if option != nil {
			option.setOpen(&wish)
		}
	}
	if err := checkPayment(opCreateEscrow.ID, key, deal.validate, s.demands(&deal), wish.check); err != nil {
		return nil, err
	}
	if err := wish.checkAge(opCreateEscrow.ID, key, s.approver.now()); err != nil {
		return nil, err
	}
	attempt, left, err := s.memory.begin(paymentKey{s.approver.account, opCreateEscrow.ID, string(key)}, wish.firstUse)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	leave, err := s.line.enter(ctx, string(key))
	if err != nil {
		return conclude(attempt, left, opCreateEscrow.ID, "", nil, err)
	}
	defer leave()
	opened, left, err := s.underOneKey().open(ctx, deal, key, wish, attempt, left)
	return conclude(attempt, left, opCreateEscrow.ID, "", opened, err)
}

// open creates and approves. It returns what is left open about the deal, by this call and those before it.
func (s *Escrows) open(
	ctx context.Context, deal EscrowCreate, key moneymovement.Key, wish keyWish, attempt *attempt, left doubt,
) (*Escrow, doubt, error) {
	if err := wish.checkAge(opCreateEscrow.ID, key, s.approver.now()); err != nil {
		return nil, left, err
	}
	var answer moneymovement.Response
	created, err := s.Create(ctx, deal, moneymovement.IdempotencyKey(key), moneymovement.CaptureResponse(&answer))
	wish.capture(answer)
	if err != nil {
		return nil, left.after(err), err
	}
	head := errors.Head{Operation: opCreateEscrow.ID, IdempotencyKey: string(key), Resource: string(created.ID)}
	if created.IdempotencyKey != string(key) {
		return nil, knownDoubt,
			unproven(head, errors.New("the answer is about a deal of another key, or does not say of which"))
	}
	// A new deal that offers its approval waits for it, whatever its status is called.
	fresh := newlyMade(answer) && created.Can(EscrowActionTypeApprove) &&
		checkPrepared(created.ID, EscrowActionTypeApprove, created.Action, key) == nil &&
		created.Action.Approval != nil
	held := !fresh && created.took(EscrowActionTypeApprove)
	if !held { // a service that has forgotten the key has made another deal
		if err := wish.checkAge(opCreateEscrow.ID, key, s.approver.latest()); err != nil {
			return created, left, err
		}
	}
	left = attempt.learn(left, string(created.ID), held, answer)
	attempt.bookedAs(string(created.ID), nil)
	if differs := cmp.Or(created.differs(deal), created.windowsDiffer(deal, held)); differs != nil {
		differs.Head = head
		if created.untouched() {
			return created, left, differs
		}
		return created, knownDoubt, unproven(head, differs)
	}
	switch {
	case created.Status == EscrowStatusExpired:
		return created, noDoubt, &EscrowNotOpened{Head: head, Escrow: created}
	case held:
		return created, noDoubt, nil // an earlier call with this key went through
	}
	opened, open, err := s.act(ctx, deal, created.ID, EscrowActionTypeApprove, created.Action, attempt,
		moneymovement.CaptureResponse(&answer))
	wish.capture(answer)
	if err != nil {
		return created, max(left, open), err
	}
	if differs := opened.windowsDiffer(deal, true); differs != nil {
		differs.Head = head
		return opened, knownDoubt, unproven(head, differs)
	}
	return opened, noDoubt, nil
}

// untouched reports that a deal holds no money, as far as its answer says.
func (d *Escrow) untouched() bool {
	return d.Status == "" || d.Status.Known() && !d.Status.approved()
}

// after is what is left open after an error. A key that belongs to other terms did nothing for these.
func (d doubt) after(err error) doubt {
	if _, reused := errors.AsType[*errors.IdempotencyKeyReused](err); reused {
		return noDoubt
	}
	return max(d, doubtOf(err))
}

// doubtOf is what an error of this call leaves open.
func doubtOf(err error) doubt {
	if mayHaveMoved(err) {
		return knownDoubt
	}
	return noDoubt
}

// conclude ends an attempt on a deal, in the light of what was left open before it.
func conclude(attempt *attempt, left doubt, operation string, id EscrowID, deal *Escrow, err error) (*Escrow, error) {
	key := attempt.known.key.key
	_, expired := errors.AsType[*EscrowNotOpened](err)
	plain := left == noDoubt && attempt.alone()
	switch {
	case err == nil, expired && plain:
		attempt.end(over)
	case plain:
		attempt.end(nothing)
	default:
		attempt.end(maybe)
		// which says by itself that an earlier call may have held the money
		if _, old := errors.AsType[*KeyTooOld](err); old {
			break
		}
		err = inDoubt(err, operation, moneymovement.Key(key), "call again with the same key and terms")
	}
	if deal != nil {
		id = deal.ID
	}
	errors.Name(err, string(id), key, callfacts.Asker{})
	return deal, err
}

// EscrowNotOpened says that a deal's approve window closed before its money was held.
type EscrowNotOpened struct {
	errors.Head
	Escrow *Escrow
}

// Error is one line, safe to log.
func (e *EscrowNotOpened) Error() string {
	return "escrow " + string(given(e.Escrow).ID) + " expired before it was approved; to open a deal, use a new key"
}

// Retryable is false: the deal's window does not open again.
func (e *EscrowNotOpened) Retryable() bool { return false }

// MovedByCall is not_moved: the deal never held money.
func (e *EscrowNotOpened) MovedByCall() errors.Movement { return errors.NotMoved }

// Act prepares an action of a deal, compares its approval with the deal's terms, signs and confirms it. terms is what
// the deal was created with: its amount, currency and payee have to stand in the approval, and the action itself, else
// it is *signing.ApprovalRefused and nothing was sent. key says which action is meant, so that calling it again takes
// it once; an empty one is *errors.InvalidInput. If the approval's 60 seconds pass before it is confirmed, the action
// is prepared once more under the same key. The status of the deal that comes back can be the one from before the
// action, as [Escrows.Confirm] says.
//
// A refusal speaks for its call. An action that this client may have taken ends in *errors.OutcomeUnknown. One that is
// not available is *errors.Conflict, once the deal was read and does not show that it was taken. What another process
// did with the key, the deal tells.
//
// Source: Authentication, Signing; Limits, Lifetimes and Idempotency.
func (s *Escrows) Act(
	ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, key moneymovement.Key,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opPrepareEscrowAction); err != nil {
		return nil, err
	}
	if err := checkPayment(opPrepareEscrowAction.ID, key); err != nil {
		return nil, err
	}
	attempt, left, err := s.memory.begin(paymentKey{s.approver.account, opPrepareEscrowAction.ID + " " + string(id),
		string(key)}, false)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	if left == assumedDoubt { // the deal itself tells whether an action was taken
		left = noDoubt
	}
	leave, err := s.line.enter(ctx, string(key))
	if err != nil {
		return conclude(attempt, left, opPrepareEscrowAction.ID, id, nil, err)
	}
	defer leave()
	s = s.underOneKey()
	prepared, err := s.Prepare(ctx, id, action, moneymovement.IdempotencyKey(key))
	if err != nil && !mayHaveMoved(err) {
		return conclude(attempt, left.after(err), opPrepareEscrowAction.ID, id, nil, err)
	}
	var deal *Escrow
	var open doubt
	if err == nil {
		deal, open, err = s.act(ctx, terms, id, action, prepared, attempt)
	} else {
		deal, open, err = s.resolve(ctx, terms, id, action, s.approver.now(), attempt, err)
	}
	return conclude(attempt, max(left, open), opPrepareEscrowAction.ID, id, deal, err)
}

// Confirm confirms an action that was prepared, perhaps in another process. What is signed is the action that the
// caller names, whatever prepared says it is. Its errors are those of [Escrows.Act], which calls it.
//
// A success says that the action was taken, and not that the chain has been read since: the deal that comes back is the
// stored projection, and can stand where it stood before the action. [Escrows.Wait] tells when its status follows.
func (s *Escrows) Confirm(
	ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, prepared *EscrowAction,
	options ...moneymovement.CallOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opConfirmEscrowAction); err != nil {
		return nil, err
	}
	return s.confirm(ctx, terms, id, action, prepared, false, options...)
}

// confirm is Confirm. evenIfOver signs an approval that this machine takes for over.
func (s *Escrows) confirm(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType,
	prepared *EscrowAction, evenIfOver bool,
	options ...moneymovement.CallOption,
) (*Escrow, error) {
	if prepared == nil {
		prepared = &EscrowAction{}
	}
	body, options, err := s.approver.confirm(ctx, s.low, &opConfirmEscrowAction, prepared.Approval, signing.Intent{
		Operation:   "escrow." + string(action),
		ResourceID:  string(id),
		Amount:      terms.Amount,
		Currency:    string(terms.Currency),
		Destination: signing.Destination{Address: string(terms.Payee)},
	}, evenIfOver, options)
	if err != nil {
		return nil, err
	}
	deal, err := s.approver.noteDeal(s.low.ConfirmEscrowAction(ctx, id, prepared.IdempotencyKey, body, options).Value())
	if err != nil {
		return nil, err
	}
	head := errors.Head{Operation: opConfirmEscrowAction.ID, IdempotencyKey: prepared.IdempotencyKey,
		Resource: string(id)}
	if deal == nil {
		if deal, err = s.Sync(ctx, id); err != nil {
			return nil, unproven(head,
				fmt.Errorf("the service took the confirm and showed no deal, and it cannot be read: %w", err))
		}
		if !deal.took(action) { // perhaps not yet: the projection can be of before
			return nil, unproven(head,
				errors.New("the service took the confirm and showed no deal, and the deal does not show it"))
		}
	}
	if deal.ID != id {
		return nil, unproven(head, errors.New("the answer is about another deal"))
	}
	if differs := deal.differs(terms); differs != nil {
		differs.Head = head
		return nil, unproven(head, differs)
	}
	return deal, nil
}

// act confirms, and prepares once more if the window closed on the way. An approval that was used already, an action
// that is not available any more, or a lost answer may be the work of an earlier attempt with this key: the deal tells
// what came of it.
func (s *Escrows) act(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType,
	prepared *EscrowAction, attempt *attempt, options ...moneymovement.CallOption,
) (*Escrow, doubt, error) {
	began, key := s.approver.now(), moneymovement.Key(attempt.known.key.key)
	options = append(options, withKey(key))
	if err := checkPrepared(id, action, prepared, key); err != nil {
		return nil, doubtOf(err), err
	}
	deal, err := s.confirm(ctx, terms, id, action, prepared, false, options...)
	if approvalClosed(err) {
		first := prepared
		write := []moneymovement.WriteOption{withKey(key)}
		for _, option := range options {
			write = append(write, option)
		}
		if prepared, err = s.Prepare(ctx, id, action, write...); err == nil {
			err = checkPrepared(id, action, prepared, key)
		}
		if err == nil { // the same approval once more: only the service can say that it is over
			deal, err = s.confirm(ctx, terms, id, action, prepared, prepared.Approval.same(first.Approval), options...)
		}
	}
	if mayHaveMoved(err) || approvalClosed(err) {
		return s.resolve(ctx, terms, id, action, began, attempt, err)
	}
	return deal, doubtOf(err), err
}

// checkPrepared makes sure that an action is the one that was asked for: the raw key is echoed, and is the action's
// address.
//
// Source: Limits, Idempotency.
func checkPrepared(id EscrowID, action EscrowActionType, prepared *EscrowAction, key moneymovement.Key) error {
	head := errors.Head{Operation: opPrepareEscrowAction.ID, IdempotencyKey: string(key), Resource: string(id)}
	switch {
	case prepared == nil || prepared.IdempotencyKey != string(key):
		return unproven(head, errors.New("the action has another key, or does not say which"))
	case prepared.Type.Known() && prepared.Type != action: // of another word, the approval tells
		return &TermsDiffer{Head: head, Member: "action.type", Asked: string(action), Got: string(prepared.Type)}
	}
	return nil
}

// resolve reads the deal to see whether the action came through. After a lost answer, a projection from before it says
// nothing, and the next chain read is waited for. An approval signs nothing but its action: where the words of the
// status say nothing to this version, one that is consumed tells that the action was taken, once the deal does not
// offer it any more.
func (s *Escrows) resolve(ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType,
	began time.Time, attempt *attempt, cause error,
) (*Escrow, doubt, error) {
	_, conflict := errors.AsType[*errors.Conflict](cause)
	_, consumed := errors.AsType[*errors.ApprovalConsumed](cause)
	refused := conflict || approvalClosed(cause) // this attempt did nothing, so that any projection tells
	for waited := false; ; waited = true {
		read, err := s.Sync(ctx, id)
		switch {
		case err != nil, read.ID != id, read.differs(terms) != nil:
			return nil, knownDoubt, thenEnded(cause, err)
		case read.took(action), attempt.done(), consumed && !read.Status.Known() && !read.Can(action):
			return read, noDoubt, nil
		case refused:
			return nil, noDoubt, cause
		case waited || read.SyncedAt.After(began.Add(clockTolerance)):
			return nil, knownDoubt, cause
		}
		synced := cmp.Or(read.SyncedAt, s.approver.now()) // one that does not say may be as old as now
		if err := transport.Pause(ctx, synced.Add(chainReadEvery+clockTolerance).Sub(s.approver.now())); err != nil {
			return nil, knownDoubt, thenEnded(cause, err)
		}
	}
}

// clockTolerance is how far the service's time, as this machine knows it, may be off: it comes in whole seconds, and
// less than two count as none.
const clockTolerance = 3 * time.Second

// took reports that a deal shows that the action happened. What can be done next is stated, and tells of an approval:
// before it, there is nothing to release or refund. The words of the status are assumed.
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

// approvalClosed reports that an approval's window passed, by the service's clock or by this machine's.
func approvalClosed(err error) bool {
	if windowClosed(err) {
		return true
	}
	_, expired := errors.AsType[*errors.ApprovalExpired](err)
	return expired
}
