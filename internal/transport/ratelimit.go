package transport

import (
	"context"
	"time"
)

// Limiter keeps calls inside the service's rate windows. Its public name is moneymovement.RateLimiter.
type Limiter interface {
	// Wait returns nil when the call may be sent, and an error if ctx ends first.
	Wait(ctx context.Context, call RateCall) error
}

// RateCall is a call that waits for its turn. moneymovement.RateCall has the same fields.
type RateCall struct {
	Window Window
	Scope  string    // the email, challenge or account that the window counts by, if any
	Class  RateClass // sets the order in the window
	Closes time.Time // of a confirm: when its approval expires, by this machine's clock; else zero
}

// RateClass says which calls go first when a window is full.
type RateClass string

// The classes. An unknown class counts as a write or a read.
const (
	ClassRefresh RateClass = "refresh"
	ClassConfirm RateClass = "confirm"
	ClassLogin   RateClass = "login"
	ClassWrite   RateClass = "write"
	ClassRead    RateClass = "read"
	ClassPoll    RateClass = "poll"
)

// Allowance is how many calls a window allows.
type Allowance struct {
	Calls int
	Per   time.Duration
}

// Held returns how long a call counts here. That is a little longer than at the service, because two calls can arrive
// closer together than they were sent. The difference is a sixtieth of the window and at most a second: in a window of
// a minute, a call counts for 61 seconds.
func (a Allowance) Held() time.Duration { return a.Per + min(a.Per/60, time.Second) }

// share returns the part of a window for one of n clients: rounded down, and at least one call.
func (a Allowance) share(n int) Allowance {
	return Allowance{Calls: max(a.Calls/max(n, 1), 1), Per: a.Per}
}

// ShareOfStatedWindows returns the part of each window that one of n clients of a credential may use. The window of a
// login challenge stays whole, since only one client knows the challenge.
func ShareOfStatedWindows(n int) map[Window]Allowance {
	windows := StatedWindows()
	for window, allowance := range windows {
		if window != WindowLoginChallenge {
			windows[window] = allowance.share(n)
		}
	}
	return windows
}

// StatedWindows returns the windows that the platform API states.
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

// WaitTooLong says that a rate window has no room before the deadline, or before the approval expires.
type WaitTooLong struct {
	Window Window
	Until  time.Time // when there will be room, as far as is known
	Closed bool      // the approval expires before that
	Cause  error     // what a limiter of the caller returned, if it was one
}

func (e *WaitTooLong) Error() string {
	if e.Closed {
		return "rate window " + string(e.Window) + " has no room before the approval's window closes"
	}
	return "rate window " + string(e.Window) + " has no room before the deadline"
}

// Unwrap returns the cause, or context.DeadlineExceeded, which waiting would have ended in.
func (e *WaitTooLong) Unwrap() error {
	switch {
	case e.Cause != nil:
		return e.Cause
	case e.Closed:
		return nil
	}
	return context.DeadlineExceeded
}
