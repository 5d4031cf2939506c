package clock

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Window is one of the stated rate windows. A window is fixed: it opens with the first request of a key, and closes
// after its length. The counter then starts again.
type Window int

// The windows, each with the key of its counters.
const (
	Writes         Window = iota + 1 // credential
	Reads                            // credential
	Login                            // client address
	LoginEmail                       // email in the body
	LoginChallenge                   // challengeId
	SandboxMoney                     // account
)

// String returns the name of the window: that of the description, if it has one there.
func (w Window) String() string {
	switch w {
	case Writes:
		return "writes"
	case Reads:
		return "reads"
	case Login:
		return "login"
	case LoginEmail:
		return "login_email"
	case LoginChallenge:
		return "login_challenge"
	case SandboxMoney:
		return "sandbox_money"
	default:
		return "none"
	}
}

// limit is how many requests are allowed in how many minutes.
func (w Window) limit() (requests, minutes int) {
	switch w {
	case Writes:
		return 120, 1
	case Reads:
		return 600, 1
	case Login:
		return 20, 5
	case LoginEmail, LoginChallenge:
		return 10, 5
	case SandboxMoney:
		return 60, 60
	default:
		return 0, 0
	}
}

// length is how long a window is open, if a minute lasts so long.
func (w Window) length(minute time.Duration) time.Duration {
	_, minutes := w.limit()
	return time.Duration(minutes) * minute
}

// sweepAt is how many counters there are before closed windows are deleted: anybody can invent keys, such as emails.
const sweepAt = 4096

// Counters counts on the host's clock. It is safe for concurrent use.
type Counters struct {
	clock  *Clock
	minute func() time.Duration

	mu       sync.Mutex
	counters map[counterKey]counter
	sweepAt  int
}

type counterKey struct {
	window Window
	key    string
}

type counter struct {
	opened time.Time
	count  int
}

// New returns counters. minute returns how long a minute of the windows lasts. While it returns 0, they count nothing.
func NewCounters(clk *Clock, minute func() time.Duration) *Counters {
	return &Counters{clock: clk, minute: minute, counters: map[counterKey]counter{}, sweepAt: sweepAt}
}

// Take counts one request, or refuses it with rate_limited and the time until
// the window closes. A refused request is not counted.
func (c *Counters) Take(w Window, key string) error {
	limit, _ := w.limit()
	minute := c.minute()
	if limit == 0 || minute == 0 {
		return nil
	}
	now, length := c.clock.Now(), w.length(minute)

	c.mu.Lock()
	defer c.mu.Unlock()
	id := counterKey{w, key}
	current := c.counters[id]
	if !current.opened.Add(length).After(now) {
		current = counter{opened: now}
	}
	if current.count >= limit {
		return wire.RateLimited(current.opened.Add(length).Sub(now))
	}
	current.count++
	c.counters[id] = current
	if len(c.counters) > c.sweepAt {
		c.forgetClosed(now, minute)
		c.sweepAt = max(sweepAt, 2*len(c.counters)) // so that sweeps are rare while windows are open
	}
	return nil
}

func (c *Counters) forgetClosed(now time.Time, minute time.Duration) {
	for id, current := range c.counters {
		if !current.opened.Add(id.window.length(minute)).After(now) {
			delete(c.counters, id)
		}
	}
}

// Count is what one window of one key has counted.
type Count struct {
	Window   string    `json:"window"`
	Key      string    `json:"key"`
	Count    int       `json:"count"`
	Limit    int       `json:"limit"`
	ClosesAt time.Time `json:"closesAt"`
}

// Open lists the windows that are open, in the order in which they close. on reports whether requests are counted.
func (c *Counters) Open() (open []Count, on bool) {
	minute, now := c.minute(), c.clock.Now()
	open = []Count{}
	if minute == 0 {
		return open, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, current := range c.counters {
		if closes := current.opened.Add(id.window.length(minute)); closes.After(now) {
			limit, _ := id.window.limit()
			open = append(open, Count{id.window.String(), id.key, current.count, limit, closes})
		}
	}
	slices.SortFunc(open, func(a, b Count) int {
		return cmp.Or(a.ClosesAt.Compare(b.ClosesAt), strings.Compare(a.Window, b.Window),
			strings.Compare(a.Key, b.Key))
	})
	return open, true
}

// Reset deletes every count.
func (c *Counters) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.counters)
}
