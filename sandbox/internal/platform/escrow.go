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
	if id, e, same := t.escrowCreations.find(key, requested, t.now); e {
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
	e, ok := t.escrows[id]
	if !ok || e.holder != h {
		return nil, wire.NotFound()
	}
	return e, nil
}

// view returns the escrow as it was at the last chain read. An escrow that was not approved in time needs no chain
// read: the service co-signs every approval, so it knows.
func (e *escrow) view(now time.Time) platformwire.Escrow {
	view := platformwire.Escrow{
		ID:               e.ID,
		Status:           e.Projected.Status,
		AvailableActions: e.available(e.Projected.Status, now),
		IdempotencyKey:   e.Key,
		Amount:           e.Terms.Amount,
		Currency:         e.Terms.Currency,
		Payee:            e.Terms.Payee,
		Memo:             e.Terms.Memo,
		ApproveBy:        e.ApproveBy,
		HoldUntil:        e.HoldUntil,
		RefundableUntil:  e.RefundableUntil,
		TransactionHash:  e.Projected.Hash,
		SyncedAt:         e.SyncedAt,
		CreatedAt:        e.CreatedAt,
	}
	if e.Chain.Status == platformwire.EscrowStatusPendingApproval && !now.Before(e.ApproveBy) {
		view.Status = platformwire.EscrowStatusExpired
	}
	return view
}

// windowEnd returns when the window for these actions ends. Without actions there is no window, and it returns the zero
// time.
func (e *escrow) windowEnd(actions []platformwire.EscrowActionType) time.Time {
	if len(actions) == 0 {
		return time.Time{}
	}
	return map[platformwire.EscrowActionType]time.Time{
		platformwire.EscrowActionTypeApprove: e.ApproveBy,
		platformwire.EscrowActionTypeRelease: e.HoldUntil,
		platformwire.EscrowActionTypeRefund:  e.RefundableUntil,
	}[actions[0]]
}

// available lists the possible actions of an escrow with this status: approve within the first window, release within
// the second, refund within the third.
func (e *escrow) available(status platformwire.EscrowStatus, now time.Time) []platformwire.EscrowActionType {
	switch {
	case status == platformwire.EscrowStatusPendingApproval && now.Before(e.ApproveBy):
		return []platformwire.EscrowActionType{platformwire.EscrowActionTypeApprove}
	case status == platformwire.EscrowStatusActive && now.Before(e.HoldUntil):
		return []platformwire.EscrowActionType{platformwire.EscrowActionTypeRelease}
	case status == platformwire.EscrowStatusActive && now.Before(e.RefundableUntil):
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
	e, err := t.escrowOf(h, escrowID)
	if err != nil {
		return wire.Response{}, err
	}
	t.readChain(e)
	return wire.OK(e.view(t.now)).Lean(), nil
}

// readChain updates the stored escrow, with at most one chain read per 15 seconds and escrow.
func (t *txn) readChain(e *escrow) {
	if !e.SyncedAt.IsZero() && t.now.Before(e.SyncedAt.Add(time.Duration(t.settings.ChainReadEvery))) {
		return
	}
	e.Projected, e.SyncedAt = e.Chain, t.now
	t.store.escrows.Put(e)
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
	e, err := t.escrowOf(h, escrowID)
	if err != nil {
		return wire.Response{}, err
	}
	if escrowID, ok, same := t.actions.find(key, requested, t.now); ok && !same {
		return wire.Response{}, wire.IdempotencyKeyReused("escrowId", escrowID)
	}
	known := e.Actions[key.Key]
	if known != nil && known.Kind != kind {
		return wire.Response{}, wire.IdempotencyKeyReused("escrowId", e.ID)
	}
	if known != nil && known.Confirmed {
		return wire.OK(platformwire.PreparedEscrowAction{Action: known.view()}).Lean().Replayed(), nil
	}
	if !slices.Contains(e.available(e.Chain.Status, t.now), kind) {
		return wire.Response{}, wire.Conflict("The escrow's state or its deadlines do not allow this action.")
	}
	response := t.prepareAction(e, key.Key, kind)
	if known != nil {
		return wire.OK(platformwire.PreparedEscrowAction{Action: response}).Lean().Replayed(), nil
	}
	t.actions.put(key, requested, e.ID, t.now, lifetime)
	return wire.Created(platformwire.PreparedEscrowAction{Action: response}).Lean(), nil
}

// prepareAction issues a new approval for an action of an escrow. It adds the action if it is new. Earlier approvals
// stay valid until they expire. Only one of them is ever used.
func (t *txn) prepareAction(e *escrow, key string, kind platformwire.EscrowActionType) platformwire.EscrowAction {
	approval := newApproval(t.now.Add(actionApprovalLifetime)).of(approvalPayload{
		Operation:   "escrow." + string(kind),
		ResourceID:  e.ID,
		Account:     e.holder.Key.Account,
		Amount:      e.Terms.Amount.String(),
		Currency:    string(e.Terms.Currency),
		Destination: approvalDestination{Address: e.Terms.Payee},
	})
	action := e.Actions[key]
	if action == nil {
		action = &escrowAction{escrow: e, Key: key, Kind: kind, Approvals: map[string]platformwire.Approval{}}
		e.Actions[key] = action
	}
	action.Latest, action.Approvals[approval.ID] = approval, approval
	t.actionApprovals++
	t.store.escrows.Put(e)
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
	switch e := action.escrow; action.Kind {
	case platformwire.EscrowActionTypeApprove:
		t.holdEscrow(e)
	case platformwire.EscrowActionTypeRelease:
		t.releaseEscrow(e)
	case platformwire.EscrowActionTypeRefund:
		t.refundEscrow(e)
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
	e, err := t.escrowOf(h, signed.escrowID)
	if err != nil {
		return nil, err
	}
	action, known := e.Actions[signed.key]
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
	case !slices.Contains(e.available(e.Chain.Status, t.now), action.Kind):
		return nil, wire.Conflict("The escrow's state or its deadlines do not allow this action.")
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
		refusal := wire.Conflict("The balance does not cover the escrow.")
		refusal.Details = map[string]any{"available": available.String(), "currency": string(requested.Currency)}
		return refusal
	}
	return nil
}

// holdEscrow moves the money from the account to the escrow.
func (t *txn) holdEscrow(e *escrow) {
	e.Chain = chainState{platformwire.EscrowStatusActive, newHash()}
	t.moveEscrowFunds(e, e.holder.ledgerAccount(), e.ID)
	t.recordEscrow(e, e.holder, platformwire.TransactionDirectionOut)
}

// releaseEscrow moves the money from the escrow to the payee, which may be an account of this host.
func (t *txn) releaseEscrow(e *escrow) {
	e.Chain = chainState{platformwire.EscrowStatusReleased, newHash()}
	if payee, ok := t.wallets[strings.ToLower(e.Terms.Payee)]; ok {
		t.moveEscrowFunds(e, e.ID, payee.ledgerAccount())
		t.recordEscrow(e, payee, platformwire.TransactionDirectionIn)
		return
	}
	t.moveEscrowFunds(e, e.ID, accountOutside)
}

// refundEscrow moves the money from the escrow back to the account.
func (t *txn) refundEscrow(e *escrow) {
	e.Chain = chainState{platformwire.EscrowStatusRefunded, newHash()}
	t.moveEscrowFunds(e, e.ID, e.holder.ledgerAccount())
	t.recordEscrow(e, e.holder, platformwire.TransactionDirectionIn)
}

// moveEscrowFunds adds a movement of the escrow's whole amount to the ledger, with the given kind.
func (t *txn) moveEscrowFunds(e *escrow, from, to string) {
	t.ledger.movement("escrow_"+string(e.Chain.Status), e.ID, t.now).
		transfer(from, to, string(e.Terms.Currency), e.Terms.Amount)
}

func (t *txn) recordEscrow(e *escrow, h *holder, direction platformwire.TransactionDirection) {
	t.record(h, platformwire.Transaction{
		Type:            platformwire.TransactionTypeEscrow,
		Direction:       direction,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          e.Terms.Amount,
		Currency:        e.Terms.Currency,
		EscrowID:        e.ID,
		TransactionHash: e.Chain.Hash,
		CreatedAt:       t.now,
	})
}
