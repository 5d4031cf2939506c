package transport

import (
	"context"
	"io"
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
	// longest backoff and longest Retry-After that is waited for, 65 s by default: a whole rate window
	WaitMax time.Duration
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

// retrying goes on after the first attempt and its pause, in go-retryablehttp's loop.
func (t *tracker) retrying(loop *retryablehttp.Client, req *http.Request, body []byte) error {
	again := &retryablehttp.Request{Request: req}
	again.SetResponseHandler(t.read)
	if body != nil {
		if err := again.SetBody(body); err != nil {
			return err
		}
		// lest net/http resends by itself if a transport of the caller's spells the key's header its own way
		again.GetBody = nil
	}
	resp, err := loop.Do(again)
	if err != nil && resp != nil {
		resp.Body.Close()
	}
	return err
}

// retrier sets go-retryablehttp up for one call under our policy: its own retries POSTs blindly, follows an overflowing
// Retry-After past its maximum, and prints the URL in its last error. Its count of attempts lacks the first; the tracker's
// does not.
func (c *Client) retrier(t *tracker) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: c.httpClient(t),
		RetryMax:   c.retry.Max,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return c.checkRetry(ctx, t, resp, err), nil // what failed is for outcome to say
		},
		Backoff:      func(_, _ time.Duration, _ int, resp *http.Response) time.Duration { return c.backoff(t, resp) },
		PrepareRetry: func(req *http.Request) error { return c.prepareRetry(req.Context(), t) },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// checkRetry decides after each attempt, the first or another one.
func (c *Client) checkRetry(ctx context.Context, t *tracker, resp *http.Response, err error) bool {
	if err != nil && !t.unsent {
		t.lost = true
	}
	if t.retried == c.retry.Max || !t.worthRetrying(resp, err) || !c.fits(ctx, t, resp) || !c.budget.spend() {
		return false
	}
	t.retried++
	t.doubted = t.doubted || resp != nil && resp.StatusCode != http.StatusTooManyRequests
	return true
}

// worthRetrying holds the policy; the package documentation of moneymovement states it for callers.
func (t *tracker) worthRetrying(resp *http.Response, err error) bool {
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

// fits reports whether the wait before the next attempt can be afforded. If not, the answer goes to the caller at once,
// who finds the time to try again at in it.
func (c *Client) fits(ctx context.Context, t *tracker, resp *http.Response) bool {
	if ctx.Err() != nil {
		return false
	}
	wait, asked := retryAfter(resp)
	if asked && wait > c.retry.WaitMax {
		return false
	}
	if !asked {
		wait = c.retry.bound(t.retried)
	}
	deadline, limited := ctx.Deadline()
	t.noTime = limited && !time.Now().Add(wait).Before(deadline)
	return !t.noTime
}

// noTimeLeft says that the context would have ended in the pause before the next attempt, so that there was none.
type noTimeLeft struct{}

func (noTimeLeft) Error() string { return "the deadline leaves no room to try again" }

// Unwrap gives what waiting would have ended in.
func (noTimeLeft) Unwrap() error { return context.DeadlineExceeded }

// Again says whether a step of several calls that ended in err may be begun anew, after how many times it was, and
// after which pause.
func (c *Client) Again(tried int, err error) (time.Duration, bool) {
	wait := jittered(c.retry.bound(tried))
	if at := retryAt(err); !at.IsZero() {
		wait = time.Until(at)
	}
	return wait, tried < c.retry.Max && wait <= c.retry.WaitMax && c.budget.spend()
}

// backoff is the pause before a retry that checkRetry has granted: what the service asked for, which fits has found
// affordable, else a random time in the upper half of the retry's bound.
func (c *Client) backoff(t *tracker, resp *http.Response) time.Duration {
	if wait, asked := retryAfter(resp); asked {
		return wait
	}
	return jittered(c.retry.bound(t.retried - 1))
}

// jittered is a random time in the upper half of a bound.
func jittered(bound time.Duration) time.Duration {
	return bound/2 + rand.N(bound/2+1) //gosec:disable G404 -- jitter is no secret
}

const longestBackoff = 8 * time.Second

// bound is the longest backoff after so many retries. It doubles with each.
func (p Retry) bound(retried int) time.Duration {
	least := min(p.WaitMin, longestBackoff) // so that doubling cannot overflow
	return min(least<<min(retried, 10), longestBackoff, p.WaitMax)
}

func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	return errors.RetryAfter(resp.Header, time.Now())
}

// prepareRetry paces and authorizes the next attempt. The header is copied: the connection of the attempt before may
// still read it.
func (c *Client) prepareRetry(ctx context.Context, t *tracker) error {
	return c.prepare(ctx, t, t.header.Clone())
}

// maxDrained is how much of an answer is read that nobody wants, so that its connection can be used again.
const maxDrained = 4 << 10

// drain does away with the answer of the first attempt, as go-retryablehttp does with those of the others.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrained)
	body.Close()
}
