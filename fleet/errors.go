package fleet

import (
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// StoreAway is the error of a call whose rate window cannot be asked for, because the store of the windows cannot be
// reached, does not respond in time, or has a damaged value. Nothing was sent.
type StoreAway struct {
	Window moneymovement.Window
	Err    error // what the store returned
}

// Error returns one line that is safe to log.
func (e *StoreAway) Error() string {
	reason := strings.Join(strings.Fields(e.Err.Error()), " ") // that of a database can have several lines
	return errorbase.Text(e, "the store of rate window "+string(e.Window)+" cannot be used: "+reason)
}

// Unwrap returns Err.
func (e *StoreAway) Unwrap() error { return e.Err }
