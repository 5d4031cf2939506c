package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// BookPayout books a payout and returns its price and the approval to sign. The payment is bound to the idempotency
// key. The same terms return the first response again. If the approval or the price has expired and nobody funded the
// payout, they reopen it, with the same id and a new approval and price.
func (p *Platform) BookPayout(ctx context.Context, body platformwire.PayoutCreate) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Answer{}, err
	}
	key, asked, lifetime, err := anchorOf(c, "BookPayout", termsOf(body))
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := t.bookings.forgotten(key, asked, t.now); err != nil {
		return wire.Answer{}, err
	}
	if id, found, same := t.bookings.find(key, asked, t.now); found {
		booked := t.payouts[id]
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("payoutId", booked.ID)
		}
		if booked.stale(t.now) {
			if err := t.price(booked); err != nil {
				return wire.Answer{}, err
			}
		}
		return wire.OK(booked.answer()).Lean().Replayed(), nil
	}
	booked, err := t.book(h, key.Key, body)
	if err != nil {
		return wire.Answer{}, err
	}
	t.bookings.keep(key, asked, booked.ID, t.now, lifetime)
	return wire.Created(booked.answer()).Lean(), nil
}

// termsOf returns the terms of a request in one spelling: 5.0 becomes 5, and an id loses its prefix.
func termsOf(body platformwire.PayoutCreate) platformwire.PayoutCreate {
	body.ContactID = contactID(body.ContactID)
	body.Amount = body.Amount.Truncate(assetDecimals)
	return body
}

// book makes a new payout, priced and waiting for its approval.
func (t *turn) book(h *holder, key string, body platformwire.PayoutCreate) (*payout, error) {
	paid, err := t.contactOf(h, body.ContactID)
	if err != nil {
		return nil, err
	}
	if !t.ready(h) {
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
	if err := t.price(booked); err != nil {
		return nil, err
	}
	t.payouts[booked.ID] = booked
	t.audit.Booked(h.Key.Account, key, booked.ID, booked.asset(), string(booked.Status))
	return booked, nil
}

// price gives a payout that nobody funded a new quote and a new approval.
func (t *turn) price(booked *payout) error {
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
	t.kept.payouts.Put(booked)
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

// checkRoute refuses chains that are not on the payment's way. Money leaves from Base, and arrives on the contact's
// chain.
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
