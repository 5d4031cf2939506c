package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// payout is an outgoing payment, from its booking on.
type payout struct {
	ID        string
	Account   *holderKey // the holder's own
	holder    *holder
	Key       string // the idempotency key, given or derived
	Terms     platformwire.PayoutCreate
	Contact   *contact // as it was when the payout was booked
	CreatedAt time.Time

	Status   platformwire.PayoutStatus
	Quote    platformwire.Quote
	Approval approval
	Earlier  []string // ids of expired approvals

	Hash        string       // of the funding transaction; "" before
	transaction *transaction // of the funding
	Due         time.Time    // when the next step happens by itself
	Receiver    *holderKey   // the receiving account of this host, or nil
	receiver    *holder

	FinishedAt   time.Time // when nothing more happens by itself; zero before
	FinishNumber int       // in the order of finishing, from 1
	Moves        []string  // the keys of its moves
	Refund       *refund   // nil without a refund
	traces       traces
}

// asset returns the asset that is debited.
func (p *payout) asset() string { return string(p.Terms.Currency) }

// expired reports whether a payout that nobody funded has an expired approval.
func (p *payout) expired(now time.Time) bool {
	return p.Status == platformwire.PayoutStatusExpired ||
		p.Status == platformwire.PayoutStatusAwaitingApproval && !now.Before(p.Approval.ExpiresAt)
}

// statusAt returns the status at a time: nothing is stored when an approval expires.
func (p *payout) statusAt(now time.Time) platformwire.PayoutStatus {
	if p.expired(now) {
		return platformwire.PayoutStatusExpired
	}
	return p.Status
}

// stale reports whether a payout that nobody funded needs a new price or a new approval.
func (p *payout) stale(now time.Time) bool {
	return p.expired(now) || p.Status == platformwire.PayoutStatusAwaitingApproval && !now.Before(p.Quote.ExpiresAt)
}

// answer returns the response of the create call while the key is known: the payout as it was when it was last priced.
func (p *payout) answer() platformwire.Payout {
	first := *p
	first.Status, first.Hash = platformwire.PayoutStatusAwaitingApproval, ""
	return first.view(time.Time{}) // at a time before anything expired
}

// view returns the payout as responses show it.
func (p *payout) view(now time.Time) platformwire.Payout {
	quote := p.Quote
	view := platformwire.Payout{
		ID:               p.ID,
		Status:           p.statusAt(now),
		IdempotencyKey:   p.Key,
		ContactID:        p.Terms.ContactID,
		Amount:           p.Terms.Amount,
		Currency:         p.Terms.Currency,
		PaymentReference: p.Terms.PaymentReference,
		Purpose:          p.Terms.Purpose,
		DocumentIds:      p.Terms.DocumentIds,
		PublicKey:        p.Terms.PublicKey,
		Signature:        p.Terms.Signature,
		FromChainID:      p.Terms.FromChainID,
		ToChainID:        p.Terms.ToChainID,
		Quote:            &quote,
		TransactionHash:  p.Hash,
		CreatedAt:        p.CreatedAt,
	}
	if p.Hash == "" {
		approval := p.approval()
		view.Approval = &approval
	}
	return view
}

// payoutOf finds a payout of the account.
func (t *turn) payoutOf(h *holder, id string) (*payout, error) {
	found, ok := t.payouts[id]
	if !ok || found.holder != h {
		return nil, wire.NotFound()
	}
	return found, nil
}

// GetPayout reads one payout.
func (p *Platform) GetPayout(ctx context.Context, payoutID platformwire.PayoutID) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.payoutOf(h, payoutID)
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.OK(found.view(t.now)).Lean(), nil
}
