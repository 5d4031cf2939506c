package fleet

import (
	"maps"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// Option changes a [Limiter].
type Option func(*settings)

type settings struct {
	allowances map[moneymovement.Window]moneymovement.Allowance
	sharing    ratewindow.Sharing
}

// WithShareWhileAway lets each of n processes use 1/n of a window while the store cannot be reached. It counts the
// calls that it made before, and what it last knew about the calls of the others, so that together they stay near the
// limit.
// Without this option, calls then fail with *[StoreAway].
func WithShareWhileAway(n int) Option { return func(s *settings) { s.sharing.Share = n } }

// WithPatience sets how long calls wait for a store that cannot be reached before they fail with *[StoreAway]. The
// default is 2 seconds, which is enough for most restarts of a store. It has no effect with [WithShareWhileAway].
func WithPatience(d time.Duration) Option { return func(s *settings) { s.sharing.Patience = d } }

// WithWindow changes what a window allows, for a service with other limits, or for a test with short windows. Every
// process must state the same. With no calls, the window is not limited.
func WithWindow(window moneymovement.Window, allowance moneymovement.Allowance) Option {
	return func(s *settings) {
		s.allowances = maps.Clone(s.allowances)
		s.allowances[window] = allowance
	}
}
