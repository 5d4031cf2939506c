package refapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// paymentOf returns the status of a payment that settles after some time.
func paymentOf(after time.Duration, end string) httpmock.Responder {
	began := time.Now()
	return func(*http.Request) (*http.Response, error) {
		status := "processing"
		if time.Since(began) >= after {
			status = end
		}
		return response(http.StatusOK, fmt.Sprintf(`{"id":"t1","quoteId":"q_1","type":"payout","paymentChannel":"bank","status":%q,"fromAmount":10.10,"fromCurrency":"USDC",
			"toCurrency":"EUR","toAmount":9.1234567890123456789,"createdAt":"2026-01-02T03:04:05Z","errorMessage":null}`, status)), nil
	}
}

func TestWaitReadsUntilThePaymentHasSettled(t *testing.T) {
	for _, end := range []string{"completed", "Failed", "expired"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, paymentOf(5*time.Minute, end))
				began := time.Now()
				var seen []moneymovement.Progress
				status, err := client.Quotes.Wait(t.Context(), "q_1", refapi.Settled, nil,
					moneymovement.OnProgress(func(p moneymovement.Progress) { seen = append(seen, p) }))
				require.NoError(t, err)
				assert.Equal(t, end, status.Status)
				assert.Equal(t, "10.1", status.FromAmount.String())
				assert.Equal(t, "9.1234567890123456789", status.ToAmount.String(), "read from the number's digits")

				waited := time.Since(began)
				assert.LessOrEqual(t, waited, 5*time.Minute+15*time.Second,
					"the longest pause bounds how late the news is")
				bound := 500 * time.Millisecond
				for i := 1; i < len(seen); i++ {
					pause := seen[i].Waited - seen[i-1].Waited
					assert.GreaterOrEqual(t, pause, bound/2, "pause %d", i)
					assert.LessOrEqual(t, pause, bound, "pause %d", i)
					bound = min(bound*3/2, 15*time.Second)
				}
				last := seen[len(seen)-1]
				assert.Equal(t, moneymovement.Progress{Resource: "quote", ID: "q_1", Status: end, Reads: len(seen),
					Waited: waited}, last)
				assert.Less(t, len(seen), 60)
			})
		})
	}
}

func TestWaitUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, paymentOf(time.Minute, "delivered_to_bank"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		reads := 0
		delivered := func(s *model.UniversalTransactionStatus) bool { return s.Status == "delivered_to_bank" }
		status, err := client.Quotes.Wait(ctx, "q_1", delivered,
			moneymovement.PollEvery(20*time.Second, 20*time.Second),
			moneymovement.OnProgress(func(p moneymovement.Progress) { reads = p.Reads }))
		require.NoError(t, err)
		assert.Equal(t, "delivered_to_bank", status.Status)
		assert.GreaterOrEqual(t, reads, 4, "every 20 seconds at least")
		assert.LessOrEqual(t, reads, 7, "every 10 seconds at most")
	})
}

func TestWaitGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, paymentOf(time.Hour, "completed"))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		status, err := client.Quotes.Wait(ctx, "q_1", refapi.Settled)
		var pending *moneymovement.StillPending
		require.ErrorAs(t, err, &pending)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, "processing", status.Status, "the last reading comes with the error")
		assert.Equal(t, 20*time.Second, pending.Waited)
		assert.True(t, pending.Retryable())
		assert.Equal(t, errors.MaybeMoved, pending.MovedByCall())
		assert.Regexp(t,
			`^quote q_1 is still processing after 20s and \d+ reads: context deadline exceeded`,
			err.Error())
	})
}

func TestInvalidWaitOptionsAreRefused(t *testing.T) {
	for name, option := range map[string]moneymovement.WaitOption{
		"no function for progress":   moneymovement.OnProgress(nil),
		"no pause":                   moneymovement.PollEvery(0, time.Second),
		"a pause over a day":         moneymovement.PollEvery(time.Second, 25*time.Hour),
		"the longer pause first":     moneymovement.PollEvery(time.Minute, time.Second),
		"negative pauses":            moneymovement.PollEvery(-time.Minute, -time.Second),
		"less than any clock counts": moneymovement.PollEvery(time.Nanosecond, time.Nanosecond),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				t.Error("something was sent")
				return response(http.StatusOK, `{}`), nil
			})
			status, err := client.Quotes.Wait(t.Context(), "q_1", refapi.Settled, option)
			assert.Nil(t, status)
			assert.True(t, is[*errors.InvalidInput](err), "%v", err)
		})
	}
}

func TestWaitForNothingIsRefused(t *testing.T) {
	_, err := newClient(t, nil).Quotes.Wait(t.Context(), "q_1", nil)
	refused, is := errors.AsType[*errors.InvalidInput](err)
	require.True(t, is, "%v", err)
	assert.Equal(t, "done", refused.Fields[0].Field)
}

// A wait whose context has ended says that it has read nothing.
func TestWaitThatReadsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status, err := newClient(t, nil).Quotes.Wait(ctx, "q_1", refapi.Settled)
	assert.Nil(t, status)
	var pending *moneymovement.StillPending
	require.ErrorAs(t, err, &pending)
	assert.Equal(t, "unread", pending.Status)
	assert.Equal(t, "q_1", pending.ID)
	assert.Zero(t, pending.Reads)
}

func TestWaitEndsWithAReadThatFails(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		return response(http.StatusNotFound, `{"error":{"code":"not_found","message":"m"}}`), nil
	})
	status, err := client.Quotes.Wait(t.Context(), "q_1", refapi.Settled)
	assert.Nil(t, status)
	assert.True(t, is[*errors.NotFound](err), "%v", err)
}

func TestSettled(t *testing.T) {
	for status, want := range map[string]bool{
		"completed": true, "COMPLETED": true, "failed": true, "cancelled": true, "refunded": true,
		"success": true, "succeeded": true, "settled": true, "error": true, "rejected": true, "expired": true,
		"canceled": true,
		"pending":  false, "processing": false, "": false, "a status of tomorrow": false,
	} {
		assert.Equal(t, want, refapi.Settled(&model.UniversalTransactionStatus{Status: status}), status)
	}
}

// classes notes as what a caller's limiter is asked to let calls go.
type classes []moneymovement.RateClass

func (c *classes) Wait(_ context.Context, call moneymovement.RateCall) error {
	*c = append(*c, call.Class)
	return nil
}

// The reads of a wait let other reads go first.
func TestAWaitReadsAsAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &classes{}
		client := newClient(t, paymentOf(time.Second, "completed"), moneymovement.WithRateLimiter(asked))
		_, err := client.Quotes.Status(t.Context(), "q_1")
		require.NoError(t, err)
		_, err = client.Quotes.Wait(t.Context(), "q_1", refapi.Settled)
		require.NoError(t, err)
		require.Greater(t, len(*asked), 2)
		assert.Equal(t, moneymovement.ClassRead, (*asked)[0])
		for _, class := range (*asked)[1:] {
			assert.Equal(t, moneymovement.ClassPoll, class)
		}
	})
}
