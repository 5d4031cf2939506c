package payments_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// kind is a payment of each kind, and what moves its money in the host's books.
type kind struct {
	submission payments.Submission
	services   payments.Services
	moves      string
	path       string // of the request that pays
}

func (w *world) kinds() map[string]func() kind {
	return map[string]func() kind{
		"payout": func() kind {
			return kind{w.payment(1), payments.IntegratorServices(w.platform()), "payout_funding", confirmPath}
		},
		"escrow": func() kind {
			return kind{payments.EscrowPayment{Key: "escrow-1", Account: w.account, Escrow: newEscrow()},
				payments.IntegratorServices(w.platform()), "escrow_active",
				"/escrow/{escrowId}/actions/{actionKey}/confirm"}
		},
		"release": func() kind {
			platform := w.platform()
			opened, err := platform.For(w.account).Escrows.Open(w.Context(), newEscrow(), "escrow-0",
				dapi.EscrowTerms{})
			require.NoError(w, err)
			return kind{payments.EscrowAction{Key: "release-1", Account: w.account, EscrowID: opened.Escrow.ID,
				Escrow: newEscrow(),
				Action: dapi.EscrowActionTypeRelease}, payments.IntegratorServices(platform), "escrow_released",
				"/escrow/{escrowId}/actions/{actionKey}/confirm"}
		},
		"transfer": func() kind {
			app, contact := w.app()
			return kind{payments.TransferPayment{Key: "transfer-1", To: appapi.ToContact{ContactID: contact,
				Amount: amount("12.5")}}, payments.Services{}.WithTransfers(app), "transfer", "/apps/transfer"}
		},
	}
}

func eachKind(t *testing.T, test func(w *world, k kind)) {
	eachOf(t, test, append(flows, "transfer")...)
}

// flows are the kinds that are journaled between their booking and their signature. A transfer pays in one call.
var flows = []string{"payout", "escrow", "release"}

func eachOf(t *testing.T, test func(w *world, k kind), names ...string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) { test(w, w.kinds()[name]()) })
		})
	}
}

func (w *world) process(k kind, store payments.Store, change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	var config payments.Config
	for _, c := range change {
		c(&config)
	}
	p, err := payments.New(store, k.services, config)
	require.NoError(w, err)
	return p
}

// assertMoved checks that the money of a payment moved so often.
func (w *world) assertMoved(k kind, times int) {
	w.Helper()
	total := 0
	for _, n := range w.Moved(k.moves) {
		total += n
	}
	if k.moves == "escrow_active" && total > 0 {
		total = len(w.Moved(k.moves))
	}
	assert.Equal(w, times, total, "%v", w.Moved(k.moves))
}

// leaveInDoubt leaves the outcome of a payment in doubt: the request that pays and all reads that look for the payment
// meet these faults. It returns when the service can be reached again.
func (w *world) leaveInDoubt(k kind, lost, unread sandbox.Fault) (*payments.Processor, payments.Record) {
	w.Helper()
	const all = 1_000
	faults := []*sandbox.ArmedFault{
		w.Host.Arm(http.MethodPost, k.path, lost.Times(all)),
		w.Host.Arm(http.MethodGet, "/**", unread.Times(all)),
		w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync", unread.Times(all)),
	}
	p := w.process(k, w.store)
	r, err := p.Step(w.Context(), w.submit(p, k.submission).Key)
	require.NoError(w, err)
	require.Equal(w, moneymovement.PaymentInDoubt, r.State, "%+v", r.Reason)
	assert.Positive(w, faults[0].Consumed())
	for _, f := range faults {
		f.Disarm()
	}
	return p, r
}

func TestEachKindIsPaidOnce(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		p := w.process(k, w.store)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		r := w.submit(p, k.submission)
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.True(w, done.MayHaveLeft)
		assert.Equal(w, 1, done.Calls)
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// The confirm is lost in every call until the key is too old: then the escrow, the payout or the list of transfers
// shows the payment.
func TestEachKindIsFoundAfterItsKeyExpired(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		p, r := w.leaveInDoubt(k, sandbox.DropAfterCommit(), sandbox.DropBefore())
		time.Sleep(week + time.Hour)
		writes := len(w.writes())
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.Len(w, w.writes(), writes, "writes for a payment whose key is too old")
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// A payment in doubt is searched for after a refused call. If that read is told to come back later, the next call and
// its read wait for that.
func TestSearchForAPaymentThatIsRateLimited(t *testing.T) {
	forbidden := sandbox.Respond(http.StatusForbidden, "forbidden")
	empty := sandbox.Respond(http.StatusOK, "").WithBody("{}").AfterCommit()
	confirm, sync := "/escrow/{escrowId}/actions/{actionKey}/confirm", "/escrow/{escrowId}/sync"
	for name, at := range map[string]struct {
		kind, write  string
		fault        sandbox.Fault
		method, read string
	}{
		"release":          {"release", "/escrow/{escrowId}/actions", forbidden, http.MethodPost, sync},
		"release, confirm": {"release", confirm, sandbox.DropBefore().Times(4), http.MethodPost, sync},
		"escrow, confirm":  {"escrow", confirm, sandbox.DropBefore().Times(4), http.MethodPost, sync},
		"escrow, empty":    {"escrow", confirm, empty, http.MethodPost, sync},
		"transfer":         {"transfer", "/apps/transfer", forbidden, http.MethodGet, "/apps/transfers"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[at.kind]()
				before := len(w.Moved(k.moves))
				lost := sandbox.DropBefore()
				if at.kind == "transfer" { // one that did not arrive needs a decision
					lost = sandbox.DropAfterCommit()
				}
				p, r := w.leaveInDoubt(k, lost, sandbox.DropBefore())
				time.Sleep(time.Until(r.Due))
				w.Host.Arm(http.MethodPost, at.write, at.fault)
				w.Host.Arm(at.method, at.read,
					sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300"))
				r, err := p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				require.Equal(w, moneymovement.PaymentInDoubt, r.State, "%+v", r.Reason)
				assert.GreaterOrEqual(w, time.Until(r.Due), 299*time.Second)
				_, err = p.Resume(w.Context())
				require.NoError(w, err)
				w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				w.assertMoved(k, before+1)
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// writes are the requests that can move money.
func (w *world) writes() (writes []string) {
	for _, r := range w.Host.Requests() {
		switch r.Operation {
		case "BookPayout", "ConfirmPayout", "CreateEscrow", "PrepareEscrowAction", "ConfirmEscrowAction",
			"CreateTransfer":
			writes = append(writes, r.Operation)
		}
	}
	return writes
}

const week = 7 * 24 * time.Hour

// dieInDoubt makes a payment whose confirm was lost, and whose process then died. booked is what is stored of it.
func (w *world) dieInDoubt(confirmed bool, change ...func(*payments.Payment)) (booked payments.Record) {
	w.Helper()
	asked := w.payment(1)
	for _, c := range change {
		c(&asked)
	}
	fault := sandbox.DropBefore()
	if confirmed {
		fault = sandbox.DropAfterCommit()
	}
	lost := w.onConfirm(fault.Times(10_000))
	unread := w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.DropBefore().Times(10_000))
	p := w.processor()
	w.submit(p, asked)
	r, err := p.Step(w.Context(), asked.Key)
	require.NoError(w, err)
	require.Equal(w, moneymovement.PaymentInDoubt, r.State)
	require.NotEmpty(w, r.PayoutID)
	lost.Disarm()
	unread.Disarm()
	return r
}

// The same, while the payout cannot be read: it is searched for again, ever more rarely, and never sent.
func TestSearchForAPaymentWithoutReads(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(true)
		books := w.Sent("BookPayout")
		time.Sleep(week + time.Hour)
		unread := w.Host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.Respond(503, "provider_unavailable").
			WithHeader("Retry-After", "1").Times(1_000_000))
		p := w.started(pollRarely)
		time.Sleep(24 * time.Hour)
		stored, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, stored.State)
		assert.Positive(w, unread.Consumed())
		assert.Less(w, stored.Searches, 24*60/2, "searches in a day")
		unread.Disarm()
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, books, w.Sent("BookPayout"))
		w.assertPaid(1)
	})
}

// A confirm that never arrived: the payout itself shows that its money never left.
func TestOldPaymentThatWasNeverConfirmed(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(false)
		books, confirms := w.Sent("BookPayout"), w.Sent("ConfirmPayout")
		time.Sleep(week + time.Hour)
		p := w.started()
		refused := w.becomes(p, r.Key, moneymovement.PaymentRefused)
		assert.Equal(w, payments.ReasonEnded, refused.Reason.Code)
		assert.False(w, refused.MayHaveLeft)
		w.waitQuietly()
		assert.Equal(w, books, w.Sent("BookPayout"))
		assert.Equal(w, confirms, w.Sent("ConfirmPayout"))
		w.assertPaid(0)
	})
}

// Nothing shows the payment, because nobody stored its payout: a person must decide, and nothing is sent.
func TestOldPaymentWithoutAPayoutNeedsADecision(t *testing.T) {
	for decision, want := range map[payments.Decision]moneymovement.PaymentState{
		payments.WasNotPaid("not in the books"): moneymovement.PaymentRefused,
		payments.WasPaid(""):                    moneymovement.PaymentCompleted,
	} {
		t.Run(decision.String(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				p, old := w.started(), w.payment(2)
				old.FirstUsed = time.Now().Add(-8 * 24 * time.Hour)
				w.submit(p, old)
				r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
				assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
				assert.True(w, r.MayHaveLeft)
				for _, d := range []payments.Decision{payments.Retry(), payments.Cancel(""),
					payments.NewBounds(dapi.Bounds{})} {
					_, err := p.Decide(w.Context(), old.Key, d)
					as[*payments.NotPossible](w, err)
				}
				decided := w.decide(p, old.Key, decision)
				assert.Equal(w, want, decided.State)
				assert.Equal(w, want == moneymovement.PaymentCompleted, decided.MayHaveLeft)
				w.waitQuietly()
				assert.Zero(w, w.Sent("BookPayout"))
			})
		})
	}
}

// A person names a payout that is not the payment's: nothing would ever show that it has arrived, or another payment
// would be followed.
func TestADecisionThatNamesAnotherPayout(t *testing.T) {
	inBubble(t, func(w *world) {
		p, old := w.started(pollRarely), w.payment(2)
		w.submit(p, w.payment(1))
		other := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		old.FirstUsed = time.Now().Add(-8 * 24 * time.Hour)
		w.submit(p, old)
		w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
		for _, wrong := range []dapi.PayoutID{"po_typo", "po/../x", other.PayoutID} {
			w.decide(p, old.Key, payments.WasPaid(wrong))
			r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
			assert.Equal(w, payments.ReasonTerms, r.Reason.Code)
			assert.Contains(w, r.Reason.Message, string(wrong))
			assert.True(w, r.MayHaveLeft)
			assert.Empty(w, r.PayoutID)
		}
		r := w.decide(p, old.Key, payments.WasPaid(""))
		assert.Equal(w, moneymovement.PaymentCompleted, r.State)
	})
}

// A payout that was never funded has a status that this version does not know, when its key is too old. That does not
// show that it was paid.
func TestOldPaymentWithAnUnknownStatus(t *testing.T) {
	inBubble(t, func(w *world) {
		r := w.dieInDoubt(false)
		var response moneymovement.Response
		_, err := w.platform().For(w.account).Payouts.Get(w.Context(), r.PayoutID,
			moneymovement.CaptureResponse(&response))
		require.NoError(w, err)
		var payout map[string]any
		require.NoError(w, json.Unmarshal(response.Body, &payout))
		delete(payout, "approval")
		payout["status"] = "one_of_tomorrow"
		body, err := json.Marshal(payout)
		require.NoError(w, err)
		w.Host.Arm(http.MethodGet, "/payouts/{payoutId}",
			sandbox.Respond(http.StatusOK, "").WithBody(string(body)).Times(1_000))
		time.Sleep(week + time.Hour)
		r = w.becomes(w.started(), r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		assert.True(w, r.MayHaveLeft)
	})
}

// A key whose age comes near to 7 days is not sent around the time at which the service forgets it.
func TestKeyNearItsExpiryIsNotSent(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		w.submit(p, w.dear(1))
		_, err := p.Step(w.Context(), w.dear(1).Key)
		require.NoError(w, err)
		time.Sleep(week - time.Minute)
		w.decide(p, w.dear(1).Key, payments.NewBounds(dapi.Bounds{}))
		p = w.started()
		books := w.Sent("BookPayout")
		time.Sleep(2 * time.Hour)
		assert.Equal(w, books, w.Sent("BookPayout"))
		done := w.becomes(p, w.dear(1).Key, moneymovement.PaymentCompleted)
		assert.Less(w, time.Since(done.FirstUsed), time.Hour)
		w.assertPaid(1)
	})
}

// An earlier program used the key. What it did is known if the key is young, and searched for otherwise.
func TestAKeyThatAnEarlierProgramUsed(t *testing.T) {
	inBubble(t, func(w *world) {
		used := time.Now()
		asked := w.payment(1)
		payout, err := w.platform().For(w.account).Payouts.Pay(w.Context(), asked.Payout, asked.Key, dapi.PayTerms{})
		require.NoError(w, err)
		asked.FirstUsed = used
		p := w.started()
		assert.Equal(w, moneymovement.PaymentInDoubt, w.submit(p, asked).State)
		done := w.becomes(p, asked.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, payout.Payout.ID, done.PayoutID)

		old := w.payment(2)
		old.Payout, old.FirstUsed = asked.Payout, time.Now().Add(-8*24*time.Hour)
		w.submit(p, old)
		r := w.becomes(p, old.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		w.decide(p, old.Key, payments.WasPaid(payout.Payout.ID))
		w.becomes(p, old.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// The service says that a payment is paid, and never names the payout. Once the key is too old, the call that would
// name it is not made any more.
func TestPaidPayoutWithoutAnID(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(409, "already_funded").Times(1_000_000))
		p := w.processor()
		w.submit(p, w.payment(1))
		r, err := p.Step(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentPaid, r.State)
		assert.Empty(w, r.PayoutID)
		time.Sleep(week - time.Hour)
		p = w.started()
		r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonKeyTooOld, r.Reason.Code)
		assert.True(w, r.MayHaveLeft)
		last := w.Host.Requests()[len(w.Host.Requests())-1]
		assert.Less(w, last.Time.Sub(r.FirstUsed), week-2*time.Hour)
		_, err = p.Decide(w.Context(), r.Key, payments.Retry())
		as[*payments.NotPossible](w, err)
	})
}

// An escrow of whose id nothing is stored is searched for in the ledger. While an escrow of it cannot be read, the
// search goes on later.
func TestSearchForAnEscrowWithoutReads(t *testing.T) {
	inBubble(t, func(w *world) {
		account := w.platform().For(w.account)
		for i, amount := range []string{"40", "41"} { // the second has other terms
			terms := newEscrow()
			terms.Amount = decimal.RequireFromString(amount)
			_, err := account.Escrows.Open(w.Context(), terms, moneymovement.DeriveKey("escrow", strconv.Itoa(i)),
				dapi.EscrowTerms{})
			require.NoError(w, err)
		}
		used := time.Now()
		time.Sleep(week + time.Hour)
		unread := w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync",
			sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable").Times(1_000_000))
		p := w.started()
		r := w.submit(p, payments.EscrowPayment{Key: moneymovement.DeriveKey("escrow", "0"), Account: w.account,
			Escrow: newEscrow(), FirstUsed: used})
		time.Sleep(time.Hour)
		stored, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, stored.State)
		assert.Positive(w, stored.Searches)
		unread.Disarm()
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.NotEmpty(w, done.EscrowID)
	})
}

// A service that forgets a key before its 7 days are over books another payout for it. The stored payout shows that it
// is another one: it is not signed, and its price says nothing about the first payout, which was paid.
func TestAServiceThatForgetsAKeyTooEarly(t *testing.T) {
	for name, fee := range map[string]string{"at the same price": `"0.5"`, "at a price out of bounds": `"9.5"`} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				dearest := amount("1")
				r := w.dieInDoubt(true, func(p *payments.Payment) { p.Bounds.MaxFee = &dearest })
				signed := w.Key.Approvals()
				var response moneymovement.Response
				_, err := w.platform().For(w.account).Payouts.Book(w.Context(), *r.Payout,
					moneymovement.IdempotencyKey("another"), moneymovement.CaptureResponse(&response))
				require.NoError(w, err)
				other := strings.NewReplacer("another", string(r.Key), `"fee":"0.5"`, `"fee":`+fee).
					Replace(string(response.Body))
				require.Contains(w, other, `"fee":`+fee)
				w.Host.Arm(http.MethodPost, "/payouts",
					sandbox.Respond(http.StatusCreated, "").WithBody(other).Times(1_000_000))
				done := w.becomes(w.started(), r.Key, moneymovement.PaymentCompleted)
				assert.Equal(w, r.PayoutID, done.PayoutID)
				assert.Equal(w, signed, w.Key.Approvals())
				w.assertPaid(1)
			})
		})
	}
}

// services returns the clients of a new process.
func (w *world) services() payments.Services {
	return payments.IntegratorServices(w.platform()).WithTransfers(w.App(w.AppKey()))
}

// A payment whose terms somebody has changed in the store is not paid.
func TestAnEditedRecordIsNotPaid(t *testing.T) {
	edits := map[string][2]string{
		"payout": {`"amount":"10.01"`, `"amount":"10.02"`}, "escrow": {`"amount":"40"`, `"amount":"41"`},
		"release": {`"escrowId":"esc_`, `"escrowId":"esc_x`}, "transfer": {`"amount":"12.5"`, `"amount":"12.6"`},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[name]()
				before, writes := len(w.Moved(k.moves)), len(w.writes())
				p := w.process(k, w.store)
				r := w.submit(p, k.submission)
				claimed, _, err := w.store.Claim(w.Context(),
					payments.Claim{Owner: "somebody", Key: r.Key, Now: time.Now(),
						For: time.Minute})
				require.NoError(w, err)
				text, err := claimed[0].Encode()
				require.NoError(w, err)
				edited := strings.Replace(string(text), edit[0], edit[1], 1)
				require.NotEqual(w, string(text), edited)
				claimed[0].Record = payments.Decode(r.Key, []byte(edited))
				_, err = w.store.Save(w.Context(), claimed[0], true)
				require.NoError(w, err)
				r, err = p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
				assert.Equal(w, payments.ReasonEdited, r.Reason.Code)
				assert.False(w, r.MayHaveLeft)
				w.decide(p, r.Key, payments.Retry())
				r, err = p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				assert.Equal(w, payments.ReasonEdited, r.Reason.Code)
				assert.Len(w, w.writes(), writes)
				w.assertMoved(k, before)
				w.decide(p, r.Key, payments.Cancel("edited"))
			})
		})
	}
}

// Without a bound on what arrives, the first price bounds the later ones, also in another process.
func TestTheFirstPriceHoldsInAnotherProcess(t *testing.T) {
	inBubble(t, func(w *world) {
		refused := w.onConfirm(sandbox.Respond(http.StatusForbidden, "signing_policy_refused").Times(10))
		r := w.submit(w.processor(), w.payment(1))
		r, err := w.processor().Step(w.Context(), r.Key)
		require.NoError(w, err)
		require.NotNil(w, r.FirstQuote, "%s %+v", r.State, r.Reason)
		refused.Disarm()
		w.Configure(func(s *sandbox.Settings) { s.PriceWorsening = amount("0.05") })
		time.Sleep(10 * time.Minute)
		p := w.started()
		if r.State == moneymovement.PaymentNeedsDecision {
			w.decide(p, r.Key, payments.Retry())
		}
		r = w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, payments.ReasonPrice, r.Reason.Code)
		w.assertPaid(0)
		w.decide(p, r.Key, payments.NewBounds(dapi.Bounds{}))
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// settled lets a new process go on with a payment until it is completed. A person retries it if it needs a decision.
func (w *world) settled(k kind, key moneymovement.Key) payments.Record {
	w.Helper()
	k.services = w.services()
	p := w.process(k, w.store, pollRarely)
	_, err := p.Resume(w.Context())
	require.NoError(w, err)
	r, err := p.Await(w.Context(), key)
	require.NoError(w, err)
	if r.State == moneymovement.PaymentNeedsDecision {
		w.decide(p, key, payments.Retry())
	}
	r = w.becomes(p, key, moneymovement.PaymentCompleted)
	require.NoError(w, p.Stop(w.Context()))
	return r
}

// Another payment of the same amount is not taken for the one that is searched for.
func TestARestoredStoreKnowsItsOwnPayments(t *testing.T) {
	for _, name := range []string{"payout", "escrow"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[name]()
				r := w.submit(w.process(k, w.store), k.submission)
				other := w.payment(1)
				other.Key = "another"
				k.submission = other
				if name == "escrow" {
					k.submission = payments.EscrowPayment{Key: "another", Account: w.account, Escrow: newEscrow()}
				}
				store := w.store
				w.store = payments.NewMemoryStore()
				w.submit(w.process(k, w.store), k.submission)
				first := w.settled(k, "another")
				w.assertMoved(k, 1)
				w.store = store
				time.Sleep(time.Hour)
				second := w.settled(k, r.Key)
				w.assertMoved(k, 2)
				assert.NotEqual(w, [2]string{string(first.PayoutID), string(first.EscrowID)},
					[2]string{string(second.PayoutID), string(second.EscrowID)})
			})
		})
	}
}

// changed returns a submission with a deadline and a first use.
func changed(submission payments.Submission, deadline, used time.Time) payments.Submission {
	switch s := submission.(type) {
	case payments.Payment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.EscrowPayment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.EscrowAction:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.TransferPayment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	}
	return submission
}

// A payment that was made after the copy is submitted again when the service has forgotten its key, and nobody says
// that the key was used: a store that is marked as restored finds it.
func TestAPaymentThatARestoredStoreLacks(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		copied := time.Now()
		time.Sleep(time.Minute)
		r := w.submit(w.process(k, w.store), k.submission)
		made := w.settled(k, r.Key)
		w.assertMoved(k, before+1)
		time.Sleep(week + 3*time.Hour)

		w.store = payments.NewMemoryStore()
		k.services = w.services()
		p := w.process(k, w.store)
		require.NoError(w, p.MarkRestored(w.Context(), copied))
		again := w.submit(p, k.submission)
		_, err := p.Decide(w.Context(), again.Key, payments.Cancel("it is not needed"))
		assert.Equal(w, moneymovement.PaymentAccepted, as[*payments.NotPossible](w, err).State)
		found := w.settled(k, again.Key)
		assert.Equal(w, [2]string{string(made.PayoutID), string(made.EscrowID)},
			[2]string{string(found.PayoutID), string(found.EscrowID)})
		w.assertMoved(k, before+1)

		require.NoError(w, p.EndRestored(w.Context()))
		_, err = p.Get(w.Context(), again.Key)
		require.NoError(w, err)
		for _, since := range []time.Time{{}, time.Now().Add(2 * time.Hour)} {
			as[*errors.InvalidInput](w, p.MarkRestored(w.Context(), since))
		}
	})
}

// A payment that was not made is made, also with a restored store, once the service can be read.
func TestARestoredStorePaysWhatWasNotPaid(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		r := w.submit(w.process(k, w.store), k.submission)
		time.Sleep(week + 3*time.Hour)
		unread := []*sandbox.ArmedFault{
			w.Host.Arm(http.MethodGet, "/**", sandbox.DropBefore().Times(1_000)),
			w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync", sandbox.DropBefore().Times(1_000)),
		}
		writes := len(w.writes())
		k.services = w.services()
		p := w.process(k, w.store, pollRarely)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		time.Sleep(time.Hour)
		waiting, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, waiting.State, "%+v", waiting.Reason)
		assert.Len(w, w.writes(), writes)
		for _, fault := range unread {
			fault.Disarm()
		}
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// A page that is not the service's does not prove that a payment was not made: the service has forgotten the key, so
// the next call would pay again.
func TestAnEmptyListOfSomebodyElseProvesNothing(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusCreated} {
		inBubble(t, func(w *world) {
			payouts := w.platform().For(w.account).Payouts
			_, err := payouts.Pay(w.Context(), w.payment(1).Payout, w.payment(1).Key, dapi.PayTerms{})
			require.NoError(w, err)
			w.Host.ForgetKeys()
			w.Host.Arm(http.MethodGet, "/transactions", sandbox.Respond(status, "").WithBody("[]").
				WithHeader("Content-Type", "application/json"))
			again := w.payment(1)
			again.FirstUsed = time.Now()
			p := w.started()
			w.submit(p, again)
			w.becomes(p, again.Key, moneymovement.PaymentCompleted)
			w.assertPaid(1)
		})
	}
}
