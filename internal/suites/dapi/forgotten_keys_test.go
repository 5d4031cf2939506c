package dapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// process is who calls again after the service has forgotten the keys.
type process struct {
	name    string
	another bool // it has another client, which knows nothing
	options func(known dapi.PayoutID, since time.Time) []dapi.PayOption
}

// processes are those that know the payout of the first call.
var processes = []process{
	{"the same client", false, func(dapi.PayoutID, time.Time) []dapi.PayOption { return nil }},
	{"the same client, which says when the key was first used", false,
		func(_ dapi.PayoutID, since time.Time) []dapi.PayOption {
			return []dapi.PayOption{dapi.FirstUsedAt(since)}
		}},
	{"another client that names the payout", true, func(known dapi.PayoutID, _ time.Time) []dapi.PayOption {
		return []dapi.PayOption{dapi.BookedBefore(known)}
	}},
	{"another client that names the payout and the time", true,
		func(known dapi.PayoutID, since time.Time) []dapi.PayOption {
			return []dapi.PayOption{dapi.BookedBefore(known), dapi.FirstUsedAt(since)}
		}},
}

// A service that has forgotten a key books another payout for it. The payout of the first call decides what is done.
func TestAForgottenKeyPaysOnce(t *testing.T) {
	for name, c := range map[string]struct {
		unsent  bool // the first confirm did not arrive
		arrange func(w *payWorld, known dapi.PayoutID)
		state   dapi.PaymentState
		paid    int
	}{
		"the payout is funded":      {state: dapi.PaymentPaid, paid: 1},
		"it waits for its approval": {unsent: true, state: dapi.PaymentPaid, paid: 1},
		"it has failed": {state: dapi.PaymentEnded, paid: 1, arrange: func(w *payWorld, known dapi.PayoutID) {
			require.NoError(w, w.Host.MovePayout(string(known), "failed"))
		}},
		"it has expired": {unsent: true, state: dapi.PaymentEnded, arrange: func(*payWorld, dapi.PayoutID) {
			time.Sleep(time.Hour)
		}},
		"it cannot be read": {state: dapi.PaymentUnknown, paid: 1, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		}},
		"it waits, and cannot be read": {unsent: true, state: dapi.PaymentUnknown,
			arrange: func(w *payWorld, _ dapi.PayoutID) {
				w.Host.Arm("GET", "/payouts/*",
					sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
			}},
		"it is not there": {unsent: true, state: dapi.PaymentUnknown, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusNotFound, "not_found").Times(99))
		}},
	} {
		for _, by := range processes {
			t.Run(name+", "+by.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newPayWorld(t)
					w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(10 * time.Minute) })
					fault := sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit()
					if c.unsent {
						fault = sandbox.DropBefore()
					}
					w.Host.Arm("POST", confirmPath, fault.Times(99))
					w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError,
						"internal_error").Times(99))
					since := time.Now()
					first, err := w.pay(dapi.FirstUse(), dapi.FirstUsedAt(since))
					w.assertInDoubt(t, first, err)
					require.NotNil(t, first)
					w.Host.DisarmAll()

					w.Host.ForgetKeys()
					if c.arrange != nil {
						c.arrange(w, first.ID)
					}
					if by.another {
						w.account = w.integrator().Self()
					}
					signed := w.Key.Approvals()
					again, err := w.pay(by.options(first.ID, since)...)
					assert.Equal(t, c.state, dapi.PaymentStateOf(again, err), "%v", err)
					assert.Equal(t, c.paid, w.Fundings())
					if c.state == dapi.PaymentUnknown {
						assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
						assert.True(t, dapi.MayHavePaid(again, err))
						differs := as[*dapi.TermsDiffer](t, as[*errors.OutcomeUnknown](t, err).Cause)
						assert.Equal(t, string(first.ID), differs.Asked, "one id")
						assert.NotEqual(t, differs.Asked, differs.Got, "and the other")
						assert.Contains(t, err.Error(), differs.Got)
						assert.Contains(t, err.Error(), differs.Asked)
					}
					require.NotNil(t, again)
					assert.Equal(t, first.ID, again.ID)
				})
			})
		}
	}
}

// If nobody knows the payout of an earlier call, the new one is signed. But a refusal of it says nothing about that
// call.
func TestANewBookingSettlesNoEarlierCall(t *testing.T) {
	for name, options := range map[string][]dapi.PayOption{
		"the caller says nothing": nil,
		"the key was used before": {dapi.FirstUsedAt(time.Now())},
	} {
		for _, refused := range []string{"at the confirm", "for the price", "by the caller"} {
			t.Run(name+", refused "+refused, func(t *testing.T) {
				w := newPayWorld(t)
				paid, err := w.pay(dapi.FirstUse())
				require.NoError(t, err)
				w.Host.ForgetKeys()
				w.account = w.integrator().Self()
				options := options
				switch refused {
				case "at the confirm":
					w.refuse(http.StatusForbidden, "signing_policy_refused")
				case "for the price":
					options = append(options, dapi.MaxFee(amount("0.01")))
				case "by the caller":
					options = append(options, dapi.BeforeSigning(func(context.Context, *dapi.Payout) error {
						return errors.New("not today")
					}))
				}
				other, err := w.pay(options...)
				w.assertInDoubt(t, other, err)
				assert.NotEqual(t, paid.ID, other.ID)
			})
		}
	}
}

// A client that has seen a payment paid says so, also if it cannot read the payout now.
func TestAPaidPaymentStaysPaidWithoutARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		paid, err := w.pay(dapi.FirstUse())
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "funding_in_progress").
			WithBody(`{"error":{"code":"funding_in_progress","message":"wait"}}`).Times(99))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		again, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, dapi.PaymentPaid, dapi.PaymentStateOf(again, err))
		assert.Equal(t, paid.ID, again.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Two calls at once with one key, each of which gets a payout of its own: one of them is signed.
func TestTwoBookingsOfOneKeyAtOnce(t *testing.T) {
	w := newPayWorld(t)
	both := make(chan struct{}, 2)
	booked := make(chan dapi.PayoutID, 2)
	type result struct {
		payout *dapi.Payout
		err    error
	}
	results := make(chan result, 2)
	pay := func() {
		payout, err := w.account.Payouts.Pay(t.Context(), w.asked, "invoice-42",
			dapi.BeforeSigning(func(_ context.Context, payout *dapi.Payout) error {
				w.Host.ForgetKeys()
				booked <- payout.ID
				<-both
				return nil
			}))
		w.ended(err)
		results <- result{payout, err}
	}
	go pay()
	one := <-booked
	go pay()
	require.NotEqual(t, one, <-booked)
	both <- struct{}{}
	both <- struct{}{}
	for range 2 {
		got := <-results
		if got.err != nil {
			assert.Equal(t, dapi.PaymentUnknown, dapi.PaymentStateOf(got.payout, got.err), "%v", got.err)
		}
	}
	assert.Equal(t, 1, w.Fundings())
}

// The same for deals.
func TestAForgottenKeyHoldsTheMoneyOnce(t *testing.T) {
	for name, c := range map[string]struct {
		unsent  bool
		arrange func(w *world)
		held    int
		err     string
	}{
		"the deal is active":        {held: 1},
		"it waits for its approval": {unsent: true, held: 1},
		"it has expired": {unsent: true, err: "expired", arrange: func(*world) {
			time.Sleep(2 * time.Hour)
		}},
		"it cannot be read": {held: 1, err: "unknown", arrange: func(w *world) {
			w.Host.Arm("POST", "/escrow/*/sync",
				sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		}},
		"it waits, and cannot be read": {unsent: true, err: "unknown", arrange: func(w *world) {
			w.Host.Arm("POST", "/escrow/*/sync",
				sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		}},
	} {
		for _, another := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					account := w.account()
					fault := sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit()
					if c.unsent {
						fault = sandbox.DropBefore()
					}
					w.Host.Arm("POST", confirmActionPath, fault.Times(99))
					w.Host.Arm("POST", "/escrow/*/sync",
						sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
					first, err := account.Escrows.Open(t.Context(), deal(), "deal-1", dapi.FirstUse())
					w.ended(err)
					as[*errors.OutcomeUnknown](t, err)
					require.NotNil(t, first)
					w.Host.DisarmAll()

					w.Host.ForgetKeys()
					if c.arrange != nil {
						c.arrange(w)
					}
					var options []dapi.OpenOption
					if another {
						account = w.integrator().Self()
						options = append(options, dapi.CreatedBefore(first.ID))
					}
					signed := w.Key.Approvals()
					again, err := account.Escrows.Open(t.Context(), deal(), "deal-1", options...)
					w.ended(err)
					held := 0
					for _, times := range w.Moved("escrow_active") {
						held += times
					}
					assert.Equal(t, c.held, held)
					switch c.err {
					case "":
						require.NoError(t, err)
						assert.Equal(t, first.ID, again.ID)
					case "expired":
						as[*dapi.EscrowNotOpened](t, err)
					case "unknown":
						differs := as[*dapi.TermsDiffer](t, as[*errors.OutcomeUnknown](t, err).Cause)
						assert.Equal(t, string(first.ID), differs.Asked)
						assert.NotEqual(t, differs.Asked, differs.Got)
						assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
					}
				})
			})
		}
	}
}

// Whoever cannot read the known payout or deal yet is told when to come back.
func TestAForgottenKeyAndAServiceThatAsksToWait(t *testing.T) {
	for _, read := range []string{"GET /payouts/*", "POST /escrow/*/sync", "POST /escrow/*/actions"} {
		t.Run(read, func(t *testing.T) {
			w := newDealWorld(t)
			method, path, _ := strings.Cut(read, " ")
			payout, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			deal, err := w.account.Escrows.Create(t.Context(), w.deal, moneymovement.IdempotencyKey("deal-1"))
			require.NoError(t, err)
			w.Host.ForgetKeys()
			w.Host.Arm(method, path, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "300").Times(99))
			asked := time.Now()
			if method == http.MethodGet {
				_, err = w.pay(dapi.BookedBefore(payout.ID))
			} else {
				_, err = w.open(dapi.CreatedBefore(deal.ID))
			}
			unknown := as[*errors.OutcomeUnknown](t, err)
			as[*dapi.TermsDiffer](t, unknown.Cause)
			assert.Greater(t, unknown.RetryAt.Sub(asked), 4*time.Minute)
		})
	}
}

// A booking by hand is compared with what was signed before, as in Pay.
func TestAForgottenKeyConfirmedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		book := func() *dapi.Payout {
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			return booked
		}
		first := book()
		_, err := w.account.Payouts.Confirm(t.Context(), w.asked, first)
		require.NoError(t, err)
		w.Host.ForgetKeys()
		second := book()
		require.NotEqual(t, first.ID, second.ID)
		signed := w.Key.Approvals()
		_, err = w.account.Payouts.Confirm(t.Context(), w.asked, second)
		differs := as[*dapi.TermsDiffer](t, as[*errors.OutcomeUnknown](t, err).Cause)
		assert.Equal(t, string(first.ID), differs.Asked)
		assert.Equal(t, string(second.ID), differs.Got)
		assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")

		third, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, first.ID, third.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// An action that may have been taken is looked up before anything is signed: by the same client, and by another one
// that says when the key was first used.
func TestAnActionIsLookedUpFirst(t *testing.T) {
	for _, by := range []string{"the same client", "another client"} {
		for _, readable := range []bool{true, false} {
			t.Run(by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, id := newReleaseWorld(t)
					since := time.Now()
					w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(9))
					w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
					_, err := w.release(t.Context(), id)
					as[*errors.OutcomeUnknown](t, err)
					w.Host.DisarmAll()
					time.Sleep(time.Minute)

					var options []dapi.KeyOption
					if by == "another client" {
						w.account = w.integrator().Self()
						options = append(options, dapi.FirstUsedAt(since))
					}
					if !readable {
						w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
					}
					signed, before := w.Key.Approvals(), len(w.Host.Requests())
					deal, err := w.account.Escrows.Act(t.Context(), w.deal, id, dapi.EscrowActionTypeRelease, "release-1",
						options...)
					w.ended(err)
					assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
					for _, request := range w.Host.Requests()[before:] {
						assert.NotContains(t, request.Path, "/actions", "and nothing was prepared")
					}
					if !readable {
						as[*errors.OutcomeUnknown](t, err)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, dapi.EscrowStatusReleased, deal.Status)
				})
			})
		}
	}
}

// The caller stores a deal's id before its approval is signed, and can refuse it.
func TestBeforeApproving(t *testing.T) {
	w := newDealWorld(t)
	var stored dapi.EscrowID
	_, err := w.open(dapi.FirstUse(), dapi.BeforeApproving(func(_ context.Context, created *dapi.Escrow) error {
		stored = created.ID
		return errors.New("not today")
	}))
	declined := as[*dapi.PaymentDeclined](t, err)
	assert.Equal(t, string(stored), declined.Resource)
	assert.Equal(t, errors.NotMoved, declined.MovedByCall())
	assert.Zero(t, w.Key.Approvals())
	opened, err := w.open(dapi.FirstUse(), dapi.CreatedBefore(stored))
	require.NoError(t, err)
	assert.Equal(t, stored, opened.ID)
	_, err = w.open(dapi.CreatedBefore("esc_1/../esc_2"))
	as[*errors.InvalidInput](t, err)
	_, err = w.open(dapi.BeforeApproving(nil))
	as[*errors.InvalidInput](t, err)
	_, err = w.pay(dapi.BookedBefore("po_1/../po_2"))
	as[*errors.InvalidInput](t, err)
}
