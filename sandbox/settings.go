package sandbox

import (
	"sync"
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
)

// Settings are the settings of a host: limits, durations and failures that the operator of the service or one of its
// partners decides about. See [deployment.Settings] for each of them. Change them with [WithSettings] or, at any time,
// with [Host.Configure].
//
//   - Speed: ClientReadyAfter, PayoutStepAfter, KYBDecisionAfter, RailActiveAfter, ContractorAcceptsAfter,
//     CardActiveAfter, ChainReadEvery, ReturnAfter; SetProgress sets most of them at once.
//   - Money: MaxCredit, FaucetBalance, FaucetGas, ReturnFee, QuoteLifetime, ApprovalLifetime.
//   - Prices that move: PriceWorsening, PriceDrift, FeeIncrease.
//   - How payouts end: FailOneIn, FailAmount, RefundOneIn, RefundAmount, RefundAfter.
//   - Failures: DatabaseAvailable, LoginAvailable, LoginMode, PartnerDown, SignerDetached, SigningPolicy, KYBDecision,
//     PayoutMethodsDisabled, RailsHidden, RailsDisabled, ChannelsUnavailable.
//   - Strictness: RateLimits, RateMinute, OpaqueLogin, RequireLowS, MaxUpload.
//   - Memory: MaxRecords, ForgetFinishedAfter.
//   - Repeatable choices: Seed.
type Settings = deployment.Settings

// LoginModeDeveloperKey is the login mode that the host supports.
const LoginModeDeveloperKey = deployment.LoginModeDeveloperKey

// DefaultMaxRecords is the default of [deployment.Settings.MaxRecords]: 20 million records, or about two million
// payouts.
const DefaultMaxRecords = deployment.DefaultMaxRecords

// SigningPolicy is what the service's signing policy decides about a signed approval.
type SigningPolicy = deployment.SigningPolicy

// The values of SigningPolicy: the policy accepts every approval, or refuses every approval.
const (
	SigningPolicyAllow  = deployment.SigningPolicyAllow
	SigningPolicyRefuse = deployment.SigningPolicyRefuse
)

// KYBDecision is how the review of a verification ends.
type KYBDecision = deployment.KYBDecision

// The values of KYBDecision: the review approves the client, or rejects it.
const (
	KYBDecisionApprove = deployment.KYBDecisionApprove
	KYBDecisionReject  = deployment.KYBDecisionReject
)

// Duration is a [time.Duration] that is written in JSON as Go prints it: "300ms".
type Duration = deployment.Duration

// DefaultSettings returns the settings of a new host. Lifetimes are those of the service, everything is available, the
// faucet is full, nothing counts against rate windows, and each step of progress takes 250 to 300 milliseconds.
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

// get returns settings that nobody changes.
func (c *configured) get() *Settings { return c.current.Load() }

func (c *configured) reset() {
	c.changing.Lock()
	defer c.changing.Unlock()
	first := c.first.Clone()
	c.current.Store(&first)
}

// change makes a whole change. If it fails, nothing changes.
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
	changed = changed.Clone() // the caller may still hold what it put in
	c.current.Store(&changed)
	return changed.Clone(), nil
}
