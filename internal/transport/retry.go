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

// retrying makes the attempts after the first attempt and its pause, in go-retryablehttp's loop.
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

// retrier configures go-retryablehttp for one call with our policy. Its own policy retries every POST, waits longer
// than its maximum if Retry-After overflows, and prints the URL in its last error. It does not count the first attempt.
// The tracker does.
func (c *Client) retrier(ctx context.Context, t *tracker) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: c.httpClient(t),
		RetryMax:   c.retry.Max,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return c.checkRetry(ctx, t, resp, err), nil // outcome says what failed
		},
		Backoff: func(_, _ time.Duration, _ int, resp *http.Response) time.Duration {
			return c.backoff(ctx, t, resp)
		},
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
// once, which says when to try again.
func (c *Client) fits(ctx context.Context, t *tracker, resp *http.Response) bool {
	if ctx.Err() != nil {
		return false
	}
	wait, asked := retryAfter(resp)
	if asked && wait > c.retry.WaitMax {
		return false
	}
	now := time.Now()
	deadline, limited := ctx.Deadline()
	if !limited && resp == nil && t.silence+c.bound(t.retried) >= maxSilence {
		return false
	}
	t.noTime = limited && !now.Add(max(wait, c.bound(t.retried))).Before(deadline)
	if asked && !t.noTime {
		t.askedBack = now.Add(wait)
	}
	return !t.noTime
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

// backoff returns the pause before a retry: a random time between half the bound and the bound, or the time that the
// service asked for, if that is longer. A wrong Retry-After, such as a time in the past, makes no burst of retries.
func (c *Client) backoff(ctx context.Context, t *tracker, resp *http.Response) time.Duration {
	asked, _ := retryAfter(resp)
	pause := c.jittered(ctx, c.bound(t.retried-1))
	if resp == nil {
		t.silence += pause
	}
	return max(asked, pause)
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

// bound returns the longest pause after so many retries. It doubles with each retry.
func (c *Client) bound(retried int) time.Duration {
	least := min(c.retry.WaitMin, longestBackoff) // so that doubling cannot overflow
	return min(least<<min(retried, 10), longestBackoff, c.retry.WaitMax)
}

func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	return errors.RetryAfter(resp.Header, time.Now())
}

// prepareRetry paces and authorizes the next attempt. It copies the header, because the connection of the earlier
// attempt may still read the old one.
func (c *Client) prepareRetry(ctx context.Context, t *tracker) error {
	return c.prepare(ctx, t, t.header.Clone())
}

// maxDrained is how many bytes of an unused body are read, so that its connection can be used again.
const maxDrained = 4 << 10

// drain discards the response of the first attempt. go-retryablehttp does the same with the others.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrained)
	body.Close()
}
