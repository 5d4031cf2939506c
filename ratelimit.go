package moneymovement

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Window names a rate window of the service.
//
// Source: Limits, Rate windows.
type Window = transport.Window

// The windows of the platform API.
const (
	WindowReads  = transport.WindowReads  // 600 a minute for a credential
	WindowWrites = transport.WindowWrites // 120 a minute for a credential
	// 20 login calls in 5 minutes for the address that they come from, whatever the credential
	WindowLogin          = transport.WindowLogin
	WindowLoginEmail     = transport.WindowLoginEmail     // 10 challenges in 5 minutes for an email
	WindowLoginChallenge = transport.WindowLoginChallenge // 10 token calls in 5 minutes for a challenge
	WindowSandboxMoney   = transport.WindowSandboxMoney   // 60 an hour for an account
)

// RateClass says which calls go first when a window is full.
type RateClass = transport.RateClass

// The classes, those that go first before the others. More may come; take one that you do not know for a write or a
// read.
const (
	ClassRefresh = transport.ClassRefresh // renews the access token, without which nothing else can be sent
	// confirms what is signed for 60 or 120 seconds; the approval that closes first goes first
	ClassConfirm = transport.ClassConfirm
	ClassLogin   = transport.ClassLogin // in windows of its own
	ClassWrite   = transport.ClassWrite // any other write
	ClassRead    = transport.ClassRead  // a read that somebody waits for
	ClassPoll    = transport.ClassPoll  // a read that is made again and again, to see whether something has ended
)

// RateCall is one call that wants to be sent.
type RateCall struct {
	// Window counts the call. It is empty on surfaces other than the platform API, whose windows are not stated.
	Window Window
	// Scope is the account that [WindowSandboxMoney] counts for, the email of [WindowLoginEmail] or the challenge of
	// [WindowLoginChallenge], and empty for the other windows.
	Scope string
	// Class says which calls go first.
	Class RateClass
	// Closes is when the approval's window closes that a confirm is for, by this machine's clock; zero for other calls.
	// A confirm that cannot be sent before that had better be refused.
	Closes time.Time
}

// RateLimiter paces calls before they are sent. Implement it to share the windows of one credential among several
// processes, or the login window of one address among several credentials. It must be safe for concurrent use.
//
// Hold a window for a second longer than is stated: calls travel for different times, and arrive closer together than
// they left.
type RateLimiter interface {
	// Wait returns when the call may be sent, or an error when ctx ends first. A call that more than one window counts
	// waits for each of them. It is sent right after, except for a confirm, which is signed first.
	Wait(ctx context.Context, call RateCall) error
}

// WithRateLimiter paces the client with a limiter of the caller's, instead of one of its own that keeps the stated
// windows.
func WithRateLimiter(limiter RateLimiter) Option {
	return func(c *transport.Config) {
		c.Limiter = nil
		if limiter != nil {
			c.Limiter = ownLimiter{limiter}
		}
	}
}

// ownLimiter is a caller's limiter as the request path knows one.
type ownLimiter struct{ RateLimiter }

// Wait implements transport.Limiter.
func (l ownLimiter) Wait(ctx context.Context, call transport.RateCall) error {
	return l.RateLimiter.Wait(ctx, RateCall(call))
}

// WithoutPacing sends calls at once; what is over a window then comes back as *errors.RateLimited after the retries. No
// more than 108 payments are between booking and confirm at any time all the same, so that their approvals do not close
// while the service refuses their confirms.
func WithoutPacing() Option {
	return func(c *transport.Config) { c.Limiter, c.Unpaced = nil, true }
}
