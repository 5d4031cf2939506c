// Package nonce gives out the times that the wallet of a card signs, and reports when one is too old to be sent.
package nonce

import (
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Source gives out each second once. The service may take a nonce only once, and then refuses a second call within the
// same second. It is safe for concurrent use.
type Source struct {
	mu   sync.Mutex
	used map[int64]bool // Unix seconds
}

// lifetime is how long a nonce is valid.
const lifetime = 5 * time.Minute

// maxBack is how many seconds a burst of calls may go back. It is well within [lifetime].
const maxBack = 150

// Next returns now in whole seconds. If that second was given out, it returns the latest earlier second that was not,
// because the service may refuse a second in the future. After maxBack calls in a row it returns now again, and the
// service decides.
func (s *Source) Next(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := now.Unix()
	next := latest
	for s.used[next] && next > latest-maxBack {
		next--
	}
	if s.used[next] {
		next = latest
	}
	for second := range s.used { // too old to be given out again, or in the future because the clock was set back
		if second < latest-maxBack || second > latest+maxBack {
			delete(s.used, second)
		}
	}
	if s.used == nil {
		s.used = map[int64]bool{}
	}
	s.used[next] = true
	return time.Unix(next, 0)
}

// Fresh refuses a nonce that expired before it was sent, for example while a person was asked to sign it.
func Fresh(op *transport.Operation, nonce int64, now time.Time) error {
	return transport.Validate(op.ID, func(c *transport.Check) {
		if now.Sub(time.Unix(nonce, 0)) >= lifetime {
			c.Refuse("nonce", "stale", "was signed too late: it is valid for five minutes")
		}
	})
}
