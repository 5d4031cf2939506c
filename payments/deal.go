package payments

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// dealTerms are the terms of a flow of a deal.
func (s *progress) dealTerms() dapi.EscrowTerms {
	inTime := func(context.Context, *dapi.Escrow) error { return s.inTime() }
	journal := func(ctx context.Context, history dapi.History) error {
		return s.journal(ctx, s.record.signing(history, nil))
	}
	return dapi.EscrowTerms{History: s.history(), BeforeSigning: inTime, Journal: journal}
}

// open opens a deal. If it is in doubt, and the service now refuses to create it for a reason that does not pass by
// itself, no further call opens it: a person must look.
func (s *progress) open(ctx context.Context) found {
	r := &s.record
	deal, err := s.p.services.of(r).escrows.Open(ctx, *r.Escrow, r.Key, s.dealTerms())
	f := shows(deal.State, deal.Unpaid, deal.Refusal, err, deal.RetryAt).ofDeal(deal.Escrow)
	refusal, is := errors.AsType[*errors.Refusal](deal.Refusal)
	if f.state == moneymovement.PaymentInDoubt && !f.tooOld() && is && r.EscrowID == "" &&
		refusal.Operation == "CreateEscrow" && s.refusedForGood(deal.Refusal) {
		f.state = moneymovement.PaymentNeedsDecision
	}
	return f
}

// act takes an action of a deal. If that fails, the deal itself can show that the action was taken, or that it never
// will be.
func (s *progress) act(ctx context.Context) found {
	r := &s.record
	deal, err := s.p.services.of(r).escrows.Act(ctx, *r.Escrow, r.EscrowID, r.Action, r.Key, s.dealTerms())
	f := shows(deal.State, deal.Unpaid, deal.Refusal, err, deal.RetryAt).ofDeal(deal.Escrow)
	conflict, is := errors.AsType[*errors.Conflict](deal.Refusal)
	offered := !is || conflict.Operation != "PrepareEscrowAction"
	if f.state != moneymovement.PaymentInDoubt && offered || f.tooOld() || f.retryAt.After(time.Now()) {
		return f // a look must wait as well
	}
	shown := s.searchDeal(ctx)
	if shown.state != moneymovement.PaymentInDoubt {
		return shown
	}
	f.retryAt = later(f.retryAt, shown.retryAt) // the next call is followed by a look, too
	return f
}

func (s *progress) searchDeal(ctx context.Context) found {
	r, escrows := &s.record, s.p.services.of(&s.record).escrows
	ended := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	if r.EscrowID != "" {
		deal, err := escrows.Sync(ctx, r.EscrowID)
		if err != nil && !missing(err) {
			return failedSearch(err)
		}
		if err == nil && deal.ID == r.EscrowID {
			switch f := dealShows(r, deal).ofDeal(deal); {
			case f.state == moneymovement.PaymentRefused:
				ended = f
			case f.state != moneymovement.PaymentInDoubt:
				return f
			}
		}
	}
	if r.Kind == KindEscrowAction { // an entry of the deal does not say which action it is of
		return ended
	}
	f := s.searchLedger(ctx, func(entry dapi.Transaction) (bool, error) {
		switch {
		case entry.EscrowID == "":
			return false, nil
		case entry.EscrowID == r.EscrowID:
			return true, nil
		case !r.coveredBy(&entry):
			return false, nil
		}
		deal, err := escrows.Sync(ctx, entry.EscrowID)
		if err != nil || !deal.Amount.IsZero() && !deal.Amount.Equal(r.Escrow.Amount) {
			return false, err
		}
		return r.hasKey(deal.IdempotencyKey)
	})
	if f.state == moneymovement.PaymentInDoubt && f.reason == nil {
		return ended
	}
	return f
}

// dealShows returns what the status of a deal says about its opening or about an action.
func dealShows(r *Record, deal *dapi.Escrow) found {
	f := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	held := deal.Status == dapi.EscrowStatusActive
	switch {
	case r.Kind == KindEscrow || r.Action == dapi.EscrowActionTypeApprove:
		switch {
		case held || deal.Status == dapi.EscrowStatusReleased || deal.Status == dapi.EscrowStatusRefunded:
			f.state = moneymovement.PaymentCompleted
		case deal.Status == dapi.EscrowStatusExpired:
			f.state, f.mayHaveLeft = moneymovement.PaymentRefused, false
			f.reason = &Reason{Code: ReasonEnded, Message: "the deal expired before its money was held"}
		}
	case r.Action == dapi.EscrowActionTypeRelease && deal.Status == dapi.EscrowStatusReleased,
		r.Action == dapi.EscrowActionTypeRefund && deal.Status == dapi.EscrowStatusRefunded:
		f.state = moneymovement.PaymentCompleted
	case deal.Status.Final() &&
		(r.Action == dapi.EscrowActionTypeRelease || r.Action == dapi.EscrowActionTypeRefund):
		f.state, f.mayHaveLeft = moneymovement.PaymentRefused, false
		f.reason = &Reason{Code: ReasonEnded,
			Message: "the deal is " + string(deal.Status) + ", so this action was not taken"}
	}
	return f
}
