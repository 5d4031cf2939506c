package dapi

import (
	"bytes"
	"cmp"
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/errorpage"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Open creates a deal and approves it: it compares the deal's terms and its approval with what you asked for, signs the
// approval and confirms it. If the error is nil, the money is held.
//
// # Repeating
//
// key identifies the deal. If you call Open again within 7 days with the same key and the same terms, the money is held
// once. Open fails with *errors.InvalidInput if the key is empty. [FirstUse] and [FirstUsedAt] mean the same as for
// [Payouts.Pay], and so do [CreatedBefore] and [BeforeApproving]: Open approves no other deal than the one for which
// this client has signed with this key before, or which you name.
//
// # Errors
//
// A refusal is about one call, as for [Payouts.Pay].
//
//   - *errors.OutcomeUnknown: the money may be held, because of this call or an earlier one. Call Open again with the
//     same key and terms. It is also the error if the deal is active, or was just confirmed, with other terms than you
//     asked for.
//   - *[TermsDiffer]: the deal has other windows, another payee or another amount than you asked for. This call
//     approved nothing.
//   - *[EscrowNotOpened]: the deal's approve window closed before the money was held. To open a deal, use a new key.
func (s *Escrows) Open(
	ctx context.Context, deal EscrowCreate, key moneymovement.Key, options ...OpenOption,
) (*Escrow, error) {
	if err := transport.Of(s).low.ready(ctx, &opCreateEscrow); err != nil {
		return nil, err
	}
	var opts openOptions
	for _, option := range options {
		if option != nil {
			option.setOpen(&opts)
		}
	}
	if err := checkPayment(&opCreateEscrow, key, deal.validate, s.check(&deal), opts.check); err != nil {
		return nil, s.memory.refusedInput(s.scope(string(key)), opts.firstUse, err)
	}
	if err := opts.checkAge(opCreateEscrow.ID, key, s.approver.now()); err != nil {
		return nil, err
	}
	attempt, left, err := s.memory.begin(s.scope(string(key)), opts.firstUse)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	leave, err := s.line.enter(ctx, string(key))
	if err != nil {
		return conclude(attempt, left, opCreateEscrow.ID, "", nil, err)
	}
	defer leave()
	opened, left, err := s.withCurrentKey().open(ctx, deal, key, opts, attempt, left)
	return conclude(attempt, left, opCreateEscrow.ID, "", opened, err)
}

// open creates and approves. It also returns the doubt that this call and earlier ones leave.
func (s *Escrows) open(
	ctx context.Context, deal EscrowCreate, key moneymovement.Key, opts openOptions, attempt *attempt, left doubt,
) (*Escrow, doubt, error) {
	if err := opts.checkAge(opCreateEscrow.ID, key, s.approver.now()); err != nil {
		return nil, left, err
	}
	var response moneymovement.Response
	created, err := s.Create(ctx, deal, moneymovement.IdempotencyKey(key), moneymovement.CaptureResponse(&response))
	opts.capture(response)
	if err != nil {
		return nil, left.after(err), err
	}
	head := errors.CallInfo{Operation: opCreateEscrow.ID, IdempotencyKey: string(key), Resource: string(created.ID)}
	if created.IdempotencyKey != string(key) {
		return nil, knownDoubt,
			unproven(head, errors.New("the response has another idempotency key, or none"))
	}
	if known := cmp.Or(EscrowID(attempt.signed()), opts.createdBefore); known != "" && known != created.ID {
		differs := &TermsDiffer{CallInfo: head, Member: "id", Asked: string(known), Got: string(created.ID)}
		if created, err = s.knownDeal(ctx, deal, known, key); err != nil {
			return &Escrow{ID: known}, knownDoubt, unread(unproven(head, differs), err, string(key))
		}
		head.Resource, left, response = string(known), knownDoubt, moneymovement.Response{}
	}
	// A new deal that offers its approval waits for it, whatever its status is.
	fresh := newlyMade(response) && created.Can(EscrowActionTypeApprove) &&
		checkPrepared(created.ID, EscrowActionTypeApprove, created.Action, key) == nil &&
		created.Action.Approval != nil
	held := !fresh && created.took(EscrowActionTypeApprove)
	if !held { // a service that forgot the key has created another deal
		if err := opts.checkAge(opCreateEscrow.ID, key, s.approver.latest()); err != nil {
			return created, left, err
		}
	}
	left = attempt.updateDoubt(left, string(created.ID), held, string(opts.createdBefore), response)
	if differs := cmp.Or(created.differs(deal), created.windowsDiffer(deal, held)); differs != nil {
		differs.CallInfo = head
		if created.untouched() {
			return created, left, differs
		}
		return created, knownDoubt, unproven(head, differs)
	}
	switch {
	case created.Status == EscrowStatusExpired:
		return created, noDoubt, &EscrowNotOpened{CallInfo: head, Escrow: created}
	case held:
		return created, noDoubt, nil // an earlier call with this key has approved the deal
	}
	if err := s.beforeApproving(ctx, opts, created); err != nil {
		return created, left, &PaymentDeclined{CallInfo: head, Err: err}
	}
	opened, open, err := s.act(ctx, deal, created.ID, EscrowActionTypeApprove, created.Action, attempt,
		moneymovement.CaptureResponse(&response))
	opts.capture(response)
	switch {
	case err == nil:
	case opened != nil && opened.Status == EscrowStatusExpired: // the stored response to the create call is older
		return opened, noDoubt, &EscrowNotOpened{CallInfo: head, Escrow: opened}
	default:
		return created, max(left, open), err
	}
	if differs := opened.windowsDiffer(deal, true); differs != nil {
		differs.CallInfo = head
		return opened, knownDoubt, unproven(head, differs)
	}
	return opened, noDoubt, nil
}

// knownDeal returns the deal for which an approval with this key may have been signed, when the service has created
// another one for the key. The error is that of a deal that cannot be read, or that is not the one that was asked for.
func (s *Escrows) knownDeal(
	ctx context.Context, deal EscrowCreate, id EscrowID, key moneymovement.Key,
) (*Escrow, error) {
	known, err := s.Sync(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case known.ID != id, known.IdempotencyKey != "" && known.IdempotencyKey != string(key):
		return nil, errors.New("the response is about another deal")
	case known.differs(deal) != nil:
		return nil, known.differs(deal)
	case known.took(EscrowActionTypeApprove), known.Status == EscrowStatusExpired:
		return known, nil
	}
	known.Action, err = s.Prepare(ctx, id, EscrowActionTypeApprove, moneymovement.IdempotencyKey(key))
	return known, err
}

// beforeApproving calls the caller's function, which can refuse.
func (s *Escrows) beforeApproving(ctx context.Context, opts openOptions, created *Escrow) error {
	if opts.beforeApproving == nil {
		return nil
	}
	left := hookReserve
	if action := created.Action; action != nil && action.Approval != nil {
		left = max(left, action.Approval.ExpiresAt.Sub(s.approver.now())-hookReserve)
	}
	asking, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return opts.beforeApproving(asking, created.copied())
}

// copied returns a copy for a function of the caller, which must not change what is signed.
func (d *Escrow) copied() *Escrow {
	shown := *d
	if d.Action != nil {
		shown.Action = new(*d.Action)
		if approval := d.Action.Approval; approval != nil {
			shown.Action.Approval = new(*approval)
			shown.Action.Approval.Payload = bytes.Clone(approval.Payload)
		}
	}
	return &shown
}

// scope returns the scope of the key that opens a deal.
func (s *Escrows) scope(key string) transport.KeyScope {
	return transport.KeyScopeOf(&opCreateEscrow, string(s.low.account), key)
}

// untouched reports that a deal holds no money, according to its response.
func (d *Escrow) untouched() bool {
	return d.Status == "" || d.Status.Known() && !d.Status.approved()
}

// after returns the doubt after an error. If the key belongs to other terms, no call with it can have opened a deal
// with these terms.
func (d doubt) after(err error) doubt {
	if reused, ok := errors.AsType[*errors.IdempotencyKeyReused](err); ok && (d != knownDoubt || reused.Status == 0) {
		return noDoubt
	}
	return max(d, doubtOf(err))
}

// doubtOf returns the doubt that an error of this call leaves.
func doubtOf(err error) doubt {
	if mayHaveMoved(err) {
		return knownDoubt
	}
	return noDoubt
}

const againDeal = "call again with the same key and terms"

// conclude ends an attempt on a deal. left is the doubt from before.
func conclude(attempt *attempt, left doubt, operation string, id EscrowID, deal *Escrow, err error) (*Escrow, error) {
	key := attempt.known.Scope.Key
	_, expired := err.(*EscrowNotOpened) //nolint:errorlint // as below
	plain := left == noDoubt && attempt.onlyCall()
	switch {
	case err == nil, expired && plain:
		attempt.end(transport.KeySettled)
	case plain:
		attempt.end(transport.KeyUnpaid)
	case left == assumedDoubt && attempt.onlyCall():
		attempt.end(transport.KeyUnpaid) // this client knows of no call that may have held the money
		err = inDoubt(err, operation, moneymovement.Key(key), againDeal, callfacts.MayExist)
	default: // after a refusal, too, this call may have held the money
		attempt.end(transport.KeyMaybePaid)
		err = inDoubt(err, operation, moneymovement.Key(key), againDeal, callfacts.NotSaid)
	}
	if deal != nil {
		id = deal.ID
	}
	callfacts.SetResource(err, string(id), key)
	return deal, err
}

// EscrowNotOpened says that a deal's approve window closed before its money was held. This deal cannot be opened any
// more. To open another one, use a new key.
type EscrowNotOpened struct {
	errors.CallInfo
	Escrow *Escrow
}

// Error returns one line, safe to log.
func (e *EscrowNotOpened) Error() string {
	return errorpage.Text(e,
		"escrow "+string(deref(e.Escrow).ID)+" expired before it was approved, so it never held money; "+
			"to open a deal, use a new key")
}

// Retryable returns false: the deal's window does not open again.
func (e *EscrowNotOpened) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the deal never held money.
func (e *EscrowNotOpened) MovedByCall() errors.Movement { return errors.NotMoved }
