package transport

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Retry is the policy of a client. The zero value takes the defaults.
type Retry struct {
	Max     int           // retries after the first attempt; 0 means 3, negative means none
	WaitMin time.Duration // first backoff, 250 ms by default
	WaitMax time.Duration // longest backoff and longest Retry-After that is waited for, 65 s by default: a whole rate window
}

func (p Retry) withDefaults() Retry {
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

// newRetrier sets go-retryablehttp up under our policy: its own retries POSTs blindly, follows an overflowing Retry-After past its
// maximum, and prints the URL in its last error.
func (c *Client) newRetrier(p Retry) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   c.http,
		RetryMax:     p.Max,
		RetryWaitMin: p.WaitMin,
		RetryWaitMax: p.WaitMax,
		CheckRetry:   c.checkRetry,
		Backoff:      backoff,
		PrepareRetry: c.prepareRetry,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// checkRetry decides after each attempt. It never returns an error of its own: what failed is for outcome to say.
func (c *Client) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	t := tripOf(ctx)
	if err != nil && !t.unsent {
		t.lost = true
	}
	if t.left == 0 || !t.worthRetrying(resp, err) || !c.fits(ctx, t, resp) || !c.budget.spend() {
		return false, nil
	}
	t.left--
	t.doubted = t.doubted || resp != nil && resp.StatusCode != http.StatusTooManyRequests
	return true, nil
}

// worthRetrying holds the policy; the package documentation of moneymovement states it for callers.
func (t *trip) worthRetrying(resp *http.Response, err error) bool {
	if err != nil {
		return !t.final && (t.unsent || t.repeatable())
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return t.repeatable()
	case http.StatusInternalServerError:
		return !t.op.write()
	}
	return false
}

// fits reports whether the wait before the next attempt can be afforded. If not, the answer goes to the caller at once, who finds the
// time to try again at in it.
func (c *Client) fits(ctx context.Context, t *trip, resp *http.Response) bool {
	if ctx.Err() != nil {
		return false
	}
	wait, asked := retryAfter(resp)
	if asked && wait > c.retry.WaitMax {
		return false
	}
	if !asked {
		wait = jitterBound(c.retry.WaitMin, c.retry.WaitMax, c.retry.Max-t.left)
	}
	deadline, limited := ctx.Deadline()
	t.cramped = limited && !time.Now().Add(wait).Before(deadline)
	return !t.cramped
}

// noRoom says that the context would have ended in the pause before the next attempt, so that there was none.
type noRoom struct{}

func (noRoom) Error() string { return "the deadline leaves no room to try again" }

// Unwrap gives what waiting would have ended in.
func (noRoom) Unwrap() error { return context.DeadlineExceeded }

// Again says whether a step of several calls that ended in err may be begun anew, after how many times it was, and after which pause.
func (c *Client) Again(tried int, err error) (time.Duration, bool) {
	wait := jittered(jitterBound(c.retry.WaitMin, c.retry.WaitMax, tried))
	if at := retryAt(err); !at.IsZero() {
		wait = time.Until(at)
	}
	return wait, tried < c.retry.Max && wait <= c.retry.WaitMax && c.budget.spend()
}

// backoff waits what the service asked for, which fits has found affordable, else a random time in the upper half of a doubling bound.
func backoff(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
	if wait, asked := retryAfter(resp); asked {
		return wait
	}
	return jittered(jitterBound(least, most, attempt))
}

// jittered is a random time in the upper half of a bound.
func jittered(bound time.Duration) time.Duration {
	return bound/2 + rand.N(bound/2+1) //gosec:disable G404 -- jitter is no secret
}

const longestBackoff = 8 * time.Second

func jitterBound(least, most time.Duration, attempt int) time.Duration {
	least = min(least, longestBackoff) // so that doubling cannot overflow
	return min(least<<min(attempt, 10), longestBackoff, most)
}

func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	return errors.RetryAfter(resp.Header, time.Now())
}

// prepareRetry paces and authorizes the next attempt. The header is copied: the connection of the attempt before may still read it.
func (c *Client) prepareRetry(req *http.Request) error {
	t := tripOf(req.Context())
	return c.prepare(req.Context(), t, t.header.Clone())
}
