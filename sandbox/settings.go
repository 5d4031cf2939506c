package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// settingsStore holds the settings. Requests read them without a lock.
type settingsStore struct {
	initial Settings
	state   *state
	current atomic.Pointer[Settings]
	mu      sync.Mutex
}

// newSettingsStore returns the settings as they were last changed. What an option sets wins over that.
func newSettingsStore(setup setup, stored *state) (*settingsStore, error) {
	c := &settingsStore{initial: setup.settings, state: stored}
	c.reset()
	changed := stored.changedSettings()
	if len(changed) == 0 {
		return c, nil
	}
	settings := DefaultSettings()
	text, err := json.Marshal(changed)
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	for _, change := range setup.changes {
		change(&settings)
	}
	if err = errors.Join(err, settings.Check()); err != nil {
		return nil, fmt.Errorf("WithStore: the settings in the store: %w", err)
	}
	settings = settings.Clone()
	c.current.Store(&settings)
	return c, nil
}

// get returns settings that nobody changes.
func (c *settingsStore) get() *Settings { return c.current.Load() }

func (c *settingsStore) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.initial.Clone()
	c.current.Store(&first)
}

// change applies a change. If it fails, nothing changes.
func (c *settingsStore) change(change func(*Settings) error) (Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.get().Clone()
	if err := change(&changed); err != nil {
		return Settings{}, err
	}
	if err := changed.Check(); err != nil {
		return Settings{}, err
	}
	changed = changed.Clone() // the caller may still hold what it put in
	names, err := differences(c.get(), &changed)
	if err != nil {
		return Settings{}, err
	}
	if len(names) > 0 {
		c.state.changeSettings(names)
	}
	c.current.Store(&changed)
	return changed.Clone(), nil
}

// differences returns the new values of the settings that are not as before, by their names.
func differences(before, after *Settings) (map[string]jsontext.Value, error) {
	was, err := values(before)
	if err != nil {
		return nil, err
	}
	is, err := values(after)
	maps.DeleteFunc(is, func(name string, value jsontext.Value) bool { return bytes.Equal(value, was[name]) })
	return is, err
}

// values returns all settings by their names.
func values(s *Settings) (all map[string]jsontext.Value, err error) {
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}
