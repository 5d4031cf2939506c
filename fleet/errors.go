package fleet

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
)

// StoreAway is the error of a call whose rate window cannot be asked for, because the store of the windows cannot be
// reached, does not respond in time, or has a damaged value. Nothing was sent.
type StoreAway struct {
	Window moneymovement.Window
	Err    error // what the store returned
}

// Error returns one line that is safe to log.
func (e *StoreAway) Error() string {
	return "the store of rate window " + string(e.Window) + " cannot be used: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *StoreAway) Unwrap() error { return e.Err }
