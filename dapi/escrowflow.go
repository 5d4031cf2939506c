package dapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Open creates an escrow and approves it: it compares the escrow's terms and its approval with what you asked for,
// signs the approval and confirms it. If the state is paid, the money is held.
//
// # Repeating
//
// key identifies the escrow. If you call Open again within 7 days with the same key and the same terms, the money is
// held once. Open fails with *errors.InvalidInput if the key is empty. [EscrowTerms] means the same as [PayTerms] for
// [Payouts.Pay]. If this client has signed for an escrow with this key before, or History names one, Open approves no
// other escrow.
//
// # Errors
//
// The states and their errors are those of [Payouts.Pay]. These are different:
//
//   - ended: *[EscrowNotOpened]. The escrow's approve window closed before the money was held. To open an escrow, use a
//     new key.
//   - in doubt: also if the escrow is active, or was just confirmed, with other terms than you asked for.
func (s *Escrows) Open(ctx context.Context, escrow EscrowCreate, key moneymovement.Key, terms EscrowTerms,
	options ...moneymovement.CallOption,
) (EscrowResult, error) {
	s = transport.OrNew(s).withHeaderOf(options)
	f := s.flow(key, terms, options, &escrowFlow{asked: escrow, action: EscrowActionTypeApprove})
	f.first, f.scope = &opCreateEscrow, s.scope(string(key))
	opened := f.run(ctx, s.low, escrow.validate, s.check(&escrow), func(c *transport.Check) {
		terms.History.isOf(c, "", terms.History.EscrowID)
	})
	return opened.escrow()
}

// Act takes an action of an escrow, such as `release` or `refund`: it prepares the action, compares its approval with
// the escrow's terms, signs the approval and confirms it. If the state is paid, the action was taken.
//
// Pass as asked the EscrowCreate with which you created the escrow. The approval must have the same amount, currency
// and payee, and must be for this action. Otherwise the error is *signing.ApprovalRefused, and Act does not confirm the
// action.
//
// # Repeating
//
// key identifies the action. If you call Act again with the same key, the action is taken once. Act fails with
// *errors.InvalidInput if the key is empty. If the approval's 60 seconds pass before the confirm, Act prepares the
// action again under the same key. [EscrowTerms] means the same as [PayTerms] for [Payouts.Pay].
//
// If History says that an earlier call may have taken the action, or this client knows of such a call, Act reads the
// escrow first, and returns it if it shows the action. If the escrow cannot be read, Act signs nothing. With a zero
// History Act does not read first, because an escrow is released or refunded once.
//
// # Errors
//
// The states and their errors are those of [Payouts.Pay]. With *errors.Conflict, the action is not available: Act has
// read the escrow, and the escrow does not show that the action was taken.
func (s *Escrows) Act(ctx context.Context, asked EscrowCreate, id EscrowID, action EscrowActionType,
	key moneymovement.Key, terms EscrowTerms, options ...moneymovement.CallOption,
) (EscrowResult, error) {
	s = transport.OrNew(s).withHeaderOf(options)
	f := s.flow(key, terms, options, &escrowFlow{asked: asked, id: id, action: action})
	f.first, f.scope, f.actionOf = &opPrepareEscrowAction, s.actionScope(id, string(key)), string(id)
	taken := f.run(ctx, s.low, s.check(&asked), checkEscrowID(id), func(c *transport.Check) {
		terms.History.isOf(c, "", id)
	})
	return taken.escrow()
}

func (s *Escrows) flow(
	key moneymovement.Key, terms EscrowTerms, options []moneymovement.CallOption, what *escrowFlow,
) *flow {
	what.service, what.Escrows = s, s
	f := &flow{
		payable: what, second: &opConfirmEscrowAction, key: key, memory: s.memory, queue: s.queue, options: options,
		resolution: "call again with the same key and terms", maxRebooks: 1,
		history: terms.History, journal: terms.Journal,
	}
	if terms.BeforeSigning != nil {
		f.beforeSigning = func(ctx context.Context, o *offer) error {
			return terms.BeforeSigning(ctx, o.escrow.clone())
		}
	}
	return f
}

// scope returns the scope of the key that opens an escrow.
func (s *Escrows) scope(key string) transport.KeyScope {
	return transport.KeyScopeOf(&opCreateEscrow, string(s.low.account), key)
}

// actionScope returns the scope of the key of an action.
func (s *Escrows) actionScope(id EscrowID, key string) transport.KeyScope {
	return transport.KeyScopeOf(&opPrepareEscrowAction, string(s.low.account), key, string(id))
}

// escrowFlow is what a [flow] does with an escrow, or with an action of an escrow.
type escrowFlow struct {
	service  *Escrows
	*Escrows // with the developer key that prepared the action
	asked    EscrowCreate
	action   EscrowActionType
	id       EscrowID  // of the escrow of an action
	began    time.Time // of the first confirm
}

func (d *escrowFlow) clock() approver { return d.approver }

func (d *escrowFlow) price(*flow) error { return nil }

func (d *escrowFlow) book(ctx context.Context, f *flow) (booked *offer, created bool, err error) {
	d.Escrows = d.service.withCurrentKey()
	var response moneymovement.Response
	options := writeOptions(f.options, moneymovement.IdempotencyKey(f.key), moneymovement.CaptureResponse(&response))
	if f.booked != nil { // its approval has expired
		o, err := d.prepare(ctx, f, f.booked.escrow, options)
		return o, false, err
	}
	if f.first == &opCreateEscrow {
		escrow, err := d.Create(ctx, d.asked, options...)
		if err != nil {
			return nil, false, err
		}
		created = isCreated(&response)
		return d.offer(f, escrow, created), created, nil
	}
	if f.earlier == errorbase.MayPay || f.earlier == errorbase.MayExist && !f.withoutHistory {
		o, err := d.sync(ctx, f, d.id)
		switch {
		case err != nil:
			return nil, false, f.unproven(&opSyncEscrow, err)
		case o.differs != nil:
			return nil, false, f.unproven(&opSyncEscrow, f.withHead(o.differs))
		case o.phase == phasePaid:
			return o, false, nil
		}
		f.wasRead = false
	}
	if err := f.checkAge(d.approver.latest()); err != nil {
		return nil, false, err
	}
	o, err := d.prepare(ctx, f, &Escrow{ID: d.id}, options)
	return o, false, err
}

// prepare prepares the action of an escrow.
func (d *escrowFlow) prepare(
	ctx context.Context, f *flow, escrow *Escrow, options []moneymovement.WriteOption,
) (*offer, error) {
	prepared, err := d.Prepare(ctx, escrow.ID, d.action, options...)
	if err != nil {
		return nil, err
	}
	clone := *escrow
	clone.Action = prepared
	o := &offer{id: string(escrow.ID), key: string(f.key), phase: phaseOpen, escrow: &clone}
	o.offers(f, d.action)
	return o, nil
}

// offers sets what can be signed of an escrow: its action. The service returns the key, which addresses the action. For
// an action of an unknown type, the approval decides.
func (o *offer) offers(f *flow, action EscrowActionType) {
	head := errors.CallInfo{Operation: opPrepareEscrowAction.ID, IdempotencyKey: string(f.key), Resource: o.id}
	switch prepared := o.escrow.Action; {
	case prepared == nil || prepared.IdempotencyKey != string(f.key):
		o.problem = unproven(head, errors.New("the action has another idempotency key, or none"))
	case prepared.Type.Known() && prepared.Type != action:
		o.problem = &TermsDiffer{CallInfo: head, Member: "action.type", Asked: string(action),
			Got: string(prepared.Type)}
	default:
		if o.approval = prepared.Approval; o.approval != nil {
			o.expires = o.approval.ExpiresAt
		}
	}
}

// offer returns an escrow as the flow sees it. A new escrow that offers its approval waits for it, whatever its status
// is.
func (d *escrowFlow) offer(f *flow, escrow *Escrow, created bool) *offer {
	o := &offer{id: string(escrow.ID), key: escrow.IdempotencyKey, escrow: escrow}
	if f.first == &opCreateEscrow {
		o.offers(f, d.action)
	}
	fresh := created && o.signable()
	switch {
	case !fresh && escrow.shows(d.action):
		o.phase = phasePaid
	case f.first == &opCreateEscrow && escrow.Status == EscrowStatusExpired:
		o.phase = phaseEnded
	case escrow.isUnfunded():
		o.phase = phaseOpen
	}
	if o.differs = escrow.differs(d.asked); f.first == &opCreateEscrow {
		o.differs = cmp.Or(o.differs, escrow.windowsDiffer(d.asked, o.phase == phasePaid))
	}
	return o
}

// sync reads the escrow. A response about another escrow is an error.
func (d *escrowFlow) sync(ctx context.Context, f *flow, id EscrowID) (*offer, error) {
	f.wasRead, f.readErr = true, nil
	escrow, err := d.Sync(ctx, id)
	switch {
	case err != nil:
		f.readErr = err
		return nil, err
	case escrow.ID != id,
		f.first == &opCreateEscrow && escrow.IdempotencyKey != "" && escrow.IdempotencyKey != string(f.key):
		return nil, errors.New("the response is about another escrow")
	}
	o := d.offer(f, escrow, false)
	o.key = string(f.key)
	return o, nil
}

// read reads the escrow, and prepares its approval if it waits for one.
func (d *escrowFlow) read(ctx context.Context, f *flow) (*offer, error) {
	o, err := d.sync(ctx, f, EscrowID(f.id()))
	if err != nil || o.differs != nil || o.settles() {
		return o, err
	}
	o, err = d.prepare(ctx, f, o.escrow, writeOptions(f.options, moneymovement.IdempotencyKey(f.key)))
	f.readErr = err
	return o, err
}

func (d *escrowFlow) confirm(ctx context.Context, f *flow, allowExpired bool) (*offer, error) {
	d.began = cmp.Or(d.began, d.approver.now())
	escrow, err := d.signAndConfirm(ctx, f, d.asked, EscrowID(f.booked.id), d.action, f.booked.escrow.Action,
		allowExpired, f.options)
	if err != nil {
		return nil, err
	}
	o := &offer{id: string(escrow.ID), key: string(f.key), phase: phasePaid, escrow: escrow}
	if f.first == &opCreateEscrow {
		if differs := escrow.windowsDiffer(d.asked, true); differs != nil {
			return nil, f.unproven(&opConfirmEscrowAction, f.withHead(differs))
		}
		if escrow.Status == EscrowStatusExpired { // from before the confirm, which has succeeded
			return nil, f.unproven(&opConfirmEscrowAction, errors.New("the response says that the escrow has expired"))
		}
	}
	return o, nil
}

func (d *escrowFlow) afterError(_ context.Context, f *flow, err error) stepResult {
	switch {
	case f.booked != nil && approvalClosed(err):
		return rebookAfter(err)
	case mayHaveMoved(err) || moved(err):
		return inDoubtBy(err)
	}
	return refusedBy(err)
}

// moved reports an error that says that the money has moved. The escrow itself decides.
func moved(err error) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	return ok && failure.MovedByCall() == errors.Moved
}

// clockTolerance is the largest error of ServiceNow. The service sends its time in whole seconds, and the SDK ignores a
// difference of less than two seconds.
const clockTolerance = 3 * time.Second

// readOutcome reads the escrow to see whether the action was taken, perhaps by another call with its key. It does so if
// the approval was used before, if the action is not available any more, or if a response was lost. After a lost
// response, the stored escrow can be older than the confirm, so readOutcome waits for the next chain read. An unknown
// status does not say what happened. Then the action was taken if its approval is used and it is not available any
// more, because an approval signs one action only.
func (d *escrowFlow) readOutcome(ctx context.Context, f *flow, end stepResult) stepResult {
	refusal, conflict := errors.AsType[*errors.Conflict](end.err)
	_, consumed := errors.AsType[*errors.ApprovalConsumed](end.err)
	closed := approvalClosed(end.err) || errors.Is(end.err, errExpiredOffer)
	prepared := f.sent || f.first == &opPrepareEscrowAction || f.rebookCause != nil // the action alone
	if f.wasRead || !prepared || f.id() == "" || end.moved == errors.NotMoved && !closed {
		return end
	}
	began := cmp.Or(d.began, d.approver.now())
	waited := false
	read := func(o *offer) bool { // the chain was read after the confirm
		at := o.escrow.SyncedAt
		return at.After(began.Add(clockTolerance)) || waited && at.IsZero()
	}
	for ; ; waited = true {
		o, err := d.sync(ctx, f, EscrowID(f.id()))
		switch {
		case err != nil || o.differs != nil:
			return inDoubtBy(end.err)
		case o.phase == phaseEnded && f.sent && !conflict && !closed && !read(o): // as it was before the confirm
		case o.settles(), f.attempt.done(), consumed && !o.escrow.Status.Known() && !o.escrow.Can(d.action):
			if o.phase != phaseEnded {
				o.phase = phasePaid
			}
			return settledBy(o)
		case conflict && f.sent && !o.escrow.Status.Final() &&
			refusal.Remedy() != errors.RemedyChangeAccount:
			return inDoubtBy(end.err) // perhaps with this signature, and the chain was not read since
		case conflict || closed: // this call did nothing, so the stored escrow is good enough
			if o.escrow.Status.Final() {
				f.earlier = errorbase.NonePaid // the escrow has ended in another way
			}
			return refusedBy(end.err)
		}
		if waited || read(o) {
			return inDoubtBy(end.err)
		}
		synced := cmp.Or(o.escrow.SyncedAt, d.approver.now()) // without it, the chain may have been read just now
		until := synced.Add(chainReadEvery + clockTolerance).Sub(d.approver.now())
		if f.readErr = transport.Pause(ctx, until); f.readErr != nil {
			return inDoubtBy(end.err)
		}
	}
}

// Confirm confirms an action that was prepared, perhaps in another process. The approval must be for the action that
// you pass, even if prepared.Type is another one. Confirm has the same errors as [Escrows.Act].
//
// A nil error means that the service took the action. The returned escrow is the stored one. The service may not have
// read the chain since, so the escrow can have the status from before the action. To wait for the new status, call
// [Escrows.Wait].
func (s *Escrows) Confirm(
	ctx context.Context, terms EscrowCreate, id EscrowID, action EscrowActionType, prepared *EscrowAction,
	options ...moneymovement.CallOption,
) (*Escrow, error) {
	s = transport.OrNew(s).withHeaderOf(options)
	if prepared == nil {
		prepared = &EscrowAction{}
	}
	low := s.low.withKey(moneymovement.Key(prepared.IdempotencyKey))
	if err := low.ready(ctx, &opConfirmEscrowAction, s.check(&terms)); err != nil {
		return nil, err
	}
	escrow, err := s.signAndConfirm(ctx, nil, terms, id, action, prepared, false, options)
	scope := s.scope(prepared.IdempotencyKey)
	if action != EscrowActionTypeApprove {
		scope = s.actionScope(id, prepared.IdempotencyKey)
	}
	s.memory.confirmed(scope, err)
	return escrow, err
}

// signAndConfirm signs and confirms an action. f is nil if it was prepared by hand. With allowExpired it signs an
// approval that has expired by this machine's clock.
func (s *Escrows) signAndConfirm(ctx context.Context, f *flow, terms EscrowCreate, id EscrowID,
	action EscrowActionType, prepared *EscrowAction, allowExpired bool, options []moneymovement.CallOption,
) (*Escrow, error) {
	low := s.low
	if f == nil {
		f = &flow{}
	} else {
		low = low.withKey(f.key)
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
	confirmed := low.ConfirmEscrowAction(ctx, id, prepared.IdempotencyKey, body, options)
	escrow, err := s.approver.noteEscrow(confirmed.Value())
	if err != nil {
		return nil, err
	}
	if escrow == nil {
		if escrow, err = s.Sync(ctx, id); err != nil {
			if call, _ := errors.CallInfoOf(err); !call.RetryAt.IsZero() { // a second read would be refused as well
				f.wasRead = true
			}
			f.readErr = err
			return nil, unproven(head,
				fmt.Errorf("the service accepted the confirm and returned no escrow, and the escrow cannot be read: %w",
					err))
		}
		if !escrow.shows(action) { // perhaps not yet: the stored escrow can be from before
			return nil, unproven(head,
				errors.New("the service accepted the confirm, but the escrow does not show that the action was taken"))
		}
	}
	if escrow.ID != id {
		return nil, unproven(head, errors.New("the response is about another escrow"))
	}
	if differs := escrow.differs(terms); differs != nil {
		differs.CallInfo = head
		return nil, unproven(head, differs)
	}
	return escrow, nil
}

// shows reports that the escrow shows the action as taken. For a status that this version does not know,
// AvailableActions proves an approval: before it, there is nothing to release or refund.
func (d *Escrow) shows(action EscrowActionType) bool {
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

// isUnfunded reports that an escrow holds no money, according to its response.
func (d *Escrow) isUnfunded() bool {
	return d.Status == "" || d.Status.Known() && !d.Status.approved()
}

// approvalClosed reports that an approval has expired, by the service's clock or by this machine's.
func approvalClosed(err error) bool {
	if windowClosed(err) {
		return true
	}
	_, expired := errors.AsType[*errors.ApprovalExpired](err)
	return expired
}

// clone returns a copy for a function of the caller, which must not change what is signed.
func (d *Escrow) clone() *Escrow {
	clone := *d
	if d.Action != nil {
		clone.Action = new(*d.Action)
		if approval := d.Action.Approval; approval != nil {
			clone.Action.Approval = new(*approval)
			clone.Action.Approval.Payload = bytes.Clone(approval.Payload)
		}
	}
	return &clone
}

// EscrowNotOpened says that an escrow's approve window closed before its money was held. This escrow cannot be opened
// any more. To open another one, use a new key.
type EscrowNotOpened struct {
	errors.CallInfo
	Escrow *Escrow
}

// Error returns one line, safe to log.
func (e *EscrowNotOpened) Error() string {
	return errorbase.Text(e,
		"escrow "+string(deref(e.Escrow).ID)+" expired before it was approved, so it never held money; "+
			"to open an escrow, use a new key")
}

// Retryable returns false: the escrow's window does not open again.
func (e *EscrowNotOpened) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the escrow never held money.
func (e *EscrowNotOpened) MovedByCall() errors.Movement { return errors.NotMoved }
