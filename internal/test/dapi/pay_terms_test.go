package dapi_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// What a booking echoes is compared with what was asked for, by value. It may leave terms out.
func TestEchoedTermsOfAPayout(t *testing.T) {
	member := func(name string, value any) func(payout map[string]any) {
		return func(payout map[string]any) { payout[name] = value }
	}
	for name, c := range map[string]struct {
		change func(payout map[string]any)
		member string // that differs
	}{
		"another contact":          {member("contactId", "ct_other"), "contactId"},
		"another amount":           {member("amount", "250"), "amount"},
		"another currency":         {member("currency", "EURC"), "currency"},
		"another chain":            {member("toChainId", 100), "toChainId"},
		"from another chain":       {member("fromChainId", 100), "fromChainId"},
		"the amount in other form": {member("amount", "25.000"), ""},
		"no contact":               {func(payout map[string]any) { delete(payout, "contactId") }, ""},
		"no amount":                {func(payout map[string]any) { delete(payout, "amount") }, ""},
		"no chain":                 {func(payout map[string]any) { delete(payout, "toChainId") }, ""},
		"no currency":              {func(payout map[string]any) { delete(payout, "currency") }, ""},
		"from the usual chain":     {member("fromChainId", 8453), ""},
		"the asset in lower case":  {member("currency", "usdc"), ""},
		"the contact in short": {func(payout map[string]any) {
			payout["contactId"] = strings.TrimPrefix(payout["contactId"].(string), "ct_")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(c.change)
			payment, err := w.pay(journaled())
			if c.member == "" {
				require.NoError(t, err)
				return
			}
			differs := as[*dapi.TermsDiffer](t, err)
			assert.Equal(t, c.member, differs.Member)
			assert.Contains(t, err.Error(), c.member)
			assert.Equal(t, "BookPayout", differs.Operation)
			if strings.HasSuffix(c.member, "ChainId") {
				assert.Empty(t, differs.Asked, "no chain was asked for")
				assert.Equal(t, "100", differs.Got)
			}
			assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
			w.assertNothingSigned(t)
		})
		if c.member == "" {
			continue
		}
		t.Run(name+", and the service says that it is done", func(t *testing.T) {
			w := newPayWorld(t)
			w.onBooking(func(payout map[string]any) {
				c.change(payout)
				payout["status"] = "completed"
				delete(payout, "approval")
			})
			payment, err := w.pay(journaled())
			assert.Equal(t, moneymovement.PaymentInDoubt, payment.State,
				"a difference is doubt, never success")
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, c.member, as[*dapi.TermsDiffer](t, inDoubt.Cause).Member)
			assert.Zero(t, w.Key.Approvals())
		})
		t.Run(name+", in the response to the confirm", func(t *testing.T) {
			w := newPayWorld(t)
			w.onSuccess("POST", confirmPath, c.change)
			w.Host.Arm("GET", "/payouts/*", sandbox.Respond(403, "forbidden").Times(10))
			payment, err := w.pay(journaled())
			assert.Equal(t, moneymovement.PaymentInDoubt, payment.State)
			inDoubt := as[*errors.InDoubt](t, err)
			assert.Equal(t, c.member, as[*dapi.TermsDiffer](t, inDoubt.Cause).Member)
		})
	}
}

// The echo of the key is stated: a booking without it proves nothing.
func TestBookingWithoutItsKey(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(func(payout map[string]any) { delete(payout, "idempotencyKey") })
	payment, _ := w.pay()
	assert.Equal(t, moneymovement.PaymentInDoubt, payment.State)
	w.assertNothingSigned(t)
}

// A booking with other terms and without a status is a plain refusal, because nothing says that it is paid.
func TestBookingOfOtherTermsWithoutItsStatus(t *testing.T) {
	w := newPayWorld(t)
	w.onBooking(both(without("status"), func(payout map[string]any) { payout["amount"] = "250" }))
	_, err := w.pay(journaled())
	assert.Equal(t, "amount", as[*dapi.TermsDiffer](t, err).Member)
	w.assertNothingSigned(t)
}

// Who books and confirms by hand is protected alike.
func TestConfirmComparesTermsAndPrice(t *testing.T) {
	w := newPayWorld(t)
	booked, err := w.account.Payouts.Book(t.Context(), w.asked)
	require.NoError(t, err)
	other := *booked
	other.Amount = amount("250")
	_, err = w.account.Payouts.Confirm(t.Context(), w.asked, &other)
	differs := as[*dapi.TermsDiffer](t, err)
	assert.Equal(t, "amount", differs.Member)
	ofConfirm := errors.CallInfo{Operation: "ConfirmPayout", Resource: string(booked.ID),
		IdempotencyKey: booked.IdempotencyKey}
	assert.Equal(t, ofConfirm, differs.CallInfo)
	dear := *booked
	quote := *booked.Quote
	quote.SourceAmount = amount("1000")
	dear.Quote = &quote
	_, err = w.account.Payouts.Confirm(t.Context(), w.asked, &dear)
	refused := as[*dapi.PriceRefused](t, err)
	assert.Equal(t, dapi.BoundAmount, refused.Bound)
	assert.Equal(t, ofConfirm, refused.CallInfo)
	assert.Equal(t, &dear, refused.Payout)
	forged := *booked
	forged.Approval = &dapi.Approval{ID: "apr_1", Payload: []byte("opaque"), ExpiresAt: booked.Approval.ExpiresAt}
	_, err = w.account.Payouts.Confirm(t.Context(), w.asked, &forged)
	head := as[*signing.ApprovalRefused](t, err).CallInfo
	assert.Equal(t, "ConfirmPayout", head.Operation)
	assert.Equal(t, string(booked.ID), head.Resource)
	assert.Empty(t, head.IdempotencyKey, "no call was made with one")
	assert.Empty(t, head.Account, "the credential's own")
	assert.Zero(t, w.Key.Approvals())
	w.onSuccess("POST", confirmPath, func(payout map[string]any) { payout["amount"] = "250" })
	confirmed, err := w.account.Payouts.Confirm(t.Context(), w.asked, booked)
	assert.Nil(t, confirmed)
	inDoubt := as[*errors.InDoubt](t, err)
	assert.Equal(t, "ConfirmPayout", inDoubt.Operation)
	differs = as[*dapi.TermsDiffer](t, inDoubt.Cause)
	assert.Equal(t, "250", differs.Got)
	assert.Equal(t, ofConfirm, differs.CallInfo)
	assert.Equal(t, 1, w.Fundings(), "it was signed by then")
}

// The hook sees each booking before it is signed, and has until 20 seconds before its approval ends.
func TestBeforeSigning(t *testing.T) {
	t.Run("sees and lets pass", func(t *testing.T) {
		w := newPayWorld(t)
		var seen *dapi.Payout
		var during context.Context
		payment, err := w.pay(beforeSigning(func(ctx context.Context, booked *dapi.Payout) error {
			seen, during = booked, ctx
			assert.NoError(t, ctx.Err())
			assert.Zero(t, w.Key.Approvals())
			return nil
		}))
		require.NoError(t, err)
		assert.Equal(t, payment.Payout.ID, seen.ID)
		require.ErrorIs(t, during.Err(), context.Canceled, "what the hook left behind ends with it")
		assert.True(t, seen.Quote.DestinationAmount.IsPositive())
	})
	t.Run("refuses", func(t *testing.T) {
		w := newPayWorld(t)
		no := errors.New("not today")
		payment, err := w.pay(journaled(),
			beforeSigning(func(context.Context, *dapi.Payout) error { return no }))
		require.ErrorIs(t, err, no)
		declined := as[*dapi.PaymentDeclined](t, err)
		assert.Equal(t, payment.Payout, declined.Payout)
		assert.Equal(t, errors.CallInfo{Operation: "BookPayout", Resource: string(payment.Payout.ID),
			IdempotencyKey: "invoice-42"},
			declined.CallInfo)
		assert.Equal(t, moneymovement.PaymentNotPaid, payment.State)
		w.assertNothingSigned(t)
	})
	t.Run("takes too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			w.Configure(func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.DefaultSettings().QuoteLifetime })
			started := time.Now()
			_, err := w.pay(journaled(), beforeSigning(func(ctx context.Context, _ *dapi.Payout) error {
				<-ctx.Done()
				return ctx.Err()
			}))
			as[*dapi.PaymentDeclined](t, err)
			assert.Equal(t, 100*time.Second, time.Since(started).Round(time.Second))
		})
	})
	t.Run("is asked again about a fresh price", func(t *testing.T) {
		w := newPayWorld(t)
		w.refuse(409, "quote_expired")
		asked := 0
		_, err := w.pay(beforeSigning(func(context.Context, *dapi.Payout) error { asked++; return nil }))
		require.NoError(t, err)
		assert.Equal(t, 2, asked)
	})
}

// A key that the service may have forgotten pays nothing: the same call would be a new payment.
//
// Rule: idempotency.derived
func TestKeyThatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		first := time.Now()
		_, err := w.pay(journaled())
		require.NoError(t, err)
		time.Sleep(6 * 24 * time.Hour)
		_, err = w.pay(firstUsedAt(first))
		require.NoError(t, err)
		time.Sleep(24 * time.Hour)
		payment, err := w.pay(firstUsedAt(first))
		assert.Equal(t, first, as[*dapi.KeyTooOld](t, refusalIn(err)).FirstUsed)
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
		assert.Equal(t, 1, w.Fundings())

		_, err = w.pay(journaled())
		require.NoError(t, err)
		assert.Equal(t, 1, w.Fundings(), "this client knows the payout")
		w.account = w.integrator().Self()
		_, err = w.pay()
		require.NoError(t, err, "another client knows nothing, and without the option it pays again")
		assert.Equal(t, 2, w.Fundings())
	})
}

// A key may be as old as the time that the service remembers it, less an hour.
func TestKeyThatIsAlmostTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		oldest := time.Now().Add(-7*24*time.Hour + time.Hour)
		_, err := w.pay(firstUsedAt(oldest.Add(-1)))
		as[*dapi.KeyTooOld](t, refusalIn(err))
		_, err = w.pay(firstUsedAt(oldest))
		require.NoError(t, err)
	})
}

// The service's clock counts as well: here it is moved, and nothing tells before the booking.
func TestKeyThatIsTooOldByTheServicesClock(t *testing.T) {
	w := newPayWorld(t)
	first := time.Now()
	_, err := w.pay(firstUsedAt(first))
	require.NoError(t, err)
	w.Host.Advance(8 * 24 * time.Hour)
	payment, err := w.pay(firstUsedAt(first))
	require.NoError(t, err, "this client knows the payout, and reads it")
	assert.Equal(t, moneymovement.PaymentPaid, payment.State)

	w.account = w.integrator().Self()
	payment, err = w.pay(firstUsedAt(first))
	as[*dapi.KeyTooOld](t, refusalIn(err))
	assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	assert.Equal(t, 1, w.Fundings(), "nothing was signed")
}

// What was booked tells the service's time as well, though it is believed of no clock yet: nothing is signed that would
// be a second payment.
func TestKeyThatIsTooOldByTheLastResponse(t *testing.T) {
	w := newEscrowWorld(t)
	first := firstUsedAt(time.Now().Add(-time.Hour))
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		if r.URL.Path == "/dapi/v1/payouts" || r.URL.Path == "/dapi/v1/escrow" {
			response.Header.Set("Date", time.Now().Add(8*24*time.Hour).UTC().Format(http.TimeFormat))
		}
	})
	payment, err := w.pay(first)
	as[*dapi.KeyTooOld](t, refusalIn(err))
	assert.Regexp(t, "^po_", payment.Payout.ID, "a person can look at it")
	opened, err := w.open(first)
	as[*dapi.KeyTooOld](t, refusalIn(err))
	assert.Regexp(t, "^esc_", opened.Escrow.ID)
	w.assertNothingHeld(t)
}

// A key can grow too old after a confirm that was refused. If the payout has moved on since, in an unknown status, the
// confirm may have paid: nobody may take another key for the type of this refusal.
func TestKeyThatGrowsTooOldAfterAConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Key.BeforeApproval(func(int) { time.Sleep(31 * time.Second) }) // the price has expired then
		w.onSuccess("GET", "/payouts/*", settling)
		payment, err := w.pay(journaled(), firstUsedAt(time.Now().Add(-7*24*time.Hour+time.Hour+20*time.Second)))
		assert.Equal(t, traffic{books: 1, confirms: 1, reads: 1}, w.traffic())
		w.assertInDoubt(t, payment, err)
		_, old := errors.AsType[*dapi.KeyTooOld](err)
		assert.False(t, old)
	})
}

// A key can grow too old while its payment waits for its turn, which for ten thousand payments takes hours.
func TestPayoutKeyThatExpiresInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		first := time.Now()
		_, err := w.pay()
		require.NoError(t, err)
		time.Sleep(7*24*time.Hour - 90*time.Minute)
		w.account = w.integrator().Self() // another process

		release := make(chan struct{})
		ahead := func(context.Context, *dapi.Payout) error { <-release; return errors.New("no") }
		var line sync.WaitGroup
		for i := range 108 { // as many as may be under way
			line.Go(func() {
				_, _ = w.payAs(moneymovement.DeriveKey("ahead", strconv.Itoa(i)), beforeSigning(ahead))
			})
		}
		synctest.Wait()
		line.Go(func() {
			payment, err := w.pay(firstUsedAt(first))
			assert.NotEqual(t, moneymovement.PaymentPaid, payment.State, "it would be a second payment")
			as[*dapi.KeyTooOld](t, refusalIn(err))
		})
		time.Sleep(2 * time.Hour)
		books := w.Sent("BookPayout")
		close(release)
		line.Wait()
		assert.Equal(t, 1, w.Fundings())
		assert.Equal(t, books, w.Sent("BookPayout"), "it is not even booked")
		payment, _ := w.pay(firstUsedAt(first))
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
	})
}

// A payment that waits until the service has funded it leaves its place to others: 108 may stand between booking and
// confirm.
func TestPaymentsWaitingForFundingFreeTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.asked.Amount = amount("1")
		waiting, stop := context.WithCancel(t.Context())
		w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "funding_in_progress").Times(108))
		var all sync.WaitGroup
		for i := range 108 {
			all.Go(func() {
				_, err := w.account.Payouts.Pay(waiting, w.asked, moneymovement.DeriveKey("waits", strconv.Itoa(i)),
					dapi.PayTerms{})
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		require.NoError(t, err)
		stop()
		all.Wait()
	})
}

// What was refused leaves its place in the line to others: six escrows may be under way.
func TestRefusedEscrowsFreeTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden").Times(20))
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(20))
		for i := range 20 {
			key := moneymovement.DeriveKey("refused", strconv.Itoa(i))
			_, err := w.account.Escrows.Act(ctx, w.escrow, id, dapi.EscrowActionTypeRelease, key,
				escrowTerms(journaled()))
			as[*errors.Forbidden](t, err)
			_, err = w.account.Escrows.Open(ctx, w.escrow, key, escrowTerms(journaled()))
			as[*errors.Forbidden](t, err)
		}
		_, err := w.release(ctx, id)
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(120))
		for i := range 120 {
			_, err := w.account.Payouts.Pay(ctx, w.asked, moneymovement.DeriveKey("refused", strconv.Itoa(i)),
				payTerms(journaled()))
			as[*errors.Forbidden](t, err)
		}
		_, err := w.account.Payouts.Pay(ctx, w.asked, "invoice-42", dapi.PayTerms{})
		require.NoError(t, err)
	})
}
