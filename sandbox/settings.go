package sandbox

import (
	"sync"
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
)

// Settings are what a deployment or a partner would decide, see [deployment.Settings] for each of them. They may change
// at any time, and apply from the next request on.
type Settings = deployment.Settings

// LoginModeDeveloperKey is the login mode that the host has.
const LoginModeDeveloperKey = deployment.LoginModeDeveloperKey

// DefaultMaxRecords is how many records a host keeps at most unless it is told
// otherwise: about two million payouts, of which each is ten or so.
const DefaultMaxRecords = deployment.DefaultMaxRecords

// SigningPolicy is what the service's signing policy says when it is asked to
// co-sign.
type SigningPolicy = deployment.SigningPolicy

// The policies.
const (
	SigningPolicyAllow  = deployment.SigningPolicyAllow
	SigningPolicyRefuse = deployment.SigningPolicyRefuse
)

// KYBDecision is what the review of a verification ends with.
type KYBDecision = deployment.KYBDecision

// The decisions.
const (
	KYBDecisionApprove = deployment.KYBDecisionApprove
	KYBDecisionReject  = deployment.KYBDecisionReject
)

// Duration is a [time.Duration] that travels in JSON as Go writes it: "300ms".
type Duration = deployment.Duration

// DefaultSettings are the values of the description, everything available, no
// rate limits, short steps, and a full faucet.
func DefaultSettings() Settings { return deployment.DefaultSettings() }

// configured holds the settings: requests read them without waiting for a change.
type configured struct {
	first    Settings
	current  atomic.Pointer[Settings]
	changing sync.Mutex
}

func newConfigured(first Settings) *configured {
	c := &configured{first: first}
	c.reset()
	return c
}

// get answers settings that nobody changes.
func (c *configured) get() *Settings { return c.current.Load() }

func (c *configured) reset() {
	c.changing.Lock()
	defer c.changing.Unlock()
	first := c.first.Clone()
	c.current.Store(&first)
}

// change makes all of a change or, if it fails, nothing of it.
func (c *configured) change(change func(*Settings) error) (Settings, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	changed := c.get().Clone()
	if err := change(&changed); err != nil {
		return Settings{}, err
	}
	if err := changed.Check(); err != nil {
		return Settings{}, err
	}
	changed = changed.Clone() // whatever the caller put in stays the caller's
	c.current.Store(&changed)
	return changed.Clone(), nil
}
