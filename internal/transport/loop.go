package transport

import (
	"context"
	"time"

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

// do checks and encodes a call, and sends it.
func (c *Client) do(ctx context.Context, r *Request, newValue func() any) (value any, err error) {
	if c != nil && c.metrics != nil && ctx != nil {
		defer c.measured(ctx, r, time.Now(), &err)
	}
	r.call.forget()
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
	over, err := c.keys.claim(r, r.encoded)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx, r)
	defer cancel()
	r.begin(c)
	defer r.answer.release()
	defer r.keep()

	value, err = r.send(ctx, newValue)
	over(value, err)
	return value, err
}

// send makes the attempts of a call: outcome > renew > retry > pace > authorize > send. It makes the value only for a
// success: it can be large, and a refusal does not need it.
//
// Of go-retryablehttp it uses the back-off, and not the loop. That loop needs an http.Client as well. With it, a GET
// over loopback TCP costs some 5 % more. Of the calls whose responses come from memory, a GET costs a fifth more, and a
// refusal nearly half as much again. Its policy does not fit either: it repeats every write, and after a 5xx that we do
// not repeat, but not after a 408.
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
	if err = r.enter(ctx); err != nil { // pace > authorize
		return 0, false, err
	}
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
	return pause, again, err
}

// end returns the decoded value of the last attempt, or the error of the call. err is nil if the response was read.
func (r *Request) end(ctx context.Context, err error, newValue func() any) (any, error) {
	switch {
	case err != nil:
		return nil, r.outcome(ctx, err)
	case !r.answer.success():
		return nil, r.settle(r.answer.refusal(r))
	}
	r.client.budget.earn()
	value := newValue()
	if r.stream != nil {
		return value, r.stream.end(r)
	}
	if err := r.decode(value); err != nil {
		return nil, r.unreadable(err)
	}
	r.reportUnread(ctx)
	return value, nil
}
