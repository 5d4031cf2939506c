package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestPayKeepsTheLastResponse(t *testing.T) {
	w := newPayWorld(t)
	w.keepsTheLastResponse(bookPath, func(response *moneymovement.Response) error {
		_, err := w.account.Payouts.Pay(w.Context(), w.asked, "invoice-42", dapi.PayTerms{},
			moneymovement.CaptureResponse(response))
		return err
	})
	assert.Equal(t, "ConfirmPayout", w.Host.Requests()[len(w.Host.Requests())-1].Operation)
}

func TestOpenKeepsTheLastResponse(t *testing.T) {
	w := newEscrowWorld(t)
	w.keepsTheLastResponse(escrowPath, func(response *moneymovement.Response) error {
		_, err := w.account.Escrows.Open(w.Context(), w.escrow, "escrow-1", dapi.EscrowTerms{},
			moneymovement.CaptureResponse(response))
		return err
	})
}

// keepsTheLastResponse checks that what the last call of a flow came to is kept, whichever call it was: the first one,
// to a path, or the last.
func (w *world) keepsTheLastResponse(first string, flow func(*moneymovement.Response) error) {
	w.Helper()
	var response moneymovement.Response
	w.Host.Arm("POST", first, sandbox.Respond(http.StatusForbidden, "forbidden"))
	require.Error(w, flow(&response))
	assert.Equal(w, http.StatusForbidden, response.Status)
	require.NoError(w, flow(&response))
	requests := w.Host.Requests()
	assert.Equal(w, requests[len(requests)-1].RequestID, response.RequestID)
	assert.Equal(w, http.StatusOK, response.Status)
}

func TestConcurrentPaysWithOneKeyAreOnePayment(t *testing.T) {
	for name, step := range map[string]time.Duration{"a slow service": 5 * time.Second,
		"a fast service": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(step) })
				w.Key.BeforeApproval(func(int) { time.Sleep(time.Second) }) // all book before one confirms
				var (
					calls sync.WaitGroup
					mu    sync.Mutex
					ids   = map[dapi.PayoutID]bool{}
				)
				for range 10 {
					calls.Go(func() {
						payment, err := w.payAs("invoice-42")
						if assert.NoError(t, err) {
							mu.Lock()
							defer mu.Unlock()
							ids[payment.Payout.ID] = true
						}
					})
				}
				calls.Wait()
				assert.Len(t, ids, 1)
				assert.Equal(t, 1, w.Fundings())
				assert.Equal(t, 10, w.Sent("ConfirmPayout"))
			})
		})
	}
}

// Rule: idempotency.equal-payouts
func TestConcurrentPaysWithKeysOfTheirOwn(t *testing.T) {
	w := newPayWorld(t)
	w.asked.Amount = amount("10")
	var calls sync.WaitGroup
	var mu sync.Mutex
	paid, refused := 0, 0
	for i := range 20 {
		calls.Go(func() {
			_, err := w.payAs(moneymovement.Key(fmt.Sprintf("invoice-%d", i)), journaled())
			_, uncovered := errors.AsType[*errors.PayoutNotFundable](err)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				paid++
			case uncovered:
				refused++
			default:
				assert.NoError(t, err)
			}
		})
	}
	calls.Wait()
	assert.Equal(t, 10, paid, "100 USDC cover ten payments of 10")
	assert.Equal(t, 10, refused)
	assert.Equal(t, 10, w.Fundings())
}

// The description states a public key and a signature of a booking. They are sent as given, and are not terms of the
// key: a signature is new each time.
//
// Rule: size.payout-public-key, size.signature
func TestSignatureOfABookingIsSentAsGiven(t *testing.T) {
	w := newPayWorld(t)
	w.asked.PublicKey, w.asked.Signature = w.Key.PublicKey(), []byte("first")
	paid, err := w.pay(journaled())
	require.NoError(t, err)
	read, err := w.account.Payouts.Get(t.Context(), paid.Payout.ID)
	require.NoError(t, err)
	assert.Equal(t, w.asked.PublicKey, read.PublicKey)
	assert.Equal(t, w.asked.Signature, read.Signature)

	w.asked.Signature = []byte("second")
	again, err := w.pay()
	require.NoError(t, err)
	assert.Equal(t, paid.Payout.ID, again.Payout.ID)
	assert.Equal(t, 1, w.Fundings())
}

// Rule: idempotency.other-terms
func TestAKeyReusedForOtherTermsIsNotSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	w.asked.PaymentReference = "12.5"
	booked, err := w.account.Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)

	for name, change := range map[string]func(*dapi.PayoutCreate){
		"amount":           func(p *dapi.PayoutCreate) { p.Amount = amount("24") },
		"contactId":        func(p *dapi.PayoutCreate) { p.ContactID = "ct_nobody" },
		"currency":         func(p *dapi.PayoutCreate) { p.Currency = dapi.EURC },
		"paymentReference": func(p *dapi.PayoutCreate) { p.PaymentReference = "12.50" },
	} {
		other := w.asked
		change(&other)
		_, err = w.account.Payouts.Book(t.Context(), other, key)
		reused := as[*errors.IdempotencyKeyReused](t, refusalIn(err))
		assert.Equal(t, string(booked.ID), reused.PayoutID)
		assert.Equal(t, "invoice-42", reused.IdempotencyKey)
		assert.Zero(t, reused.Status)
		assert.Equal(t, errors.NotMoved, reused.MovedByCall())
		assert.Contains(t, reused.Error(), "("+name+"), so this request was not sent")
	}
	assert.Equal(t, 1, w.Sent("BookPayout"), "the others were not sent")
}

// Rule: idempotency.replay
func TestTheSameTermsInAnotherSpellingAreSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	for i, change := range []func(*dapi.PayoutCreate){
		func(*dapi.PayoutCreate) {},
		func(p *dapi.PayoutCreate) { p.Amount = amount("25.00") },
		func(p *dapi.PayoutCreate) {
			p.ContactID = dapi.ContactID(strings.TrimPrefix(string(p.ContactID), "ct_"))
		},
	} {
		asked := w.asked
		change(&asked)
		_, err := w.account.Payouts.Book(t.Context(), asked, key)
		if _, local := errors.AsType[*errors.InvalidInput](err); local {
			t.Fatal(err)
		}
		assert.Equal(t, i+1, w.Sent("BookPayout"), "the service judges")
	}
}

// Rule: idempotency.other-terms
func TestAnEscrowsKeyReusedForOtherTermsIsNotSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("escrow-1")
	terms := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
		Payee: payee, HoldFor: "1d"}
	escrow, err := w.account.Escrows.Create(t.Context(), terms, key)
	require.NoError(t, err)
	same := terms
	same.Payee, same.HoldFor = dapi.EVMAddress(strings.ToLower(string(terms.Payee))), "24h"
	again, err := w.account.Escrows.Create(t.Context(), same, key)
	require.NoError(t, err)
	assert.Equal(t, escrow.ID, again.ID)

	terms.HoldFor = "2d"
	_, err = w.account.Escrows.Create(t.Context(), terms, key)
	reused := as[*errors.IdempotencyKeyReused](t, refusalIn(err))
	assert.Equal(t, string(escrow.ID), reused.EscrowID)
	assert.Zero(t, reused.Status)
}

func TestAKeyIsFreeForCorrectedTermsAfterARefusal(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	wrong := w.asked
	wrong.ContactID = "ct_nobody"
	_, err := w.account.Payouts.Book(t.Context(), wrong, key)
	as[*errors.NotFound](t, err)

	_, err = w.account.Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)
}

// Rule: idempotency.scope
func TestKeysAreScopedToAnAccount(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	platform := w.integrator()
	_, err := platform.Self().Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)

	other := w.asked
	other.Amount = amount("24")
	_, err = platform.For("cl_other").Payouts.Book(t.Context(), other, key)
	as[*errors.NotFound](t, err)
}

// bookPlainly books the payout over plain HTTP, without a key.
func (w *payWorld) bookPlainly(token string) (id, replayed string) {
	w.Helper()
	body := `{"currency":"USDC","amount":"` + w.asked.Amount.String() + `","contactId":"` + string(w.asked.ContactID) +
		`"}`
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL+"/dapi/v1/payouts",
		strings.NewReader(body))
	require.NoError(w, err)
	r.Header.Set("Authorization", token)
	r.Header.Set("Content-Type", "application/json")
	response, err := w.Wire.RoundTrip(r)
	require.NoError(w, err)
	defer response.Body.Close()
	var payout struct {
		ID string `json:"id"`
	}
	require.NoError(w, json.UnmarshalRead(response.Body, &payout))
	return payout.ID, response.Header.Get("Idempotency-Replayed")
}

// Without a key the service derives one, which holds for two hours, through the SDK as over plain HTTP.
//
// Rule: idempotency.derived, idempotency.lifetimes, idempotency.equal-payouts
func TestEqualBookingsWithoutAKeyAreOne(t *testing.T) {
	w := newPayWorld(t)
	token := ""
	w.Wire.OnResponse(func(r *http.Request, _ *http.Response) { token = r.Header.Get("Authorization") })
	var response moneymovement.Response
	book := func(options ...moneymovement.WriteOption) *dapi.Payout {
		booked, err := w.account.Payouts.Book(t.Context(), w.asked,
			append(options, moneymovement.CaptureResponse(&response))...)
		require.NoError(t, err)
		return booked
	}

	first := book()
	assert.NotEmpty(t, first.IdempotencyKey, "the service echoes the key that it derived")
	assert.Empty(t, response.IdempotencyKey, "none was sent")
	assert.Equal(t, first.ID, book().ID)
	assert.True(t, response.Replayed)
	id, replayed := w.bookPlainly(token)
	assert.Equal(t, string(first.ID), id)
	assert.Equal(t, "true", replayed)
	assert.NotEqual(t, first.ID, book(moneymovement.IdempotencyKey("another")).ID)
	for i, request := range w.Requests("BookPayout")[:3] {
		assert.Empty(t, request.IdempotencyKey, i)
	}

	w.Host.Advance(2 * time.Hour)
	second := book()
	assert.NotEqual(t, first.ID, second.ID, "the service has forgotten the first")
	id, _ = w.bookPlainly(token)
	assert.Equal(t, string(second.ID), id)
}

func TestALostBookingWithoutAKeyIsRepeated(t *testing.T) {
	w := newPayWorld(t)
	w.Host.Arm("POST", "/payouts", sandbox.DropAfterCommit().Times(2))
	var response moneymovement.Response
	_, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, 3, response.Attempts)
	assert.True(t, response.Replayed, "it is one payout")
}

// process is who calls again after the service has forgotten the keys.
type process struct {
	name    string
	another bool // it has another client, which knows nothing
	options func(known dapi.PayoutID, since time.Time) []payOption
}

// processes are those that know the payout of the first call.
var processes = []process{
	{"the same client", false, func(dapi.PayoutID, time.Time) []payOption { return nil }},
	{"the same client, which says when the key was first used", false,
		func(_ dapi.PayoutID, since time.Time) []payOption {
			return []payOption{firstUsedAt(since)}
		}},
	{"another client that names the payout", true, func(known dapi.PayoutID, _ time.Time) []payOption {
		return []payOption{knownPayout(known)}
	}},
	{"another client that names the payout and the time", true,
		func(known dapi.PayoutID, since time.Time) []payOption {
			return []payOption{knownPayout(known), firstUsedAt(since)}
		}},
}

// A service that has forgotten a key books another payout for it. The payout of the first call decides what is done.
func TestAForgottenKeyPaysOnce(t *testing.T) {
	const inDoubt = moneymovement.PaymentInDoubt
	for name, c := range map[string]struct {
		unsent  bool // the first confirm did not arrive
		arrange func(w *payWorld, known dapi.PayoutID)
		state   moneymovement.PaymentState
		paid    int
	}{
		"the payout is funded":      {state: moneymovement.PaymentPaid, paid: 1},
		"it waits for its approval": {unsent: true, state: moneymovement.PaymentPaid, paid: 1},
		"it has failed": {state: moneymovement.PaymentEnded, paid: 1, arrange: func(w *payWorld, known dapi.PayoutID) {
			require.NoError(w, w.Host.MovePayout(string(known), "failed"))
		}},
		"it has expired": {unsent: true, state: moneymovement.PaymentEnded, arrange: func(*payWorld, dapi.PayoutID) {
			time.Sleep(time.Hour)
		}},
		"it cannot be read": {state: inDoubt, paid: 1, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		}},
		"it waits, and cannot be read": {unsent: true, state: inDoubt,
			arrange: func(w *payWorld, _ dapi.PayoutID) {
				w.Host.Arm("GET", "/payouts/*",
					sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
			}},
		"it waits, in words of tomorrow": {unsent: true, state: inDoubt, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.onSuccess("GET", "/payouts/*", func(payout map[string]any) { payout["status"] = "held" })
		}},
		"it has other terms": {state: inDoubt, paid: 1, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.onSuccess("GET", "/payouts/*", func(payout map[string]any) { payout["amount"] = "26" })
		}},
		"it waits, and offers no approval": {unsent: true, state: inDoubt, arrange: func(w *payWorld, _ dapi.PayoutID) {
			w.onSuccess("GET", "/payouts/*", without("approval"))
		}},
		"it is not there": {unsent: true, state: inDoubt, arrange: func(w *payWorld, _ dapi.PayoutID) {
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
					first, err := w.pay(journaled(), firstUsedAt(since))
					w.assertInDoubt(t, first, err)
					require.NotNil(t, first)
					w.Host.DisarmAll()

					w.Host.ForgetKeys()
					if c.arrange != nil {
						c.arrange(w, first.Payout.ID)
					}
					if by.another {
						w.account = w.integrator().Self()
					}
					signed := w.Key.Approvals()
					again, err := w.pay(by.options(first.Payout.ID, since)...)
					assert.Equal(t, c.state, again.State, "%v", err)
					assert.Equal(t, c.paid, w.Fundings())
					if c.state == inDoubt {
						assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
						assert.False(t, again.Unpaid)
						differs := as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, err).Cause)
						assert.Equal(t, string(first.Payout.ID), differs.Asked, "one id")
						assert.NotEqual(t, differs.Asked, differs.Got, "and the other")
						assert.Contains(t, err.Error(), differs.Got)
						assert.Contains(t, err.Error(), differs.Asked)
					}
					require.NotNil(t, again)
					assert.Equal(t, first.Payout.ID, again.Payout.ID)
				})
			})
		}
	}
}

// If nobody knows the payout of an earlier call, the new one is signed. But a refusal of it says nothing about that
// call.
func TestNewBookingDoesNotSettleAnEarlierCall(t *testing.T) {
	for name, options := range map[string][]payOption{
		"the caller says nothing": nil,
		"the key was used before": {firstUsedAt(time.Now())},
	} {
		for _, refused := range []string{"at the confirm", "for the price", "by the caller"} {
			t.Run(name+", refused "+refused, func(t *testing.T) {
				w := newPayWorld(t)
				paid, err := w.pay(journaled())
				require.NoError(t, err)
				w.Host.ForgetKeys()
				w.account = w.integrator().Self()
				options := options
				switch refused {
				case "at the confirm":
					w.refuse(http.StatusForbidden, "signing_policy_refused")
				case "for the price":
					options = append(options, maxFee(amount("0.01")))
				case "by the caller":
					options = append(options, beforeSigning(func(context.Context, *dapi.Payout) error {
						return errors.New("not today")
					}))
				}
				other, err := w.pay(options...)
				w.assertInDoubt(t, other, err)
				assert.NotEqual(t, paid.Payout.ID, other.Payout.ID)
			})
		}
	}
}

// A client that has seen a payment paid says so, also if it cannot read the payout now.
func TestAPaidPaymentStaysPaidWithoutARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		paid, err := w.pay(journaled())
		require.NoError(t, err)
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "funding_in_progress").
			WithBody(`{"error":{"code":"funding_in_progress","message":"wait"}}`).Times(99))
		w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		again, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentPaid, again.State)
		assert.Equal(t, paid.Payout.ID, again.Payout.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Two calls at once with one key, each of which gets a payout of its own: one of them is signed.
func TestTwoBookingsOfOneKeyAtOnce(t *testing.T) {
	w := newPayWorld(t)
	both := make(chan struct{}, 2)
	booked := make(chan dapi.PayoutID, 2)
	type result struct {
		payment dapi.Payment
		err     error
	}
	results := make(chan result, 2)
	pay := func() {
		payment, err := w.pay(beforeSigning(func(_ context.Context, payout *dapi.Payout) error {
			w.Host.ForgetKeys()
			booked <- payout.ID
			<-both
			return nil
		}))
		results <- result{payment, err}
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
			assert.Equal(t, moneymovement.PaymentInDoubt, got.payment.State, "%v", got.err)
		}
	}
	assert.Equal(t, 1, w.Fundings())
}

// The same for escrows.
func TestAForgottenKeyHoldsTheMoneyOnce(t *testing.T) {
	for name, c := range map[string]struct {
		unsent  bool
		arrange func(w *world)
		held    int
		err     string
	}{
		"the escrow is active":      {held: 1},
		"it waits for its approval": {unsent: true, held: 1},
		"it has expired": {unsent: true, err: "expired", arrange: func(*world) {
			time.Sleep(2 * time.Hour)
		}},
		"it cannot be read": {held: 1, err: "unknown", arrange: func(w *world) {
			w.Host.Arm("POST", "/escrow/*/sync",
				sandbox.Respond(http.StatusInternalServerError, "internal_error").Times(99))
		}},
		"it has other terms": {held: 1, err: "unknown", arrange: func(w *world) {
			w.onSuccess("POST", syncPath, func(escrow map[string]any) { escrow["amount"] = "41" })
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
					first, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", escrowTerms(journaled()))
					as[*errors.InDoubt](t, err)
					require.NotNil(t, first)
					w.Host.DisarmAll()

					w.Host.ForgetKeys()
					if c.arrange != nil {
						c.arrange(w)
					}
					var options []payOption
					if another {
						account = w.integrator().Self()
						options = append(options, knownEscrow(first.Escrow.ID))
					}
					signed := w.Key.Approvals()
					again, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", escrowTerms(options...))
					held := 0
					for _, times := range w.Moved("escrow_active") {
						held += times
					}
					assert.Equal(t, c.held, held)
					switch c.err {
					case "":
						require.NoError(t, err)
						assert.Equal(t, first.Escrow.ID, again.Escrow.ID)
					case "expired":
						as[*dapi.EscrowNotOpened](t, err)
					case "unknown":
						differs := as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, err).Cause)
						assert.Equal(t, string(first.Escrow.ID), differs.Asked)
						assert.NotEqual(t, differs.Asked, differs.Got)
						assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
					}
				})
			})
		}
	}
}

// Whoever cannot read the known payout or escrow yet is told when to come back.
func TestRetryAtIfTheKnownPaymentCannotBeReadYet(t *testing.T) {
	for _, read := range []string{"GET /payouts/*", "POST /escrow/*/sync", "POST /escrow/*/actions"} {
		t.Run(read, func(t *testing.T) {
			w := newEscrowWorld(t)
			method, path, _ := strings.Cut(read, " ")
			payout, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			escrow, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
			require.NoError(t, err)
			w.Host.ForgetKeys()
			w.Host.Arm(method, path, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
				WithHeader("Retry-After", "300").Times(99))
			asked := time.Now()
			if method == http.MethodGet {
				_, err = w.pay(knownPayout(payout.ID))
			} else {
				_, err = w.open(knownEscrow(escrow.ID))
			}
			inDoubt := as[*errors.InDoubt](t, err)
			as[*dapi.TermsDiffer](t, inDoubt.Cause)
			assert.Greater(t, inDoubt.RetryAt.Sub(asked), 4*time.Minute)
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
		differs := as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, err).Cause)
		assert.Equal(t, string(first.ID), differs.Asked)
		assert.Equal(t, string(second.ID), differs.Got)
		assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")

		third, err := w.pay()
		require.NoError(t, err)
		assert.Equal(t, first.ID, third.Payout.ID)
		assert.Equal(t, 1, w.Fundings())
	})
}

// Payouts that were booked by hand, and whose stored copies have no key, are not taken for one another.
func TestPayoutsWithoutAKeyAreConfirmedByHand(t *testing.T) {
	w := newPayWorld(t)
	for _, key := range []moneymovement.Key{"invoice-1", "invoice-2"} {
		booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey(key))
		require.NoError(t, err)
		booked.IdempotencyKey = ""
		_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
		require.NoError(t, err)
	}
	assert.Equal(t, 2, w.Fundings())
}

// The same for an escrow.
func TestAForgottenKeyOfAnEscrowConfirmedByHand(t *testing.T) {
	w := newEscrowWorld(t)
	create := func() *dapi.Escrow {
		created, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
		require.NoError(t, err)
		return created
	}
	approve := func(created *dapi.Escrow) error {
		_, err := w.account.Escrows.Confirm(t.Context(), w.escrow, created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		return err
	}
	first := create()
	require.NoError(t, approve(first))
	w.Host.ForgetKeys()
	second := create()
	require.NotEqual(t, first.ID, second.ID)
	signed := w.Key.Approvals()
	differs := as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, approve(second)).Cause)
	assert.Equal(t, "id", differs.Member)
	assert.Equal(t, string(first.ID), differs.Asked)
	assert.Equal(t, string(second.ID), differs.Got)
	assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
}

// An action that may have been taken is read before anything is signed: by the same client, and by another one
// that says when the key was first used.
func TestAnActionIsReadBeforeItIsSigned(t *testing.T) {
	for _, by := range []string{"the same client", "another client"} {
		for _, readable := range []bool{true, false} {
			t.Run(by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, id := newReleaseWorld(t)
					since := time.Now()
					w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(9))
					w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
					_, err := w.release(t.Context(), id)
					as[*errors.InDoubt](t, err)
					w.Host.DisarmAll()
					time.Sleep(time.Minute)

					var options []payOption
					if by == "another client" {
						w.account = w.integrator().Self()
						options = append(options, firstUsedAt(since))
					}
					if !readable {
						w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
					}
					signed, before := w.Key.Approvals(), len(w.Host.Requests())
					escrow, err := w.account.Escrows.Act(t.Context(), w.escrow, id,
						dapi.EscrowActionTypeRelease, "release-1", escrowTerms(options...))
					assert.Equal(t, signed, w.Key.Approvals(), "nothing was signed")
					for _, request := range w.Host.Requests()[before:] {
						assert.NotContains(t, request.Path, "/actions", "and nothing was prepared")
					}
					if !readable {
						as[*errors.InDoubt](t, err)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, dapi.EscrowStatusReleased, escrow.Escrow.Status)
				})
			})
		}
	}
}

// The caller stores an escrow's id before its approval is signed, and can refuse it.
func TestBeforeSigningAnEscrow(t *testing.T) {
	w := newEscrowWorld(t)
	var stored dapi.EscrowID
	_, err := w.open(journaled(), beforeSigning(func(_ context.Context, created *dapi.Payout) error {
		stored = dapi.EscrowID(created.ID)
		return errors.New("not today")
	}))
	declined := as[*dapi.PaymentDeclined](t, err)
	assert.Equal(t, string(stored), declined.Resource)
	assert.Equal(t, errors.NotMoved, declined.MovedByCall())
	assert.Zero(t, w.Key.Approvals())
	opened, err := w.open(journaled(), knownEscrow(stored))
	require.NoError(t, err)
	assert.Equal(t, stored, opened.Escrow.ID)
	_, err = w.open(knownEscrow("esc_1/../esc_2"))
	as[*errors.InvalidInput](t, err)
	_, err = w.pay(knownPayout("po_1/../po_2"))
	as[*errors.InvalidInput](t, err)
}
