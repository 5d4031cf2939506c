package moneymovement

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Window names a rate window of the service.
type Window string

// The windows of the platform API.
const (
	WindowReads          Window = "reads"           // 600 reads a minute for a credential
	WindowWrites         Window = "writes"          // 120 writes a minute for a credential
	WindowLogin          Window = "login"           // 20 login calls in 5 minutes from an IP address
	WindowLoginEmail     Window = "login_email"     // 10 challenges in 5 minutes for an email
	WindowLoginChallenge Window = "login_challenge" // 10 token calls in 5 minutes for a challenge
	WindowSandboxMoney   Window = "sandbox_money"   // 60 sandbox money calls an hour for an account
)

// RateClass says which calls go first when a window is full.
type RateClass string

// The classes, the first one with the highest priority. Later versions may add classes: treat an unknown class like
// ClassWrite or ClassRead.
const (
	ClassRefresh RateClass = "refresh" // renews the access token, which every other call needs
	ClassConfirm RateClass = "confirm" // confirms a payment; the approval that expires first goes first
	ClassLogin   RateClass = "login"   // has its own windows
	ClassWrite   RateClass = "write"   // any other write
	ClassRead    RateClass = "read"    // a read
	ClassPoll    RateClass = "poll"    // a read of a wait, which is repeated
)

// RateCall describes a call that waits for a [RateLimiter].
type RateCall struct {
	// Window is the window that counts the call. It is empty on surfaces other than the platform API.
	Window Window
	// Scope is what the window counts for: the account of [WindowSandboxMoney], the email of [WindowLoginEmail], the
	// challenge of [WindowLoginChallenge]. It is empty for the other windows.
	Scope string
	// Class says which calls go first.
	Class RateClass
	// Closes is the time at which the approval of a confirm expires, by this machine's clock. It is zero for other
	// calls. Return *WindowFull for a confirm that cannot be sent before that time.
	Closes time.Time
}

// Allowance is how many calls a window allows in which time.
type Allowance struct {
	Calls int
	Per   time.Duration
}

// Span returns how long a limiter counts a call: a sixtieth longer than the window lasts, and at most a second longer.
// The network can delay the first of two calls more than the second, so that they arrive closer together.
func (a Allowance) Span() time.Duration { return a.Per + min(a.Per/60, time.Second) }

// StatedWindows returns the windows that the platform API states. The map is the caller's own.
func StatedWindows() map[Window]Allowance {
	return map[Window]Allowance{
		WindowReads:          {600, time.Minute},
		WindowWrites:         {120, time.Minute},
		WindowLogin:          {20, 5 * time.Minute},
		WindowLoginEmail:     {10, 5 * time.Minute},
		WindowLoginChallenge: {10, 5 * time.Minute},
		WindowSandboxMoney:   {60, time.Hour},
	}
}

// WindowFull is the error of a [RateLimiter] for a call that its window cannot admit in time. The SDK then behaves as
// with its own limiter: it signs nothing for a confirm that would be too late, and Payouts.Pay of package dapi books
// anew.
type WindowFull struct {
	Window Window
	Until  time.Time // when there will be room, as far as is known, by this machine's clock
	Closed bool      // the approval expires before that; otherwise the context's deadline comes first
}

// Error returns one line that is safe to log.
func (e *WindowFull) Error() string {
	before := "the deadline"
	if e.Closed {
		before = "the approval's window closes"
	}
	return errorbase.Text(e, "rate window "+string(e.Window)+" has no room before "+before)
}

// Unwrap returns context.DeadlineExceeded, in which waiting would have ended, or nil if the approval expires first.
func (e *WindowFull) Unwrap() error {
	if e.Closed {
		return nil
	}
	return context.DeadlineExceeded
}

// RateLimiter decides when a call may be sent. Implement it to share the windows of one credential between processes,
// or the login window of one IP address between credentials. It must be safe for concurrent use.
//
// For a fixed number of processes, each with the same load, [WithRateShare] is enough. Use a shared RateLimiter if the
// number of processes changes, or if one process must be able to use what the others leave. The packages fleet/redis
// and payments/postgres/fleetpostgres have one. To share windows over another store, implement the Windows of package
// fleet.
//
// Count each call for a second longer than the window lasts, because the network can delay the first of two calls more
// than the second.
type RateLimiter interface {
	// Wait blocks until the call may be sent, and then returns nil. It returns an error if ctx ends first, and
	// *WindowFull if the call cannot be sent in time. If several windows count a call, the SDK calls Wait once for each
	// of them. It sends the call right after the last Wait, and signs a confirm in between.
	Wait(ctx context.Context, call RateCall) error
}

// WithRateLimiter replaces the client's own rate limiter. Use it to share the windows between processes. By default,
// only the platform API has a rate limiter, because the rate windows of the other surfaces are not known.
func WithRateLimiter(limiter RateLimiter) Option {
	return option(func(to *ClientSettings) { to.RateLimiter = limiter })
}

// WithRateShare divides the rate windows between n processes with the same credential. The client's own limiter then
// uses 1/n of each window of the platform API, rounded down, and at least one call. For example, each of two processes
// makes at most 60 writes and 300 reads a minute. The processes need not talk to each other. Calls go first in the same
// order as without a share. The window of a login challenge stays whole, because only one process uses a challenge.
//
// A share also bounds the payments between booking and confirm: with n = 2, at most 54 instead of 108. It does so also
// with [WithRateLimiter] and [WithoutPacing], where it has no other effect. On surfaces other than the platform API, it
// has no effect.
//
// n is 1 by default. If n is less than 1, New fails with *errors.InvalidInput. If n is large, remember two limits. The
// 20 login calls of an IP address are divided as well, and a login needs two: with n > 10, share the session, or a
// login takes a minute. With n > 60, a share is one write a minute, and dapi's Escrows.Open cannot finish within the 60
// seconds of an approval.
func WithRateShare(n int) Option {
	return option(func(to *ClientSettings) {
		to.RateShare = n
		if n < 1 {
			refuse(&to.Invalid, "WithRateShare", "too_small", "must be at least 1")
		}
	})
}

// WithoutPacing disables client-side rate limiting. A call over the limit is retried, and then fails with
// *errors.RateLimited. Even so, a client has at most 108 payments between booking and confirm at any time: more could
// not be confirmed before their approvals expire.
func WithoutPacing() Option {
	return option(func(to *ClientSettings) { to.RateLimiter, to.Unpaced = nil, true })
}
