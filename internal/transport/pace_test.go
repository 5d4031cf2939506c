package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// asking notes the calls for which a client asks its limiter.
type asking struct {
	mu    sync.Mutex
	calls []moneymovement.RateCall
	wait  func(moneymovement.RateCall) error // nil admits all calls
}

func (a *asking) Wait(_ context.Context, call moneymovement.RateCall) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, call)
	if a.wait == nil {
		return nil
	}
	return a.wait(call)
}

var depositThing = transport.Operation{ID: "Deposit", Method: http.MethodPost, Path: "/deposits",
	Repeat: transport.RepeatKey, Window: moneymovement.WindowSandboxMoney, Response: &thingResponse}

func TestCallsHaveTheClassOfTheirOperation(t *testing.T) {
	for op, want := range map[*transport.Operation]moneymovement.RateClass{
		&readThing: moneymovement.ClassRead, &bookThing: moneymovement.ClassWrite,
		&deleteThing:  moneymovement.ClassWrite,
		&depositThing: moneymovement.ClassWrite, &loginThing: moneymovement.ClassLogin,
	} {
		limiter := new(asking)
		client := newClient(t, host, through(script(ok)), limitedBy(limiter))
		_, err := send(t.Context(), client, op, transport.Call{})
		require.NoError(t, err)
		for _, call := range limiter.calls {
			assert.Equal(t, want, call.Class, op.ID)
			assert.Zero(t, call.Closes)
		}
		_, err = send(t.Context(), client, op, transport.Call{Class: moneymovement.ClassPoll})
		require.NoError(t, err)
		assert.Equal(t, moneymovement.ClassPoll, limiter.calls[len(limiter.calls)-1].Class,
			"or the one that the call says")
	}
}

// If an account's hour has no room, or its limiter fails, room among the writes does not help.
func TestCallWaitsForAllItsWindows(t *testing.T) {
	broken := errors.New("limiter's store is down")
	for _, window := range []moneymovement.Window{moneymovement.WindowLoginEmail, moneymovement.WindowSandboxMoney,
		moneymovement.WindowWrites} {
		limiter := &asking{wait: func(call moneymovement.RateCall) error {
			if call.Window == window {
				return broken
			}
			return nil
		}}
		svc := script(ok)
		call := transport.Call{}
		call.Counted.Window = moneymovement.WindowLoginEmail
		_, err := send(t.Context(), newClient(t, host, through(svc), limitedBy(limiter)), &depositThing, call)
		undelivered, isUndelivered := errors.AsType[*errors.NotDelivered](err)
		require.True(t, isUndelivered, "%s: %v", window, err)
		require.ErrorIs(t, undelivered, broken)
		assert.Empty(t, svc.attempts())
		assert.Equal(t, window, limiter.calls[len(limiter.calls)-1].Window, "no further window is asked")
	}
}

// tokenFor is a credential that is valid for a time and takes a time to renew.
type tokenFor struct {
	mu          sync.Mutex
	lives, took time.Duration
	until       time.Time
}

func (c *tokenFor) Authorize(_ context.Context, h http.Header) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(c.until) {
		time.Sleep(c.took)
		c.until = time.Now().Add(c.lives)
	}
	h.Set("Authorization", "until "+c.until.Format(time.RFC3339Nano))
	return nil
}

// The slot is taken last, however long the credential takes. A credential that expired in line is not sent.
func TestSlotIsTakenAfterAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratewindow.New(windows{moneymovement.WindowWrites: {Calls: 1,
			Per: time.Minute}}, nil)
		svc := script(ok)
		credential := &tokenFor{lives: 100 * time.Second, took: 20 * time.Second}
		client := newClient(t, host, through(svc), limitedBy(limiter), authorizedBy(credential))
		for range 4 {
			_, err := send(t.Context(), client, &bookThing, transport.Call{})
			require.NoError(t, err)
		}
		sent := svc.attempts()
		for i, attempt := range sent {
			until, err := time.Parse(time.RFC3339Nano,
				strings.TrimPrefix(attempt.header.Get("Authorization"), "until "))
			require.NoError(t, err)
			assert.True(t, attempt.at.Before(until), "attempt %d went with a credential that was over", i)
			if i > 0 {
				assert.GreaterOrEqual(t, attempt.at.Sub(sent[i-1].at), minute, "a slot that is 20 seconds old was used")
			}
		}
	})
}

// hadOnce is a credential that can be obtained once.
type hadOnce struct{ asked int }

func (c *hadOnce) Authorize(context.Context, http.Header) error {
	if c.asked++; c.asked > 1 {
		return errors.New("locked out")
	}
	return nil
}

// If a credential cannot be obtained again after a long wait, the older one is not used.
func TestCredentialIsSetAgainAfterALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			queued time.Duration
			sent   int
		}{{time.Second - 1, 1}, {time.Second, 0}} {
			svc := script(ok)
			limiter := &asking{wait: func(moneymovement.RateCall) error { time.Sleep(tc.queued); return nil }}
			_, err := send(t.Context(),
				newClient(t, host, through(svc), limitedBy(limiter), authorizedBy(new(hadOnce))), &bookThing,
				transport.Call{})
			assert.Len(t, svc.attempts(), tc.sent)
			if tc.sent == 0 {
				require.ErrorContains(t, err, "locked out")
				_, undelivered := errors.AsType[*errors.NotDelivered](err)
				assert.True(t, undelivered, "%v", err)
			}
		}
	})
}

// A slot waits for its credential for less than a second.
func TestStaleSlotIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, slots := range map[time.Duration]int{time.Second - 1: 1, time.Second: 2} {
			limiter := &asking{wait: func(moneymovement.RateCall) error { time.Sleep(2 * time.Second); return nil }}
			credential := &tokenFor{lives: time.Second, took: took} // it is over each time that the line is
			_, err := send(t.Context(),
				newClient(t, host, through(script(ok)), limitedBy(limiter), authorizedBy(credential)), &bookThing,
				transport.Call{})
			require.NoError(t, err)
			assert.Len(t, limiter.calls, slots, took)
		}
	})
}

func TestReservedCallsWaitOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := new(asking)
		svc := script(refuses(503, errors.CodeDatabaseUnavailable), ok)
		client := newClient(t, host, through(svc), limitedBy(limiter), authorizedBy(keyCredential{}))
		call := transport.Call{Class: moneymovement.ClassConfirm, Closes: time.Now().Add(2 * time.Minute)}
		_, err := client.Reserve(t.Context(), &confirmThing, call)
		require.NoError(t, err)
		assert.Empty(t, svc.attempts())
		want := moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: moneymovement.ClassConfirm,
			Closes: call.Closes}
		assert.Equal(t, []moneymovement.RateCall{want}, limiter.calls)

		call.Reserved = true
		_, err = send(t.Context(), client, &confirmThing, call)
		require.NoError(t, err)
		assert.Len(t, svc.attempts(), 2)
		assert.Equal(t, []moneymovement.RateCall{want, want}, limiter.calls, "the second attempt waits again")
	})
}

func TestReserveErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratewindow.New(windows{moneymovement.WindowWrites: {Calls: 1,
			Per: time.Minute}}, nil)
		client := newClient(t, host, through(script(ok)), limitedBy(limiter))
		reserve := func(ctx context.Context, closes time.Duration) (time.Duration, error) {
			return client.Reserve(ctx, &confirmThing, transport.Call{Class: moneymovement.ClassConfirm,
				Closes: time.Now().Add(closes), CallSettings: moneymovement.CallSettings{Key: "invoice-42"}})
		}
		queued, err := reserve(t.Context(), 2*time.Minute)
		require.NoError(t, err)
		assert.Zero(t, queued)

		_, err = reserve(t.Context(), minute)
		undelivered, isUndelivered := errors.AsType[*errors.NotDelivered](err)
		require.True(t, isUndelivered, "%v", err)
		assert.Equal(t, "ConfirmThing", undelivered.Operation)
		assert.Empty(t, undelivered.Account)
		assert.Equal(t, "invoice-42", undelivered.IdempotencyKey)
		assert.Equal(t, time.Now().Add(minute), undelivered.RetryAt)
		tooLong, isTooLong := errors.AsType[*moneymovement.WindowFull](err)
		require.True(t, isTooLong)
		assert.True(t, tooLong.Closed)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = reserve(ctx, 2*time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		queued, err = reserve(t.Context(), 2*time.Minute)
		require.NoError(t, err)
		assert.Equal(t, minute, queued)
	})
}

// The approval's end is by the service's clock, and the limiter's time is by this machine's.
func TestExpiryIsConvertedToTheLocalClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := new(asking)
		ahead := time.Now().Add(10 * time.Minute)
		svc := script(responds(200, oneThing, "Date", ahead.UTC().Format(http.TimeFormat)))
		client := newClient(t, host, through(svc), limitedBy(limiter))
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.NoError(t, err)
		_, err = client.Reserve(t.Context(), &confirmThing,
			transport.Call{Closes: client.ServiceNow().Add(time.Minute)})
		require.NoError(t, err)
		assert.Equal(t, time.Now().Add(time.Minute), limiter.calls[1].Closes)
	})
}

// The metrics of a call say how long it waited in line. After a long wait, one log record says so too.
func TestLongQueueIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&out, nil))
		limiter := ratewindow.New(windows{
			moneymovement.WindowWrites: {Calls: 1, Per: time.Minute},
			moneymovement.WindowReads:  {Calls: 1, Per: 500 * time.Millisecond},
		}, nil)
		client := newClient(t, host, through(script(ok)), limitedBy(limiter), func(c *transport.Config) {
			c.Logger = logger
		})
		queued := func(ctx context.Context, op *transport.Operation) time.Duration {
			var response moneymovement.Response
			_, _ = send(ctx, client, op, transport.Kept(&response))
			return response.Queued
		}
		assert.Zero(t, queued(t.Context(), &readThing))
		assert.Greater(t, queued(t.Context(), &readThing), 500*time.Millisecond)
		assert.Zero(t, queued(t.Context(), &bookThing))
		assert.Empty(t, out.String(), "less than a second is not worth a record")

		assert.Equal(t, minute, queued(t.Context(), &bookThing))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		assert.Equal(t, 10*time.Second, queued(ctx, &bookThing), "also if it gave up")
		var records []map[string]any
		for line := range strings.Lines(out.String()) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			delete(record, "time")
			records = append(records, record)
		}
		want := map[string]any{
			"level": "INFO", "msg": "moneymovement waited for its rate window",
			"operation": "BookThing", "window": "writes", "class": "write", "queuedMs": float64(minute.Milliseconds()),
		}
		gaveUp := map[string]any{"error": "context canceled"}
		for name, value := range want {
			gaveUp[name] = value
		}
		gaveUp["queuedMs"] = float64(10_000)
		assert.Equal(t, []map[string]any{want, gaveUp}, records)
	})
}

func TestQueueOfASecondIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for waited, told := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
			var out bytes.Buffer
			limiter := &asking{wait: func(moneymovement.RateCall) error { time.Sleep(waited); return nil }}
			client := newClient(t, host, through(script(ok)), limitedBy(limiter), func(c *transport.Config) {
				c.Logger = slog.New(slog.NewJSONHandler(&out, nil))
			})
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			assert.Equal(t, told, strings.Contains(out.String(), "waited for its rate window"), waited)
		}
	})
}

// What watches a wait learns its end.
func TestFailedQueueIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var over []time.Duration
		ctx := ratewindow.WatchQueue(t.Context(), func(moneymovement.Window, time.Time) func() {
			return func() { over = append(over, time.Since(began)) }
		})
		limiter := &asking{wait: func(moneymovement.RateCall) error { time.Sleep(10 * time.Second); return nil }}
		_, err := send(ctx, newClient(t, host, through(script(ok)), limitedBy(limiter)), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{10 * time.Second}, over)
	})
}

// Who cannot be served before its deadline is told so at once, with the time to come again, and costs the others
// nothing.
func TestDeadlineBeforeTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratewindow.New(windows{moneymovement.WindowWrites: {Calls: 1,
			Per: time.Minute}}, nil)
		svc := script(ok)
		client := newClient(t, host, through(svc), limitedBy(limiter))
		started := time.Now()
		_, err := send(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)

		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), minute) // nothing is sent at its end
			_, err = send(ctx, client, &bookThing, transport.Keyed("invoice-42"))
			cancel()
			var undelivered *errors.NotDelivered
			require.ErrorAs(t, err, &undelivered)
			assert.Equal(t, started.Add(minute), undelivered.RetryAt)
			assert.Equal(t, "invoice-42", undelivered.IdempotencyKey)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Zero(t, time.Since(started), "told at once")
		}
		_, err = send(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, minute, time.Since(started), "the turned away took no slot")
		assert.Len(t, svc.attempts(), 2)
	})
}

// What the client asks its limiter: once an attempt, with the account where the window counts for one.
func TestEveryAttemptWaitsForTheLimiter(t *testing.T) {
	type asked struct {
		window moneymovement.Window
		scope  string
	}
	var mu sync.Mutex
	var questions []asked
	limiter := limiterFunc(func(_ context.Context, call moneymovement.RateCall) error {
		mu.Lock()
		defer mu.Unlock()
		questions = append(questions, asked{call.Window, call.Scope})
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, host, through(script(lostResponse, ok)), limitedBy(limiter))
		deposit := transport.Operation{ID: "Deposit", Method: "POST", Path: "/deposits", Repeat: transport.RepeatKey,
			Window: moneymovement.WindowSandboxMoney, Response: &thingResponse}
		for _, op := range []*transport.Operation{&bookThing, &deposit} {
			r := transport.NewRequest(op, "cl_1", transport.Call{})
			_, err := transport.Do[thing](t.Context(), client, r)
			require.NoError(t, err)
		}
	})
	assert.Equal(t, []asked{{moneymovement.WindowWrites, ""}, {moneymovement.WindowWrites, ""},
		{moneymovement.WindowSandboxMoney, "cl_1"}, {moneymovement.WindowWrites, ""}}, questions,
		"sandbox money is a write as well")
}

// A limiter's own failure sends nothing; between attempts it does not hide what happened before.
func TestLimiterThatFails(t *testing.T) {
	broken := errors.New("limiter's store is down")
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			first step
			kind  error
		}{
			"before the first attempt": {nil, &errors.NotDelivered{}},
			"after a refused attempt":  {refuses(429, errors.CodeRateLimited), &errors.NotDelivered{}},
			"after a lost one":         {lostResponse, &errors.InDoubt{}},
		} {
			passes := 0
			if tc.first != nil {
				passes = 1
			}
			limiter := limiterFunc(func(context.Context, moneymovement.RateCall) error {
				if passes--; passes < 0 {
					return broken
				}
				return nil
			})
			_, err := send(t.Context(), newClient(t, host, through(script(tc.first)), limitedBy(limiter)), &bookThing,
				transport.Call{})
			require.ErrorIs(t, err, broken, name)
			assert.Equal(t, typeName(tc.kind), typeName(err), name)
		}
	})
}

type limiterFunc func(context.Context, moneymovement.RateCall) error

func (f limiterFunc) Wait(ctx context.Context, call moneymovement.RateCall) error {
	return f(ctx, call)
}

// minute is how long a call counts in a window of a minute.
const minute = 61 * time.Second
