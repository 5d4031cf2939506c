package transport

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

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

// again decides after an attempt whether there is another one, and after which pause. The pause is a random time
// between half the bound and the bound, or the time that the service asked for, if that is longer. A wrong Retry-After,
// such as a time in the past, makes no burst of retries.
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
	if !r.fits(ctx, resp, bound) || !c.budget.spend() {
		return 0, false
	}
	r.doubted = r.doubted || resp != nil && resp.StatusCode != http.StatusTooManyRequests
	pause = c.jittered(ctx, bound)
	if resp == nil {
		r.silence += pause
	}
	return max(retryAfter(resp), pause), true
}

// worthRetrying holds the policy. The package documentation of moneymovement states it for users.
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

// fits reports whether there is time for the pause before the next attempt, which is at most bound if the service asks
// for no longer one. If not, the caller gets the response at once, which says when to try again.
func (r *Request) fits(ctx context.Context, resp *http.Response, bound time.Duration) bool {
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
		r.askedBack = now.Add(wait)
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
	return bound/2 + rand.N(bound/2+1) //gosec:disable G404 -- jitter is no secret
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
