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

// Retry is the retry policy of a client. A field that is 0 has its default.
type Retry struct {
	Max     int           // retries after the first attempt; 0 means 3, negative means none
	WaitMin time.Duration // first backoff, 250 ms by default
	// longest pause and longest Retry-After that is waited for, 65 s by default: a whole rate window
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

// retrying makes the attempts after the first one and its pause, in go-retryablehttp's loop.
func (t *tracker) retrying(loop *retryablehttp.Client, req *http.Request, body []byte) error {
	again := &retryablehttp.Request{Request: req}
	again.SetResponseHandler(t.read)
	if body != nil {
		if err := again.SetBody(body); err != nil {
			return err
		}
		// without GetBody, net/http cannot send the request again by itself, even if a transport changes the key's
		// header
		again.GetBody = nil
	}
	resp, err := loop.Do(again)
	if err != nil && resp != nil {
		resp.Body.Close()
	}
	return err
}

// retrier sets go-retryablehttp up for one call with our policy. Its own policy retries POSTs blindly, follows an
// overflowing Retry-After past its maximum, and prints the URL in its last error. It does not count the first attempt;
// the tracker does.
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

// checkRetry decides after each attempt whether there is another.
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

// worthRetrying holds the policy. The package documentation of moneymovement states it for users.
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

// fits reports whether there is time for the pause before the next attempt. If not, the caller gets the response at
// once, and finds in it when to try again.
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

// noTimeLeft says that the context would have ended in the pause before the next attempt.
type noTimeLeft struct{}

func (noTimeLeft) Error() string { return "the deadline leaves no time for another attempt" }

// Unwrap returns the error that waiting would have ended in.
func (noTimeLeft) Unwrap() error { return context.DeadlineExceeded }

// Again reports whether a step that ended in err may start again, after which pause. tried is how often it was started.
func (c *Client) Again(tried int, err error) (time.Duration, bool) {
	wait := jittered(c.retry.bound(tried))
	if at := retryAt(err); !at.IsZero() {
		wait = time.Until(at)
	}
	return wait, tried < c.retry.Max && wait <= c.retry.WaitMax && c.budget.spend()
}

// backoff returns the pause before a retry: the one that the service asked for, or a random time in the upper half of
// the bound.
func (c *Client) backoff(t *tracker, resp *http.Response) time.Duration {
	if wait, asked := retryAfter(resp); asked {
		return wait
	}
	return jittered(c.retry.bound(t.retried - 1))
}

// jittered returns a random time in the upper half of a bound.
func jittered(bound time.Duration) time.Duration {
	return bound/2 + rand.N(bound/2+1) //gosec:disable G404 -- jitter is no secret
}

const longestBackoff = 8 * time.Second

// bound returns the longest pause after so many retries. It doubles with each.
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

// prepareRetry paces and authorizes the next attempt. It copies the header, because the connection of the earlier
// attempt may still read it.
func (c *Client) prepareRetry(ctx context.Context, t *tracker) error {
	return c.prepare(ctx, t, t.header.Clone())
}

// maxDrained is how much of an unused body is read, so that its connection can be used again.
const maxDrained = 4 << 10

// drain discards the response of the first attempt, as go-retryablehttp does with the others.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrained)
	body.Close()
}
