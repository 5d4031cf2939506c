package dapi

import (
	"context"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// The limits of what find reads.
const (
	findPages = 3  // of the ledger, newest entries first as far as is known
	findReads = 10 // of payouts
)

// find looks for the payout of this payment in the ledger. It is for a process that knows only the key: the service
// refuses the booking, for example because the contact was deleted, although an earlier process has paid. The ledger
// does not name keys, so find reads the payouts with the same amount. If it finds nothing, the payment may still have
// been made.
func (p *payment) find(ctx context.Context, refusal error) {
	if p.id() != "" || !refusesBooking(refusal) {
		return
	}
	ledger := &Transactions{p.payouts.low}
	tried := map[PayoutID]bool{"": true}
	for entry, err := range ledger.upTo(ctx, findPages, ListTransactionsParams{Limit: maxPage}, nil) {
		switch {
		case err != nil:
			p.readErr = err
			return
		case len(tried) > findReads:
			return
		case tried[entry.PayoutID], !entry.Amount.Equal(p.asked.Amount), entry.Currency != p.asked.Currency:
			continue
		}
		tried[entry.PayoutID] = true
		p.booked = &Payout{ID: entry.PayoutID}
		if payout, err := p.get(ctx); err == nil && payout.IdempotencyKey == string(p.key) {
			return
		}
		p.booked, p.lastRead = nil, nil
	}
}

// refusesBooking reports a refusal of the request itself, and not of its credential or its rate. After such a refusal,
// other calls can still succeed.
func refusesBooking(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return false
	}
	switch refusal.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusGone,
		http.StatusUnprocessableEntity:
		return true
	}
	return false
}
