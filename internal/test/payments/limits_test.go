package payments_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// capped sets limits with a cap for a day in UTC.
func capped(day string, change ...func(*payments.Limits)) func(*payments.Config) {
	caps := map[dapi.Asset]payments.Caps{dapi.USDC: {Day: new(amount(day))}}
	limits := &payments.Limits{TimeZone: "UTC", Assets: caps}
	for _, c := range change {
		c(limits)
	}
	return func(c *payments.Config) { c.Limits = limits }
}

// refusedByPolicy checks that a payment waits for a decision because of the limits, and counts nothing.
func (w *world) refusedByPolicy(r payments.Record, why string) {
	w.Helper()
	require.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
	assert.Equal(w, payments.ReasonPolicy, r.Reason.Code)
	assert.Contains(w, r.Reason.Message, why)
	assert.Nil(w, r.Spending)
	assert.False(w, r.MayHaveLeft)
}

// Two payments of about 10 USDC are within a cap of 25, and the third waits: also when the others are paid, when the
// cap is raised, and when the next day begins. It goes on when a person decides so.
func TestCapOfADay(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor(capped("25"), pollRarely)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		for n := range 2 {
			w.submit(p, w.payment(n))
			w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
		}
		third := w.submit(p, w.payment(2))
		w.refusedByPolicy(third, "30.03 USDC would be paid on 2000-01-01 in UTC, and the cap of a day is 25")
		assert.Equal(w, third, w.submit(p, w.payment(2)), "the same submission")
		w.decide(p, third.Key, payments.Retry())
		w.refusedByPolicy(w.becomes(p, third.Key, moneymovement.PaymentNeedsDecision), "the cap of a day is 25")
		require.NoError(w, p.Stop(w.Context()))

		p = w.started(capped("31"), pollRarely)
		w.waitQuietly()
		time.Sleep(24 * time.Hour)
		w.becomes(p, third.Key, moneymovement.PaymentNeedsDecision)
		assert.Equal(w, 2, w.Sent("BookPayout"), "nothing was sent for the third")
		w.decide(p, third.Key, payments.Retry())
		done := w.becomes(p, third.Key, moneymovement.PaymentCompleted)
		assert.Equal(w, "2000-01-02", done.Spending.At.Format(time.DateOnly), "it counts on the day of its call")
		w.assertPaid(3)
	})
}

// What was refused for good or canceled makes room. What is in doubt, needs another decision, or came back does not.
func TestWhatMakesRoomInACap(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(capped("25"))
		dear := w.dear(0)
		w.submit(p, dear)
		w.becomes(p, dear.Key, moneymovement.PaymentNeedsDecision)
		w.submit(p, w.payment(1))
		w.refusedByPolicy(w.submit(p, w.payment(2)), "the cap of a day")
		w.decide(p, dear.Key, payments.Cancel("not needed"))
		w.submit(p, w.payment(3))
		w.becomes(p, w.payment(3).Key, moneymovement.PaymentCompleted)
		w.refusedByPolicy(w.submit(p, w.payment(4)), "the cap of a day")

		payout := w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted).PayoutID
		_, err := w.platform().For(w.account).Sandbox.SetPayoutStatus(w.Context(), payout, dapi.PayoutStatusRefunded)
		require.NoError(w, err)
		_, err = p.Reconcile(w.Context(), payments.ReconcileParams{Account: w.account,
			From: time.Now().Add(-24 * time.Hour), To: time.Now()})
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentCameBack, w.get(p, w.payment(1).Key).State)
		w.refusedByPolicy(w.submit(p, w.payment(5)), "the cap of a day")
	})
}

func (w *world) get(p *payments.Processor, key moneymovement.Key) payments.Record {
	w.Helper()
	r, err := p.Get(w.Context(), key)
	require.NoError(w, err)
	return r
}

// A payment whose confirm was lost counts while it is in doubt.
func TestDoubtCountsWithinACap(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.onConfirm(sandbox.DropAfterCommit().Times(1000))
		p := w.started(capped("15"))
		w.submit(p, w.payment(0))
		w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted)
		assert.NotZero(w, lost.Consumed())
		w.refusedByPolicy(w.submit(p, w.payment(1)), "the cap of a day")
		w.assertPaid(1)
	})
}

// A payment that was in doubt when it was submitted counts past the caps, and the service is asked about it. If its
// response proves that nothing was paid, the caps hold before anything is signed.
func TestCapOfAPaymentInDoubt(t *testing.T) {
	inBubble(t, func(w *world) {
		used := time.Now()
		payouts := w.platform().For(w.account).Payouts
		paid, err := payouts.Pay(w.Context(), w.payment(0).Payout, w.payment(0).Key, dapi.PayTerms{})
		require.NoError(w, err)
		time.Sleep(time.Minute)
		p := w.started(capped("5"))
		for n := range 2 {
			again := w.payment(n)
			again.FirstUsed = used
			r := w.submit(p, again)
			assert.True(w, r.Spending.Unchecked)
		}
		done := w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted)
		assert.Equal(w, paid.Payout.ID, done.PayoutID)
		r := w.becomes(p, w.payment(1).Key, moneymovement.PaymentNeedsDecision)
		w.refusedByPolicy(r, "the cap of a day is 5")
		assert.Equal(w, 2, w.Sent("BookPayout"), "the service was asked about the second")
		w.assertPaid(1)
	})
}

// Lower caps and shorter lists hold for what was submitted before and not begun, and what may be paid is settled.
func TestLimitsAreCheckedBeforeTheCall(t *testing.T) {
	inBubble(t, func(w *world) {
		submitting := w.processor(capped("100"))
		for n := range 2 {
			assert.NotNil(w, w.submit(submitting, w.payment(n)).Spending)
		}
		p := w.processor(capped("5"))
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		for n := range 2 {
			waiting := w.becomes(p, w.payment(n).Key, moneymovement.PaymentNeedsDecision)
			w.refusedByPolicy(waiting, "the cap of a day is 5")
		}
		require.NoError(w, p.Stop(w.Context()))
		p = w.started(capped("100", func(l *payments.Limits) { l.Payees = map[string]string{"ct_other": "somebody"} }))
		w.decide(p, w.payment(0).Key, payments.Retry())
		w.refusedByPolicy(w.becomes(p, w.payment(0).Key, moneymovement.PaymentNeedsDecision), "do not name the payee")
		assert.Zero(w, w.Sent("BookPayout"))
	})
}

// A store without counts, as a program without limits leaves it: its payments count from their first call.
func TestPaymentsOfBeforeTheLimits(t *testing.T) {
	inBubble(t, func(w *world) {
		without := w.processor()
		for n := range 3 {
			assert.Nil(w, w.submit(without, w.payment(n)).Spending)
		}
		p := w.started(capped("25"))
		states := map[moneymovement.PaymentState]int{}
		for n := range 3 {
			r, err := p.Await(w.Context(), w.payment(n).Key, moneymovement.PaymentCompleted,
				moneymovement.PaymentNeedsDecision)
			require.NoError(w, err)
			states[r.State]++
		}
		assert.Equal(w, map[moneymovement.PaymentState]int{moneymovement.PaymentCompleted: 2,
			moneymovement.PaymentNeedsDecision: 1}, states)
		w.assertPaid(2)
	})
}

// Escrows count with the payouts, and their payee is an address.
func TestCapOfAPayee(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(func(c *payments.Config) {
			c.Limits = &payments.Limits{TimeZone: "UTC",
				Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {PayeeDay: new(amount("50"))}},
				Payees: map[string]string{string(w.contact): "Bob", string(worlds.Payee): "Bob"}}
		})
		escrow := payments.EscrowPayment{Key: "escrow", Account: w.account, Escrow: newEscrow()}
		w.submit(p, escrow)
		w.becomes(p, escrow.Key, moneymovement.PaymentCompleted)
		r := w.submit(p, w.payment(1))
		w.refusedByPolicy(r, fmt.Sprintf("50.01 USDC to %q", "Bob"))
		less := w.payment(2)
		less.Payout.Amount = decimal.NewFromInt(10)
		w.submit(p, less)
		w.becomes(p, less.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}

// Pay without package payments signs nothing that the limits refuse.
func TestPayWithLimits(t *testing.T) {
	inBubble(t, func(w *world) {
		limits := &payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {Payment: new(amount("10"))}}}
		allows, err := limits.BeforeSigning(nil)
		require.NoError(w, err)
		payouts := w.platform().For(w.account).Payouts
		for key, one := range map[moneymovement.Key]struct {
			amount string
			state  moneymovement.PaymentState
		}{"less": {"10", moneymovement.PaymentPaid}, "more": {"10.01", moneymovement.PaymentNotPaid}} {
			asked := w.payment(0).Payout
			asked.Amount = amount(one.amount)
			payment, err := payouts.Pay(w.Context(), asked, key, dapi.PayTerms{BeforeSigning: allows,
				Journal: func(context.Context, dapi.History) error { return nil }})
			assert.Equal(w, one.state, payment.State)
			if one.state != moneymovement.PaymentPaid {
				assert.Contains(w, as[*dapi.PaymentDeclined](w, err).Error(), "the cap of a payment is 10")
			}
		}
		w.assertPaid(1)
	})
}

// Ids that get one name are one payee from then on, also for payments that were submitted before and not begun.
func TestPayeesThatGetOneName(t *testing.T) {
	inBubble(t, func(w *world) {
		limits := func(payees map[string]string) func(*payments.Config) {
			return func(c *payments.Config) {
				c.Limits = &payments.Limits{TimeZone: "UTC", Payees: payees,
					Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {PayeeDay: new(amount("45"))}}}
			}
		}
		first := w.processor(limits(nil))
		escrow := payments.EscrowPayment{Key: "escrow", Account: w.account, Escrow: newEscrow()}
		assert.NotNil(w, w.submit(first, escrow).Spending)
		assert.NotNil(w, w.submit(first, w.payment(1)).Spending)
		p := w.started(limits(map[string]string{string(w.contact): "Bob", string(worlds.Payee): "Bob"}))
		states := map[moneymovement.PaymentState]int{}
		for _, key := range []moneymovement.Key{escrow.Key, w.payment(1).Key} {
			r, err := p.Await(w.Context(), key, moneymovement.PaymentCompleted, moneymovement.PaymentNeedsDecision)
			require.NoError(w, err)
			states[r.State]++
		}
		assert.Equal(w, map[moneymovement.PaymentState]int{moneymovement.PaymentCompleted: 1,
			moneymovement.PaymentNeedsDecision: 1}, states)
	})
}

// failing is a store that fails when it stores what [on] chooses: before it stores it, or afterwards.
type failing struct {
	payments.Store
	on     func(payments.Claimed) bool
	stores bool
	err    error
	failed func()
}

func (s *failing) Save(ctx context.Context, c payments.Claimed, release bool) (payments.Position, error) {
	if s.on == nil || !s.on(c) {
		return s.Store.Save(ctx, c, release)
	}
	if s.stores {
		if _, err := s.Store.Save(ctx, c, release); err != nil {
			return "", err
		}
	}
	s.failed()
	return "", s.err
}

// A transfer is not sent if the caps could not be asked.
func TestTransferWhoseLimitsCannotBeChecked(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &failing{Store: w.store, failed: func() {}}
		p := w.process(w.kinds()["transfer"](), store, capped("5"), pollRarely)
		transfer := w.kinds()["transfer"]().submission.(payments.TransferPayment)
		transfer.FirstUsed = time.Now().Add(-11 * time.Minute)
		w.submit(p, transfer)
		r, err := p.Step(w.Context(), transfer.Key)
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentNeedsDecision, r.State, "the service does not list it")
		w.decide(p, transfer.Key, payments.Retry())
		sent := len(w.Moved("transfer"))
		store.on = func(c payments.Claimed) bool { return c.Count != nil && len(c.Count.Caps) > 0 }
		store.err = &payments.LeaseLost{Key: transfer.Key}
		_, err = p.Step(w.Context(), transfer.Key)
		require.NoError(w, err)
		assert.Len(w, w.Moved("transfer"), sent)
		store.on = nil
		r = w.get(p, transfer.Key)
		assert.True(w, r.MayHaveLeft)
		require.NotNil(w, r.Reason)
		assert.Equal(w, payments.ReasonNotSent, r.Reason.Code)
		assert.Contains(w, r.Reason.Message, "the limits could not be checked")
	})
}

// The count moves to the next day before the signature. The store stores that, but its response is lost: what is
// counted afterwards is what the record says.
func TestACountWhoseResponseIsLost(t *testing.T) {
	inBubble(t, func(w *world) {
		time.Sleep(time.Until(time.Date(2000, 1, 1, 23, 59, 58, 0, time.UTC)))
		ctx, cancel := context.WithCancel(w.Context())
		store := &failing{Store: w.store, stores: true, err: context.Canceled, failed: cancel}
		store.on = func(c payments.Claimed) bool {
			return ctx.Err() == nil && c.Spending != nil && c.Spending.At.Day() == 2
		}
		slow := w.platform(moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
			return overMidnight{next}
		}))
		p := w.process(kind{services: payments.IntegratorServices(slow)}, store, capped("100"))
		w.submit(p, w.payment(0))
		r, err := p.Step(ctx, w.payment(0).Key)
		require.NoError(w, err)
		require.Error(w, ctx.Err())
		require.Equal(w, moneymovement.PaymentAccepted, r.State, "%+v", r.Reason)
		assert.Equal(w, 1, r.Spending.At.Day())
		assert.Equal(w, [2]string{"10", "0"}, [2]string{w.counted(1), w.counted(2)})
		w.decide(p, r.Key, payments.Cancel("not needed"))
		assert.Equal(w, [2]string{"0", "0"}, [2]string{w.counted(1), w.counted(2)})
	})
}

// overMidnight lets bookings take five seconds.
type overMidnight struct{ next http.RoundTripper }

func (o overMidnight) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(r)
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/payouts") {
		time.Sleep(5 * time.Second)
	}
	return response, err
}

// counted returns how much USDC the store counts on a day of January. A record that no cap allows says it.
func (w *world) counted(day int) string {
	w.Helper()
	from := time.Date(2000, 1, day, 0, 0, 0, 0, time.UTC)
	probe := w.payment(0)
	probe.Key = moneymovement.Key(rand.Text())
	record, err := payments.Prepare(probe, time.Now())
	require.NoError(w, err)
	record.Spending = &payments.Spending{Asset: "EURC", Payee: "nobody", At: from}
	record.Count = &payments.Count{Caps: []payments.Cap{{Asset: "USDC", From: from, Until: from.AddDate(0, 0, 1),
		Most: amount("-1000")}}}
	record, _, err = w.store.Insert(w.Context(), record)
	require.NoError(w, err)
	_, counted, _ := strings.Cut(record.Reason.Message, "with it, ")
	counted, _, _ = strings.Cut(counted, " USDC")
	return counted
}

// A payment that the limits had refused counts when a search finds that it was paid: somebody else has paid it.
func TestAPaymentThatSomebodyElsePaidCounts(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(capped("15"))
		w.submit(p, w.payment(1))
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		w.refusedByPolicy(w.submit(p, w.payment(0)), "the cap of a day is 15")
		payouts := w.platform().For(w.account).Payouts
		_, err := payouts.Pay(w.Context(), w.payment(0).Payout, w.payment(0).Key, dapi.PayTerms{})
		require.NoError(w, err)
		w.decide(p, w.payment(0).Key, payments.Retry())
		assert.NotNil(w, w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted).Spending)
		assert.Equal(w, "20.01", w.counted(1))
	})
}

// A payment that is submitted again to a restored store is searched for, and the caps are asked if it was not paid.
func TestCapOfARestoredStore(t *testing.T) {
	inBubble(t, func(w *world) {
		copied := time.Now()
		time.Sleep(time.Minute)
		payouts := w.platform().For(w.account).Payouts
		_, err := payouts.Pay(w.Context(), w.payment(0).Payout, w.payment(0).Key, dapi.PayTerms{})
		require.NoError(w, err)
		p := w.started(capped("25"))
		require.NoError(w, p.MarkRestored(w.Context(), copied))
		for n := 1; n <= 2; n++ {
			w.submit(p, w.payment(n))
			w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
		}
		for n := range 2 {
			again := w.payment(3 * n)
			r := w.submit(p, again)
			require.Equal(w, moneymovement.PaymentAccepted, r.State)
			assert.True(w, r.Spending.Unchecked)
		}
		assert.NotNil(w, w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted).Spending)
		w.refusedByPolicy(w.becomes(p, w.payment(3).Key, moneymovement.PaymentNeedsDecision), "the cap of a day is 25")
		w.assertPaid(3)
	})
}

// What a person says was paid counts, although the limits had refused it.
func TestAPaymentThatAPersonSaysWasPaidCounts(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor(capped("15", func(l *payments.Limits) {
			l.Payees = map[string]string{"ct_other": "somebody"}
		}))
		require.NoError(w, p.MarkRestored(w.Context(), time.Now().Add(-time.Minute)))
		r := w.submit(p, w.payment(0))
		assert.Contains(w, r.Reason.Message, "Retry searches for it first")
		assert.True(w, r.MayHaveLeft)
		assert.NotNil(w, w.decide(p, r.Key, payments.WasPaid("")).Spending)
		require.NoError(w, p.EndRestored(w.Context()))
		assert.Equal(w, "10", w.counted(1))
	})
}

// A payment in doubt was paid under its old name, perhaps.
func TestAPayeeInDoubtKeepsItsName(t *testing.T) {
	inBubble(t, func(w *world) {
		unclear := w.payment(0)
		unclear.FirstUsed = time.Now().Add(-time.Minute)
		before := w.submit(w.processor(capped("15")), unclear).Spending.Payee
		p := w.processor(capped("15", func(l *payments.Limits) {
			l.Payees = map[string]string{string(w.contact): "Bob"}
		}))
		r, err := p.Step(w.Context(), unclear.Key)
		require.NoError(w, err)
		assert.Equal(w, before, r.Spending.Payee)
	})
}

// A payment that a program without limits has paid counts on the day on which it was paid.
func TestAPaymentOfBeforeTheLimitsCountsOnItsDay(t *testing.T) {
	inBubble(t, func(w *world) {
		without := w.processor()
		w.submit(without, w.payment(0))
		paid, err := without.Step(w.Context(), w.payment(0).Key)
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentPaid, paid.State)
		time.Sleep(26 * time.Hour)
		p := w.started(capped("15"), pollRarely)
		w.becomes(p, w.payment(0).Key, moneymovement.PaymentCompleted)
		assert.Equal(w, [2]string{"10", "0"}, [2]string{w.counted(1), w.counted(2)})
	})
}
