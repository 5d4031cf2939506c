package payments_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

func TestTheSameSubmissionIsTheSamePayment(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		first := w.submit(p, w.payment(1))
		again := w.submit(p, w.payment(1))
		assert.Equal(t, first.AcceptedAt, again.AcceptedAt)
		done := w.becomes(p, first.Key, moneymovement.PaymentCompleted)
		assert.Equal(t, done, w.submit(p, w.payment(1)))
		w.assertPaid(1)
		assert.Equal(t, 1, w.Sent("BookPayout"))
	})
}

func TestOtherTermsWithTheSameKeyAreRefused(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.submit(p, w.payment(1))
		done := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		for name, change := range map[string]func(*payments.Payment){
			"amount":  func(p *payments.Payment) { p.Payout.Amount = amount("999") },
			"account": func(p *payments.Payment) { p.Account = payments.OwnAccount },
			"bounds":  func(p *payments.Payment) { p.Bounds.QuoteTolerance = amount("0.1") },
		} {
			other := w.payment(1)
			change(&other)
			stored, err := p.Submit(w.Context(), other)
			reused := as[*errors.IdempotencyKeyReused](w, err)
			assert.Equal(t, string(done.PayoutID), reused.PayoutID, name)
			assert.Equal(t, errors.NotMoved, reused.MovedByCall(), name)
			assert.Empty(t, stored, name)
		}
		_, err := p.Submit(w.Context(),
			payments.EscrowPayment{Key: w.payment(1).Key, Account: w.account, Escrow: newEscrow()})
		as[*errors.IdempotencyKeyReused](w, err)
		w.assertPaid(1)
	})
}

func TestProcessorRefusesAWrongConfig(t *testing.T) {
	_, err := payments.New(nil, payments.Services{}, payments.Config{})
	require.Error(t, err)
	for name, services := range map[string]payments.Services{
		"the zero services": {}, "no integrator": payments.IntegratorServices(nil),
		"no self-serve": payments.SelfServeServices(nil), "no app": payments.Services{}.WithTransfers(nil),
	} {
		p, err := payments.New(payments.NewMemoryStore(), services, payments.Config{})
		require.NoError(t, err, name)
		_, err = p.Submit(t.Context(), payments.Payment{Key: "k", Payout: dapi.PayoutCreate{ContactID: "ct_1",
			Amount: amount("1"), Currency: dapi.USDC}})
		_, invalid := errors.AsType[*errors.InvalidInput](err)
		assert.True(t, invalid, "%s: %v", name, err)
		_, err = p.Resume(t.Context())
		require.ErrorContains(t, err, "Resume: invalid input: services are empty", name)
	}
}

// With settings out of range a process goes on, and does not become busy.
func TestSettingsOutOfRangeAreBounded(t *testing.T) {
	for name, config := range map[string]payments.Config{
		"negative": {InFlight: -1, Following: -1, PollEvery: -1, LeaseFor: -1, LoadEvery: -1,
			Policy: payments.Policy{Refusals: -1, RetryMin: -1, RetryMax: -1, FollowMin: -1, FollowMax: -1}},
		"one":  {InFlight: 1, Following: 1, Policy: payments.Policy{Refusals: 1}},
		"huge": {InFlight: 1 << 30, Following: 1 << 30, PollEvery: 1 << 62, LeaseFor: 1 << 30, LoadEvery: 1 << 62},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				p := w.started(func(c *payments.Config) { *c = config })
				for n := range 3 {
					w.submit(p, w.payment(n))
				}
				for n := range 3 {
					w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
				}
				w.assertPaid(3)
			})
		})
	}
}

func TestSelfServeHasOneAccount(t *testing.T) {
	inBubble(t, func(w *world) {
		p, err := payments.New(w.store, payments.SelfServeServices(w.selfServe()), payments.Config{})
		require.NoError(t, err)
		_, err = p.Resume(w.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, p.Stop(w.Context())) }()
		_, err = p.Submit(w.Context(), w.payment(1))
		as[*errors.InvalidInput](w, err)
		own := w.ownPayment(1)
		w.submit(p, own)
		w.becomes(p, own.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// A payment names the account that pays. With an integrator, a forgotten account must not pay from the integrator's own
// money, so that account is named, too.
func TestAPaymentNamesItsAccount(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		payment, action := w.payment(1), payments.EscrowAction{EscrowID: "esc_1", Escrow: newEscrow(),
			Action: dapi.EscrowActionTypeRelease}
		for _, account := range []dapi.ClientID{
			"", "acme", "cl_acme ", " cl_acme", "cl_a\x00", "cl_a\xff", "ct_1", "Self",
		} {
			payment.Account, action.Account = account, account
			payment.Key, action.Key = "of-no-account", "action-of-no-account"
			for _, submission := range []payments.Submission{payment, action,
				payments.EscrowPayment{Key: "escrow-of-no-account", Account: account, Escrow: newEscrow()}} {
				_, err := p.Submit(w.Context(), submission)
				refused := as[*errors.InvalidInput](w, err)
				if assert.Len(t, refused.Fields, 1, "%q: %v", account, err) {
					assert.Equal(t, "account", refused.Fields[0].Field)
				}
				if account == "" {
					require.ErrorContains(t, err, "payments.OwnAccount")
				}
			}
			_, err := p.Reconcile(w.Context(), payments.ReconcileParams{Account: account, To: time.Now()})
			as[*errors.InvalidInput](w, err)
		}
		for stored, err := range p.List(w.Context(), payments.ListParams{}) {
			t.Errorf("%s was stored without an account: %v", stored.Key, err)
		}
		own := w.ownPayment(2)
		own.Account = payments.OwnAccount
		w.submit(p, own)
		assert.Equal(t, payments.OwnAccount, w.becomes(p, own.Key, moneymovement.PaymentCompleted).Account)
		w.assertPaid(1)
	})
}

// A payment that this process knows to be impossible is not stored: an asset in another spelling, and an amount with
// more decimals than its token has, if the client has read the list of chains.
func TestImpossibleTermsAreNotStored(t *testing.T) {
	inBubble(t, func(w *world) {
		platform := w.platform()
		p, err := payments.New(w.store, payments.IntegratorServices(platform), payments.Config{})
		require.NoError(w, err)
		spelled, fine, precise := w.payment(1), w.payment(2), w.payment(3)
		spelled.Payout.Currency = "usdc"
		escrow := payments.EscrowPayment{Key: "escrow", Account: w.account, Escrow: newEscrow()}
		escrow.Escrow.Currency = " Eurc"
		_, err = p.Submit(w.Context(), spelled)
		as[*errors.InvalidInput](w, err)
		require.ErrorContains(w, err, `currency is "usdc": did you mean USDC`)
		_, err = p.Submit(w.Context(), escrow)
		require.ErrorContains(w, err, `did you mean EURC`)
		_, err = platform.For(w.account).Payouts.Pay(w.Context(), spelled.Payout, "misspelled", dapi.PayTerms{})
		require.ErrorContains(w, err, `did you mean USDC`)
		_, err = platform.For(w.account).Sandbox.Deposit(w.Context(),
			dapi.DepositCreate{Amount: amount("1"), Currency: "usdc"})
		require.ErrorContains(w, err, `did you mean USDC`)

		fine.Payout.Amount, precise.Payout.Amount = amount("1.1234567"), amount("1.1234567")
		w.submit(p, fine) // nobody knows yet
		_, err = platform.For(w.account).Chains.Live(w.Context())
		require.NoError(w, err)
		_, err = p.Submit(w.Context(), precise)
		require.ErrorContains(w, err, "amount has 7 decimals, but USDC allows at most 6")
		escrow.Escrow.Currency, escrow.Escrow.Amount = dapi.EURC, amount("1.1234567")
		_, err = p.Submit(w.Context(), escrow)
		require.ErrorContains(w, err, "EURC allows at most 6")
		stored := 0
		for _, err := range p.List(w.Context(), payments.ListParams{}) {
			require.NoError(w, err)
			stored++
		}
		assert.Equal(w, 1, stored)
	})
}

// With self-serve there is one account, and no word is needed. It is stored by its name, however it was submitted.
func TestSelfServeNeedsNoAccount(t *testing.T) {
	inBubble(t, func(w *world) {
		p, err := payments.New(w.store, payments.SelfServeServices(w.selfServe()), payments.Config{})
		require.NoError(t, err)
		own := w.ownPayment(1)
		assert.Equal(t, payments.OwnAccount, w.submit(p, own).Account)
		own.Account = payments.OwnAccount
		w.submit(p, own)
		none := dapi.ClientID("")
		for _, account := range []dapi.ClientID{none, payments.OwnAccount} {
			listed := 0
			for _, err := range p.List(w.Context(), payments.ListParams{Account: &account}) {
				require.NoError(t, err)
				listed++
			}
			assert.Equal(t, 1, listed, account)
			_, err = p.Reconcile(w.Context(), payments.ReconcileParams{Account: account, To: time.Now()})
			require.NoError(t, err)
		}
	})
}

// An account that is not one of the integrator's clients concerns its payments alone: the others go on.
func TestUnknownAccountFailsOnlyItsPayments(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		for n := range 20 {
			strange := w.payment(100 + n)
			strange.Account = "cl_nobody"
			w.submit(p, strange)
		}
		for n := range 20 {
			w.submit(p, w.payment(n))
		}
		synctest.Wait()
		for n := range 20 {
			done := w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
			assert.Less(t, done.PaidAt.Sub(done.AcceptedAt).Seconds(), 30.0)
		}
		w.assertPaid(20)
		r, err := p.Get(w.Context(), w.payment(100).Key)
		require.NoError(t, err)
		t.Logf("%s %+v", r.State, r.Reason)
		assert.False(t, r.MayHaveLeft)
	})
}

func TestPaymentsThatAreNotStored(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		_, err := p.Get(w.Context(), "k")
		as[*payments.NotFound](w, err)
		_, err = p.Decide(w.Context(), "k", payments.Retry())
		as[*payments.NotFound](w, err)
		_, err = p.Step(w.Context(), "k")
		as[*payments.NotFound](w, err)
		_, err = p.Await(w.Context(), "k")
		as[*payments.NotFound](w, err)
		for _, err := range p.Watch(w.Context(), "no position") {
			as[*payments.BadPosition](w, err)
		}
	})
}

// A payment can pass a state too fast to be seen, or never reach it: a wait for it ends with the payment.
func TestWaitForAStateThatIsNotReached(t *testing.T) {
	inBubble(t, func(w *world) {
		p, late := w.started(), w.payment(2)
		late.Deadline = time.Now().Add(-time.Minute)
		w.submit(p, w.payment(1))
		w.submit(p, late)
		time.Sleep(time.Hour)
		waiting, cancel := context.WithTimeout(w.Context(), time.Hour)
		defer cancel()
		for key, want := range map[moneymovement.Key]moneymovement.PaymentState{
			w.payment(1).Key: moneymovement.PaymentCompleted, late.Key: moneymovement.PaymentRefused,
		} {
			r, err := p.Await(waiting, key, moneymovement.PaymentPaid)
			require.NoError(w, err)
			assert.Equal(w, want, r.State)
		}
	})
}
