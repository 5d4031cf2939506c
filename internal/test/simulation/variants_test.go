package simulation

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
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
	unmarked bool // a restore is forgotten
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

// MarkRestored implements payments.Store.
func (s *brokenStore) MarkRestored(ctx context.Context, since time.Time) error {
	if s.unmarked {
		return nil
	}
	return s.Store.MarkRestored(ctx, since)
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
		storeVariant("that a store was restored is forgotten", func() *brokenStore {
			return &brokenStore{unmarked: true}
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
		storeVariant("there is no pause between reads", func() *brokenStore {
			return &brokenStore{postpone: func(claimed *payments.Claimed) bool {
				claimed.Due = time.Now()
				return false
			}}
		}),
		storeVariant("nobody follows paid payments", without(payments.WorkFollow)),
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

// kindVariants break rules of escrows, of their actions, and of transfers.
func kindVariants() []variant {
	variants := []variant{
		{name: "an escrow's key is made anew at each call", broke: Break{Connection: renamedEscrows}},
		{name: "a transfer is repeated without its key", broke: Break{Connection: repeatedTransfers(
			func(string, int) string { return "" })}},
		{name: "a transfer is repeated with another key", broke: Break{Connection: repeatedTransfers(
			func(key string, call int) string { return key + "-" + strconv.Itoa(call) })}},
		{name: "escrows are approved unread", broke: Break{Connection: lyingAboutEscrows,
			Developer: func(d *dapi.Developer) {
				d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return nil }
			}}},
		{name: "each process opens escrows with a key of its own", broke: Break{
			Submit: submitted(func(process int, escrow *payments.EscrowPayment) {
				escrow.Key += moneymovement.Key("-" + strconv.Itoa(process))
			})}},
		{name: "each process sends transfers with a key of its own", broke: Break{
			Submit: submitted(func(process int, transfer *payments.TransferPayment) {
				transfer.Key += moneymovement.Key("-" + strconv.Itoa(process))
			})}},
		storeVariant("an action is taken of another escrow", otherEscrows),
		escrowVariant("an escrow's doubt is not passed on", func(r *payments.Record) { r.MayHaveLeft = false }),
		escrowVariant("an escrow's doubt and id are not passed on", func(r *payments.Record) {
			r.MayHaveLeft, r.EscrowID = false, ""
		}),
		storeVariant("an escrow has a longer window when it is tried again", claimedAgain(func(r *payments.Record) {
			if r.Kind == payments.KindEscrow {
				r.Escrow.HoldFor = "15d"
			}
		})),
		storeVariant("an escrow that was not held is taken as held", saved(func(r *payments.Record) {
			if r.Kind == payments.KindEscrow && r.State == moneymovement.PaymentRefused {
				r.State = moneymovement.PaymentCompleted
			}
		})),
	}
	for i := range variants {
		variants[i].on = "payments"
	}
	return variants
}

// escrowVariant changes the records of escrows that were tried before, among escrows alone.
func escrowVariant(name string, change func(*payments.Record)) variant {
	v := storeVariant(name, claimedAgain(func(r *payments.Record) {
		if !r.State.Final() {
			change(r)
		}
	}))
	v.deck = []payments.Kind{payments.KindEscrow}
	return v
}

// renamedEscrows gives each repetition of an escrow's first call another key, and hides that from the program.
func renamedEscrows(next http.RoundTripper) http.RoundTripper {
	var mu sync.Mutex
	calls := map[string]int{}
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if !strings.Contains(r.URL.Path, "/escrow") {
			return next.RoundTrip(r)
		}
		key, _, confirms := strings.Cut(afterLast(r.URL.Path, "/actions/"), "/confirm")
		if !confirms {
			key = headerOf(r.Header, "Idempotency-Key")
		}
		mu.Lock()
		if strings.HasSuffix(r.URL.Path, "/escrow") {
			calls[key]++
		}
		used := key
		if calls[key] > 1 {
			used = fmt.Sprintf("%s-%d", key, calls[key])
		}
		mu.Unlock()
		if key == "" || used == key {
			return next.RoundTrip(r)
		}
		again := r.Clone(r.Context())
		again.URL.Path = strings.Replace(again.URL.Path, "/actions/"+key+"/", "/actions/"+used+"/", 1)
		if !confirms {
			again = keyed(again, used)
		}
		response, err := next.RoundTrip(again)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.ReplaceAll(body, []byte(`"`+used+`"`), []byte(`"`+key+`"`))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, nil
	})
}

// afterLast returns what follows a part of a text, or "".
func afterLast(text, part string) string {
	at := strings.LastIndex(text, part)
	if at < 0 {
		return ""
	}
	return text[at+len(part):]
}

// repeatedTransfers changes the keys of all requests for a transfer but the first.
func repeatedTransfers(change func(key string, call int) string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		var mu sync.Mutex
		calls := map[string]int{}
		return connectionFunc(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/apps/transfer") {
				return next.RoundTrip(r)
			}
			key := headerOf(r.Header, "Idempotency-Key")
			mu.Lock()
			calls[key]++
			call := calls[key]
			mu.Unlock()
			if call > 1 {
				r = keyed(r, change(key, call))
			}
			return next.RoundTrip(r)
		})
	}
}

// lyingAboutEscrows changes the payee in each approval of an escrow.
func lyingAboutEscrows(next http.RoundTripper) http.RoundTripper {
	return lyingAbout(next, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/escrow") || strings.HasSuffix(r.URL.Path, "/actions")
	}, `"address":"`+payee, `"address":"`+wallet)
}

// otherEscrows lets actions be taken of the escrow that was opened last.
func otherEscrows() *brokenStore {
	var opened payments.Record
	return &brokenStore{save: func(claimed *payments.Claimed, _ bool) bool {
		edit(claimed, func(r *payments.Record) {
			if r.Kind == payments.KindEscrow && r.State == moneymovement.PaymentCompleted {
				opened = *r
			}
		})
		return false
	}, claimed: func(claimed []payments.Claimed) {
		for i := range claimed {
			edit(&claimed[i], func(r *payments.Record) {
				if r.Kind == payments.KindEscrowAction && opened.EscrowID != "" {
					r.EscrowID, r.Escrow = opened.EscrowID, opened.Escrow
				}
			})
		}
	}}
}

// connectionFunc is a connection in one function.
type connectionFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f connectionFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// connectionVariants break rules of the way to the service: each on both programs.
func connectionVariants() (all []variant) {
	for _, on := range []string{"dapi alone", "payments"} {
		for _, v := range []variant{
			{name: "bookings have no key", broke: Break{Connection: withoutKey}},
			{name: "each attempt has a key of its own", broke: Break{Connection: freshKeys}},
			{name: "a booking is changed on its way", broke: Break{Connection: otherAmounts}},
			{name: "Retry-After is not seen", broke: Break{Connection: withoutRetryAfter}},
			{name: "redirects are followed", broke: Break{Connection: following}},
			{name: "a lost request is sent again below", broke: Break{Connection: repeating}},
			{name: "a refused request is repeated without end", broke: Break{Connection: insisting}},
			{name: "approvals are signed unread", broke: Break{Connection: lying, Developer: func(d *dapi.Developer) {
				d.Verifier = func(context.Context, signing.Approval, signing.Intent) error { return nil }
			}}},
		} {
			v.on = on
			all = append(all, v)
		}
	}
	return all
}

func withoutKey(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		return next.RoundTrip(keyed(r, ""))
	})
}

func freshKeys(next http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if key := headerOf(r.Header, "Idempotency-Key"); key != "" {
			r = keyed(r, key+"-"+strconv.FormatInt(n.Add(1), 10))
		}
		return next.RoundTrip(r)
	})
}

// keyed returns a request with another key, or without one.
func keyed(r *http.Request, key string) *http.Request {
	r = r.Clone(r.Context())
	for name := range r.Header { // however it is spelled
		if strings.EqualFold(name, "Idempotency-Key") {
			delete(r.Header, name)
		}
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return r
}

func otherAmounts(next http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		if !isBooking(r) || n.Add(1)%5 != 0 {
			return next.RoundTrip(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		setBody(r, bytes.Replace(body, []byte(`"amount":"2`), []byte(`"amount":"3`), 1))
		return next.RoundTrip(r)
	})
}

func isBooking(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/payouts")
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

func withoutRetryAfter(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err == nil {
			response.Header.Del("Retry-After")
		}
		return response, err
	})
}

func following(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		response, err := next.RoundTrip(r)
		if err != nil || response.Header.Get("Location") == "" {
			return response, err
		}
		response.Body.Close()
		there, err := response.Location()
		if err != nil {
			return nil, err
		}
		again := r.Clone(r.Context())
		again.URL = there
		setBody(again, body)
		return next.RoundTrip(again)
	})
}

// read returns the body of a request, which can still be sent.
func read(r *http.Request) []byte {
	if r.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(r.Body)
	setBody(r, body)
	return body
}

func repeating(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		response, err := next.RoundTrip(r)
		if err == nil {
			return response, nil
		}
		again := r.Clone(r.Context())
		setBody(again, body)
		return next.RoundTrip(again)
	})
}

func insisting(next http.RoundTripper) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		for {
			again := r.Clone(r.Context())
			setBody(again, body)
			response, err := next.RoundTrip(again)
			if err != nil || response.StatusCode != http.StatusTooManyRequests {
				return response, err
			}
			response.Body.Close()
		}
	})
}

// lying changes the contact in each approval. The SDK notices that, unless it signs what it does not read.
func lying(next http.RoundTripper) http.RoundTripper {
	return lyingAbout(next, isBooking, `"contactId":"ct_`, `"contactId":"ct_of-another-`)
}

func lyingAbout(next http.RoundTripper, what func(*http.Request) bool, truth, lie string) http.RoundTripper {
	return connectionFunc(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil || !what(r) || response.StatusCode >= http.StatusMultipleChoices {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		if _, rest, found := bytes.Cut(body, []byte(`"payload":"`)); found {
			encoded, _, _ := bytes.Cut(rest, []byte(`"`))
			payload, err := base64.StdEncoding.DecodeString(string(encoded))
			if err != nil {
				return nil, err
			}
			changed := bytes.Replace(payload, []byte(truth), []byte(lie), 1)
			body = bytes.Replace(body, encoded, []byte(base64.StdEncoding.EncodeToString(changed)), 1)
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, nil
	})
}

// journalVariants break rules of docs/calling-pay.md.
func journalVariants() []variant {
	return []variant{
		journalVariant("each call has a key of its own", JournalBreak{
			Key: func(r *row, process, call int) moneymovement.Key {
				return moneymovement.Key(fmt.Sprintf("%s-%d-%d", r.ID, process, call))
			}}),
		journalVariant("a restart has a key of its own", JournalBreak{
			Key: func(r *row, process, _ int) moneymovement.Key {
				return moneymovement.Key(fmt.Sprintf("%s-%d", r.ID, process))
			}}),
		journalVariant("two payments share a key", JournalBreak{
			Key: func(r *row, _, _ int) moneymovement.Key { return moneymovement.Key(r.ID[:4]) }}),
		journalVariant("the amount is rounded after a restart", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					asked.Amount = asked.Amount.Round(0)
				}
			}}),
		journalVariant("a second call pays a cent more", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, _, call int) {
				if call > 1 {
					asked.Amount = asked.Amount.Add(decimal.New(1, -2))
				}
			}}),
		journalVariant("a reference is added after a restart", JournalBreak{
			Asked: func(asked *dapi.PayoutCreate, process, _ int) {
				if process > 1 {
					asked.PaymentReference = "again"
				}
			}}),
		journalVariant("the bounds are forgotten after a restart", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, process int) {
				if process > 1 {
					terms.Bounds = dapi.Bounds{}
				}
			}}),
		journalVariant("there are no bounds", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.Bounds = dapi.Bounds{} }}),
		journalVariant("each call says that it is the first", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.History = dapi.History{} }}),
		journalVariant("each call says that nothing was paid", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) { terms.History.Unpaid = true }}),
		journalVariant("neither the age of the key nor the payout is given", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) {
				terms.History.FirstUsed, terms.History.PayoutID = time.Time{}, ""
			}}),
		journalVariant("nothing is stored before a signature", JournalBreak{
			Save: func(moment string) bool { return moment != "journal" }}),
		journalVariant("nothing is ever stored", JournalBreak{
			Save: func(string) bool { return false }}),
		journalVariant("what a call has shown is not stored", JournalBreak{
			Save: func(moment string) bool { return moment != "after" }}),
		journalVariant("in doubt is taken as not paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentInDoubt {
					r.End = refused
				}
			}}),
		journalVariant("in doubt is taken as paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentInDoubt {
					r.End = completed
				}
			}}),
		journalVariant("paid is taken as completed", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentPaid {
					r.End = completed
				}
			}}),
		journalVariant("not paid is taken as ended", JournalBreak{
			After: func(r *row, _ error) {
				if r.State == moneymovement.PaymentNotPaid {
					r.End = cameBack
				}
			}}),
		journalVariant("what came back is taken as completed", JournalBreak{
			After: func(r *row, _ error) {
				if r.End == cameBack {
					r.End = completed
				}
			}}),
		journalVariant("what came back is taken as never paid", JournalBreak{
			After: func(r *row, _ error) {
				if r.End == cameBack {
					r.End = refused
				}
			}}),
		journalVariant("an error of any kind ends a payment", JournalBreak{
			After: func(r *row, err error) {
				if err != nil && r.End == "" {
					r.End = refused
				}
			}}),
		journalVariant("what another process has stored is replaced", JournalBreak{Blind: true}),
		journalVariant("Retry-After is ignored", JournalBreak{Hurry: true}),
		journalVariant("the first use and the payout are forgotten", JournalBreak{
			Terms: func(terms *dapi.PayTerms, _ *row, _ int) {
				terms.History.FirstUsed, terms.History.PayoutID = time.Now(), ""
			}}),
	}
}

func journalVariant(name string, broken JournalBreak) variant {
	return variant{name: name, on: "dapi alone", broke: Break{Journal: broken}}
}
