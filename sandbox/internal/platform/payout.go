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

// expired reports whether the approval has expired before the payout was funded.
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

// needsNewPrice reports whether the quote or the approval has expired before the payout was funded.
func (p *payout) needsNewPrice(now time.Time) bool {
	return p.expired(now) || p.Status == platformwire.PayoutStatusAwaitingApproval && !now.Before(p.Quote.ExpiresAt)
}

// bookingResponse returns the response of the create call while the key is known: the payout as it was when it was last
// priced.
func (p *payout) bookingResponse() platformwire.Payout {
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
func (t *txn) payoutOf(h *holder, id string) (*payout, error) {
	payout, ok := t.payouts[id]
	if !ok || payout.holder != h {
		return nil, wire.NotFound()
	}
	return payout, nil
}

// GetPayout reads one payout.
func (p *Platform) GetPayout(ctx context.Context, payoutID platformwire.PayoutID) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	payout, err := t.payoutOf(h, payoutID)
	if err != nil {
		return wire.Response{}, err
	}
	return wire.OK(payout.view(t.now)).Lean(), nil
}

// BookPayout books a payout and returns its price and the approval to sign. The payment is bound to the idempotency
// key. The same terms return the first response again. If the approval or the price has expired and nobody funded the
// payout, they reopen it, with the same id and a new approval and price.
func (p *Platform) BookPayout(ctx context.Context, body platformwire.PayoutCreate) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Response{}, err
	}
	key, requested, lifetime, err := keyOf(c, "BookPayout", normalizeTerms(body))
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	if err := t.bookings.checkSpent(key, requested, t.now); err != nil {
		return wire.Response{}, err
	}
	if id, payout, same := t.bookings.find(key, requested, t.now); payout {
		booked := t.payouts[id]
		if !same {
			return wire.Response{}, wire.IdempotencyKeyReused("payoutId", booked.ID)
		}
		if booked.needsNewPrice(t.now) {
			if err := t.reprice(booked); err != nil {
				return wire.Response{}, err
			}
		}
		return wire.OK(booked.bookingResponse()).Lean().Replayed(), nil
	}
	booked, err := t.bookPayout(h, key.Key, body)
	if err != nil {
		return wire.Response{}, err
	}
	t.bookings.put(key, requested, booked.ID, t.now, lifetime)
	return wire.Created(booked.bookingResponse()).Lean(), nil
}

// normalizeTerms returns the terms of a request in one spelling: 5.0 becomes 5, and an id loses its prefix.
func normalizeTerms(body platformwire.PayoutCreate) platformwire.PayoutCreate {
	body.ContactID = contactID(body.ContactID)
	body.Amount = body.Amount.Truncate(assetDecimals)
	return body
}

// bookPayout makes a new payout, priced and waiting for its approval.
func (t *txn) bookPayout(h *holder, key string, body platformwire.PayoutCreate) (*payout, error) {
	paid, err := t.contactOf(h, body.ContactID)
	if err != nil {
		return nil, err
	}
	if !t.hasWallet(h) {
		return nil, wire.WalletNotLinked()
	}
	if t.settings.SignerDetached {
		return nil, wire.SignerNotAttached()
	}
	if err := checkRoute(body, paid.To); err != nil {
		return nil, err
	}
	booked := &payout{
		ID:        newID("po_"),
		Account:   &h.Key,
		holder:    h,
		Key:       key,
		Terms:     body,
		Contact:   paid,
		CreatedAt: t.now,
		receiver:  t.receiver(paid.To, string(body.Currency)),
	}
	if booked.receiver != nil {
		booked.Receiver = &booked.receiver.Key
	}
	if paid.To.Bank == nil {
		booked.ID += ":" + key // with a wallet contact, the key is part of the id
	}
	if err := t.reprice(booked); err != nil {
		return nil, err
	}
	t.payouts[booked.ID] = booked
	t.audit.Booked(h.Key.Account, key, booked.ID, booked.asset(), string(booked.Status))
	return booked, nil
}

// reprice gives an unfunded payout a new quote and a new approval.
func (t *txn) reprice(booked *payout) error {
	if blockers := t.blockers(booked.Contact); len(blockers) > 0 {
		return wire.ContactNotPayable(blockers)
	}
	if booked.Contact.To.Bank != nil && t.settings.PartnerDown {
		return wire.ProviderUnavailable("The banking partner is unavailable; try again later.")
	}
	quote, err := t.quote(booked.Contact, booked.asset(), booked.Terms.Amount, t.drift(booked))
	if err != nil {
		return err
	}
	if booked.Approval.ID != "" {
		booked.Earlier = append(booked.Earlier, booked.Approval.ID)
	}
	booked.Status, booked.Quote = platformwire.PayoutStatusAwaitingApproval, quote
	booked.Approval = newApproval(t.now.Add(time.Duration(t.settings.ApprovalLifetime)))
	t.approvals[booked.Approval.ID] = booked
	t.store.payouts.Put(booked)
	return nil
}

// approval returns the approval that the booking asks to sign.
func (p *payout) approval() platformwire.Approval {
	return p.Approval.of(approvalPayload{
		Operation:   "payout.fund",
		ResourceID:  p.ID,
		Account:     p.holder.Key.Account,
		Amount:      p.Terms.Amount.String(),
		Currency:    p.asset(),
		Destination: approvalDestination{ContactID: p.Terms.ContactID, ChainID: p.Terms.ToChainID},
	})
}

// checkRoute refuses chains that the payment does not use. Money leaves from Base, and arrives on the contact's chain.
func checkRoute(body platformwire.PayoutCreate, to destination) error {
	if body.FromChainID != 0 && body.FromChainID != baseID {
		return wire.InvalidField("fromChainId", "chain_mismatch",
			"Balances are on Base: leave fromChainId out, or give Base.")
	}
	if body.ToChainID == 0 {
		return nil
	}
	if to.Bank != nil {
		return wire.InvalidField("toChainId", "chain_mismatch",
			"The contact has a bank account: leave toChainId out.")
	}
	arrival := int64(baseID)
	if to.Wallet != nil {
		chain, live := chainByCode(to.Wallet.Chain)
		if !live {
			return nil // that the contact is not payable says more
		}
		arrival = chain.ChainID
	}
	if body.ToChainID != arrival {
		return wire.InvalidField("toChainId", "chain_mismatch", "The contact is on another chain.")
	}
	return nil
}
