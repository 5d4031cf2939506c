package session

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
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
	keeper  *store.Keeper
	issued  *store.Table[challenge] // by id
	sweepAt int
	most    int // how many are remembered
}

// challenge is what one login signs. It is single use.
type challenge struct {
	ID        string
	Email     string
	Payload   []byte
	ExpiresAt time.Time
	Consumed  bool
}

// NewChallenges returns the challenges that are kept.
func NewChallenges(clk *clock.Clock, kept store.Store) *Challenges {
	c := &Challenges{clock: clk, keeper: store.NewKeeper(kept), sweepAt: sweepAt, most: maxChallenges}
	c.issued = store.Open[challenge](c.keeper, "session.challenge")
	return c
}

// leave keeps what has changed, and gives the lock back.
func (c *Challenges) leave() {
	defer c.mu.Unlock()
	c.keeper.Commit()
}

// Reset forgets every challenge.
func (c *Challenges) Reset() {
	c.mu.Lock()
	defer c.leave()
	c.issued.Clear()
	c.sweepAt = sweepAt
}

// issue makes a challenge for whoever has the email, known or not, so that the
// response says nothing about accounts.
func (c *Challenges) issue(email string, expiresAt time.Time) (challenge, error) {
	now := c.clock.Now()
	if expiresAt.Before(now) || expiresAt.After(now.Add(maxRequestExpiry)) {
		return challenge{}, refuse.RequestExpired()
	}
	issued := &challenge{ID: "ch_" + rand.Text(), Email: email, ExpiresAt: expiresAt}
	var err error
	if issued.Payload, err = issued.encode(); err != nil {
		return challenge{}, err
	}

	c.mu.Lock()
	defer c.leave()
	if c.issued.Len() >= c.sweepAt {
		c.forgetLongExpired(now)
		c.sweepAt = max(sweepAt, 2*c.issued.Len())
	}
	if c.issued.Len() >= c.most && !c.makeRoom(now) {
		return challenge{}, refuse.LoginUnavailable()
	}
	c.issued.Put(issued.ID, issued)
	return *issued, nil
}

// makeRoom forgets what cannot be used any more, and reports whether that was
// anything.
func (c *Challenges) makeRoom(now time.Time) bool {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool {
		return issued.Consumed || !now.Before(issued.ExpiresAt)
	})
	return c.issued.Len() < c.most
}

// encode writes the bytes to sign: canonical JSON that says what it is for, so
// that a login's signature never passes for an approval's.
func (c *challenge) encode() ([]byte, error) {
	text, err := json.Marshal(map[string]string{
		"purpose":     "login",
		"challengeId": c.ID,
		"email":       c.Email,
		"expiresAt":   c.ExpiresAt.UTC().Format(time.RFC3339Nano),
		"nonce":       rand.Text(),
	})
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	return canonical, canonical.Canonicalize()
}

// open returns a challenge that can still be used.
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
	defer c.leave()
	issued, err := c.usable(id)
	if err != nil {
		return err
	}
	issued.Consumed = true
	c.issued.Put(id, issued)
	return nil
}

// usable needs the lock to be held.
func (c *Challenges) usable(id string) (*challenge, error) {
	issued := c.issued.Get(id)
	switch {
	case issued == nil:
		return nil, refuse.ChallengeNotFound()
	case issued.Consumed:
		return nil, refuse.ChallengeConsumed()
	case !c.clock.Now().Before(issued.ExpiresAt):
		return nil, refuse.ChallengeExpired()
	default:
		return issued, nil
	}
}

// forgetLongExpired keeps a challenge for a day after it expired, so that it is
// refused as consumed or expired.
func (c *Challenges) forgetLongExpired(now time.Time) {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool { return now.Sub(issued.ExpiresAt) > 24*time.Hour })
}
