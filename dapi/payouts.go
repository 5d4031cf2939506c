package dapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Payouts books and confirms payouts. A payout is a payment that leaves the account, to a bank account or to a wallet.
//
// [Payouts.Pay] makes a payment in one call: it books, compares the approval with what you asked for, signs and
// confirms, all within the 120 seconds of the approval. [Payouts.Book] and [Payouts.Confirm] are its steps. Use them if
// a person must see the price before you pay, for example.
type Payouts struct {
	low      lowLevel
	approver approver
	chains   *liveChains
	names    chainNames
	memory   paymentMemory
	queue    *paymentQueue
}

// Book books a payout and returns its quote (the price) and the approval to sign. No money moves.
//
// # Repeating
//
// The idempotency key identifies the payment. Two payouts with equal terms need different keys. With the same key and
// other terms, Book fails with *errors.IdempotencyKeyReused, which has the PayoutID of the payout that has the key. The
// service detects this, or the SDK before it sends anything. Without a key, the service derives one from the terms: two
// equal bookings within two hours are one payout. The key is in Payout.IdempotencyKey.
//
// # Errors
//
// If the contact cannot be paid, Book fails with *errors.ContactNotPayable, which has the Blockers.
func (s *Payouts) Book(
	ctx context.Context, payout PayoutCreate, options ...moneymovement.WriteOption,
) (*Payout, error) {
	s = transport.OrNew(s)
	return s.approver.notePayout(s.low.withCheck(s.check(&payout)).BookPayout(ctx, &payout, options))
}

// scope returns the scope of a payment's key.
func (s *Payouts) scope(key string) transport.KeyScope {
	return transport.KeyScopeOf(&opBookPayout, string(s.low.account), key)
}

// check returns the check of a payout's amount and currency.
func (s *Payouts) check(payout *PayoutCreate) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Amount("amount", payout.Amount)
		payout.checkMoney(c)
		s.chains.checkPlaces(c, payout.Amount, payout.Currency)
	}
}

// MaxInFlight returns how many payouts of this client can be between booking and confirm at the same time: 108 with the
// whole rate window, fewer with moneymovement.WithRateShare. Further calls of [Payouts.Pay] wait in line.
func (s *Payouts) MaxInFlight() int {
	if queue := transport.OrNew(s).queue; queue != nil {
		return queue.limit
	}
	return 0 // no constructor made it
}

// Confirm funds a booked payout. asked is what you passed to Book. booked is what Book returned, perhaps in another
// process.
//
// Before it signs, Confirm compares the booking with asked. With each of these errors, this call signed and sent
// nothing:
//
//   - *[TermsDiffer]: the booking has other terms than asked.
//   - *[PriceRefused]: more would leave than the amount and the fee, or another asset would leave.
//   - *signing.ApprovalRefused: a field of the approval differs from asked.
//
// # Errors
//
//   - *errors.AlreadyFunded: the money has moved.
//   - *errors.FundingInProgress: the service is funding the payout. Call [Payouts.Wait].
//   - *errors.QuoteExpired, *errors.FundingAttemptExpired: book again with the same key.
//   - *errors.ApprovalConsumed: the approval was used before. Read the payout to see whether it is funded.
//   - *errors.SigningPolicyRefused: the service's signing policy refuses the payout.
//   - *errors.InDoubt: the response was lost, or neither the response nor the payout shows that the service took
//     the confirm. The payout may be funded: read it, or call Confirm again. A status that this version does not know
//     counts as proof if it changed since the booking.
//
// If the service responds with 502, Confirm is safe to repeat. The SDK has already repeated the call when it returns
// this error.
func (s *Payouts) Confirm(
	ctx context.Context, asked PayoutCreate, booked *Payout, options ...moneymovement.CallOption,
) (*Payout, error) {
	s = transport.OrNew(s).withHeaderOf(options)
	if booked == nil {
		booked = &Payout{}
	}
	low := s.low.withKey(moneymovement.Key(booked.IdempotencyKey))
	if err := low.ready(ctx, &opConfirmPayout, s.check(&asked)); err != nil {
		return nil, err
	}
	head := errors.CallInfo{Operation: opConfirmPayout.ID, IdempotencyKey: booked.IdempotencyKey,
		Resource: string(booked.ID)}
	if differs := booked.differs(asked); differs != nil {
		differs.CallInfo = head
		return nil, differs
	}
	if refused := (Bounds{}).refused(price{asked: asked, quote: booked.Quote}); refused != nil {
		refused.CallInfo, refused.Payout = head, booked
		return nil, refused
	}
	confirmed, err := s.signAndConfirm(ctx, asked, booked, "", false, options)
	if err == nil {
		if differs := confirmed.differs(asked); differs != nil {
			differs.CallInfo = head
			confirmed, err = nil, unproven(head, differs)
		}
	}
	s.memory.confirmed(s.scope(booked.IdempotencyKey), err)
	return confirmed, err
}

// signAndConfirm signs and confirms without comparing the terms again. The call of a flow has its key. With
// allowExpired, it signs an approval that has expired by this machine's clock.
func (s *Payouts) signAndConfirm(ctx context.Context, asked PayoutCreate, booked *Payout, key moneymovement.Key,
	allowExpired bool, options []moneymovement.CallOption,
) (*Payout, error) {
	head := errors.CallInfo{Operation: opConfirmPayout.ID,
		IdempotencyKey: cmp.Or(string(key), booked.IdempotencyKey), Resource: string(booked.ID)}
	if other := s.memory.sign(s.scope(head.IdempotencyKey), string(booked.ID)); other != "" {
		return nil, unproven(head, &TermsDiffer{CallInfo: head, Member: "id", Asked: other, Got: string(booked.ID)})
	}
	want := s.names.intent(asked, booked)
	body, low, err := s.approver.confirm(ctx, s.low.withKey(key), &opConfirmPayout, booked.Approval, want,
		allowExpired, options)
	if err != nil {
		return nil, s.names.explained(err, asked.ToChainID)
	}
	confirmed, err := s.approver.notePayout(low.ConfirmPayout(ctx, booked.ID, body, options).Value())
	if err != nil {
		return nil, err
	}
	if confirmed == nil || !confirmed.funded() && !confirmed.Status.Final() {
		if confirmed, err = s.Get(ctx, booked.ID); err != nil {
			return nil, unproven(head,
				fmt.Errorf("the response does not show that the payout is funded, and the payout cannot be read: %w",
					err))
		}
	}
	waits := confirmed.Status == PayoutStatusAwaitingApproval || confirmed.Status == booked.Status
	if confirmed.ID != booked.ID || waits && !confirmed.funded() && !confirmed.Status.Final() {
		return nil, unproven(head,
			errors.New("the service accepted the confirm, but the payout does not show that it is funded"))
	}
	// also with another status that is not known: the service took the confirm, and nothing contradicts it
	return confirmed, nil
}

// fundPayout is the operation of a payout's approval.
const fundPayout = "payout.fund"

// intent returns what the approval of a payout must say. You name a chain by its EVM id, and the approval may name it
// by a code of the same chain. The approval may also write the contact's id with its prefix where you have none, or the
// other way round.
func (n chainNames) intent(asked PayoutCreate, booked *Payout) signing.Intent {
	var written struct {
		Destination struct {
			ContactID ContactID `json:"contactId"`
			ChainID   ChainCode `json:"chainId"`
		} `json:"destination"`
	}
	if booked.Approval != nil {
		_ = codec.Unmarshal(booked.Approval.Payload, &written) // what cannot be read so is compared as it is asked
	}
	destination := signing.Destination{ContactID: string(asked.ContactID.withPrefixOf(
		cmp.Or(written.Destination.ContactID, booked.ContactID)))}
	if id := asked.ToChainID; id != 0 {
		code := n.codeOf(id)
		if n[written.Destination.ChainID] == id {
			code = written.Destination.ChainID
		}
		destination.ChainID, destination.ChainAlias = strconv.FormatInt(int64(id), 10), string(code)
	}
	return signing.Intent{
		Operation:   fundPayout,
		ResourceID:  string(booked.ID),
		Amount:      asked.Amount,
		Currency:    string(asked.Currency),
		Destination: destination,
	}
}

// withPrefixOf returns other if both are the same id, with or without the prefix ct_. Otherwise it returns id. The
// prefix is optional, and approvals are compared letter by letter.
func (id ContactID) withPrefixOf(other ContactID) ContactID {
	if strings.TrimPrefix(string(id), "ct_") == strings.TrimPrefix(string(other), "ct_") {
		return other
	}
	return id
}

// Get returns a payout. For the payout of another account, it fails with *errors.NotFound.
func (s *Payouts) Get(ctx context.Context, id PayoutID, options ...moneymovement.CallOption) (*Payout, error) {
	s = transport.OrNew(s)
	return s.approver.notePayout(s.low.GetPayout(ctx, id, options))
}

// Wait polls until the payout is `completed`, and returns it. If the payout ends with another status, the error is
// *PayoutNotCompleted. If ctx ends first, the error is *moneymovement.StillPending.
func (s *Payouts) Wait(ctx context.Context, id PayoutID, options ...moneymovement.WaitOption) (*Payout, error) {
	s = transport.OrNew(s)
	return s.wait(ctx, id, options, func(ctx context.Context) (*Payout, error) {
		return s.low.polling(options).GetPayout(ctx, id, nil)
	})
}

func (s *Payouts) wait(
	ctx context.Context, id PayoutID, options []moneymovement.WaitOption, read func(context.Context) (*Payout, error),
) (*Payout, error) {
	payout, err := transport.Awaited[Payout]{
		Client: s.low.transport, Operation: &opGetPayout, Resource: "payout", ID: string(id),
		Read:   func(ctx context.Context) (*Payout, error) { return s.approver.notePayout(read(ctx)) },
		Status: func(p *Payout) string { return string(p.Status) },
		Done:   func(p *Payout) bool { return p.Status.Final() },
		Known:  func(p *Payout) bool { return p.Status.Known() },
	}.Wait(ctx, options)
	if err != nil {
		return payout, err
	}
	return payout, payout.notCompleted()
}

// funded reports that the money has left or is leaving. A transaction on chain proves it, whatever the status is.
func (p *Payout) funded() bool {
	return p.Status.funded() || !p.Status.Final() && p.hasTransactionHash()
}

// hasTransactionHash reports a transaction on chain. A hash of zeros does not count.
func (p *Payout) hasTransactionHash() bool { return strings.Trim(p.TransactionHash, "0x") != "" }

// isUnfunded reports that a payout waits for its approval, according to its response.
func (p *Payout) isUnfunded() bool {
	return !p.funded() && (p.Status == PayoutStatusAwaitingApproval || p.Status == "")
}

// awaitsApproval reports a payout that nobody has approved, or not in time.
func (p *Payout) awaitsApproval() bool {
	return p.Status == PayoutStatusAwaitingApproval || p.Status == PayoutStatusExpired
}

// notCompleted returns *PayoutNotCompleted for a payout that ended without completing, else nil.
func (p *Payout) notCompleted() error {
	if p.Status.Final() && p.Status != PayoutStatusCompleted {
		return &PayoutNotCompleted{
			CallInfo: errors.CallInfo{Operation: opGetPayout.ID, IdempotencyKey: p.IdempotencyKey,
				Resource: string(p.ID)},
			Payout: p,
		}
	}
	return nil
}

// clone returns a copy for a function of the caller, which must not change what is signed.
func (p *Payout) clone() *Payout {
	clone := *p
	if p.Quote != nil {
		clone.Quote = new(*p.Quote)
	}
	if p.Approval != nil {
		clone.Approval = new(*p.Approval)
		clone.Approval.Payload = bytes.Clone(p.Approval.Payload)
	}
	return &clone
}

// sameOffer reports that another booking has the same approval and the same expiry of its price.
func (p *Payout) sameOffer(other *Payout) bool {
	if other == nil || (p.Quote == nil) != (other.Quote == nil) {
		return false
	}
	return p.Approval.same(other.Approval) && (p.Quote == nil || p.Quote.ExpiresAt.Equal(other.Quote.ExpiresAt))
}

// PayoutResult is the result of [Payouts.WaitAll] for one payout. Payout and Err are what [Payouts.Wait] would have
// returned.
type PayoutResult struct {
	ID PayoutID
	// Payout is the payout as last read, nil if no read succeeded.
	Payout *Payout
	// Err is nil if the payout is `completed`.
	Err error
}

// maxConcurrentReads limits how many reads of one WaitAll are sent, or wait for the rate window, at the same time.
const maxConcurrentReads = 32

// WaitAll waits for many payouts. It yields each one when its wait is over, in the order in which they end:
//
//	for result := range account.Payouts.WaitAll(ctx, ids) {
//		switch _, ended := errors.AsType[*dapi.PayoutNotCompleted](result.Err); {
//		case result.Err == nil: // the money has arrived
//		case ended:             // the payout failed, was refunded or expired: to pay, use a new key
//		default:                // nothing new is known: keep what you stored, and wait for the payout again later
//		}
//	}
//
// An error about one payout does not end the others. If ctx ends first, all remaining payouts are yielded with
// *moneymovement.StillPending. An id that is given twice is yielded once. To stop the waits, leave the loop. The
// function of [moneymovement.OnProgress] is called for one payout at a time.
//
// # How often payouts are read
//
// Payouts are read in turn: none is read twice while another one waits for its read. The service allows 600 reads in a
// minute. A client leaves 60 of them to other reads and uses up to 540 for waits, in 61 seconds: 531 a minute. By
// default, after the first pauses, a payout is read about 5 times a minute, if there are at most a hundred. More
// payouts are read less often: each of a thousand every 2 minutes, each of ten thousand every 19 minutes. While other
// reads fill the window, waits keep a tenth of it, which is 59 reads a minute.
func (s *Payouts) WaitAll(ctx context.Context, ids []PayoutID,
	options ...moneymovement.WaitOption) iter.Seq[PayoutResult] {
	return func(yield func(PayoutResult) bool) {
		pending := distinct(ids)
		if err := transport.OrNew(s).low.ready(ctx, &opGetPayout); err != nil {
			for _, id := range pending {
				if !yield(PayoutResult{ID: id, Err: err}) {
					return
				}
			}
			return
		}
		waiting, stop := context.WithCancel(ctx)
		var (
			waits   sync.WaitGroup
			waited  = make(chan PayoutResult)
			left    = make(chan struct{})
			reading = semaphore.NewWeighted(maxConcurrentReads)
		)
		defer waits.Wait()
		defer stop()
		defer close(left)
		inTurn := oneAtATime(options)
		for _, id := range pending {
			waits.Go(func() {
				payout, err := s.wait(waiting, id, inTurn, func(ctx context.Context) (*Payout, error) {
					if err := reading.Acquire(ctx, 1); err != nil {
						return nil, err
					}
					defer reading.Release(1)
					return s.low.polling(options).GetPayout(ctx, id, nil)
				})
				select {
				case waited <- PayoutResult{ID: id, Payout: payout, Err: err}:
				case <-left:
				}
			})
		}
		for range pending {
			if !yield(<-waited) {
				return
			}
		}
	}
}

// distinct returns each id once, in the order of their first appearance.
func distinct(ids []PayoutID) []PayoutID {
	known := make(map[PayoutID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id PayoutID) bool {
		again := known[id]
		known[id] = true
		return again
	})
}

// oneAtATime adds to the options that the waits that share them report their progress one after the other.
func oneAtATime(options []moneymovement.WaitOption) []moneymovement.WaitOption {
	report := moneymovement.WaitSettingsOf(options...).Progress
	if report == nil {
		return options
	}
	var reporting sync.Mutex
	return append(slices.Clip(options), moneymovement.OnProgress(func(p moneymovement.Progress) {
		reporting.Lock()
		defer reporting.Unlock()
		report(p)
	}))
}
