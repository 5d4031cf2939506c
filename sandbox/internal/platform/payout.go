package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// payout is a departure of money, from its booking on.
type payout struct {
	id        string
	holder    *holder
	key       string // the idempotency key, given or derived
	terms     platformwire.PayoutCreate
	contact   *contact // as it was when the payout was booked
	createdAt time.Time

	status   platformwire.PayoutStatus
	quote    platformwire.Quote
	approval platformwire.Approval
	earlier  []string // ids of approvals that closed before

	hash        string       // of the funding transaction; empty before
	transaction *transaction // of the funding
	due         time.Time    // when the next step happens by itself
	receiver    *holder      // the account of this host that is paid, if it is one

	finishedAt time.Time // when nothing was left to happen by itself; zero before
	traces     traces
}

// asset is what is debited.
func (p *payout) asset() string { return string(p.terms.Currency) }

// expired tells whether the approval window has closed on a payout that nobody funded.
func (p *payout) expired(now time.Time) bool {
	return p.status == platformwire.PayoutStatusExpired ||
		p.status == platformwire.PayoutStatusAwaitingApproval && !now.Before(p.approval.ExpiresAt)
}

// stale tells whether a payout that nobody funded needs a new price or a new approval.
func (p *payout) stale(now time.Time) bool {
	return p.expired(now) || p.status == platformwire.PayoutStatusAwaitingApproval && !now.Before(p.quote.ExpiresAt)
}

// answer is what the create call answers while the key lives: the payout as it was when it was last priced.
func (p *payout) answer() platformwire.Payout {
	first := *p
	first.status, first.hash = platformwire.PayoutStatusAwaitingApproval, ""
	return first.view(time.Time{}) // before anything of it expired
}

// view is the payout as it stands.
func (p *payout) view(now time.Time) platformwire.Payout {
	quote := p.quote
	view := platformwire.Payout{
		ID:               p.id,
		Status:           p.status,
		IdempotencyKey:   p.key,
		ContactID:        p.terms.ContactID,
		Amount:           p.terms.Amount,
		Currency:         p.terms.Currency,
		PaymentReference: p.terms.PaymentReference,
		Purpose:          p.terms.Purpose,
		DocumentIds:      p.terms.DocumentIds,
		PublicKey:        p.terms.PublicKey,
		Signature:        p.terms.Signature,
		FromChainID:      p.terms.FromChainID,
		ToChainID:        p.terms.ToChainID,
		Quote:            &quote,
		TransactionHash:  p.hash,
		CreatedAt:        p.createdAt,
	}
	if p.expired(now) {
		view.Status = platformwire.PayoutStatusExpired
	}
	if p.hash == "" {
		approval := p.approval
		view.Approval = &approval
	}
	return view
}

// payoutOf finds a payout of the account.
func (t *turn) payoutOf(h *holder, id string) (*payout, error) {
	found, ok := t.payouts[id]
	if !ok || found.holder != h {
		return nil, refuse.NotFound()
	}
	return found, nil
}

// GetPayout reads one payout. Source: Events.
func (p *Platform) GetPayout(ctx context.Context, payoutID platformwire.PayoutID) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	found, err := t.payoutOf(h, payoutID)
	if err != nil {
		return serve.Answer{}, err
	}
	return serve.OK(found.view(t.now)).Lean(), nil
}
