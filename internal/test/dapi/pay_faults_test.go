package dapi_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// step is a request of a payment, and what makes a call come to it if not every call does.
type step struct {
	method, path string
	lead         func(w *carelessWorld)
}

// payoutSteps are the requests of a payment from nothing; a payout is read only if its confirm is in doubt.
var payoutSteps = map[string]step{
	"challenge": {"POST", "/auth/challenge", func(w *carelessWorld) { w.restart() }}, // which logs in
	"token":     {"POST", "/auth/token", func(w *carelessWorld) { w.restart() }},
	"refresh":   {"POST", "/auth/refresh", func(*carelessWorld) { time.Sleep(2 * time.Hour) }},
	"book":      {"POST", bookPath, nil},
	"confirm":   {"POST", confirmPath, nil},
	"read": {"GET", "/payouts/*", func(w *carelessWorld) {
		w.refuse(http.StatusConflict, "approval_consumed")
	}},
}

// escrowSteps are the requests of an escrow and of an action, with what has to happen for the last two.
var escrowSteps = map[string]step{
	"create":  {"POST", escrowPath, nil},
	"confirm": {"POST", confirmActionPath, nil},
	"prepare": {"POST", "/escrow/*/actions", func(w *carelessWorld) {
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusGone, "approval_expired"))
	}},
	"sync": {"POST", syncPath, func(w *carelessWorld) {
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusConflict, "approval_consumed"))
	}},
}

// faults are what can happen to any request. None of them lies: what says that nothing happened happens before the
// operation runs.
var faults = map[string]sandbox.Fault{
	"lost before it arrived":     sandbox.DropBefore(),
	"lost after it was done":     sandbox.DropAfterCommit(),
	"response broken off":        sandbox.Truncate(0),
	"response broken off early":  sandbox.Truncate(20),
	"half a response":            sandbox.Respond(http.StatusOK, "").WithBody(`{"id":"po_`).AfterCommit(),
	"an empty success":           sandbox.Respond(http.StatusOK, "").WithBody(`{}`).AfterCommit(),
	"an empty success, not done": sandbox.Respond(http.StatusOK, "").WithBody(`{}`),
	"null":                       sandbox.Respond(http.StatusOK, "").WithBody(`null`).AfterCommit(),
	"proxy's page":               sandbox.Garbage(),
	"proxy's page, done":         sandbox.Garbage().AfterCommit(),
	"slow":                       sandbox.Delay(10 * time.Second),
	"slower than the approval":   sandbox.Delay(130 * time.Second),
	"token expired":              sandbox.ExpireToken(),
	"token unknown":              sandbox.Respond(http.StatusUnauthorized, "unauthenticated"),
	"forbidden":                  sandbox.Respond(http.StatusForbidden, "forbidden"),
	"timeout, done":              sandbox.Respond(http.StatusRequestTimeout, "timeout").AfterCommit(),
	"a little wait": sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "2"),
	"a long wait": sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "3600"),
	"internal_error":        sandbox.Respond(http.StatusInternalServerError, "internal_error"),
	"internal_error, done":  sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit(),
	"502":                   sandbox.Respond(http.StatusBadGateway, "chain_unavailable"),
	"502, done":             sandbox.Respond(http.StatusBadGateway, "chain_unavailable").AfterCommit(),
	"503":                   sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable"),
	"503, done":             sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").AfterCommit(),
	"504, done":             sandbox.Respond(http.StatusGatewayTimeout, "").AfterCommit(),
	"a slow response":       sandbox.Delay(10 * time.Second).AfterCommit(),
	"a very slow response":  sandbox.Delay(130 * time.Second).AfterCommit(),
	"arrives twice":         sandbox.DeliverTwice(0),
	"arrives again later":   sandbox.DeliverTwice(3 * time.Hour),
	"sent twice by a proxy": sandbox.ProxyRetry(),
	"moved elsewhere": sandbox.Respond(http.StatusTemporaryRedirect, "").
		WithHeader("Location", "/dapi/v1/chains"),
}

// refusals are what the service can say to a confirm besides.
var refusals = map[string]sandbox.Fault{
	"quote_expired":             sandbox.Respond(http.StatusConflict, "quote_expired"),
	"funding_attempt_expired":   sandbox.Respond(http.StatusConflict, "funding_attempt_expired"),
	"approval_expired":          sandbox.Respond(http.StatusGone, "approval_expired"),
	"approval_mismatch":         sandbox.Respond(http.StatusConflict, "approval_mismatch"),
	"approval_consumed":         sandbox.Respond(http.StatusConflict, "approval_consumed"),
	"approval_consumed, done":   sandbox.Respond(http.StatusConflict, "approval_consumed").AfterCommit(),
	"conflict, done":            sandbox.Respond(http.StatusConflict, "conflict").AfterCommit(),
	"new conflict, done":        sandbox.Respond(http.StatusConflict, "something_new").AfterCommit(),
	"funding_in_progress":       sandbox.Respond(http.StatusConflict, "funding_in_progress"),
	"funding_in_progress, done": sandbox.Respond(http.StatusConflict, "funding_in_progress").AfterCommit(),
}

// restart is what is left of a process that crashed: nothing but the key and the terms.
func (w *payWorld) restart() { w.account = w.integrator().Self() }

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
	_, doubt := s.err.(*errors.InDoubt) //nolint:errorlint // in doubt, nothing is around it
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
			all = append(all, fmt.Sprintf("%s: %+v: %v", what, s, s.err))
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

// steady keeps its key until the payment is made.
func steady(s seen) decision {
	if s.err == nil {
		return stop
	}
	return again
}

// carelessCallers decide by one thing alone.
var carelessCallers = map[string]func(seen) decision{
	"new key at any error but a doubt": func(s seen) decision {
		if s.err == nil {
			return stop
		}
		if _, doubt := errors.AsType[*errors.InDoubt](s.err); doubt {
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
	*escrowWorld
	kind    moneyKind
	decide  func(seen) decision
	keeps   struct{ journal, result bool }
	keys    int // used up
	history dapi.History
	stopped bool
	calls   int      // with this key
	before  int      // what keys before this one have paid
	wrong   []string // what was paid twice, or contradicts its result
	lies    func(s seen, paid bool) []string
	acted   dapi.EscrowID // the escrow of a release or a refund
}

// moneyKind is a payout, an escrow, or an action of an escrow.
type moneyKind struct {
	book, confirm, read string // the paths of its steps
	readBy              string // the method of read
	steps               map[string]step
	pay                 func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen
	fundings            func(w *carelessWorld) int // over all keys, less what came back
}

var moneyKinds = map[string]moneyKind{
	"payout": {bookPath, confirmPath, "/payouts/*", "GET", payoutSteps,
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
	"escrow": {escrowPath, confirmActionPath, syncPath, "POST", escrowSteps,
		func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen {
			escrow, err := w.account.Escrows.Open(ctx, w.escrow, key,
				escrowTerms(func(t *dapi.PayTerms) { *t = terms }))
			return seen{escrow.State, escrow.Unpaid, escrow.Refusal, err, escrow.History, w.calls}
		},
		func(w *carelessWorld) int { return w.holdings() }},
}

// actionKinds are what is done with the money of an escrow.
var actionKinds = map[string]moneyKind{
	"release": actionKind(dapi.EscrowActionTypeRelease, "escrow_released"),
	"refund":  actionKind(dapi.EscrowActionTypeRefund, "escrow_refunded"),
}

func actionKind(action dapi.EscrowActionType, entry string) moneyKind {
	kind := moneyKinds["escrow"]
	kind.steps = maps.Clone(escrowSteps)
	delete(kind.steps, "create")
	kind.pay = func(w *carelessWorld, ctx context.Context, key moneymovement.Key, terms dapi.PayTerms) seen {
		escrow, err := w.account.Escrows.Act(ctx, w.escrow, w.acted, action, key,
			escrowTerms(func(t *dapi.PayTerms) { *t = terms }))
		return seen{escrow.State, escrow.Unpaid, escrow.Refusal, err, escrow.History, w.calls}
	}
	kind.fundings = func(w *carelessWorld) int { return w.Moved(entry)[string(w.acted)] }
	return kind
}

func newCarelessWorld(t *testing.T, kind moneyKind, decide func(seen) decision, store string) *carelessWorld {
	t.Helper()
	w := &carelessWorld{escrowWorld: &escrowWorld{newPayWorld(t, sandbox.WithAudit()), newEscrow()}, kind: kind,
		decide: decide, keeps: stores[store]}
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
	if w.lies != nil {
		w.wrong = append(w.wrong, w.lies(s, fundings > w.before)...)
	}
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
	stays    bool  // what is left of the faults is still there in the next call
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
	if !s.stays {
		w.Host.DisarmAll()
	}
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
	s.instead = &seen{err: &errors.InDoubt{}}
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
					if err := w.Host.MovePayout(payment.PayoutIDs[0], "failed"); err != nil {
						require.ErrorContains(w, err, "from completed to failed") // it stays completed
					}
				}
			}
		}},
		"the service forgets the key": {arrange: func(w *carelessWorld) {
			if w.keeps.journal || w.history.PayoutID != "" || w.history.EscrowID != "" {
				w.Host.ForgetKeys() // otherwise the next call is a new payment, for the service and for the client
			}
		}},
		"the price worsens while it is signed": {arrange: func(w *carelessWorld) {
			once := sync.OnceFunc(func() {
				w.worsen("0.02")
				w.Host.Advance(36 * time.Second)
			})
			w.Key.BeforeApproval(func(int) { once() })
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
		w := newCarelessWorld(t, moneyKinds[kind], carelessCallers[caller], store)
		goesWrong(w)
		n.payments++
		n.paid += w.calmDown()
		n.newKeys += w.keys
		assert.Empty(t, w.wrong)
	})
}

// lies compares the errors with the books, and returns what is wrong. The caller has only called again.
func (s seen) lies(paid bool) (all []string) {
	failure, typed := errors.AsType[errors.Failure](s.err)
	_, refused := errors.AsType[*errors.Refusal](s.err)
	_, funded := errors.AsType[*errors.AlreadyFunded](s.err)
	for what, is := range map[string]bool{
		"has no type": s.err != nil && !typed,
		"says that it is not paid": paid && s.state != moneymovement.PaymentPaid &&
			s.state != moneymovement.PaymentInDoubt,
		"reads as if nothing had moved": paid && typed && failure.MovedByCall() == errors.NotMoved,
		"matches the type of a refusal": paid && refused && !funded,
	} {
		if is {
			all = append(all, fmt.Sprintf("%s: %s: %T: %v", what, s.state, s.err, s.err))
		}
	}
	return all
}

// TestEveryFaultAtEveryStep lets one thing go wrong, once or for long, in a process that goes on, is restarted, or
// whose caller leaves: after trying again with the same key, there is one payment in the books, and every call on the
// way said what was true.
//
// Rule: idempotency.bank-payout, status.502, idempotency.escrow, idempotency.escrow-action
func TestEveryFaultAtEveryStep(t *testing.T) {
	courses := map[string]struct {
		times    int
		within   time.Duration
		restarts bool
	}{
		"once":                        {1, time.Hour, false},
		"for long, then restarted":    {6, time.Hour, true},
		"the caller leaves, restarts": {2, 5 * time.Second, true},
	}
	kinds := maps.Clone(moneyKinds)
	maps.Copy(kinds, actionKinds)
	for name, kind := range kinds {
		for step, at := range kind.steps {
			for fault, goesWrong := range faultsAt(name, step) {
				for course, c := range courses {
					t.Run(name+"/"+step+"/"+fault+"/"+course, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							w := newCarelessWorld(t, kind, steady, "nothing")
							w.lies = seen.lies
							w.openFor(name)
							began := time.Now()
							if at.lead != nil {
								at.lead(w)
							}
							armed := w.Host.Arm(at.method, at.path, goesWrong.Times(c.times))
							w.meet(setback{within: c.within, stays: true})
							assert.Positive(t, armed.Consumed(), "it did happen")
							for n := range 50 {
								if w.stopped || len(w.wrong) > 0 {
									break
								}
								time.Sleep(time.Minute)
								w.meet(setback{restarts: c.restarts && n == 0, stays: true})
							}
							assert.True(t, w.stopped, "the payment is made in the end")
							assert.Less(t, time.Since(began), 24*time.Hour)
							time.Sleep(4 * time.Hour) // for requests that arrive late, and logins that were left alone
							assert.Empty(t, w.wrong)
							assert.Equal(t, 1, w.kind.fundings(w))
						})
					})
				}
			}
		}
	}
}

// openFor opens the escrow of an action, and lets the time pass until it can be taken.
func (w *carelessWorld) openFor(kind string) {
	if actionKinds[kind].pay == nil {
		return
	}
	opened, err := w.account.Escrows.Open(w.Context(), w.escrow, "escrow-0", dapi.EscrowTerms{})
	require.NoError(w, err)
	w.acted = opened.Escrow.ID
	if kind == "refund" {
		time.Sleep(15 * 24 * time.Hour) // past the hold window
	}
}

// faultsAt are the faults of a step.
func faultsAt(kind, step string) map[string]sandbox.Fault {
	all := maps.Clone(faults)
	if kind == "payout" && step == "confirm" {
		maps.Copy(all, refusals)
	}
	return all
}

// eachOf calls f with each key, always in the same order.
func eachOf[V any](m map[string]V, f func(key string)) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		f(key)
	}
}

// A caller that looks at one thing alone, and takes a new key too early, pays nothing twice. This is why the error of a
// payment in doubt does not have the type of a refusal, and why Unpaid is false until the contrary is proven.
func TestCallerThatChecksOneFieldPaysOnce(t *testing.T) {
	var all tried
	later, one := laterCalls(), 0
	eachOf(moneyKinds, func(kind string) {
		eachOf(firstCalls, func(first string) {
			eachOf(later, func(second string) {
				eachOf(carelessCallers, func(caller string) {
					eachOf(stores, func(store string) {
						for _, restarts := range []bool{false, true} {
							if one++; one%testkit.Size(13, 1) != 0 { // 13 divides no length, so each pair is there
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
func TestCallerThatChecksOneFieldPaysOnceAfterEachFault(t *testing.T) {
	var all tried
	one, kept := 0, slices.Sorted(maps.Keys(stores))
	eachOf(moneyKinds, func(kind string) {
		eachOf(moneyKinds[kind].steps, func(step string) {
			eachOf(faultsAt(kind, step), func(fault string) {
				eachOf(carelessCallers, func(caller string) {
					one++
					store, long, restarts := kept[one%len(kept)], one/len(kept)%2 == 1, one/len(kept)/2%2 == 1
					t.Run(fmt.Sprintf("%s/%s/%s/%s/%s/%v/%v", kind, step, fault, caller, store, long, restarts),
						func(t *testing.T) {
							all.run(t, kind, caller, store, func(w *carelessWorld) {
								at, first := moneyKinds[kind].steps[step], setback{within: time.Hour}
								if long {
									first.within = 5 * time.Second
								}
								if at.lead != nil {
									at.lead(w)
								}
								armed := w.Host.Arm(at.method, at.path, faultsAt(kind, step)[fault].Times(6))
								w.meet(first)
								assert.Positive(t, armed.Consumed(), "it did happen")
								then := notBooked
								then.restarts = restarts
								w.meet(then)
							})
						})
				})
			})
		})
	})
	all.assertAll(t)
}

// Any number of setbacks, one after the other.
func TestCallerThatChecksOneFieldPaysOnceAfterRandomFaults(t *testing.T) {
	later := laterCalls()
	for name, calls := range firstCalls {
		later[name] = calls[len(calls)-1]
	}
	for fault, goesWrong := range faultsAt("payout", "confirm") {
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
					w := newCarelessWorld(t, moneyKinds[kind], carelessCallers[caller], store)
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

// plannedFault is a fault that waits at a step.
type plannedFault struct {
	Step, Fault string
	Times       int
}

// course is one call of a payment, and what happens around it.
type course struct {
	Faults   []plannedFault
	Restarts bool
	Leaves   time.Duration // when the caller does
	Later    time.Duration // than the call before
	Signing  time.Duration // that it takes the first time
	Worse    string        // the price after it
}

func drawCourse(t *rapid.T) course {
	minutes := func(name string, some ...float64) time.Duration {
		return time.Duration(rapid.SampledFrom(some).Draw(t, name) * float64(time.Minute))
	}
	drawn := course{
		Restarts: rapid.Bool().Draw(t, "restarts"),
		Leaves:   minutes("leaves", 1440, 0.02, 0.2, 1.2, 10),
		Later:    minutes("later", 0, 0.02, 0.6, 3, 120),
		Signing:  minutes("signing", 0, 0.6, 2.2),
		Worse:    rapid.SampledFrom([]string{"0", "0.02"}).Draw(t, "worse"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "faults") {
		step := rapid.SampledFrom(slices.Sorted(maps.Keys(payoutSteps))).Draw(t, "step")
		drawn.Faults = append(drawn.Faults, plannedFault{
			Step:  step,
			Fault: rapid.SampledFrom(slices.Sorted(maps.Keys(faultsAt("payout", step)))).Draw(t, "fault"),
			Times: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "times"),
		})
	}
	return drawn
}

// setback returns what the call of a course meets.
func (c course) setback() setback {
	return setback{within: c.Leaves, restarts: c.Restarts, stays: true, arrange: func(w *carelessWorld) {
		for _, m := range c.Faults {
			at := payoutSteps[m.Step]
			w.Host.Arm(at.method, at.path, faultsAt("payout", m.Step)[m.Fault].Times(m.Times))
		}
		w.worsen("0")
		once := sync.OnceFunc(func() {
			w.worsen(c.Worse)
			w.Host.Advance(c.Signing)
		})
		w.Key.BeforeApproval(func(int) { once() })
	}}
}

// Any number of things go wrong at once, while time passes and the price moves. A caller that keeps its key, and calls
// again even after a success, pays once, and every call says what is true.
//
// Rule: idempotency.bank-payout, status.502
func TestAnySequenceOfFaultsIsOnePayment(t *testing.T) {
	rapid.Check(t, func(drawn *rapid.T) {
		for range 10 { // -short makes 20 of these checks, and one payment each would be too few
			courses := rapid.SliceOfN(rapid.Custom(drawCourse), 1, 4).Draw(drawn, "courses")
			store := rapid.SampledFrom(slices.Sorted(maps.Keys(stores))).Draw(drawn, "store")
			var wrong []string
			synctest.Test(t, func(t *testing.T) { wrong = payAfterAll(t, courses, store) })
			if len(wrong) > 0 {
				drawn.Fatal(store, wrong)
			}
		}
	})
}

// payAfterAll makes a payment by calls that meet what the courses have, and by calls that meet nothing until it is
// paid. It returns what went wrong.
func payAfterAll(t *testing.T, courses []course, store string) []string {
	t.Helper()
	last := seen{}
	w := newCarelessWorld(t, moneyKinds["payout"], func(s seen) decision {
		last = s
		return again
	}, store)
	w.lies = seen.lies
	meet := func(s setback) {
		began := time.Now()
		if w.meet(s); time.Since(began) > 12*time.Hour {
			w.wrong = append(w.wrong, "went on for hours")
		}
	}
	for _, c := range courses {
		time.Sleep(c.Later)
		meet(c.setback())
	}
	w.Key.BeforeApproval(nil)
	tolerant := func(t *dapi.PayTerms) { t.Bounds.QuoteTolerance = amount("0.05") }
	for range 50 {
		if meet(setback{terms: tolerant, stays: true}); last.err == nil || len(w.wrong) > 0 {
			break
		}
		time.Sleep(time.Minute)
	}
	time.Sleep(10 * time.Minute) // for a login that its caller left alone
	if w.kind.fundings(w) != 1 || last.err != nil {
		w.wrong = append(w.wrong, fmt.Sprintf("paid %d times in the end: %+v", w.kind.fundings(w), last))
	}
	return w.wrong
}

// The booking may be done, and the session is lost before it is sent again. Nothing was signed, so the payment is
// unpaid. Only the session is in doubt.
func TestALostRefreshAfterALostBookingLeavesNoDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", bookPath, faults["503, done"])
		w.Host.Arm("POST", bookPath, faults["token unknown"])
		w.Host.Arm("POST", "/auth/refresh", faults["half a response"].Times(9))
		payment, err := w.pay(journaled())
		assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
		assert.True(t, payment.Unpaid)
		_, doubt := errors.AsType[*errors.InDoubt](err)
		assert.False(t, doubt, "%v", err)
	})
}
