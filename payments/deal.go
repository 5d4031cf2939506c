package payments

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// open opens a deal. If it is in doubt, and the service now refuses to create it for a reason that does not pass by
// itself, no further call opens it: a person must look.
func (s *progress) open(ctx context.Context) found {
	r := &s.record
	options := []dapi.OpenOption{dapi.CreatedBefore(r.EscrowID),
		dapi.BeforeApproving(func(ctx context.Context, created *dapi.Escrow) error {
			return s.beforeSigning(ctx, s.record.approving(created.ID))
		})}
	for _, option := range s.history() {
		options = append(options, option)
	}
	deal, err := s.p.services.of(r).escrows.Open(ctx, *r.Escrow, r.Key, options...)
	f := withDeal(called(err, s.inDoubt, true), deal)
	if waits := deal == nil || deal.Status == dapi.EscrowStatusPendingApproval; waits && s.unsigned(f) {
		f = unsigned(f, err, func(cause error) found { return withDeal(called(cause, false, true), deal) })
	}
	cause := causeOf(err)
	if refusal, is := errors.AsType[*errors.Refusal](cause); f.verdict == verdictUnknown && is && deal == nil &&
		r.EscrowID == "" && refusal.Operation == "CreateEscrow" && s.refusedForGood(cause) {
		f.verdict = verdictDecide
	}
	return f
}

// act takes an action of a deal. If that fails, the deal itself can show that the action was taken, or that it never
// will be.
func (s *progress) act(ctx context.Context) found {
	r := &s.record
	deal, err := s.p.services.of(r).escrows.Act(ctx, *r.Escrow, r.EscrowID, r.Action, r.Key, s.history()...)
	f := withDeal(called(err, s.inDoubt, false), deal)
	if f.verdict != verdictUnknown || f.retryAt.After(time.Now()) { // a look must wait as well
		return f
	}
	shown := s.searchDeal(ctx)
	if shown.verdict != verdictUnknown {
		return shown
	}
	f.retryAt = later(f.retryAt, shown.retryAt) // the next call is followed by a look, too
	if notOnOffer(err) && !s.inDoubt {
		f.verdict, f.mayHaveLeft = verdictWait, false
	}
	return f
}

// notOnOffer reports that a deal does not offer an action now. Nothing was signed then: the action was not prepared.
func notOnOffer(err error) bool {
	conflict, is := errors.AsType[*errors.Conflict](err)
	return is && conflict.Operation == "PrepareEscrowAction"
}

// withDeal adds the ids of a deal.
func withDeal(f found, deal *dapi.Escrow) found {
	if deal != nil {
		f.escrowID, f.hash = deal.ID, deal.TransactionHash
	}
	return f
}

func (s *progress) searchDeal(ctx context.Context) found {
	r, escrows := &s.record, s.p.services.of(&s.record).escrows
	ended := found{verdict: verdictUnknown, mayHaveLeft: true}
	if r.EscrowID != "" {
		deal, err := escrows.Sync(ctx, r.EscrowID)
		if err != nil && !missing(err) {
			return failedSearch(err)
		}
		if err == nil && deal.ID == r.EscrowID {
			switch f := withDeal(dealShows(r, deal), deal); {
			case f.verdict == verdictEnded:
				ended = f
			case f.verdict != verdictUnknown:
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
	if f.verdict == verdictUnknown && f.reason == nil {
		return ended
	}
	return f
}

// dealShows returns what the status of a deal says about its opening or about an action.
func dealShows(r *Record, deal *dapi.Escrow) found {
	f := found{verdict: verdictUnknown, mayHaveLeft: true}
	held := deal.Status == dapi.EscrowStatusActive
	switch {
	case r.Kind == KindEscrow || r.Action == dapi.EscrowActionTypeApprove:
		switch {
		case held || deal.Status == dapi.EscrowStatusReleased || deal.Status == dapi.EscrowStatusRefunded:
			f.verdict = verdictCompleted
		case deal.Status == dapi.EscrowStatusExpired:
			f.verdict, f.mayHaveLeft = verdictEnded, false
			f.reason = &Reason{Code: ReasonEnded, Message: "the deal expired before its money was held"}
		}
	case r.Action == dapi.EscrowActionTypeRelease && deal.Status == dapi.EscrowStatusReleased,
		r.Action == dapi.EscrowActionTypeRefund && deal.Status == dapi.EscrowStatusRefunded:
		f.verdict = verdictCompleted
	case deal.Status.Final() &&
		(r.Action == dapi.EscrowActionTypeRelease || r.Action == dapi.EscrowActionTypeRefund):
		f.verdict, f.mayHaveLeft = verdictEnded, false
		f.reason = &Reason{Code: ReasonEnded,
			Message: "the deal is " + string(deal.Status) + ", so this action was not taken"}
	}
	return f
}
