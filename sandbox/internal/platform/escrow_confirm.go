package platform

import (
	"context"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

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
