package dapi

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Payouts are departures of money, to a bank account or to a wallet. A payout is booked, its approval is compared with what the caller
// asked for and signed, and the signature confirms it, all within the approval's 120 seconds. [Payouts.Pay] does it in one call.
//
// Source: Resources, Vocabulary; Authentication, Signing.
type Payouts struct {
	low      lowLevel
	approver approver
	chains   *liveChains
	line     *paymentLine
}

// Book books a payout and answers its quote and the approval to sign; no money moves. The idempotency key anchors the payment: two
// payouts of equal terms need distinct keys, and the same key with other terms is *errors.IdempotencyKeyReused with the owner's PayoutID,
// or *errors.InvalidInput with the code idempotency_key_reused if this client sent the key itself, for then nothing is sent again.
// A contact that cannot be paid is *errors.ContactNotPayable with its Blockers. The key comes back in Payout.IdempotencyKey.
//
// Source: Limits, Idempotency.
func (s *Payouts) Book(ctx context.Context, payout PayoutCreate, options ...moneymovement.CallOption) (*Payout, error) {
	if err := s.chains.checkPlaces(ctx, opBookPayout.ID, payout.validate, payout.Amount, payout.Currency); err != nil {
		return nil, err
	}
	return s.low.BookPayout(ctx, &payout, options)
}

// Confirm funds a booked payout. asked is what Book was called with, and booked what it answered, perhaps in another process. Every field
// of the approval is compared with asked before the key signs; a difference is *signing.ApprovalRefused, and nothing was sent.
//
// Errors that a caller meets: *errors.AlreadyFunded (the money has moved), *errors.FundingInProgress (wait), *errors.QuoteExpired and
// *errors.FundingAttemptExpired (book again with the same key), *errors.ApprovalConsumed, *errors.SigningPolicyRefused. A 502 is safe to
// retry and has been retried. *errors.OutcomeUnknown: the answer was lost, or does not say that this payout is funded; read it, or repeat.
//
// Source: Authentication, Signing; Limits, Lifetimes; Errors, Slugs.
func (s *Payouts) Confirm(ctx context.Context, asked PayoutCreate, booked *Payout, options ...moneymovement.CallOption) (*Payout, error) {
	if booked == nil {
		booked = &Payout{}
	}
	options, key := keyed(options)
	options, err := s.low.reserveConfirm(ctx, &opConfirmPayout, booked.Approval, options)
	if err != nil {
		return nil, err
	}
	body, err := s.approver.confirm(ctx, booked.Approval, intent(asked, booked))
	if err != nil {
		return nil, err
	}
	confirmed, err := s.low.ConfirmPayout(ctx, booked.ID, body, options)
	switch {
	case err != nil:
		return nil, err
	case confirmed.ID != booked.ID:
		return nil, unproven(opConfirmPayout.ID, key, "the answer is about another payout")
	case confirmed.Status == "", confirmed.Status == PayoutStatusAwaitingApproval:
		return nil, unproven(opConfirmPayout.ID, key, "the answer does not say that the payout is funded")
	}
	return confirmed, nil
}

// intent is what the approval of a payout has to say.
func intent(asked PayoutCreate, booked *Payout) signing.Intent {
	destination := signing.Destination{ContactID: string(asked.ContactID.spelledAs(booked.ContactID))}
	if asked.ToChainID != 0 {
		destination.ChainID = strconv.FormatInt(asked.ToChainID, 10)
	}
	return signing.Intent{
		Operation:   "payout.fund",
		ResourceID:  string(booked.ID),
		Amount:      asked.Amount,
		Currency:    string(asked.Currency),
		Destination: destination,
	}
}

// spelledAs answers the other spelling of the id if it is one: its prefix may be missing, and approvals are compared letter for letter.
//
// Source: Resources, Contact (pattern of the id).
func (id ContactID) spelledAs(other ContactID) ContactID {
	if strings.TrimPrefix(string(id), "ct_") == strings.TrimPrefix(string(other), "ct_") {
		return other
	}
	return id
}

// Get reads a payout. One that belongs to someone else is *errors.NotFound.
func (s *Payouts) Get(ctx context.Context, id PayoutID, options ...moneymovement.CallOption) (*Payout, error) {
	return s.low.GetPayout(ctx, id, options)
}

// Wait polls until the payout is `completed`. One that ends otherwise comes back with *PayoutNotCompleted; if ctx ends first, the last
// reading comes back with *StillPending.
//
// Source: Events (clients learn of progress by reading; polling should back off).
func (s *Payouts) Wait(ctx context.Context, id PayoutID, options ...WaitOption) (*Payout, error) {
	return s.wait(ctx, id, options, func(ctx context.Context) (*Payout, error) {
		return s.low.as(transport.ClassPoll).GetPayout(ctx, id, nil)
	})
}

func (s *Payouts) wait(
	ctx context.Context, id PayoutID, options []WaitOption, read func(context.Context) (*Payout, error),
) (*Payout, error) {
	payout, err := wait(ctx, options, poll[Payout]{
		low: s.low, resource: "payout", id: string(id),
		read:   read,
		status: func(p *Payout) string { return string(p.Status) },
		done:   func(p *Payout) bool { return p.Status.Final() },
	})
	if err != nil {
		return payout, err
	}
	return payout, payout.arrived()
}

// Final reports that a payout's status does not change any more by itself. A status that this version does not know is not final.
func (s PayoutStatus) Final() bool {
	switch s {
	case PayoutStatusCompleted, PayoutStatusFailed, PayoutStatusRefunded, PayoutStatusExpired:
		return true
	}
	return false
}

// funded reports that the money has left or is leaving.
func (s PayoutStatus) funded() bool {
	switch s {
	case PayoutStatusFunding, PayoutStatusProcessing, PayoutStatusCompleted:
		return true
	}
	return false
}

// PayoutNotCompleted says that a payout ended in another status than `completed`: `failed`, `refunded` or `expired`.
type PayoutNotCompleted struct{ Payout *Payout }

// arrived is nil for a payout that completed or still may.
func (p *Payout) arrived() error {
	if p.Status.Final() && p.Status != PayoutStatusCompleted {
		return &PayoutNotCompleted{Payout: p}
	}
	return nil
}

func (e *PayoutNotCompleted) Error() string {
	return fmt.Sprintf("payout %s ended %s", e.Payout.ID, e.Payout.Status)
}

// actingFor is how an approval names the account: the client's id, or self.
func (c lowLevel) actingFor() string {
	if c.acting {
		return string(c.account)
	}
	return "self"
}
