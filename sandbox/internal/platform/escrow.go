package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// deal is an escrow deal. It has three windows, one after the other, from its creation on.
type deal struct {
	ID        string
	Account   holderKey
	holder    *holder
	Key       string // the idempotency key, given or derived
	Terms     platformwire.EscrowCreate
	CreatedAt time.Time

	ApproveBy, HoldUntil, RefundableUntil time.Time

	Chain     chainState // the state on chain
	Projected chainState // the state at the last chain read
	SyncedAt  time.Time  // time of that read; zero before the first

	Actions map[string]*escrowAction // by raw key, which is in the confirm URL
	Answer  platformwire.Escrow      // the response of the create call while the key is known
}

// chainState is the state of a deal on chain.
type chainState struct {
	Status platformwire.EscrowStatus
	Hash   string // of the last transaction; "" before the first
}

// The windows of a deal that sets none.
const (
	defaultApproveWithin = "1h"
	defaultHoldFor       = "14d"
	defaultRefundableFor = "90d"
)

// CreateEscrow creates a deal and prepares its approve action. No money moves. The deal, its windows and that action
// are bound to the idempotency key.
func (p *Platform) CreateEscrow(ctx context.Context, body platformwire.EscrowCreate) (wire.Answer, error) {
	c, body := wire.CallerOf(ctx), withWindows(body)
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Answer{}, err
	}
	key, asked, lifetime, err := anchorOf(c, "CreateEscrow", agreementOf(body))
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if id, found, same := t.agreements.find(key, asked, t.now); found {
		agreed := t.deals[id]
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("escrowId", agreed.ID)
		}
		return wire.OK(agreed.Answer).Lean().Replayed(), nil
	}
	agreed, err := t.agree(h, key.Key, body)
	if err != nil {
		return wire.Answer{}, err
	}
	t.agreements.keep(key, asked, agreed.ID, t.now, lifetime)
	return wire.Created(agreed.Answer).Lean(), nil
}

// agree makes a new deal with its approve action.
func (t *turn) agree(h *holder, key string, body platformwire.EscrowCreate) (*deal, error) {
	switch {
	case !t.ready(h):
		return nil, wire.WalletNotLinked()
	case t.settings.SignerDetached:
		return nil, wire.SignerNotAttached()
	}
	agreed := &deal{
		ID:        newID("esc_"),
		Account:   h.Key,
		holder:    h,
		Key:       key,
		Terms:     body,
		CreatedAt: t.now,
		Chain:     chainState{Status: platformwire.EscrowStatusPendingApproval},
		Projected: chainState{Status: platformwire.EscrowStatusPendingApproval},
		Actions:   map[string]*escrowAction{},
	}
	agreed.ApproveBy = t.now.Add(lasting(body.ApproveWithin))
	agreed.HoldUntil = agreed.ApproveBy.Add(lasting(body.HoldFor))
	agreed.RefundableUntil = agreed.HoldUntil.Add(lasting(body.RefundableFor))
	approve := t.prepare(agreed, key, platformwire.EscrowActionTypeApprove)
	t.deals[agreed.ID] = agreed
	agreed.Answer = agreed.view(t.now)
	agreed.Answer.Action = &approve
	t.kept.deals.Put(agreed)
	return agreed, nil
}

// withWindows sets the default windows that the request leaves out.
func withWindows(body platformwire.EscrowCreate) platformwire.EscrowCreate {
	body.ApproveWithin = cmp.Or(body.ApproveWithin, defaultApproveWithin)
	body.HoldFor = cmp.Or(body.HoldFor, defaultHoldFor)
	body.RefundableFor = cmp.Or(body.RefundableFor, defaultRefundableFor)
	return body
}

// agreementOf returns the terms of a request in one spelling: 60m becomes 1h, and an address is in lower case.
func agreementOf(body platformwire.EscrowCreate) platformwire.EscrowCreate {
	body.Payee = strings.ToLower(body.Payee)
	for _, window := range []*platformwire.EscrowDuration{&body.ApproveWithin, &body.HoldFor, &body.RefundableFor} {
		*window = lasting(*window).String()
	}
	return body
}

// lasting reads a window. The gate has checked its form.
func lasting(window platformwire.EscrowDuration) time.Duration {
	var count int64
	var unit byte
	_, _ = fmt.Sscanf(window, "%d%c", &count, &unit)
	seconds := map[byte]int64{'s': 1, 'm': 60, 'h': 60 * 60, 'd': 24 * 60 * 60}
	return time.Duration(count*seconds[unit]) * time.Second
}

// dealOf finds a deal of the account.
func (t *turn) dealOf(h *holder, id string) (*deal, error) {
	found, ok := t.deals[id]
	if !ok || found.holder != h {
		return nil, wire.NotFound()
	}
	return found, nil
}

// view returns the deal as it was at the last chain read. A deal that was not approved in time needs no chain read: the
// service co-signs every approval, so it knows.
func (d *deal) view(now time.Time) platformwire.Escrow {
	view := platformwire.Escrow{
		ID:               d.ID,
		Status:           d.Projected.Status,
		AvailableActions: d.available(d.Projected.Status, now),
		IdempotencyKey:   d.Key,
		Amount:           d.Terms.Amount,
		Currency:         d.Terms.Currency,
		Payee:            d.Terms.Payee,
		Memo:             d.Terms.Memo,
		ApproveBy:        d.ApproveBy,
		HoldUntil:        d.HoldUntil,
		RefundableUntil:  d.RefundableUntil,
		TransactionHash:  d.Projected.Hash,
		SyncedAt:         d.SyncedAt,
		CreatedAt:        d.CreatedAt,
	}
	if d.Chain.Status == platformwire.EscrowStatusPendingApproval && !now.Before(d.ApproveBy) {
		view.Status = platformwire.EscrowStatusExpired
	}
	return view
}

// windowEnd returns when the window for these actions ends. Without actions there is no window, and it returns the zero
// time.
func (d *deal) windowEnd(actions []platformwire.EscrowActionType) time.Time {
	if len(actions) == 0 {
		return time.Time{}
	}
	return map[platformwire.EscrowActionType]time.Time{
		platformwire.EscrowActionTypeApprove: d.ApproveBy,
		platformwire.EscrowActionTypeRelease: d.HoldUntil,
		platformwire.EscrowActionTypeRefund:  d.RefundableUntil,
	}[actions[0]]
}

// available lists the possible actions of a deal with this status: approve within the first window, release within the
// second, refund within the third.
func (d *deal) available(status platformwire.EscrowStatus, now time.Time) []platformwire.EscrowActionType {
	switch {
	case status == platformwire.EscrowStatusPendingApproval && now.Before(d.ApproveBy):
		return []platformwire.EscrowActionType{platformwire.EscrowActionTypeApprove}
	case status == platformwire.EscrowStatusActive && now.Before(d.HoldUntil):
		return []platformwire.EscrowActionType{platformwire.EscrowActionTypeRelease}
	case status == platformwire.EscrowStatusActive && now.Before(d.RefundableUntil):
		return []platformwire.EscrowActionType{platformwire.EscrowActionTypeRefund}
	default:
		return []platformwire.EscrowActionType{}
	}
}

// SyncEscrow returns a deal after a chain read. If the last read was a moment ago, it returns the stored deal.
func (p *Platform) SyncEscrow(ctx context.Context, escrowID platformwire.EscrowID) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.dealOf(h, escrowID)
	if err != nil {
		return wire.Answer{}, err
	}
	t.readChain(found)
	return wire.OK(found.view(t.now)).Lean(), nil
}

// readChain updates the stored deal, with at most one chain read per 15 seconds and deal.
func (t *turn) readChain(d *deal) {
	if !d.SyncedAt.IsZero() && t.now.Before(d.SyncedAt.Add(time.Duration(t.settings.ChainReadEvery))) {
		return
	}
	d.Projected, d.SyncedAt = d.Chain, t.now
	t.kept.deals.Put(d)
}

// actionApprovalLifetime is the approval window of an escrow action.
const actionApprovalLifetime = 60 * time.Second

// escrowAction is a prepared action of a deal.
type escrowAction struct {
	deal      *deal
	Key       string
	Kind      platformwire.EscrowActionType
	Approvals map[string]platformwire.Approval // all that were issued, by id
	Latest    platformwire.Approval
	Confirmed bool
}

// PrepareEscrowAction prepares an action and returns the approval to sign. The key identifies the action, also when it
// is confirmed. The key of the create call belongs to the deal's approve action. The same key returns the same action,
// with a new approval until it is confirmed.
func (p *Platform) PrepareEscrowAction(
	ctx context.Context, escrowID platformwire.EscrowID, body platformwire.EscrowActionCreate,
) (wire.Answer, error) {
	c, kind := wire.CallerOf(ctx), body.Type
	key, asked, lifetime, err := anchorOf(c, "PrepareEscrowAction", []string{escrowID, string(kind)})
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.dealOf(h, escrowID)
	if err != nil {
		return wire.Answer{}, err
	}
	if dealID, ok, same := t.actions.find(key, asked, t.now); ok && !same {
		return wire.Answer{}, wire.IdempotencyKeyReused("escrowId", dealID)
	}
	known := found.Actions[key.Key]
	if known != nil && known.Kind != kind {
		return wire.Answer{}, wire.IdempotencyKeyReused("escrowId", found.ID)
	}
	if known != nil && known.Confirmed {
		return wire.OK(platformwire.PreparedEscrowAction{Action: known.view()}).Lean().Replayed(), nil
	}
	if !slices.Contains(found.available(found.Chain.Status, t.now), kind) {
		return wire.Answer{}, wire.Conflict("The deal's state or its deadlines do not allow this action.")
	}
	answer := t.prepare(found, key.Key, kind)
	if known != nil {
		return wire.OK(platformwire.PreparedEscrowAction{Action: answer}).Lean().Replayed(), nil
	}
	t.actions.keep(key, asked, found.ID, t.now, lifetime)
	return wire.Created(platformwire.PreparedEscrowAction{Action: answer}).Lean(), nil
}

// prepare gives an action of a deal a new approval, and adds a new action. Earlier approvals stay valid until they
// expire. Only one of them is ever used.
func (t *turn) prepare(d *deal, key string, kind platformwire.EscrowActionType) platformwire.EscrowAction {
	approval := newApproval(t.now.Add(actionApprovalLifetime)).of(approvalPayload{
		Operation:   "escrow." + string(kind),
		ResourceID:  d.ID,
		Account:     d.holder.Key.Account,
		Amount:      d.Terms.Amount.String(),
		Currency:    string(d.Terms.Currency),
		Destination: approvalDestination{Address: d.Terms.Payee},
	})
	action := d.Actions[key]
	if action == nil {
		action = &escrowAction{deal: d, Key: key, Kind: kind, Approvals: map[string]platformwire.Approval{}}
		d.Actions[key] = action
	}
	action.Latest, action.Approvals[approval.ID] = approval, approval
	t.actionApprovals++
	t.kept.deals.Put(d)
	return action.view()
}

func (a *escrowAction) view() platformwire.EscrowAction {
	approval := a.Latest
	return platformwire.EscrowAction{IdempotencyKey: a.Key, Type: a.Kind, Approval: &approval}
}

// ConfirmEscrowAction carries out a prepared action with its signed approval. Like ConfirmPayout, it consumes nothing
// until the money moves, and does not hold the lock while it verifies the signature. It returns the deal as it was at
// the last chain read. If that was not a moment ago, it reads the chain itself.
func (p *Platform) ConfirmEscrowAction(
	ctx context.Context, escrowID platformwire.EscrowID, idempotencyKey string, body platformwire.ApprovalConfirm,
) (wire.Answer, error) {
	c, signed := wire.CallerOf(ctx), signedAction{escrowID, idempotencyKey, body.ApprovalID}
	payload, err := p.actionable(c, signed)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := p.cosign(c, payload, body); err != nil {
		return wire.Answer{}, err
	}
	return p.act(c, signed)
}

// signedAction identifies a prepared action and the approval that was signed for it.
type signedAction struct{ escrowID, key, approvalID string }

// actionable returns the bytes to verify, if this approval can confirm the action.
func (p *Platform) actionable(c wire.Caller, signed signedAction) ([]byte, error) {
	t := p.enter()
	defer p.leave()
	action, err := t.prepared(c, signed)
	if err != nil {
		return nil, err
	}
	return action.Approvals[signed.approvalID].Payload, nil
}

// act carries the action out.
func (p *Platform) act(c wire.Caller, signed signedAction) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	action, err := t.prepared(c, signed)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := t.permitted(action); err != nil {
		return wire.Answer{}, err
	}
	action.Confirmed = true
	t.kept.deals.Put(action.deal)
	switch found := action.deal; action.Kind {
	case platformwire.EscrowActionTypeApprove:
		t.hold(found)
	case platformwire.EscrowActionTypeRelease:
		t.release(found)
	case platformwire.EscrowActionTypeRefund:
		t.giveBack(found)
	}
	t.readChain(action.deal)
	return wire.OK(action.deal.view(t.now)).Lean(), nil
}

// prepared returns an action that waits for this approval, or the refusal for its state.
func (t *turn) prepared(c wire.Caller, signed signedAction) (*escrowAction, error) {
	h, err := t.holderOf(c)
	if err != nil {
		return nil, err
	}
	found, err := t.dealOf(h, signed.escrowID)
	if err != nil {
		return nil, err
	}
	action, known := found.Actions[signed.key]
	if !known {
		return nil, wire.NotFound()
	}
	approval, issued := action.Approvals[signed.approvalID]
	switch {
	case !issued:
		return nil, wire.ApprovalMismatch()
	case action.Confirmed:
		return nil, wire.ApprovalConsumed()
	case !t.now.Before(approval.ExpiresAt):
		return nil, wire.ApprovalExpired()
	case !slices.Contains(found.available(found.Chain.Status, t.now), action.Kind):
		return nil, wire.Conflict("The deal's state or its deadlines do not allow this action.")
	default:
		return action, nil
	}
}

// permitted refuses an action that the service would not co-sign, and a deal that the balance does not cover.
func (t *turn) permitted(action *escrowAction) error {
	if err := t.signable(action.deal.holder); err != nil || action.Kind != platformwire.EscrowActionTypeApprove {
		return err
	}
	asked := action.deal.Terms
	available := t.books.balance(action.deal.holder.book(), string(asked.Currency))
	if available.LessThan(asked.Amount) {
		refusal := wire.Conflict("The balance does not cover the deal.")
		refusal.Details = map[string]any{"available": available.String(), "currency": string(asked.Currency)}
		return refusal
	}
	return nil
}

// hold moves the money from the account to the deal.
func (t *turn) hold(d *deal) {
	d.Chain = chainState{platformwire.EscrowStatusActive, newHash()}
	t.escrowed(d, d.holder.book(), d.ID)
	t.recordEscrow(d, d.holder, platformwire.TransactionDirectionOut)
}

// release moves the money from the deal to the payee, which may be an account of this host.
func (t *turn) release(d *deal) {
	d.Chain = chainState{platformwire.EscrowStatusReleased, newHash()}
	if payee, ok := t.wallets[strings.ToLower(d.Terms.Payee)]; ok {
		t.escrowed(d, d.ID, payee.book())
		t.recordEscrow(d, payee, platformwire.TransactionDirectionIn)
		return
	}
	t.escrowed(d, d.ID, bookOutside)
}

// giveBack moves the money from the deal back to the account.
func (t *turn) giveBack(d *deal) {
	d.Chain = chainState{platformwire.EscrowStatusRefunded, newHash()}
	t.escrowed(d, d.ID, d.holder.book())
	t.recordEscrow(d, d.holder, platformwire.TransactionDirectionIn)
}

// escrowed adds a movement of the deal's whole amount to the ledger, with the given kind.
func (t *turn) escrowed(d *deal, from, to string) {
	t.books.movement("escrow_"+string(d.Chain.Status), d.ID, t.now).
		transfer(from, to, string(d.Terms.Currency), d.Terms.Amount)
}

func (t *turn) recordEscrow(d *deal, h *holder, direction platformwire.TransactionDirection) {
	t.record(h, platformwire.Transaction{
		Type:            platformwire.TransactionTypeEscrow,
		Direction:       direction,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          d.Terms.Amount,
		Currency:        d.Terms.Currency,
		EscrowID:        d.ID,
		TransactionHash: d.Chain.Hash,
		CreatedAt:       t.now,
	})
}
