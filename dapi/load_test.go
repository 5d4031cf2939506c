package dapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/signing"
)

func (h *busyHost) integrator(t *testing.T, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	return h.integratorWith(t, key, options...)
}

// integratorWith is for a synctest bubble, in which a renewal of the token may still be under way at a test's end.
func (h *busyHost) integratorWith(
	t *testing.T, key signing.Signer, options ...moneymovement.Option,
) *dapi.Integrator {
	t.Helper()
	t.Cleanup(func() { time.Sleep(3 * time.Minute) })
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		append(options, moneymovement.WithHTTPClient(&http.Client{Transport: h}))...)
	require.NoError(t, err)
	return integrator
}

// journaled are terms with which a payment that this program does not know is a first use.
var journaled = dapi.PayTerms{Journal: func(context.Context, dapi.History) error { return nil }}

func payoutOf(number int) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: "ct_bob", Amount: amount(fmt.Sprintf("%d.25", number+1)), Currency: dapi.USDC}
}

// As many payments as there are lines in a payroll, started at once, are all paid at the first try of each call, and
// use the window that the service gives. It takes hours of the bubble's clock, over which tokens expire.
func TestPaymentsThatStartAtOnceAreAllPaid(t *testing.T) {
	count := tier.Size(1200, 10_000)
	for name, windows := range map[string][2]counter{
		"fixed windows":   {&fixedWindow{most: 120}, &fixedWindow{most: 600}},
		"sliding windows": {&slidingWindow{most: 120}, &slidingWindow{most: 600}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newBusyHost(windows[0], windows[1])
				if !tier.Soak() {
					host.tokenLives = 10 * time.Minute // so that they expire in a shorter run as well
				}
				account := host.integrator(t).Self()
				began := time.Now()
				var all sync.WaitGroup
				for i := range count {
					all.Go(func() {
						payment, err := account.Payouts.Pay(t.Context(), payoutOf(i),
							moneymovement.Key(fmt.Sprint("line-", i)), dapi.PayTerms{})
						if !assert.NoError(t, err) {
							return
						}
						_, err = account.Payouts.Get(t.Context(), payment.Payout.ID)
						assert.NoError(t, err)
					})
				}
				all.Wait()
				took := time.Since(began)
				t.Logf("%d payments took %v, %.2f%% of the window, %d refreshes", count, took.Round(time.Second),
					100*host.used(120), host.counts().refreshes)

				assert.Equal(t, count, host.counts().paid)
				assert.Zero(t, host.counts().limited, "requests over a window")
				assert.Zero(t, host.counts().late, "confirms after their approval")
				assert.Equal(t, 1, host.counts().logins)
				assert.GreaterOrEqual(t, host.counts().refreshes, int(took/host.tokenLives))
				assert.Zero(t, host.counts().expired, "calls with a token that was over")
				seen := host.counts()
				assert.Equal(t, 2*count+seen.refreshes, len(seen.arrivals), "two writes a payment") //nolint:testifylint // Len prints them all
				assert.GreaterOrEqual(t, host.used(120), 0.98)
			})
		})
	}
}

// used is which part of the window the writes used, over as many whole windows as they filled.
func (h *busyHost) used(most int) float64 {
	in := h.counts().arrivals
	whole := (len(in) - 1) / most * most
	return float64(whole) / float64(most) * float64(time.Minute) / float64(in[whole].Sub(in[0]))
}

// bookOne books one of many payments.
func bookOne(t *testing.T, payouts *dapi.Payouts, number int) *dapi.Payout {
	t.Helper()
	payout, err := payouts.Book(t.Context(), payoutOf(number),
		moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprint(number))))
	assert.NoError(t, err)
	return payout
}

// payOne makes one of many payments.
func payOne(t *testing.T, account *dapi.Account, number int) {
	t.Helper()
	_, err := account.Payouts.Pay(t.Context(), payoutOf(number), moneymovement.Key(fmt.Sprint(number)), dapi.PayTerms{})
	assert.NoError(t, err)
}

// Payments are booked in the order in which they came.
func TestPaymentsAreBookedInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() { payOne(t, account, i) })
			synctest.Wait()
		}
		all.Wait()
		require.Len(t, host.counts().booked, 400)
		for at, key := range host.counts().booked {
			number, err := strconv.Atoi(key)
			require.NoError(t, err)
			assert.InDelta(t, number, at, 120, "but for those that are on their way at the same time")
		}
	})
}

// A payment that has no time for its turn learns it before anything is booked.
func TestPaymentWhoseTurnComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() { payOne(t, account, i) })
		}
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		_, err := account.Payouts.Pay(ctx, payoutOf(1), "late", journaled)
		undelivered := as[*errors.NotDelivered](t, err)
		assert.Equal(t, "late", undelivered.IdempotencyKey)
		assert.Greater(t, time.Until(undelivered.RetryAt), 2*time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "told at once")

		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		_, err = account.Payouts.Pay(ctx, payoutOf(1), "stopped", journaled)
		require.ErrorIs(t, err, context.Canceled)
		as[*errors.NotDelivered](t, err)
		all.Wait()
		assert.NotContains(t, host.counts().booked, "late")
		assert.NotContains(t, host.counts().booked, "stopped")
	})
}

// signedAt notes when approvals are signed.
type signedAt struct {
	signing.Signer
	mu sync.Mutex
	at []time.Time
}

func (s *signedAt) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if bytes.Contains(message, []byte("approvalId")) {
		s.mu.Lock()
		s.at = append(s.at, time.Now())
		s.mu.Unlock()
	}
	return s.Signer.Sign(ctx, message)
}

// What is signed does not wait in line: there is room for it before the signer is asked.
func TestNothingIsSignedBeforeThereIsRoomToSendIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		key, err := signing.GenerateEd25519()
		require.NoError(t, err)
		signer := &signedAt{Signer: key}
		payouts := host.integratorWith(t, signer).Self().Payouts
		began := time.Now()
		booked := bookOne(t, payouts, 0)
		for i := range 119 {
			bookOne(t, payouts, i+1)
		}
		require.Less(t, time.Since(began), time.Minute, "the window is full")
		var answer moneymovement.Response
		_, err = payouts.Confirm(t.Context(), payoutOf(0), booked, moneymovement.CaptureResponse(&answer))
		require.NoError(t, err)
		require.Len(t, signer.at, 1)
		assert.Less(t, time.Since(signer.at[0]), time.Second)
		assert.GreaterOrEqual(t, signer.at[0].Sub(began), 61*time.Second)
		assert.Greater(t, answer.Queued, 30*time.Second)
		assert.Zero(t, host.counts().limited)
	})
}

// An approval that closes before there is room for its confirm is not signed, and the payment is booked anew once there
// is.
func TestAnApprovalThatClosesBeforeThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.approvalLives = 30 * time.Second
		payouts := host.integrator(t).Self().Payouts
		var all sync.WaitGroup
		for i := range 119 {
			all.Go(func() { bookOne(t, payouts, i) })
		}
		all.Wait()
		last := bookOne(t, payouts, 119)
		began := time.Now()
		_, err := payouts.Confirm(t.Context(), payoutOf(119), last)
		refused := as[*signing.ApprovalRefused](t, err)
		assert.True(t, refused.Expired)
		assert.Equal(t, "expiresAt", refused.Field)
		assert.Equal(t, last.Approval.ID, refused.ApprovalID)
		assert.Zero(t, time.Since(began), "told at once")

		paid, err := payouts.Pay(t.Context(), payoutOf(119), "119", dapi.PayTerms{})
		require.NoError(t, err)
		assert.Equal(t, last.ID, paid.Payout.ID)
		assert.Zero(t, host.counts().late)
	})
}

// A confirm that is refused for its token, and has no room to be sent again before its approval closes, is booked anew.
func TestAConfirmThatHasNoRoomToBeSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.approvalLives = 30 * time.Second
		payouts := host.integrator(t).Self().Payouts
		asked := 0
		fill := func(context.Context, *dapi.Payout) error {
			if asked++; asked > 1 {
				return nil
			}
			var all sync.WaitGroup
			for i := range 117 { // with the booking, its confirm and the refresh behind it, these fill the window
				all.Go(func() { bookOne(t, payouts, i+1) })
			}
			all.Wait()
			host.mu.Lock()
			defer host.mu.Unlock()
			clear(host.tokens)
			return nil
		}
		began := time.Now()
		_, err := payouts.Pay(t.Context(), payoutOf(0), "0", dapi.PayTerms{BeforeSigning: fill})
		require.NoError(t, err)
		assert.Equal(t, []int{1, 1, 2}, []int{host.counts().paid, host.counts().expired, asked})
		assert.Greater(t, time.Since(began), 30*time.Second)
	})
}
