package dapi_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// seen is what a caller gets from a call.
type seen struct {
	state   moneymovement.PaymentState
	unpaid  bool
	refusal error
	err     error
	history dapi.History
	calls   int // with the key, this one included
}

// wrong returns what contradicts what a result promises. paid says that the key has paid.
func (s seen) wrong(paid bool) (all []string) {
	_, doubt := s.err.(*errors.OutcomeUnknown) //nolint:errorlint // in doubt, nothing is around it
	for what, is := range map[string]bool{
		"no error and not paid, or paid with an error": (s.err == nil) != (s.state == moneymovement.PaymentPaid),
		"paid, and no money left":                      s.err == nil && !paid,
		"unpaid, and the key has paid":                 s.unpaid && paid,
		"not paid, and not unpaid":                     s.state == moneymovement.PaymentNotPaid && !s.unpaid,
		"in doubt, and no doubt":                       !doubt && s.state == moneymovement.PaymentInDoubt,
		"a doubt, and neither in doubt nor to decide": doubt && s.state != moneymovement.PaymentInDoubt &&
			s.state != moneymovement.PaymentNeedsDecision,
		"in doubt, and unpaid":                      doubt && s.unpaid,
		"neither paid nor in doubt, and no refusal": s.err != nil && !doubt && s.refusal == nil,
		"paid, and a refusal":                       s.err == nil && s.refusal != nil,
		"Unpaid is not in the history":              s.unpaid != s.history.Unpaid,
	} {
		if is {
			all = append(all, fmt.Sprintf("%s: %+v", what, s))
		}
	}
	return all
}

// decision is what a caller does after a call.
type decision int

const (
	again  decision = iota // the same call, with the same key
	newKey                 // a call with a new key
	stop                   // it believes that the payment is made
)

// carelessCallers decide by one thing alone.
var carelessCallers = map[string]func(seen) decision{
	"new key at any error but a doubt": func(s seen) decision {
		if s.err == nil {
			return stop
		}
		if _, doubt := errors.AsType[*errors.OutcomeUnknown](s.err); doubt {
			return again
		}
		return newKey
	},
	"new key at the type of a refusal": func(s seen) decision {
		if s.err == nil {
			return stop
		}
		for _, refusal := range []any{
			new(*errors.ContactNotPayable), new(*errors.PayoutNotFundable), new(*errors.SigningPolicyRefused),
			new(*errors.Forbidden), new(*errors.NotFound), new(*errors.RateLimited), new(*errors.Conflict),
			new(*errors.DatabaseUnavailable), new(*errors.ProviderUnavailable), new(*errors.NotDelivered),
			new(*errors.QuoteExpired), new(*errors.ApprovalExpired), new(*signing.ApprovalRefused),
			new(*dapi.PaymentDeclined), new(*dapi.PriceRefused), new(*dapi.TermsDiffer),
			new(*dapi.PayoutNotCompleted), new(*dapi.EscrowNotOpened),
		} {
			if errors.As(s.err, refusal) {
				return newKey
			}
		}
		return again
	},
	"new key if unpaid": func(s seen) decision {
		if s.unpaid {
			return newKey
		}
		return again // even if it is paid
	},
	"new key by state": func(s seen) decision {
		switch s.state {
		case moneymovement.PaymentPaid:
			return stop
		case moneymovement.PaymentNotPaid:
			if s.calls == 1 {
				return again
			}
			return newKey
		case moneymovement.PaymentEnded:
			return newKey
		default: // also the zero Payment of a fake
			return again
		}
	},
}

// stores are what a caller keeps of a key between calls.
var stores = map[string]struct{ journal, result bool }{
	"nothing":                 {},
	"the result":              {result: true},
	"the journal":             {journal: true},
	"the journal, the result": {journal: true, result: true},
}

// carelessWorld is a world in which a careless caller makes one payment by any number of calls.
type carelessWorld struct {
	*dealWorld
	kind    moneyKind
	decide  func(seen) decision
	keeps   struct{ journal, result bool }
	keys    int // used up
	history dapi.History
	stopped bool
	calls   int      // with this key
	before  int      // what keys before this one have paid
	wrong   []string // what was paid twice, or contradicts its result
}

// moneyKind is a payout or a deal.
type moneyKind struct {
	book, confirm, read string // the paths of its steps
	readBy              string // the method of read
	pay                 func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen
	fundings            func(w *carelessWorld) int // over all keys, less what came back
}

var moneyKinds = map[string]moneyKind{
	"payout": {bookPath, confirmPath, "/payouts/*", "GET",
		func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen {
			payment, err := w.account.Payouts.Pay(ctx, w.asked, key, terms)
			return seen{payment.State, payment.Unpaid, payment.Refusal, err, payment.History, w.calls}
		},
		func(w *carelessWorld) (fundings int) {
			for payment := range w.Host.Audit() {
				fundings += payment.Fundings - payment.Returns
			}
			return fundings
		}},
	"deal": {dealPath, confirmActionPath, syncPath, "POST",
		func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen {
			deal, err := w.account.Escrows.Open(ctx, w.deal, key, dealTerms(func(t *dapi.PayTerms) { *t = terms }))
			return seen{deal.State, deal.Unpaid, deal.Refusal, err, deal.History, w.calls}
		},
		func(w *carelessWorld) int { return w.holdings() }},
}

func newCarelessWorld(t *testing.T, kind, caller, store string) *carelessWorld {
	t.Helper()
	w := &carelessWorld{dealWorld: &dealWorld{newPayWorld(t, sandbox.WithAudit()), deal()}, kind: moneyKinds[kind],
		decide: carelessCallers[caller], keeps: stores[store]}
	w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(20 * time.Second) })
	return w
}

// call makes the next call, and decides about the key of the one after it. If instead is not nil, it is all that the
// caller sees.
func (w *carelessWorld) call(ctx context.Context, instead *seen, change func(*dapi.PayTerms)) {
	terms := dapi.PayTerms{History: w.history}
	if w.keeps.journal {
		terms.Journal = func(_ context.Context, history dapi.History) error {
			w.history = history
			return nil
		}
	}
	if change != nil {
		change(&terms)
	}
	w.calls++
	s := w.kind.pay(w, ctx, moneymovement.Key(fmt.Sprint("invoice-42-", w.keys)), terms)
	fundings := w.kind.fundings(w)
	if fundings > 1 {
		w.wrong = append(w.wrong, fmt.Sprintf("paid twice: %+v", s))
	}
	w.wrong = append(w.wrong, s.wrong(fundings > w.before)...)
	if instead != nil {
		s = *instead
	} else if w.keeps.result {
		w.history = s.history
	}
	switch w.decide(s) {
	case stop:
		w.stopped = true
	case newKey:
		w.keys++
		w.history, w.before, w.calls = dapi.History{}, fundings, 0
	case again:
	}
}

// setback is what one call of a payment meets.
type setback struct {
	arrange  func(w *carelessWorld)
	within   time.Duration // the deadline of the call, if it is not a day
	terms    func(*dapi.PayTerms)
	instead  *seen // is all that the caller sees of the call
	restarts bool  // before the call
}

// meet makes a call that meets a setback.
func (w *carelessWorld) meet(s setback) {
	if w.stopped {
		return
	}
	if s.restarts {
		w.restart()
	}
	if s.arrange != nil {
		s.arrange(w)
	}
	if s.within == 0 {
		s.within = 24 * time.Hour
	}
	ctx, cancel := context.WithTimeout(w.Context(), s.within)
	defer cancel()
	w.call(ctx, s.instead, s.terms)
	w.Host.DisarmAll()
	w.Key.Fails = nil
}

// calmDown lets the caller go on until it is paid or gives up. It returns how often that paid.
func (w *carelessWorld) calmDown() int {
	for range 10 {
		time.Sleep(time.Minute)
		w.meet(setback{})
	}
	time.Sleep(4 * time.Hour) // for requests that arrive late
	if w.kind.fundings(w) > 1 {
		w.wrong = append(w.wrong, "paid twice in the end")
	}
	return w.kind.fundings(w)
}

// arms is a setback that arms faults at a step.
func arms(step func(moneyKind) (method, path string), all ...sandbox.Fault) setback {
	return setback{arrange: func(w *carelessWorld) {
		method, path := step(w.kind)
		for _, fault := range all {
			w.Host.Arm(method, path, fault)
		}
	}}
}

func atBook(k moneyKind) (method, path string)    { return "POST", k.book }
func atConfirm(k moneyKind) (method, path string) { return "POST", k.confirm }
func atRead(k moneyKind) (method, path string)    { return k.readBy, k.read }

// hidden is a setback in which, besides, nothing of the payment can be read.
func (s setback) hidden() setback {
	arrange := s.arrange
	s.arrange = func(w *carelessWorld) {
		if arrange != nil {
			arrange(w)
		}
		for _, path := range []string{w.kind.read, "/transactions"} {
			w.Host.Arm("", path, sandbox.Respond(http.StatusForbidden, "forbidden").Times(3))
		}
	}
	return s
}

// crashed is a setback of which the caller learns nothing.
func (s setback) crashed() setback {
	s.instead = &seen{err: &errors.OutcomeUnknown{}}
	return s
}

var (
	declined = setback{terms: func(t *dapi.PayTerms) {
		t.BeforeSigning = func(context.Context, *dapi.Payout) error { return &errors.Forbidden{} }
	}}
	forbidden = sandbox.Respond(http.StatusForbidden, "signing_policy_refused")
	lost      = arms(atConfirm, sandbox.DropAfterCommit().Times(6)).hidden()
	notBooked = arms(atBook, sandbox.Respond(http.StatusForbidden, "forbidden").Times(4)).hidden()
)

// firstCalls move the money or may do so, and their caller does not learn it; or they book and move nothing.
var firstCalls = map[string][]setback{
	"paid, and lost":                           {lost},
	"paid, and crashed":                        {setback{}.crashed()},
	"paid, lost, and refused when again":       {arms(atConfirm, sandbox.DropAfterCommit(), forbidden).hidden()},
	"unpaid, and lost":                         {arms(atConfirm, sandbox.DropBefore().Times(6)).hidden()},
	"unpaid, and crashed":                      {arms(atConfirm, forbidden).crashed()},
	"refused by the policy":                    {arms(atConfirm, forbidden).hidden()},
	"declined":                                 {declined},
	"declined, then paid and lost":             {declined, lost},
	"declined, then paid and crashed":          {declined, setback{}.crashed()},
	"not booked, then paid and crashed":        {notBooked, setback{}.crashed()},
	"paid, and the caller sees a zero Payment": {{instead: &seen{}}},
	"on its way when the caller leaves": {
		setback{within: 10 * time.Second, arrange: arms(atConfirm, sandbox.Delay(time.Minute)).arrange}.hidden(),
	},
}

// laterCalls say something about their own call, and nothing about the one before.
func laterCalls() map[string]setback {
	refused := func(status int, slug string) sandbox.Fault { return sandbox.Respond(status, slug).Times(4) }
	all := map[string]setback{
		"nothing":  {},
		"price":    {terms: func(t *dapi.PayTerms) { t.Bounds.MaxFee = new(amount("0.1")) }},
		"input":    {terms: func(t *dapi.PayTerms) { t.Bounds.MaxFee = new(amount("-1")) }},
		"declined": declined,
		"the journal fails": {terms: func(t *dapi.PayTerms) {
			if t.Journal != nil {
				t.Journal = func(context.Context, dapi.History) error { return &errors.PayoutNotFundable{} }
			}
		}},
		"the signer fails":           {arrange: func(w *carelessWorld) { w.Key.Fails = errors.New("no key") }},
		"a deadline that has passed": {within: -time.Second},
		"a deadline that is too short": {within: time.Second, arrange: func(w *carelessWorld) {
			w.Host.Arm("", "/**", sandbox.Delay(time.Minute).Times(100))
		}},
		"no network": {arrange: func(w *carelessWorld) { w.Host.Arm("", "/**", sandbox.DropBefore().Times(1000)) }},
		"all is limited": {arrange: func(w *carelessWorld) {
			w.Host.Arm("", "/**", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "3600").Times(100))
		}},
		"all is down": {arrange: func(w *carelessWorld) {
			w.Host.Arm("", "/**", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").Times(1000))
		}},
		"the money comes back": {arrange: func(w *carelessWorld) {
			for payment := range w.Host.Audit() {
				if payment.Fundings > 0 {
					require.NoError(w, w.Host.MovePayout(payment.PayoutIDs[0], "failed"))
				}
			}
		}},
		"the service forgets the key": {arrange: func(w *carelessWorld) {
			if w.keeps.journal || w.history.PayoutID != "" || w.history.EscrowID != "" {
				w.Host.ForgetKeys() // otherwise the next call is a new payment, for the service and for the client
			}
		}},
		"a week passes": {arrange: func(w *carelessWorld) {
			if w.keeps.journal || w.history != (dapi.History{}) {
				time.Sleep(8 * 24 * time.Hour)
			}
		}},
	}
	for slug, status := range map[string]int{
		"contact_not_payable": 409, "payout_not_fundable": 409, "validation_failed": 422, "invalid_request": 400,
		"not_found": 404, "gone": 410, "forbidden": 403, "conflict": 409, "idempotency_key_reused": 409,
		"something_new": 409,
	} {
		all[slug+" at the booking"] = arms(atBook, refused(status, slug)).hidden()
		all[slug+" at the confirm"] = arms(atConfirm, refused(status, slug)).hidden()
	}
	for _, slug := range []string{"approval_expired", "approval_consumed", "quote_expired"} {
		all[slug+" at the confirm"] = arms(atConfirm, refused(http.StatusConflict, slug)).hidden()
	}
	all["already_funded"] = setback{arrange: func(w *carelessWorld) { // which is said of payouts alone
		w.Host.Arm("POST", confirmPath, refused(http.StatusConflict, "already_funded").AfterCommit())
	}}
	return all
}

// tried counts what came of the payments of a test.
type tried struct{ payments, paid, newKeys int }

// assertAll asserts that careless callers got into trouble, and out of it.
func (n *tried) assertAll(t *testing.T) {
	t.Helper()
	t.Logf("%d payments, %d of them paid, %d new keys", n.payments, n.paid, n.newKeys)
	assert.Greater(t, n.paid, n.payments/2, "most are paid in the end")
	assert.Greater(t, n.newKeys, n.payments/20, "some callers took a new key")
}

// run makes one payment, which meets first what goes wrong.
func (n *tried) run(t *testing.T, kind, caller, store string, goesWrong func(*carelessWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newCarelessWorld(t, kind, caller, store)
		goesWrong(w)
		n.payments++
		n.paid += w.calmDown()
		n.newKeys += w.keys
		assert.Empty(t, w.wrong)
	})
}

// eachOf calls f with each key, always in the same order.
func eachOf[V any](m map[string]V, f func(key string)) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		f(key)
	}
}

// A caller that looks at one thing alone, and takes a new key too early, pays nothing twice. This is why the error of a
// payment in doubt does not have the type of a refusal, and why Unpaid is false until the contrary is proven.
func TestACarelessCallerPaysOnce(t *testing.T) {
	var all tried
	later, one := laterCalls(), 0
	eachOf(moneyKinds, func(kind string) {
		eachOf(firstCalls, func(first string) {
			eachOf(later, func(second string) {
				eachOf(carelessCallers, func(caller string) {
					eachOf(stores, func(store string) {
						for _, restarts := range []bool{false, true} {
							if one++; one%tier.Size(13, 1) != 0 { // 13 divides no length, so each pair is there
								continue
							}
							t.Run(fmt.Sprintf("%s/%s/%s/%s/%s/%v", kind, first, second, caller, store, restarts),
								func(t *testing.T) {
									all.run(t, kind, caller, store, func(w *carelessWorld) {
										for _, one := range firstCalls[first] {
											w.meet(one)
										}
										then := later[second]
										then.restarts = restarts
										w.meet(then)
									})
								})
						}
					})
				})
			})
		})
	})
	all.assertAll(t)
}

// Each fault at each step of the first call, and then a refusal of the booking while nothing can be read.
func TestACarelessCallerPaysOnceAfterEachFault(t *testing.T) {
	var all tried
	one, kept := 0, slices.Sorted(maps.Keys(stores))
	try := func(
		t *testing.T, kind, name string, goesWrong sandbox.Fault, at func(*carelessWorld) (method, path string),
	) {
		t.Helper()
		eachOf(carelessCallers, func(caller string) {
			one++
			store, long, restarts := kept[one%len(kept)], one/len(kept)%2 == 1, one/len(kept)/2%2 == 1
			t.Run(fmt.Sprintf("%s/%s/%s/%s/%v/%v", kind, name, caller, store, long, restarts), func(t *testing.T) {
				all.run(t, kind, caller, store, func(w *carelessWorld) {
					first := setback{within: time.Hour}
					if long {
						first.within = 5 * time.Second
					}
					method, path := at(w)
					armed := w.Host.Arm(method, path, goesWrong.Times(6))
					w.meet(first)
					assert.Positive(t, armed.Consumed(), "it did happen")
					then := notBooked
					then.restarts = restarts
					w.meet(then)
				})
			})
		})
	}
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		eachOf(faultsAt(step), func(fault string) {
			try(t, "payout", step+"/"+fault, faultsAt(step)[fault], func(w *carelessWorld) (method, path string) {
				w.leadTo(step)
				return steps[step].method, steps[step].path
			})
		})
	}
	for _, step := range slices.Sorted(maps.Keys(escrowSteps)) {
		eachOf(faults, func(fault string) {
			try(t, "deal", step+"/"+fault, faults[fault], func(w *carelessWorld) (method, path string) {
				if lead := escrowSteps[step].lead; lead != nil {
					lead(w.Host)
				}
				return "POST", escrowSteps[step].path
			})
		})
	}
	all.assertAll(t)
}

// Any number of setbacks, one after the other.
func TestACarelessCallerPaysOnceWhateverHappens(t *testing.T) {
	later := laterCalls()
	for name, calls := range firstCalls {
		later[name] = calls[len(calls)-1]
	}
	for fault, goesWrong := range faultsAt("confirm") {
		later[fault+" at the booking"] = arms(atBook, goesWrong.Times(2))
		later[fault+" at the confirm"] = arms(atConfirm, goesWrong.Times(2))
		later[fault+" at the read"] = arms(atRead, goesWrong.Times(2))
	}
	rapid.Check(t, func(drawn *rapid.T) {
		kind := rapid.SampledFrom(slices.Sorted(maps.Keys(moneyKinds))).Draw(drawn, "kind")
		calls := rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(later))), 1, 6).Draw(drawn, "calls")
		restarts := rapid.SliceOfN(rapid.Bool(), len(calls), len(calls)).Draw(drawn, "restarts")
		eachOf(carelessCallers, func(caller string) {
			eachOf(stores, func(store string) {
				var wrong []string
				synctest.Test(t, func(t *testing.T) {
					w := newCarelessWorld(t, kind, caller, store)
					for i, name := range calls {
						then := later[name]
						then.restarts = restarts[i]
						w.meet(then)
					}
					w.calmDown()
					wrong = w.wrong
				})
				if len(wrong) > 0 {
					drawn.Fatal(caller, store, wrong)
				}
			})
		})
	})
}
