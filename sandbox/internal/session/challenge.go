package session

import (
	"crypto/rand"
	"maps"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// maxRequestExpiry is how far out a login's requestExpiry may lie.
const maxRequestExpiry = 5 * time.Minute

// maxChallenges is how many challenges are remembered at most: anybody can ask
// for one.
const maxChallenges = 100_000

// Challenges holds the logins that were started. It is safe for concurrent use.
type Challenges struct {
	clock *clock.Clock

	mu      sync.Mutex
	issued  map[string]*challenge
	sweepAt int
	most    int // how many are remembered
}

// challenge is what one login signs. It is single use.
type challenge struct {
	id        string
	email     string
	payload   []byte
	expiresAt time.Time
	consumed  bool
}

// NewChallenges returns a store without challenges.
func NewChallenges(clk *clock.Clock) *Challenges {
	c := &Challenges{clock: clk, most: maxChallenges}
	c.Reset()
	return c
}

// Reset forgets every challenge.
func (c *Challenges) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.issued, c.sweepAt = map[string]*challenge{}, sweepAt
}

// issue makes a challenge for whoever has the email, known or not, so that the
// answer tells nothing about accounts.
func (c *Challenges) issue(email string, expiresAt time.Time) (challenge, error) {
	now := c.clock.Now()
	if expiresAt.Before(now) || expiresAt.After(now.Add(maxRequestExpiry)) {
		return challenge{}, refuse.RequestExpired()
	}
	issued := &challenge{id: "ch_" + rand.Text(), email: email, expiresAt: expiresAt}
	var err error
	if issued.payload, err = issued.encode(); err != nil {
		return challenge{}, err
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.issued) >= c.sweepAt {
		c.forgetLongExpired(now)
		c.sweepAt = max(sweepAt, 2*len(c.issued))
	}
	if len(c.issued) >= c.most && !c.makeRoom(now) {
		return challenge{}, refuse.LoginUnavailable()
	}
	c.issued[issued.id] = issued
	return *issued, nil
}

// makeRoom forgets what cannot be used any more, and reports whether that was
// anything.
func (c *Challenges) makeRoom(now time.Time) bool {
	maps.DeleteFunc(c.issued, func(_ string, issued *challenge) bool { return issued.consumed || !now.Before(issued.expiresAt) })
	return len(c.issued) < c.most
}

// encode writes the bytes to sign: canonical JSON that says what it is for, so
// that a login's signature never passes for an approval's.
func (c *challenge) encode() ([]byte, error) {
	text, err := json.Marshal(map[string]string{
		"purpose":     "login",
		"challengeId": c.id,
		"email":       c.email,
		"expiresAt":   c.expiresAt.UTC().Format(time.RFC3339Nano),
		"nonce":       rand.Text(),
	})
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	return canonical, canonical.Canonicalize()
}

// open answers a challenge that can still be used.
func (c *Challenges) open(id string) (challenge, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	issued, err := c.usable(id)
	if err != nil {
		return challenge{}, err
	}
	return *issued, nil
}

// consume uses a challenge up. Of several callers at once, one succeeds.
func (c *Challenges) consume(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	issued, err := c.usable(id)
	if err != nil {
		return err
	}
	issued.consumed = true
	return nil
}

// usable needs the lock to be held.
func (c *Challenges) usable(id string) (*challenge, error) {
	issued := c.issued[id]
	switch {
	case issued == nil:
		return nil, refuse.ChallengeNotFound()
	case issued.consumed:
		return nil, refuse.ChallengeConsumed()
	case !c.clock.Now().Before(issued.expiresAt):
		return nil, refuse.ChallengeExpired()
	default:
		return issued, nil
	}
}

// forgetLongExpired keeps a challenge for a day after it expired, so that it is
// refused as consumed or expired.
func (c *Challenges) forgetLongExpired(now time.Time) {
	maps.DeleteFunc(c.issued, func(_ string, issued *challenge) bool { return now.Sub(issued.expiresAt) > 24*time.Hour })
}
