package dapi

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Payouts are departures of money, to a bank account or to a wallet. A payout is booked, its approval is compared with
// what the caller asked for and signed, and the signature confirms it, all within the approval's 120 seconds.
// [Payouts.Pay] does it in one call.
//
// Source: Resources, Vocabulary; Authentication, Signing.
type Payouts struct {
	low      lowLevel
	approver approver
	chains   *liveChains
	memory   *paymentMemory
	line     *paymentLine
}

// Book books a payout and returns its quote and the approval to sign; no money moves. The idempotency key anchors the
// payment: two payouts of equal terms need distinct keys, and the same key with other terms is
// *errors.IdempotencyKeyReused with the owner's PayoutID, whether the service or this client noticed. Without a key the
// service derives one from the terms: two equal bookings within two hours are one payout. The key comes back in
// Payout.IdempotencyKey. A contact that cannot be paid is *errors.ContactNotPayable with its Blockers.
//
// Source: Limits, Idempotency.
func (s *Payouts) Book(
	ctx context.Context, payout PayoutCreate, options ...moneymovement.WriteOption,
) (*Payout, error) {
	if err := transport.Of(s).low.ready(ctx, &opBookPayout); err != nil {
		return nil, err
	}
	return s.approver.notePayout(s.low.demanding(s.demands(&payout)).BookPayout(ctx, &payout, options))
}

// demands is what a payout must say although the description calls it required nowhere: the approval is compared with
// it before it is signed, and an approval of another amount or asset than was thought of would be signed.
func (s *Payouts) demands(payout *PayoutCreate) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Positive("amount", payout.Amount)
		c.Missing("currency", payout.Currency == "")
		s.chains.checkPlaces(c, payout.Amount, payout.Currency)
	}
}

// Confirm funds a booked payout. asked is what Book was called with, and booked what it returned, perhaps in another
// process. Terms that the booking echoes otherwise than they were asked are *[TermsDiffer], a price that takes more
// than the amount and the fee, or another asset, is *[PriceRefused], and every field of the approval is compared with
// asked before the key signs: a difference is *signing.ApprovalRefused. After each of them nothing was signed or sent.
//
// Errors that a caller meets: *errors.AlreadyFunded (the money has moved), *errors.FundingInProgress (wait),
// *errors.QuoteExpired and *errors.FundingAttemptExpired (book again with the same key), *errors.ApprovalConsumed,
// *errors.SigningPolicyRefused. A 502 is safe to retry and has been retried. *errors.OutcomeUnknown: the answer was
// lost, or neither it nor the payout shows that the confirm was taken; read the payout, or repeat. A status that this
// version does not know, and that has changed since the booking, shows it.
//
// Source: Authentication, Signing; Limits, Lifetimes; Errors, Slugs.
func (s *Payouts) Confirm(
	ctx context.Context, asked PayoutCreate, booked *Payout, options ...moneymovement.CallOption,
) (*Payout, error) {
	if err := transport.Of(s).low.ready(ctx, &opConfirmPayout); err != nil {
		return nil, err
	}
	if booked == nil {
		booked = &Payout{}
	}
	head := errors.Head{Operation: opConfirmPayout.ID, IdempotencyKey: booked.IdempotencyKey,
		Resource: string(booked.ID)}
	if differs := booked.differs(asked); differs != nil {
		differs.Head = head
		return nil, differs
	}
	if refused := (priceBounds{}).refused(price{asked: asked, quote: booked.Quote}); refused != nil {
		refused.Head, refused.Payout = head, booked
		return nil, refused
	}
	confirmed, err := s.confirm(ctx, asked, booked, false, options...)
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		s.memory.doubtful(paymentKey{s.approver.account, opBookPayout.ID, booked.IdempotencyKey})
	}
	if err == nil {
		if differs := confirmed.differs(asked); differs != nil {
			differs.Head = head
			return nil, unproven(head, differs)
		}
	}
	return confirmed, err
}

// confirm signs and confirms what was looked at before. evenIfOver signs an approval that this machine takes for over.
func (s *Payouts) confirm(
	ctx context.Context, asked PayoutCreate, booked *Payout, evenIfOver bool, options ...moneymovement.CallOption,
) (*Payout, error) {
	body, options, err := s.sign(ctx, asked, booked, evenIfOver, options)
	if err != nil {
		return nil, err
	}
	confirmed, err := s.approver.notePayout(s.low.ConfirmPayout(ctx, booked.ID, body, options).Value())
	if err != nil {
		return nil, err
	}
	head := errors.Head{Operation: opConfirmPayout.ID, IdempotencyKey: booked.IdempotencyKey,
		Resource: string(booked.ID)}
	if confirmed == nil || !confirmed.funded() && !confirmed.Status.Final() {
		if confirmed, err = s.Get(ctx, booked.ID); err != nil {
			return nil, unproven(head,
				fmt.Errorf("the answer does not say that the payout is funded, and it cannot be read: %w", err))
		}
	}
	waits := confirmed.Status == PayoutStatusAwaitingApproval || confirmed.Status == booked.Status
	if confirmed.ID != booked.ID || waits && !confirmed.funded() && !confirmed.Status.Final() {
		return nil, unproven(head, errors.New("the service took the confirm, and the payout does not show it"))
	}
	// of another status that is not known, too: the service took the confirm, and nothing contradicts it
	return confirmed, nil
}

// sign gives the body of a confirm and its options. The caller names a chain by its EVM id, and the approval may name
// it by its code: the listing tells that these are one, and is asked for only if the approval says something else than
// the id. The approval may spell the contact with its prefix where the booking left it out, or the other way.
func (s *Payouts) sign(ctx context.Context, asked PayoutCreate, booked *Payout, evenIfOver bool,
	options []moneymovement.CallOption) (
	*ApprovalConfirm, []moneymovement.CallOption, error,
) {
	code := s.chains.codeOf(asked.ToChainID)
	contact := booked.ContactID // whose spelling the approval is expected to have
	for {
		want := intent(asked, booked, code)
		want.Destination.ContactID = string(asked.ContactID.spelledAs(contact))
		body, confirming, err := s.approver.confirm(ctx, s.low, &opConfirmPayout, booked.Approval, want, evenIfOver,
			options)
		refused, ok := errors.AsType[*signing.ApprovalRefused](err)
		switch {
		case ok && refused.Field == "destination.contactId" &&
			asked.ContactID.spelledAs(ContactID(refused.Got)) != ContactID(refused.Want):
			contact = ContactID(refused.Got)
			continue
		case !ok || refused.Field != "destination.chainId" || code != "":
			return body, confirming, err
		}
		if code = s.chains.askCode(ctx, asked.ToChainID); code == "" {
			return nil, nil, err
		}
	}
}

// intent is what the approval of a payout has to say. code is the other name of the chain that is asked for, empty if
// it is not known.
func intent(asked PayoutCreate, booked *Payout, code ChainCode) signing.Intent {
	destination := signing.Destination{ContactID: string(asked.ContactID.spelledAs(booked.ContactID))}
	if asked.ToChainID != 0 {
		destination.ChainID, destination.ChainAlias = strconv.FormatInt(asked.ToChainID, 10), string(code)
	}
	return signing.Intent{
		Operation:   "payout.fund",
		ResourceID:  string(booked.ID),
		Amount:      asked.Amount,
		Currency:    string(asked.Currency),
		Destination: destination,
	}
}

// spelledAs gives the other spelling of the id if it is one: its prefix may be missing, and approvals are compared
// letter for letter.
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
	if err := transport.Of(s).low.ready(ctx, &opGetPayout); err != nil {
		return nil, err
	}
	return s.approver.notePayout(s.low.GetPayout(ctx, id, options))
}

// Wait polls until the payout is `completed`. One that ends otherwise comes back with *PayoutNotCompleted; if ctx ends
// first, the last reading comes back with *StillPending.
//
// Source: Events (clients learn of progress by reading; polling should back off).
func (s *Payouts) Wait(ctx context.Context, id PayoutID, options ...WaitOption) (*Payout, error) {
	if err := transport.Of(s).low.ready(ctx, &opGetPayout); err != nil {
		return nil, err
	}
	return s.wait(ctx, id, options, func(ctx context.Context) (*Payout, error) {
		return s.low.as(transport.ClassPoll).GetPayout(ctx, id, nil)
	})
}

func (s *Payouts) wait(
	ctx context.Context, id PayoutID, options []WaitOption, read func(context.Context) (*Payout, error),
) (*Payout, error) {
	payout, err := wait(ctx, options, poll[Payout]{
		low: s.low, resource: "payout", id: string(id),
		read:   func(ctx context.Context) (*Payout, error) { return s.approver.notePayout(read(ctx)) },
		status: func(p *Payout) string { return string(p.Status) },
		done:   func(p *Payout) bool { return p.Status.Final() },
	})
	if err != nil {
		return payout, err
	}
	return payout, payout.arrived()
}

// funded reports that the money has left or is leaving. A transaction on chain shows it, whatever the status is called.
func (p *Payout) funded() bool {
	return p.Status.funded() || !p.Status.Final() && p.hashed()
}

// hashed reports a transaction on chain. A hash of zeros does not count.
func (p *Payout) hashed() bool { return strings.Trim(p.TransactionHash, "0x") != "" }

// untouched reports that a payout waits for its approval, as far as its answer says.
func (p *Payout) untouched() bool {
	return !p.funded() && (p.Status == PayoutStatusAwaitingApproval || p.Status == "")
}

// arrived is nil for a payout that completed or still may.
func (p *Payout) arrived() error {
	if p.Status.Final() && p.Status != PayoutStatusCompleted {
		return &PayoutNotCompleted{
			Head:   errors.Head{Operation: opGetPayout.ID, IdempotencyKey: p.IdempotencyKey, Resource: string(p.ID)},
			Payout: p,
		}
	}
	return nil
}

// overAt reports that the price or the approval ended by a time.
func (p *Payout) overAt(at time.Time) bool {
	if p.Quote != nil && !p.Quote.ExpiresAt.IsZero() && !at.Before(p.Quote.ExpiresAt) {
		return true
	}
	return p.Approval != nil && !at.Before(p.Approval.ExpiresAt)
}

// sameOffer reports that another booking has the same approval and the same end of its price.
func (p *Payout) sameOffer(other *Payout) bool {
	if other == nil || (p.Quote == nil) != (other.Quote == nil) {
		return false
	}
	return p.Approval.same(other.Approval) && (p.Quote == nil || p.Quote.ExpiresAt.Equal(other.Quote.ExpiresAt))
}

// actingFor is how an approval names the account: the client's id, or self.
func (c lowLevel) actingFor() string {
	if c.acting {
		return string(c.account)
	}
	return "self"
}
