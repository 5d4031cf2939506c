package platform

import (
	"cmp"
	"context"
	"fmt"
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
