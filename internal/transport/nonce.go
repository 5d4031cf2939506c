package transport

import (
	"sync"
	"time"
)

// Nonces hands out times that messages are signed at, each second once: a service that takes a nonce once would refuse a second call within
// the same second. It is safe for concurrent use.
type Nonces struct {
	mu   sync.Mutex
	used map[int64]bool // Unix seconds
}

// nonceLifetime is how long a nonce is valid.
//
// Source: Limits, Lifetimes (card details nonce).
const nonceLifetime = 5 * time.Minute

// nonceReach is how many seconds a burst of calls may reach back: well within [nonceLifetime].
const nonceReach = 150

// Next is now in whole seconds, or the latest second before it that was not handed out, for one that lies ahead may count as invalid. After
// [nonceReach] calls in a row it is now again, and the service judges.
func (n *Nonces) Next(now time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	latest := now.Unix()
	next := latest
	for n.used[next] && next > latest-nonceReach {
		next--
	}
	if n.used[next] {
		next = latest
	}
	for second := range n.used { // those out of reach, also ahead, where the clock was before it was set right
		if second < latest-nonceReach || second > latest+nonceReach {
			delete(n.used, second)
		}
	}
	if n.used == nil {
		n.used = map[int64]bool{}
	}
	n.used[next] = true
	return time.Unix(next, 0)
}

// FreshNonce refuses a nonce that grew stale on the way, as while a person was asked to sign it.
func FreshNonce(op *Operation, nonce int64, now time.Time) error {
	return Validate(op.ID, func(c *Check) {
		if now.Sub(time.Unix(nonce, 0)) >= nonceLifetime {
			c.Refuse("nonce", "stale", "was signed too late: it is valid for five minutes")
		}
	})
}
