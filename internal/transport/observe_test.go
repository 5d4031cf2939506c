package transport_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
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

type spanOf struct{}

// observer notes what it sees, in the order in which it sees it.
type observer struct {
	name   string
	order  *[]string
	starts []moneymovement.CallStart
	tries  []moneymovement.CallAttempt
	ends   []moneymovement.CallEnd
}

func (o *observer) note(ctx context.Context, event string) {
	if o.order != nil {
		outer, _ := ctx.Value(spanOf{}).(string)
		*o.order = append(*o.order, outer+" "+o.name+" "+event)
	}
}

func (o *observer) CallBegan(ctx context.Context, call moneymovement.CallStart) context.Context {
	o.note(ctx, "began")
	o.starts = append(o.starts, call)
	return context.WithValue(ctx, spanOf{}, o.name+call.Operation)
}

func (o *observer) AttemptEnded(ctx context.Context, _ moneymovement.CallStart, attempt moneymovement.CallAttempt) {
	o.note(ctx, "tried")
	o.tries = append(o.tries, attempt)
}

func (o *observer) CallEnded(ctx context.Context, _ moneymovement.CallStart, end moneymovement.CallEnd) {
	o.note(ctx, "ended")
	o.ends = append(o.ends, end)
}

func observedBy(observers ...moneymovement.Observer) func(*transport.Config) {
	return func(c *transport.Config) { c.Observers = observers }
}

// Each call is shown once, whatever it ended in, with each of its attempts and the pauses between them.
func TestObserverSeesACallAndItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(observer)
		client := newClient(t, host, observedBy(seen), through(script(
			refuses(503, errors.CodeProviderUnavailable, "X-Request-ID", "req_1"),
			refuses(429, errors.CodeRateLimited, "Retry-After", "7"),
			func(req *http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				return lostResponse(req)
			},
			responds(http.StatusOK, oneThing, "X-Request-ID", "req_4", "Idempotency-Replayed", "true"))),
			retries(moneymovement.RetryPolicy{Max: 5}))
		began := time.Now()
		_, err := sendKeyed(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, []moneymovement.CallStart{{Operation: "BookThing", Method: http.MethodPost,
			URLTemplate: "/v1/things", Server: host, IdempotencyKey: "invoice-42"}}, seen.starts)
		require.Len(t, seen.tries, 4)
		var paused time.Duration
		for i := range seen.tries {
			paused += seen.tries[i].Pause
			if i != 1 && i != 3 {
				assert.Positive(t, seen.tries[i].Pause)
				seen.tries[i].Pause = 0
			}
		}
		assert.Equal(t, []moneymovement.CallAttempt{
			{Number: 1, Status: 503, RequestID: "req_1"},
			{Number: 2, Status: 429, RetryAfter: 7 * time.Second, Pause: 7 * time.Second},
			{Number: 3, Took: time.Second, Failure: moneymovement.AttemptLost},
			{Number: 4, Status: 200, RequestID: "req_4"},
		}, seen.tries)
		assert.Equal(t, []moneymovement.CallEnd{{Result: moneymovement.CallSucceeded, Status: 200, RequestID: "req_4",
			Replayed: true, Attempts: 4, Took: time.Since(began)}}, seen.ends)
		assert.Equal(t, time.Second+paused, time.Since(began))
	})
}

func TestObserverSeesWhyAnAttemptFailed(t *testing.T) {
	stuck := step(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	timeout := func(d time.Duration) *time.Duration { return &d }
	for name, c := range map[string]struct {
		does    step
		call    transport.Call
		stop    time.Duration // when the context is canceled; 0 for never
		failure moneymovement.AttemptFailure
		status  int
	}{
		"no connection":     {does: noConnection, failure: moneymovement.AttemptNotConnected},
		"a lost response":   {does: lostResponse, failure: moneymovement.AttemptLost},
		"a broken response": {does: brokenResponse, failure: moneymovement.AttemptLost, status: 200},
		"a timeout": {does: stuck, call: transport.Call{CallSettings: moneymovement.CallSettings{
			Timeout: timeout(time.Second)}}, failure: moneymovement.AttemptTimedOut},
		"an impatient caller": {does: stuck, stop: time.Second, failure: moneymovement.AttemptCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(observer)
				client := newClient(t, host, observedBy(seen), through(c.does),
					retries(moneymovement.RetryPolicy{Max: -1}))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.stop > 0 {
					time.AfterFunc(c.stop, cancel)
				}
				_, err := send(ctx, client, &confirmThing, c.call)
				require.Error(t, err)
				require.Len(t, seen.tries, 1)
				assert.Equal(t, c.failure, seen.tries[0].Failure)
				assert.Equal(t, c.status, seen.tries[0].Status)
				require.Len(t, seen.ends, 1)
				assert.Equal(t, err, seen.ends[0].Err)
			})
		})
	}
}

// callsFirst logs in before it sets a credential, with another call of the client.
type callsFirst struct{ client **transport.Client }

func (l callsFirst) Authorize(ctx context.Context, h http.Header) error {
	_, err := send(ctx, *l.client, &loginThing, transport.Call{})
	h.Set("Authorization", "Bearer at_1")
	return err
}

// The request and the login inside a call have the context that the observers returned. The first observer is the
// outermost.
func TestContextOfAnObserverReachesTheRequest(t *testing.T) {
	var order, requests []string
	outer, inner := &observer{name: "outer", order: &order}, &observer{name: "inner", order: &order}
	var client *transport.Client
	client = newClient(t, host, observedBy(outer, inner), authorizedBy(callsFirst{&client}), through(step(
		func(req *http.Request) (*http.Response, error) {
			span, _ := req.Context().Value(spanOf{}).(string)
			requests = append(requests, span)
			return ok(req)
		})))
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Equal(t, []string{"innerLogIn", "innerGetThing"}, requests)
	assert.Equal(t, []string{
		" outer began", "outerGetThing inner began",
		"innerGetThing outer began", "outerLogIn inner began",
		"innerLogIn outer tried", "innerLogIn inner tried", "innerLogIn inner ended", "innerLogIn outer ended",
		"innerGetThing outer tried", "innerGetThing inner tried", "innerGetThing inner ended",
		"innerGetThing outer ended",
	}, order)
}

func TestObserverSeesWhatIsNeverSent(t *testing.T) {
	seen := new(observer)
	service := script(ok)
	client := newClient(t, host, observedBy(seen), through(service))
	_, err := send(t.Context(), client, &bookThing, transport.Keyed("no key"))
	require.Error(t, err)
	begun := transport.Flow{Op: &bookThing, Account: "cl_1", Key: "key-1"}
	flow := transport.Ready(t.Context(), client, begun, "New", func(c *transport.Check) {
		c.Refuse("Amount", "out_of_range", "must be positive")
	})
	require.Error(t, flow)
	require.NoError(t, transport.Ready(t.Context(), client, begun, "New"))
	assert.Empty(t, service.attempts())
	assert.Empty(t, seen.tries)
	require.Len(t, seen.ends, 2)
	for i, want := range []error{err, flow} {
		assert.Equal(t, "BookThing", seen.starts[i].Operation)
		assert.Equal(t, moneymovement.CallInvalid, seen.ends[i].Result)
		assert.Equal(t, want, seen.ends[i].Err)
	}
	assert.Equal(t, "cl_1", seen.starts[1].Account)
	assert.Equal(t, moneymovement.Key("key-1"), seen.starts[1].IdempotencyKey)
}

// A stream has ended for the observers when it is open.
func TestObserverSeesAStream(t *testing.T) {
	seen := new(observer)
	client := newClient(t, host, observedBy(seen),
		through(responds(200, "%PDF-1.7", "Content-Type", "application/pdf")))
	stream, err := transport.Open(t.Context(), client, request(&renderThing, transport.Call{}), "application/pdf")
	require.NoError(t, err)
	assert.Len(t, seen.tries, 1)
	require.Len(t, seen.ends, 1)
	assert.Equal(t, moneymovement.CallSucceeded, seen.ends[0].Result)
	body, err := io.ReadAll(stream)
	require.NoError(t, err)
	assert.Equal(t, "%PDF-1.7", string(body))
	require.NoError(t, stream.Close())
}

// The state is what one call proves, and no more.
func TestStateThatACallShows(t *testing.T) {
	shown := func(c *transport.Config) {
		c.StateShown = func(value any) moneymovement.PaymentState {
			if it, is := value.(*thing); is && it.Status == "done" {
				return moneymovement.PaymentCompleted
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		op   *transport.Operation
		does step
		want moneymovement.PaymentState
	}{
		"a read of what is done":     {&readThing, responds(200, `{"id":"t_1","status":"done"}`), "completed"},
		"a read of what waits":       {&readThing, responds(200, `{"id":"t_1","status":"waits"}`), ""},
		"a booking":                  {&bookThing, ok, ""},
		"a write that pays at once":  {&sendThing, ok, moneymovement.PaymentPaid},
		"a lost read":                {&readThing, lostResponse, ""},
		"a lost write":               {&sendThing, lostResponse, moneymovement.PaymentInDoubt},
		"a write without connection": {&sendThing, noConnection, ""},
		"a refusal":                  {&sendThing, refuses(422, errors.CodeValidationFailed), ""},
		"one that was paid before": {&confirmThing, refuses(409, errors.CodeAlreadyFunded),
			moneymovement.PaymentPaid},
	} {
		t.Run(name, func(t *testing.T) {
			seen := new(observer)
			_, _ = sendKeyed(t.Context(), newClient(t, host, observedBy(seen), shown, through(script(c.does)),
				retries(moneymovement.RetryPolicy{Max: -1})), c.op, transport.Call{})
			require.Len(t, seen.ends, 1)
			assert.Equal(t, c.want, seen.ends[0].State)
		})
	}
}

// trivial is an observer that does nothing.
type trivial struct{}

func (trivial) CallBegan(ctx context.Context, _ moneymovement.CallStart) context.Context { return ctx }

func (trivial) AttemptEnded(context.Context, moneymovement.CallStart, moneymovement.CallAttempt) {}

func (trivial) CallEnded(context.Context, moneymovement.CallStart, moneymovement.CallEnd) {}

// A call with an observer needs at most 15 % more memory than one without.
func TestObserverCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	bytesOf := func(set ...func(*transport.Config)) float64 {
		client := newClient(t, host, append(set, through(canned{http.StatusOK, oneThing, cannedHeader}),
			limitedBy(ratewindow.New(windows{moneymovement.WindowReads: {Calls: 1 << 20, Per: 1}}, nil)))...)
		const runs = 2000
		var before, after runtime.MemStats
		for range runs { // so that pools are full, and the windows known
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&before)
		for range runs {
			_, err := send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / runs
	}
	without, with := bytesOf(), bytesOf(observedBy(trivial{}))
	t.Logf("%.0f bytes without an observer, %.0f with one", without, with)
	assert.LessOrEqual(t, with, 1.15*without)
}
