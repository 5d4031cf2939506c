package fleet

import (
	"context"
	"crypto/rand"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/required"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Limiter is a [moneymovement.RateLimiter] that shares the rate windows of a credential with other processes. Make it
// with [NewLimiter], or with NewLimiter of fleet/redis or payments/postgres/fleetpostgres. Use one for all clients of a
// process. It is safe for concurrent use. It needs no end: while no call waits, it does nothing.
type Limiter struct{ of *ratewindow.Limiter }

// NewLimiter returns a limiter on a store of windows. credential names what the service counts by; use the result of
// Developer.Credential of package dapi. It fails with *errors.InvalidInput if the store or the name is missing.
func NewLimiter(windows Windows, credential string, options ...Option) (*Limiter, error) {
	err := transport.Validate("NewLimiter", func(c *transport.Check) {
		c.Missing("windows", windows == nil)
		c.Missing("credential", credential == "")
	})
	if err != nil {
		return nil, err
	}
	s := settings{
		allowances: moneymovement.StatedWindows(),
		sharing: ratewindow.Sharing{
			Store: store{windows}, Credential: credential, Process: rand.Text(), Patience: 2 * time.Second,
			Away: func(window moneymovement.Window, err error) error { return &StoreAway{Window: window, Err: err} },
		},
	}
	for _, option := range options {
		option(&s)
	}
	return &Limiter{ratewindow.New(s.allowances, &s.sharing)}, nil
}

// Wait implements [moneymovement.RateLimiter]. It fails with *[moneymovement.NoRoom] if the call cannot be sent before
// ctx ends or its approval expires, and with *[StoreAway] if the store cannot be used.
func (l *Limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if err := required.Context(ctx, "Limiter.Wait"); err != nil {
		return err
	}
	return l.of.Wait(ctx, call)
}
