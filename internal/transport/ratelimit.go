package transport

import (
	"context"
	"time"
)

// Limiter keeps calls inside the service's rate windows. Its public name is moneymovement.RateLimiter.
type Limiter interface {
	// Wait returns nil when the call may be sent, and an error if ctx ends before.
	Wait(ctx context.Context, call RateCall) error
}

// RateCall is a call that asks for its turn. moneymovement.RateCall has the same fields.
type RateCall struct {
	Window Window
	Scope  string    // what the window counts for besides the credential or the address, else empty
	Class  RateClass // who goes first in the window
	Closes time.Time // when the approval's window closes that a confirm is for, by this machine's clock; else zero
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

// Allowance is how many calls a window takes.
type Allowance struct {
	Calls int
	Per   time.Duration
}

// Held returns how long a call counts here. That is a little longer than at the service, because two calls can arrive
// closer together than they were sent. The difference is a sixtieth of the window and at most a second: a window of a
// minute is held for 61 seconds.
func (a Allowance) Held() time.Duration { return a.Per + min(a.Per/60, time.Second) }

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
	Until  time.Time // when there will be room, as far as the line knows
	Closed bool      // the approval expires before that
}

func (e *WaitTooLong) Error() string {
	if e.Closed {
		return "rate window " + string(e.Window) + " has no room before the approval's window closes"
	}
	return "rate window " + string(e.Window) + " has no room before the deadline"
}

// Unwrap lets errors.Is find context.DeadlineExceeded, in which waiting would have ended.
func (e *WaitTooLong) Unwrap() error {
	if e.Closed {
		return nil
	}
	return context.DeadlineExceeded
}
