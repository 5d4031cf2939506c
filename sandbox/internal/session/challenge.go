package session

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// maxRequestExpiry is how far ahead a login's requestExpiry may be.
const maxRequestExpiry = 5 * time.Minute

// maxChallenges is the maximum number of stored challenges: anybody can ask for one.
const maxChallenges = 100_000

// Challenges holds the logins that were started. It is safe for concurrent use.
type Challenges struct {
	clock *clock.Clock

	mu      sync.Mutex
	keeper  *store.Keeper
	issued  *store.Table[challenge] // by id
	sweepAt int
	most    int // how many are stored
}

// challenge is the content that one login signs. It can be used once.
type challenge struct {
	ID        string
	Email     string
	Payload   []byte
	ExpiresAt time.Time
	Consumed  bool
}

// NewChallenges returns Challenges with the stored records.
func NewChallenges(clk *clock.Clock, kept store.Store) *Challenges {
	c := &Challenges{clock: clk, keeper: store.NewKeeper(kept), sweepAt: sweepAt, most: maxChallenges}
	c.issued = store.Open[challenge](c.keeper, "session.challenge")
	return c
}

// leave stores what has changed, and releases the lock.
func (c *Challenges) leave() {
	defer c.mu.Unlock()
	c.keeper.Commit()
}

// Reset deletes every challenge.
func (c *Challenges) Reset() {
	c.mu.Lock()
	defer c.leave()
	c.issued.Clear()
	c.sweepAt = sweepAt
}

// issue creates a challenge for any email, also an unknown one, so that the response says nothing about accounts.
func (c *Challenges) issue(email string, expiresAt time.Time) (challenge, error) {
	now := c.clock.Now()
	if expiresAt.Before(now) || expiresAt.After(now.Add(maxRequestExpiry)) {
		return challenge{}, wire.RequestExpired()
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
		return challenge{}, wire.LoginUnavailable()
	}
	c.issued.Put(issued.ID, issued)
	return *issued, nil
}

// makeRoom deletes challenges that cannot be used any more, and reports whether there were any.
func (c *Challenges) makeRoom(now time.Time) bool {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool {
		return issued.Consumed || !now.Before(issued.ExpiresAt)
	})
	return c.issued.Len() < c.most
}

// encode returns the bytes to sign: canonical JSON with its purpose, so that a login's signature is never valid for an
// approval.
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

// consume uses a challenge. If several callers do so at the same time, one succeeds.
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
		return nil, wire.ChallengeNotFound()
	case issued.Consumed:
		return nil, wire.ChallengeConsumed()
	case !c.clock.Now().Before(issued.ExpiresAt):
		return nil, wire.ChallengeExpired()
	default:
		return issued, nil
	}
}

// forgetLongExpired keeps a challenge for a day after it expired, so that it is
// refused as consumed or expired.
func (c *Challenges) forgetLongExpired(now time.Time) {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool { return now.Sub(issued.ExpiresAt) > 24*time.Hour })
}
