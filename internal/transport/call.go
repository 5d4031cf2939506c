package transport

import (
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Call holds the settings of one call: those of the caller's options, and those that only the SDK sets.
type Call struct {
	moneymovement.CallSettings

	// Counted is a further window that counts the call, by something in its body. By default there is no such window.
	Counted struct {
		Window moneymovement.Window
		Scope  string
	}

	Class    moneymovement.RateClass // in the rate windows; "" for the operation's class
	Closes   time.Time               // of a confirm: when its approval expires, by the service's clock
	Reserved bool                    // [Client.Reserve] has waited for the first attempt's place in the rate windows
	Queued   time.Duration           // how long Reserve waited

	Auth Authorizer // the credential for the whole call; nil for the client's
}

// forget empties the responses that the call stores, which may be those of an earlier call.
func (c *Call) forget() {
	for _, into := range slices.Concat(c.Capture, c.CaptureRevealing) {
		*into = moneymovement.Response{}
	}
}
