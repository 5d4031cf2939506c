package simulation

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// brokenStore is a store that breaks a rule. A nil field breaks nothing.
type brokenStore struct {
	payments.Store

	insert   func(record payments.Record) (lost bool)
	claim    func(claim *payments.Claim)
	claimed  func(claimed []payments.Claimed)
	save     func(claimed *payments.Claimed, release bool) (lost bool)
	postpone func(claimed *payments.Claimed) (lost bool)
	extend   func(d time.Duration) time.Duration
}

// Insert implements payments.Store.
func (s *brokenStore) Insert(ctx context.Context, record payments.Record) (payments.Record, bool, error) {
	if s.insert != nil && s.insert(record) {
		return record, true, nil
	}
	return s.Store.Insert(ctx, record)
}

// Claim implements payments.Store.
func (s *brokenStore) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	if s.claim != nil {
		s.claim(&claim)
	}
	claimed, next, err := s.Store.Claim(ctx, claim)
	if s.claimed != nil && err == nil {
		s.claimed(claimed)
	}
	return claimed, next, err
}

// Save implements payments.Store.
func (s *brokenStore) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (payments.Position, error) {
	if s.save != nil && s.save(&claimed, release) {
		return claimed.Position, nil
	}
	return s.Store.Save(ctx, claimed, release)
}

// Postpone implements payments.Store.
func (s *brokenStore) Postpone(ctx context.Context, claimed payments.Claimed) error {
	if s.postpone != nil && s.postpone(&claimed) {
		return nil
	}
	return s.Store.Postpone(ctx, claimed)
}

// Extend implements payments.Store.
func (s *brokenStore) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) ([]moneymovement.Key, error) {
	if s.extend != nil {
		d = s.extend(d)
	}
	return s.Store.Extend(ctx, leases, d)
}

// edit changes a record. What has ended is not due.
func edit(claimed *payments.Claimed, change func(*payments.Record)) {
	change(&claimed.Record)
	if claimed.State.Final() {
		claimed.Due = time.Time{}
	}
}

// saved edits each stored record, and claimedAgain each one that was claimed before.
func saved(change func(*payments.Record)) func() *brokenStore {
	return func() *brokenStore {
		return &brokenStore{save: func(claimed *payments.Claimed, _ bool) bool { edit(claimed, change); return false }}
	}
}

func claimedAgain(change func(*payments.Record)) func() *brokenStore {
	return func() *brokenStore {
		return &brokenStore{claimed: func(claimed []payments.Claimed) {
			for i := range claimed {
				if claimed[i].Lease.Epoch > 1 {
					edit(&claimed[i], change)
				}
			}
		}}
	}
}

// payoutsAgain is claimedAgain for payouts alone.
func payoutsAgain(change func(*payments.Record)) func() *brokenStore {
	return claimedAgain(func(r *payments.Record) {
		if r.Kind == payments.KindPayout {
			change(r)
		}
	})
}

func becomes(from, to moneymovement.PaymentState) func() *brokenStore {
	return saved(func(r *payments.Record) {
		if r.State == from {
			r.State = to
		}
	})
}

// storeVariants break rules of package payments and of its store.
func storeVariants() []variant {
	variants := []variant{
		storeVariant("what is stored before a call is lost", func() *brokenStore {
			return &brokenStore{save: func(_ *payments.Claimed, release bool) bool { return !release }}
		}),
		storeVariant("each seventh save is lost", func() *brokenStore {
			n := 0
			return &brokenStore{save: func(*payments.Claimed, bool) bool { n++; return n%7 == 0 }}
		}),
		storeVariant("the first insert of a payment is lost", func() *brokenStore {
			known := map[moneymovement.Key]bool{}
			return &brokenStore{insert: func(record payments.Record) bool {
				lost := !known[record.Key]
				known[record.Key] = true
				return lost
			}}
		}),
		storeVariant("that money may have left is forgotten", saved(func(r *payments.Record) {
			r.MayHaveLeft = false
		})),
		storeVariant("the same, when a call has ended", func() *brokenStore {
			return &brokenStore{save: func(claimed *payments.Claimed, release bool) bool {
				if release && !claimed.State.Final() {
					edit(claimed, func(r *payments.Record) { r.MayHaveLeft = false })
				}
				return false
			}}
		}),
		storeVariant("bounds are forgotten", claimedAgain(func(r *payments.Record) { r.Bounds = dapi.Bounds{} })),
		storeVariant("the lowest amount is halved", payoutsAgain(func(r *payments.Record) {
			half := r.Bounds.MinDestinationAmount.Div(decimal.NewFromInt(2))
			r.Bounds.MinDestinationAmount = &half
		})),
		storeVariant("the amount is rounded", payoutsAgain(func(r *payments.Record) {
			r.Payout.Amount = r.Payout.Amount.Round(0)
		})),
		storeVariant("a reference is added", payoutsAgain(func(r *payments.Record) {
			r.Payout.PaymentReference = "again"
		})),
		storeVariant("the first use is forgotten", claimedAgain(func(r *payments.Record) {
			r.FirstUsed = time.Now()
		})),
		storeVariant("that a record is old is not seen", func() *brokenStore {
			return &brokenStore{claimed: func(claimed []payments.Claimed) {
				for i := range claimed {
					edit(&claimed[i], func(r *payments.Record) { r.ChangedAt = time.Now() })
				}
			}}
		}),
		storeVariant("in doubt is taken as refused", becomes(
			moneymovement.PaymentInDoubt, moneymovement.PaymentRefused)),
		storeVariant("in doubt is taken as completed", becomes(
			moneymovement.PaymentInDoubt, moneymovement.PaymentCompleted)),
		storeVariant("paid is taken as completed", becomes(
			moneymovement.PaymentPaid, moneymovement.PaymentCompleted)),
		storeVariant("completed is taken as came back", becomes(
			moneymovement.PaymentCompleted, moneymovement.PaymentCameBack)),
		storeVariant("completed is taken as refused", becomes(
			moneymovement.PaymentCompleted, moneymovement.PaymentRefused)),
		storeVariant("came back is taken as completed", becomes(
			moneymovement.PaymentCameBack, moneymovement.PaymentCompleted)),
		storeVariant("came back is taken as refused", becomes(
			moneymovement.PaymentCameBack, moneymovement.PaymentRefused)),
		storeVariant("a lease never ends", func() *brokenStore {
			return &brokenStore{claim: func(c *payments.Claim) { c.For = 10 * patience }}
		}),
		storeVariant("a lease ends at once", func() *brokenStore {
			return &brokenStore{claim: func(c *payments.Claim) { c.For = 1 },
				extend: func(time.Duration) time.Duration { return 1 }}
		}),
		storeVariant("rows are claimed before they are due", func() *brokenStore {
			return &brokenStore{claim: func(c *payments.Claim) { c.Now = c.Now.Add(time.Hour) }}
		}),
		storeVariant("there is no pause between calls", func() *brokenStore {
			return &brokenStore{save: func(claimed *payments.Claimed, _ bool) bool {
				if !claimed.State.Final() {
					edit(claimed, func(r *payments.Record) { r.Due = time.Now() })
				}
				return false
			}}
		}),
		storeVariant("there is no pause between looks", func() *brokenStore {
			return &brokenStore{postpone: func(claimed *payments.Claimed) bool {
				claimed.Due = time.Now()
				return false
			}}
		}),
		storeVariant("nobody looks at paid payments", without(payments.WorkFollow)),
		storeVariant("nobody goes on with payments in doubt", without(payments.WorkAgain)),
		storeVariant("a claim returns an older version", func() *brokenStore {
			type records = map[moneymovement.Key]payments.Record
			older, newest := records{}, records{}
			return &brokenStore{save: func(claimed *payments.Claimed, _ bool) bool {
				older[claimed.Key], newest[claimed.Key] = newest[claimed.Key], claimed.Record
				return false
			}, claimed: func(claimed []payments.Claimed) {
				for i, one := range claimed {
					if before := older[one.Key]; before.Key != "" {
						before.Due = one.Due
						claimed[i].Record = before
					}
				}
			}}
		}),
		{name: "epochs are not compared", broke: Break{Store: func(next payments.Store) payments.Store {
			return &withoutEpochs{Store: next, last: map[moneymovement.Key]payments.Lease{}}
		}}},
		{name: "there are no leases", broke: Break{Store: func(next payments.Store) payments.Store {
			return &withoutLeases{Store: next}
		}}},
		{name: "each process submits with a key of its own", broke: Break{
			Submit: submitted(func(process int, payment *payments.Payment) {
				payment.Key += moneymovement.Key("-" + strconv.Itoa(process))
			})}},
		{name: "a process submits other amounts", broke: Break{
			Submit: submitted(func(process int, payment *payments.Payment) {
				payment.Payout.Amount = payment.Payout.Amount.Add(decimal.New(int64(process), 0))
			})}},
		{name: "payments are submitted without bounds", broke: Break{
			Submit: submitted(func(_ int, payment *payments.Payment) { payment.Bounds = dapi.Bounds{} })}},
	}
	for i := range variants {
		variants[i].on = "payments"
	}
	return variants
}

// submitted changes what is submitted of one kind.
func submitted[S payments.Submission](change func(process int, payment *S)) func(
	int, payments.Submission) payments.Submission {
	return func(process int, submission payments.Submission) payments.Submission {
		if payment, is := submission.(S); is {
			change(process, &payment)
			return payment
		}
		return submission
	}
}

func storeVariant(name string, broken func() *brokenStore) variant {
	return variant{name: name, broke: Break{Store: func(next payments.Store) payments.Store {
		s := broken()
		s.Store = next
		return s
	}}}
}

func without(work payments.Work) func() *brokenStore {
	return func() *brokenStore {
		return &brokenStore{claim: func(c *payments.Claim) {
			if c.Work == work && c.Key == "" {
				c.Now = time.Time{}
			}
		}}
	}
}

// withoutEpochs lets the holder of an old lease change a row.
type withoutEpochs struct {
	payments.Store

	mu   sync.Mutex
	last map[moneymovement.Key]payments.Lease
}

// Claim implements payments.Store.
func (s *withoutEpochs) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	claimed, next, err := s.Store.Claim(ctx, claim)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range claimed {
		s.last[one.Key] = one.Lease
	}
	return claimed, next, err
}

// Save implements payments.Store.
func (s *withoutEpochs) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (payments.Position, error) {
	s.mu.Lock()
	claimed.Lease = s.last[claimed.Key]
	s.mu.Unlock()
	return s.Store.Save(ctx, claimed, release)
}

// withoutLeases lets every process claim every due row.
type withoutLeases struct{ payments.Store }

// Claim implements payments.Store.
func (s *withoutLeases) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	claimed, next, err := s.Store.Claim(ctx, claim)
	for _, one := range claimed {
		if err := s.Store.Postpone(ctx, one); err != nil {
			return claimed, next, err
		}
	}
	return claimed, next, err
}

// Save implements payments.Store.
func (s *withoutLeases) Save(ctx context.Context, claimed payments.Claimed, _ bool) (payments.Position, error) {
	again, _, err := s.Store.Claim(ctx,
		payments.Claim{Owner: claimed.Lease.Owner, Key: claimed.Key, Now: time.Now(), For: time.Hour})
	if err != nil {
		return "", err
	}
	claimed.Lease = again[0].Lease
	return s.Store.Save(ctx, claimed, true)
}

// Postpone implements payments.Store.
func (s *withoutLeases) Postpone(ctx context.Context, claimed payments.Claimed) error {
	_, err := s.Save(ctx, claimed, true)
	return err
}
