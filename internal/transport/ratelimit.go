package transport

import (
	"context"
	"time"
)

// Limiter paces calls inside the service's rate windows, before they are sent. Its public name is
// moneymovement.RateLimiter.
type Limiter interface {
	// Wait returns when the call may be sent, or with an error when ctx ends first or would end first.
	Wait(ctx context.Context, call RateCall) error
}

// RateCall is one call that wants to be sent. moneymovement.RateCall is the same struct, field by field.
type RateCall struct {
	Window Window
	Scope  string    // what the window counts for besides the credential or the address, else empty
	Class  RateClass // who goes first in the window
	Closes time.Time // when the approval's window closes that a confirm is for, by this machine's clock; else zero
}

// RateClass says which calls go first when a window is full.
type RateClass string

// The classes. One that a limiter does not know counts as a write or a read.
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

// Held is for how long a call counts here: a little longer than at the service, because calls travel for different
// times. Two calls that leave one window's length apart can arrive closer together than that. The slack is a sixtieth
// of the window and at most a second, so that a window of a minute is held for 61 seconds.
func (a Allowance) Held() time.Duration { return a.Per + min(a.Per/60, time.Second) }

// StatedWindows are the windows that the platform API states.
//
// Source: Limits, Rate windows.
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

// WaitTooLong says that a rate window has no room before the caller's deadline, or before the approval's window closes.
type WaitTooLong struct {
	Window Window
	Until  time.Time // when there will be room, as far as the line tells
	Closed bool      // the approval's window closes before that, whatever the deadline
}

func (e *WaitTooLong) Error() string {
	if e.Closed {
		return "rate window " + string(e.Window) + " has no room before the approval's window closes"
	}
	return "rate window " + string(e.Window) + " has no room before the deadline"
}

// Unwrap lets errors.Is find context.DeadlineExceeded, which is what waiting would have ended in.
func (e *WaitTooLong) Unwrap() error {
	if e.Closed {
		return nil
	}
	return context.DeadlineExceeded
}
