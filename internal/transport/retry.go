package transport

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Do sends one call and decodes the response into a T.
func Do[T any](ctx context.Context, c *Client, r *Request) (*T, error) {
	value, err := c.do(ctx, r, func() any { return new(T) })
	if err != nil {
		return nil, err
	}
	typed, _ := value.(*T) // do returns what newValue made
	return typed, nil
}

// do makes a call, and shows it to the observers.
func (c *Client) do(ctx context.Context, r *Request, newValue func() any) (value any, err error) {
	if c != nil && len(c.observers) > 0 && ctx != nil {
		return c.doObserved(ctx, r, newValue)
	}
	return c.call(ctx, r, newValue)
}

// call checks and encodes a call, and sends it.
func (c *Client) call(ctx context.Context, r *Request, newValue func() any) (value any, err error) {
	r.call.clearCaptures()
	r.idempotency()
	r.check.Context(ctx)
	r.check.Options(r.call.Invalid)
	if err := r.check.err(r.head); err != nil {
		return nil, err
	}
	if err := r.encode(); err != nil {
		return nil, &errors.InvalidInput{
			CallInfo: r.head(),
			Fields:   []errors.Field{{Field: wire.Unencodable(err), Code: "unencodable", Message: err.Error()}},
		}
	}
	finish, err := c.keys.claim(r, r.encoded)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx, r)
	defer cancel()
	r.prepare(c)
	defer r.response.release()
	defer r.capture()

	value, err = r.send(ctx, newValue)
	finish(value, err)
	return value, err
}

// send makes the attempts of a call: outcome > renew > retry > pace > authorize > send. It makes the value only for a
// success, because it can be large.
//
// It takes the backoff of go-retryablehttp, but not its loop. That loop repeats every write, and it costs more: about 5
// % of a GET over loopback, and half as much again for a refusal.
func (r *Request) send(ctx context.Context, newValue func() any) (any, error) {
	renewed := false
	for retried := 0; ; {
		pause, again, err := r.attempt(ctx, retried)
		if again {
			retried++
			if err = Pause(ctx, pause); err == nil {
				continue
			}
		}
		value, err := r.end(ctx, err, newValue)
		renewer, able := r.renewer(err)
		if !able || renewed {
			return value, err
		}
		// The refused attempt was not carried out, so it is safe to send the same request with the same key again.
		if err = renewer.Renew(ctx, r.header); err != nil {
			return nil, r.outcome(ctx, err)
		}
		renewed, retried = true, 0
	}
}

// attempt makes one attempt and reads its response. It returns whether another one follows, and after which pause.
// Otherwise err is why there is no complete response.
func (r *Request) attempt(ctx context.Context, retried int) (pause time.Duration, again bool, err error) {
	if err = r.prepareAttempt(ctx); err != nil { // pace > authorize
		return 0, false, err
	}
	started := time.Now()
	resp, err := r.roundTrip(ctx)
	pause, again = r.again(ctx, retried, resp, err)
	switch {
	case err == nil && again:
		drain(resp.Body)
	case err == nil:
		if err = r.read(resp); err != nil { // an incomplete response is repeated like a lost one
			pause, again = r.again(ctx, retried, resp, err)
		}
	}
	r.observeAttempt(ctx, started, resp, err, pause)
	return pause, again, err
}

// end returns the decoded value of the last attempt, or the error of the call. err is nil if the response was read.
func (r *Request) end(ctx context.Context, err error, newValue func() any) (any, error) {
	switch {
	case err != nil:
		return nil, r.outcome(ctx, err)
	case !r.response.success():
		return nil, r.judgeRefusal(r.response.refusal(r))
	}
	r.client.budget.earn()
	value := newValue()
	if r.stream != nil {
		return value, r.stream.end(r)
	}
	if err := r.decode(value); err != nil {
		return nil, r.unreadableSuccess(err)
	}
	r.reportUnread(ctx)
	return value, nil
}

func withDefaults(p moneymovement.RetryPolicy) moneymovement.RetryPolicy {
	if p.Max == 0 {
		p.Max = 3
	}
	p.Max = max(p.Max, 0)
	if p.WaitMin <= 0 {
		p.WaitMin = 250 * time.Millisecond
	}
	if p.WaitMax <= 0 {
		p.WaitMax = 65 * time.Second
	}
	return p
}

// again decides after an attempt whether there is another one, and after which pause. The pause is random, between half
// the backoff and the backoff. A longer Retry-After is followed; a shorter or wrong one is ignored.
func (r *Request) again(
	ctx context.Context, retried int, resp *http.Response, err error,
) (pause time.Duration, again bool) {
	c := r.client
	if err != nil && !r.unsent {
		r.lost = true
	}
	if retried == c.retry.Max || !r.worthRetrying(resp, err) {
		return 0, false
	}
	bound := c.bound(retried)
	if !r.hasTimeForPause(ctx, resp, bound) || !c.budget.spend() {
		return 0, false
	}
	r.serverFailed = r.serverFailed || resp != nil && resp.StatusCode != http.StatusTooManyRequests
	pause = c.jittered(ctx, bound)
	if resp == nil {
		r.silence += pause
	}
	return max(retryAfter(resp), pause), true
}

// worthRetrying is the retry policy. The package documentation of moneymovement states it for users.
func (r *Request) worthRetrying(resp *http.Response, err error) bool {
	if err != nil {
		return !r.final && (r.unsent || r.repeatable())
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return r.repeatable()
	case http.StatusInternalServerError:
		return !r.op.write()
	}
	return false
}

// hasTimeForPause reports whether there is time for the pause before the next attempt. If not, the caller gets the
// response at once, which says when to try again.
func (r *Request) hasTimeForPause(ctx context.Context, resp *http.Response, bound time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	wait := retryAfter(resp)
	if wait > r.client.retry.WaitMax {
		return false
	}
	now := time.Now()
	deadline, limited := ctx.Deadline()
	if !limited && resp == nil && r.silence+bound >= maxSilence {
		return false
	}
	r.noTime = limited && !now.Add(max(wait, bound)).Before(deadline)
	if !r.noTime {
		r.pausedUntil = now.Add(wait)
	}
	return !r.noTime
}

// noTimeLeft says that the context would have ended in the pause before the next attempt.
type noTimeLeft struct{}

func (noTimeLeft) Error() string { return "the deadline leaves no time for another attempt" }

// Unwrap returns the error that waiting would have ended in.
func (noTimeLeft) Unwrap() error { return context.DeadlineExceeded }

// Again reports whether to repeat a step that failed with err, and after which pause. tried is how often it was
// started.
func (c *Client) Again(ctx context.Context, tried int, err error) (time.Duration, bool) {
	wait := c.jittered(ctx, c.bound(tried))
	if at := retryAt(err); !at.IsZero() {
		wait = max(wait, time.Until(at))
	}
	return wait, tried < c.retry.Max && wait <= c.retry.WaitMax && c.budget.spend()
}

// jittered returns a random time between half the bound and the bound.
func (c *Client) jittered(ctx context.Context, bound time.Duration) time.Duration {
	if random, simulated := ctx.Value(randomKey{}).(func(time.Duration) time.Duration); simulated {
		return bound/2 + random(bound/2+1)
	}
	return bound/2 + rand.N(bound/2+1) //gosec:disable G404 -- jitter is not a secret
}

type randomKey struct{}

// WithRandom returns a context whose calls pause for random times that random returns: at least zero, and less than the
// given time. A simulation uses it, so that the pauses of a run can be repeated.
func WithRandom(ctx context.Context, random func(time.Duration) time.Duration) context.Context {
	return context.WithValue(ctx, randomKey{}, random)
}

const longestBackoff = 8 * time.Second

// bound returns the longest pause after so many retries. It doubles with each retry, up to ten times.
func (c *Client) bound(retried int) time.Duration {
	p := c.retry
	return retryablehttp.DefaultBackoff(p.WaitMin, min(longestBackoff, p.WaitMax), min(retried, 10), nil)
}

// retryAfter returns how long the service asks to wait, which is 0 if it does not.
func retryAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	wait, _ := errors.RetryAfter(resp.Header, time.Now())
	return wait
}

// maxDrained is how many bytes of an unused body are read, so that its connection can be used again.
const maxDrained = 4 << 10

// drain discards the response of an attempt that is repeated.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrained)
	body.Close()
}

// budget limits the retries of all calls of a client, so that retries do not make an outage worse. A retry costs as
// much as five successes give back, so retries stop while the service keeps failing.
type budget struct{ tokens atomic.Int64 }

const (
	budgetSize    = 500
	retryCost     = 5
	successRefund = 1
)

func newBudget() *budget {
	b := new(budget)
	b.tokens.Store(budgetSize)
	return b
}

// spend pays for one retry. It returns false if the budget is empty.
func (b *budget) spend() bool {
	for {
		tokens := b.tokens.Load()
		if tokens < retryCost {
			return false
		}
		if b.tokens.CompareAndSwap(tokens, tokens-retryCost) {
			return true
		}
	}
}

// earn pays a little back after a success. It writes nothing while the budget is full, so that callers on many cores do
// not wait for each other.
func (b *budget) earn() {
	for {
		tokens := b.tokens.Load()
		if tokens == budgetSize || b.tokens.CompareAndSwap(tokens, min(tokens+successRefund, budgetSize)) {
			return
		}
	}
}

// Authorizer sets the credential of a surface.
type Authorizer interface {
	// Authorize sets the credential in the header of one attempt. It may log in first.
	Authorize(ctx context.Context, h http.Header) error
}

// Renewer is an Authorizer that can renew its credential.
type Renewer interface {
	// Renew gets the header with the refused credential. An error ends the call. After nil, the call is sent again.
	Renew(ctx context.Context, refused http.Header) error
}

// Use changes the credential. Calls that begin from now on use it. Calls under way end with the old one.
func (c *Client) Use(auth Authorizer) { c.auth.Store(&auth) }

// authorizer returns the credential for a call that begins now.
func (c *Client) authorizer(call *Call) Authorizer {
	if call.Auth != nil {
		return call.Auth
	}
	return *c.auth.Load()
}

// authorize sets the credential, unless the operation takes none.
func (r *Request) authorize(ctx context.Context) error {
	if r.op.Public || r.auth == nil {
		return nil
	}
	return r.auth.Authorize(ctx, r.header)
}

// renewer returns the Renewer if a new credential can help after a refusal: the old credential has expired, or the
// service does not know it any more.
func (r *Request) renewer(err error) (Renewer, bool) {
	renewer, able := r.auth.(Renewer)
	if err == nil || !able || r.op.Public {
		return nil, false
	}
	if lost, ok := errors.AsType[*errors.InDoubt](err); ok {
		err = lost.Cause // the error of the last attempt, even if earlier attempts were lost
	}
	_, expired := errors.AsType[*errors.TokenExpired](err)
	_, unknown := errors.AsType[*errors.Unauthenticated](err)
	return renewer, expired || unknown
}

// bounded applies the timeout of a call. A stream keeps the context until it is closed.
func (c *Client) bounded(ctx context.Context, r *Request) (context.Context, context.CancelFunc) {
	limit := c.callLimit
	if r.call.Timeout != nil {
		limit = *r.call.Timeout
	}
	if limit == 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	if r.stream == nil {
		return ctx, cancel
	}
	return ctx, func() {
		if r.stream.opened == nil {
			cancel()
			return
		}
		r.stream.opened.cancel = cancel
	}
}
