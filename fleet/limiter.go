package fleet

import (
	"context"
	"crypto/rand"
	"maps"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Limiter is a [moneymovement.RateLimiter] that shares the rate windows of a credential with other processes. Make it
// with [NewLimiter], or with NewLimiter of fleet/redis or payments/postgres/fleetpostgres. Use one for all clients of a
// process. It is safe for concurrent use. It need not be closed: while no call waits, it does nothing.
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
			Unavailable: func(window moneymovement.Window, err error) error {
				return &StoreUnavailable{Window: window, Err: err}
			},
		},
	}
	for _, option := range options {
		option(&s)
	}
	return &Limiter{ratewindow.New(s.allowances, &s.sharing)}, nil
}

// Wait implements [moneymovement.RateLimiter]. It fails with *[moneymovement.WindowFull] if the call cannot be sent
// before ctx ends or its approval expires, and with *[StoreUnavailable] if the store cannot be used.
func (l *Limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if err := outcome.RequireContext(ctx, "Limiter.Wait"); err != nil {
		return err
	}
	return l.of.Wait(ctx, call)
}

// Option changes a [Limiter].
type Option func(*settings)

type settings struct {
	allowances map[moneymovement.Window]moneymovement.Allowance
	sharing    ratewindow.Sharing
}

// WithShareWhileUnavailable lets each of n processes use 1/n of a window while the store cannot be reached. A process
// counts the calls that it made before, and what it last knew about the calls of the others, so that together they stay
// near the limit. Without this option, calls then fail with *[StoreUnavailable].
func WithShareWhileUnavailable(n int) Option { return func(s *settings) { s.sharing.Share = n } }

// WithPatience sets how long calls wait for a store that cannot be reached before they fail with *[StoreUnavailable].
// The default is 2 seconds, which is enough for most restarts of a store. It has no effect with
// [WithShareWhileUnavailable].
func WithPatience(d time.Duration) Option { return func(s *settings) { s.sharing.Patience = d } }

// WithWindow changes what a window allows, for a service with other limits, or for a test with short windows. Every
// process must state the same. With no calls, the window is not limited.
func WithWindow(window moneymovement.Window, allowance moneymovement.Allowance) Option {
	return func(s *settings) {
		s.allowances = maps.Clone(s.allowances)
		s.allowances[window] = allowance
	}
}

// StoreUnavailable is the error of a call that got no slot of its rate window, because the store of the windows cannot
// be reached, does not respond in time, or has a damaged value. Nothing was sent.
type StoreUnavailable struct {
	Window moneymovement.Window
	Err    error // what the store returned
}

// Error returns one line that is safe to log.
func (e *StoreUnavailable) Error() string {
	reason := strings.Join(strings.Fields(e.Err.Error()), " ") // that of a database can have several lines
	return errorbase.Text(e, "the store of rate window "+string(e.Window)+" cannot be used: "+reason)
}

// Unwrap returns Err.
func (e *StoreUnavailable) Unwrap() error { return e.Err }
