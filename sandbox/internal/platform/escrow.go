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

// escrow holds money until its payer releases it or takes it back. It has three windows, one after the other, from its
// creation on.
type escrow struct {
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

// chainState is the state of an escrow on chain.
type chainState struct {
	Status platformwire.EscrowStatus
	Hash   string // of the last transaction; "" before the first
}

// The windows of an escrow that sets none.
const (
	defaultApproveWithin = "1h"
	defaultHoldFor       = "14d"
	defaultRefundableFor = "90d"
)

// CreateEscrow creates an escrow and prepares its approve action. No money moves. The escrow, its windows and that
// action are bound to the idempotency key.
func (p *Platform) CreateEscrow(ctx context.Context, body platformwire.EscrowCreate) (wire.Response, error) {
	c, body := wire.CallerOf(ctx), withWindows(body)
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Response{}, err
	}
	key, requested, lifetime, err := keyOf(c, "CreateEscrow", normalizeEscrowTerms(body))
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	if id, found, same := t.escrowCreations.find(key, requested, t.now); found {
		agreed := t.escrows[id]
		if !same {
			return wire.Response{}, wire.IdempotencyKeyReused("escrowId", agreed.ID)
		}
		return wire.OK(agreed.Answer).Lean().Replayed(), nil
	}
	agreed, err := t.createEscrow(h, key.Key, body)
	if err != nil {
		return wire.Response{}, err
	}
	t.escrowCreations.put(key, requested, agreed.ID, t.now, lifetime)
	return wire.Created(agreed.Answer).Lean(), nil
}

// createEscrow adds an escrow with its approve action.
func (t *txn) createEscrow(h *holder, key string, body platformwire.EscrowCreate) (*escrow, error) {
	switch {
	case !t.hasWallet(h):
		return nil, wire.WalletNotLinked()
	case t.settings.SignerDetached:
		return nil, wire.SignerNotAttached()
	}
	agreed := &escrow{
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
	agreed.ApproveBy = t.now.Add(parseWindow(body.ApproveWithin))
	agreed.HoldUntil = agreed.ApproveBy.Add(parseWindow(body.HoldFor))
	agreed.RefundableUntil = agreed.HoldUntil.Add(parseWindow(body.RefundableFor))
	approve := t.prepareAction(agreed, key, platformwire.EscrowActionTypeApprove)
	t.escrows[agreed.ID] = agreed
	agreed.Answer = agreed.view(t.now)
	agreed.Answer.Action = &approve
	t.store.escrows.Put(agreed)
	return agreed, nil
}

// withWindows sets the default windows that the request leaves out.
func withWindows(body platformwire.EscrowCreate) platformwire.EscrowCreate {
	body.ApproveWithin = cmp.Or(body.ApproveWithin, defaultApproveWithin)
	body.HoldFor = cmp.Or(body.HoldFor, defaultHoldFor)
	body.RefundableFor = cmp.Or(body.RefundableFor, defaultRefundableFor)
	return body
}

// normalizeEscrowTerms returns the terms of a request in one spelling: 60m becomes 1h, and an address is in lower case.
func normalizeEscrowTerms(body platformwire.EscrowCreate) platformwire.EscrowCreate {
	body.Payee = strings.ToLower(body.Payee)
	for _, window := range []*platformwire.EscrowDuration{&body.ApproveWithin, &body.HoldFor, &body.RefundableFor} {
		*window = parseWindow(*window).String()
	}
	return body
}

// parseWindow parses a window, such as 14d. The gate has checked its form.
func parseWindow(window platformwire.EscrowDuration) time.Duration {
	var count int64
	var unit byte
	_, _ = fmt.Sscanf(window, "%d%c", &count, &unit)
	seconds := map[byte]int64{'s': 1, 'm': 60, 'h': 60 * 60, 'd': 24 * 60 * 60}
	return time.Duration(count*seconds[unit]) * time.Second
}

// escrowOf finds an escrow of the account.
func (t *txn) escrowOf(h *holder, id string) (*escrow, error) {
	found, ok := t.escrows[id]
	if !ok || found.holder != h {
		return nil, wire.NotFound()
	}
	return found, nil
}

// view returns the escrow as it was at the last chain read. An escrow that was not approved in time needs no chain
// read: the service co-signs every approval, so it knows.
func (d *escrow) view(now time.Time) platformwire.Escrow {
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
func (d *escrow) windowEnd(actions []platformwire.EscrowActionType) time.Time {
	if len(actions) == 0 {
		return time.Time{}
	}
	return map[platformwire.EscrowActionType]time.Time{
		platformwire.EscrowActionTypeApprove: d.ApproveBy,
		platformwire.EscrowActionTypeRelease: d.HoldUntil,
		platformwire.EscrowActionTypeRefund:  d.RefundableUntil,
	}[actions[0]]
}

// available lists the possible actions of an escrow with this status: approve within the first window, release within
// the second, refund within the third.
func (d *escrow) available(status platformwire.EscrowStatus, now time.Time) []platformwire.EscrowActionType {
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

// SyncEscrow returns an escrow after a chain read. If the last read was a moment ago, it returns the stored escrow.
func (p *Platform) SyncEscrow(ctx context.Context, escrowID platformwire.EscrowID) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	found, err := t.escrowOf(h, escrowID)
	if err != nil {
		return wire.Response{}, err
	}
	t.readChain(found)
	return wire.OK(found.view(t.now)).Lean(), nil
}

// readChain updates the stored escrow, with at most one chain read per 15 seconds and escrow.
func (t *txn) readChain(d *escrow) {
	if !d.SyncedAt.IsZero() && t.now.Before(d.SyncedAt.Add(time.Duration(t.settings.ChainReadEvery))) {
		return
	}
	d.Projected, d.SyncedAt = d.Chain, t.now
	t.store.escrows.Put(d)
}

// actionApprovalLifetime is the approval window of an escrow action.
const actionApprovalLifetime = 60 * time.Second

// escrowAction is a prepared action of an escrow.
type escrowAction struct {
	escrow    *escrow
	Key       string
	Kind      platformwire.EscrowActionType
	Approvals map[string]platformwire.Approval // all that were issued, by id
	Latest    platformwire.Approval
	Confirmed bool
}

// PrepareEscrowAction prepares an action and returns the approval to sign. The key identifies the action, also when it
// is confirmed. The key of the create call belongs to the escrow's approve action. The same key returns the same
// action, with a new approval until it is confirmed.
func (p *Platform) PrepareEscrowAction(
	ctx context.Context, escrowID platformwire.EscrowID, body platformwire.EscrowActionCreate,
) (wire.Response, error) {
	c, kind := wire.CallerOf(ctx), body.Type
	key, requested, lifetime, err := keyOf(c, "PrepareEscrowAction", []string{escrowID, string(kind)})
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	found, err := t.escrowOf(h, escrowID)
	if err != nil {
		return wire.Response{}, err
	}
	if dealID, ok, same := t.actions.find(key, requested, t.now); ok && !same {
		return wire.Response{}, wire.IdempotencyKeyReused("escrowId", dealID)
	}
	known := found.Actions[key.Key]
	if known != nil && known.Kind != kind {
		return wire.Response{}, wire.IdempotencyKeyReused("escrowId", found.ID)
	}
	if known != nil && known.Confirmed {
		return wire.OK(platformwire.PreparedEscrowAction{Action: known.view()}).Lean().Replayed(), nil
	}
	if !slices.Contains(found.available(found.Chain.Status, t.now), kind) {
		return wire.Response{}, wire.Conflict("The deal's state or its deadlines do not allow this action.")
	}
	response := t.prepareAction(found, key.Key, kind)
	if known != nil {
		return wire.OK(platformwire.PreparedEscrowAction{Action: response}).Lean().Replayed(), nil
	}
	t.actions.put(key, requested, found.ID, t.now, lifetime)
	return wire.Created(platformwire.PreparedEscrowAction{Action: response}).Lean(), nil
}

// prepareAction issues a new approval for an action of an escrow. It adds the action if it is new. Earlier approvals
// stay valid until they expire. Only one of them is ever used.
func (t *txn) prepareAction(d *escrow, key string, kind platformwire.EscrowActionType) platformwire.EscrowAction {
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
		action = &escrowAction{escrow: d, Key: key, Kind: kind, Approvals: map[string]platformwire.Approval{}}
		d.Actions[key] = action
	}
	action.Latest, action.Approvals[approval.ID] = approval, approval
	t.actionApprovals++
	t.store.escrows.Put(d)
	return action.view()
}

func (a *escrowAction) view() platformwire.EscrowAction {
	approval := a.Latest
	return platformwire.EscrowAction{IdempotencyKey: a.Key, Type: a.Kind, Approval: &approval}
}

// ConfirmEscrowAction carries out a prepared action with its signed approval. Like ConfirmPayout, it consumes nothing
// until the money moves, and does not hold the lock while it verifies the signature. It returns the escrow as it was at
// the last chain read. If that was not a moment ago, it reads the chain itself.
func (p *Platform) ConfirmEscrowAction(
	ctx context.Context, escrowID platformwire.EscrowID, idempotencyKey string, body platformwire.ApprovalConfirm,
) (wire.Response, error) {
	c, signed := wire.CallerOf(ctx), signedAction{escrowID, idempotencyKey, body.ApprovalID}
	payload, err := p.actionPayloadToSign(c, signed)
	if err != nil {
		return wire.Response{}, err
	}
	if err := p.verifyApproval(c, payload, body); err != nil {
		return wire.Response{}, err
	}
	return p.runAction(c, signed)
}

// signedAction identifies a prepared action and the approval that was signed for it.
type signedAction struct{ escrowID, key, approvalID string }

// actionPayloadToSign returns the bytes to verify, if this approval can confirm the action.
func (p *Platform) actionPayloadToSign(c wire.Caller, signed signedAction) ([]byte, error) {
	t := p.begin()
	defer p.commit()
	action, err := t.confirmableAction(c, signed)
	if err != nil {
		return nil, err
	}
	return action.Approvals[signed.approvalID].Payload, nil
}

// runAction carries the action out.
func (p *Platform) runAction(c wire.Caller, signed signedAction) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	action, err := t.confirmableAction(c, signed)
	if err != nil {
		return wire.Response{}, err
	}
	if err := t.checkActionPermitted(action); err != nil {
		return wire.Response{}, err
	}
	action.Confirmed = true
	t.store.escrows.Put(action.escrow)
	switch found := action.escrow; action.Kind {
	case platformwire.EscrowActionTypeApprove:
		t.holdEscrow(found)
	case platformwire.EscrowActionTypeRelease:
		t.releaseEscrow(found)
	case platformwire.EscrowActionTypeRefund:
		t.refundEscrow(found)
	}
	t.readChain(action.escrow)
	return wire.OK(action.escrow.view(t.now)).Lean(), nil
}

// confirmableAction returns an action that waits for this approval, or the refusal for its state.
func (t *txn) confirmableAction(c wire.Caller, signed signedAction) (*escrowAction, error) {
	h, err := t.holderOf(c)
	if err != nil {
		return nil, err
	}
	found, err := t.escrowOf(h, signed.escrowID)
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

// checkActionPermitted refuses an action that the service would not co-sign, and an escrow that the balance does not
// cover.
func (t *txn) checkActionPermitted(action *escrowAction) error {
	if err := t.checkSignable(action.escrow.holder); err != nil || action.Kind != platformwire.EscrowActionTypeApprove {
		return err
	}
	requested := action.escrow.Terms
	available := t.ledger.balance(action.escrow.holder.ledgerAccount(), string(requested.Currency))
	if available.LessThan(requested.Amount) {
		refusal := wire.Conflict("The balance does not cover the deal.")
		refusal.Details = map[string]any{"available": available.String(), "currency": string(requested.Currency)}
		return refusal
	}
	return nil
}

// holdEscrow moves the money from the account to the escrow.
func (t *txn) holdEscrow(d *escrow) {
	d.Chain = chainState{platformwire.EscrowStatusActive, newHash()}
	t.moveEscrowFunds(d, d.holder.ledgerAccount(), d.ID)
	t.recordEscrow(d, d.holder, platformwire.TransactionDirectionOut)
}

// releaseEscrow moves the money from the escrow to the payee, which may be an account of this host.
func (t *txn) releaseEscrow(d *escrow) {
	d.Chain = chainState{platformwire.EscrowStatusReleased, newHash()}
	if payee, ok := t.wallets[strings.ToLower(d.Terms.Payee)]; ok {
		t.moveEscrowFunds(d, d.ID, payee.ledgerAccount())
		t.recordEscrow(d, payee, platformwire.TransactionDirectionIn)
		return
	}
	t.moveEscrowFunds(d, d.ID, accountOutside)
}

// refundEscrow moves the money from the escrow back to the account.
func (t *txn) refundEscrow(d *escrow) {
	d.Chain = chainState{platformwire.EscrowStatusRefunded, newHash()}
	t.moveEscrowFunds(d, d.ID, d.holder.ledgerAccount())
	t.recordEscrow(d, d.holder, platformwire.TransactionDirectionIn)
}

// moveEscrowFunds adds a movement of the escrow's whole amount to the ledger, with the given kind.
func (t *txn) moveEscrowFunds(d *escrow, from, to string) {
	t.ledger.movement("escrow_"+string(d.Chain.Status), d.ID, t.now).
		transfer(from, to, string(d.Terms.Currency), d.Terms.Amount)
}

func (t *txn) recordEscrow(d *escrow, h *holder, direction platformwire.TransactionDirection) {
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
