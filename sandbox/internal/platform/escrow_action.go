package platform

import (
	"context"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

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
