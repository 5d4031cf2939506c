package sandbox

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/billing"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/card"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// Settings are what a deployment or a partner would decide. They may change at
// any time, and apply from the next request on. Amounts are in units of the
// token.
type Settings struct {
	// RateLimits counts requests against the stated windows. Off by default. Source: Limits, Rate windows.
	RateLimits bool `json:"rateLimits"`
	// DatabaseAvailable false refuses every operation with database_unavailable.
	DatabaseAvailable bool `json:"databaseAvailable"`
	// LoginAvailable false refuses logins and refreshes with login_unavailable.
	LoginAvailable bool `json:"loginAvailable"`
	// LoginMode is the login mode that is enabled. Any other than [LoginModeDeveloperKey] refuses logins with
	// login_mode_unavailable, whose details name it.
	LoginMode string `json:"loginMode"`
	// OpaqueLogin answers a bad signature at login with invalid_credentials instead of signature_invalid; the
	// description states both.
	OpaqueLogin bool `json:"opaqueLogin"`
	// MaxRecords is how many records the host keeps at most, see [Host.Records]. What would add to them is then refused
	// with conflict, whose message names this setting; reads and deletions go on.
	MaxRecords int `json:"maxRecords"`

	// MaxCredit is the largest sandbox credit per call. Source: Limits, Sandbox.
	MaxCredit decimal.Decimal `json:"maxCredit"`
	// FaucetBalance is what the faucet holds of each token. Each change refills or drains it to the new value.
	FaucetBalance decimal.Decimal `json:"faucetBalance"`
	// FaucetGas is what the faucet has for gas; credits fail with provider_unavailable at zero.
	FaucetGas decimal.Decimal `json:"faucetGas"`

	// SigningPolicy refuses every confirm with signing_policy_refused when it is [SigningPolicyRefuse].
	SigningPolicy SigningPolicy `json:"signingPolicy"`
	// RequireLowS refuses ECDSA signatures with a high S, wherever one is verified, as signature_invalid with a message
	// that says so. Off by default: the description asks for neither form.
	RequireLowS bool `json:"requireLowS"`
	// SignerDetached refuses bookings and confirms with signer_not_attached.
	SignerDetached bool `json:"signerDetached"`
	// PartnerDown refuses the booking of bank payouts, the opening of rails and the quoting of bank payins with
	// provider_unavailable.
	PartnerDown bool `json:"partnerDown"`
	// PayoutMethodsDisabled lists bank methods that no contact can be paid by for the time being.
	PayoutMethodsDisabled []string `json:"payoutMethodsDisabled"`
	// PriceWorsening lowers every rate by this fraction, 0.02 for 2 %, so that a reopened quote can be worse.
	PriceWorsening decimal.Decimal `json:"priceWorsening"`

	// ClientReadyAfter is how long a client stays pending, on the host's clock.
	ClientReadyAfter Duration `json:"clientReadyAfter"`
	// PayoutStepAfter is how long a confirmed payout stays in funding, and then in processing, on the host's clock.
	PayoutStepAfter Duration `json:"payoutStepAfter"`
	// ReturnAfter is how long the money of a refunded payout is on its way back; at once when zero.
	ReturnAfter Duration `json:"returnAfter"`
	// ReturnFee is what is kept of returned money on its way. Over 0.20, the money is attributed to no payout any more.
	// Source: Limits, Sandbox.
	ReturnFee decimal.Decimal `json:"returnFee"`
	// ForgetFinishedAfter is how long a payout that is completed, failed or refunded is kept, on the host's clock; for good
	// when zero. After that its id is not_found, its transactions are no longer listed, and its entries are folded into one
	// sum for each account and currency, so that the ledger still balances. Its idempotency keys stay known for as long as
	// they replay: the same request is refused with gone then, and books nothing.
	ForgetFinishedAfter Duration `json:"forgetFinishedAfter"`
	// QuoteLifetime is how long a price holds, at most 2 minutes. Source: Limits, Lifetimes.
	QuoteLifetime Duration `json:"quoteLifetime"`
	// ApprovalLifetime is the approval window of a payout, at most 120 seconds. Source: Limits, Lifetimes.
	ApprovalLifetime Duration `json:"approvalLifetime"`

	// KYBDecision is what a review ends with. It is read when the review is first looked at after KYBDecisionAfter.
	KYBDecision KYBDecision `json:"kybDecision"`
	// KYBDecisionAfter is how long a completed verification stays under review, on the host's clock.
	KYBDecisionAfter Duration `json:"kybDecisionAfter"`
	// RailsHidden lists the methods of rails that are absent from every client's list, as residency or legal form would
	// have it. Source: Coverage catalogue.
	RailsHidden []string `json:"railsHidden"`
	// RailsDisabled lists the methods of rails outside the integrator's agreement: opening one answers
	// rail_not_available. Source: Coverage catalogue.
	RailsDisabled []string `json:"railsDisabled"`
	// ChannelsUnavailable lists the methods of rails that report channel_unavailable. Source: Coverage catalogue.
	ChannelsUnavailable []string `json:"channelsUnavailable"`
	// RailActiveAfter is how long an opened rail stays pending, on the host's clock.
	RailActiveAfter Duration `json:"railActiveAfter"`
	// ChainReadEvery is how often an escrow deal is read from chain at most. Source: Limits, Lifetimes.
	ChainReadEvery Duration `json:"chainReadEvery"`

	// ContractorAcceptsAfter is how long a contractor takes to accept a contract, on the host's clock.
	ContractorAcceptsAfter Duration `json:"contractorAcceptsAfter"`
	// MaxUpload is how many bytes an uploaded document may have, at most 10 MiB; more is payload_too_large.
	MaxUpload int `json:"maxUpload"`
	// CardActiveAfter is how long a card stays pending, and the card programme's verification under way, on the host's
	// clock.
	CardActiveAfter Duration `json:"cardActiveAfter"`
}

// LoginModeDeveloperKey is the login mode that the host has.
const LoginModeDeveloperKey = session.ModeDeveloperKey

// SigningPolicy is what the service's signing policy says when it is asked to
// co-sign.
type SigningPolicy string

// The policies.
const (
	SigningPolicyAllow  = SigningPolicy(platform.SigningPolicyAllow)
	SigningPolicyRefuse = SigningPolicy(platform.SigningPolicyRefuse)
)

// KYBDecision is what the review of a verification ends with.
type KYBDecision string

// The decisions.
const (
	KYBDecisionApprove = KYBDecision(platform.KYBDecisionApprove)
	KYBDecisionReject  = KYBDecision(platform.KYBDecisionReject)
)

// Duration is a [time.Duration] that travels in JSON as Go writes it: "300ms".
type Duration time.Duration

// String is the duration as Go writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// DefaultSettings are the values of the description, everything available, no
// rate limits, short steps, and a full faucet.
func DefaultSettings() Settings {
	p, paperwork, cards := platform.DefaultSettings(), billing.DefaultSettings(), card.DefaultSettings()
	return Settings{
		DatabaseAvailable: true,
		LoginAvailable:    true,
		LoginMode:         LoginModeDeveloperKey,
		MaxRecords:        DefaultMaxRecords,

		MaxCredit: p.MaxCredit, FaucetBalance: p.FaucetBalance, FaucetGas: p.FaucetGas,
		SigningPolicy: SigningPolicy(p.SigningPolicy), RequireLowS: p.RequireLowS, SignerDetached: p.SignerDetached, PartnerDown: p.PartnerDown,
		PayoutMethodsDisabled: p.PayoutMethodsDisabled, PriceWorsening: p.PriceWorsening,
		ClientReadyAfter: Duration(p.ClientReadyAfter), PayoutStepAfter: Duration(p.PayoutStepAfter),
		ReturnAfter: Duration(p.ReturnAfter), ReturnFee: p.ReturnFee,
		ForgetFinishedAfter: Duration(p.ForgetFinishedAfter),
		QuoteLifetime:       Duration(p.QuoteLifetime), ApprovalLifetime: Duration(p.ApprovalLifetime),
		KYBDecision: KYBDecision(p.KYBDecision), KYBDecisionAfter: Duration(p.KYBDecisionAfter),
		RailsHidden: p.RailsHidden, RailsDisabled: p.RailsDisabled, ChannelsUnavailable: p.ChannelsUnavailable,
		RailActiveAfter: Duration(p.RailActiveAfter), ChainReadEvery: Duration(p.ChainReadEvery),

		ContractorAcceptsAfter: Duration(paperwork.ContractorAcceptsAfter), MaxUpload: paperwork.MaxUpload,
		CardActiveAfter: Duration(cards.ActiveAfter),
	}
}

// Check tells which settings make no sense, or nil.
func (s Settings) Check() error {
	var mode, bound error
	if s.LoginMode == "" {
		mode = errors.New("loginMode is empty")
	}
	if s.MaxRecords <= 0 {
		bound = errors.New("maxRecords is not positive")
	}
	return errors.Join(mode, bound, s.platform().Check(), s.billing().Check(), s.cards().Check())
}

func (s Settings) clone() Settings {
	for _, list := range []*[]string{&s.PayoutMethodsDisabled, &s.RailsHidden, &s.RailsDisabled, &s.ChannelsUnavailable} {
		*list = slices.Clone(*list)
	}
	return s
}

// platform is what the state machine needs of the settings.
func (s Settings) platform() platform.Settings {
	return platform.Settings{
		MaxCredit: s.MaxCredit, FaucetBalance: s.FaucetBalance, FaucetGas: s.FaucetGas,
		SigningPolicy: platform.SigningPolicy(s.SigningPolicy), RequireLowS: s.RequireLowS, SignerDetached: s.SignerDetached,
		PartnerDown: s.PartnerDown, PayoutMethodsDisabled: s.PayoutMethodsDisabled, PriceWorsening: s.PriceWorsening,
		ClientReadyAfter: platform.Duration(s.ClientReadyAfter), PayoutStepAfter: platform.Duration(s.PayoutStepAfter),
		ReturnAfter: platform.Duration(s.ReturnAfter), ReturnFee: s.ReturnFee,
		ForgetFinishedAfter: platform.Duration(s.ForgetFinishedAfter),
		QuoteLifetime:       platform.Duration(s.QuoteLifetime), ApprovalLifetime: platform.Duration(s.ApprovalLifetime),
		KYBDecision: platform.KYBDecision(s.KYBDecision), KYBDecisionAfter: platform.Duration(s.KYBDecisionAfter),
		RailsHidden: s.RailsHidden, RailsDisabled: s.RailsDisabled, ChannelsUnavailable: s.ChannelsUnavailable,
		RailActiveAfter: platform.Duration(s.RailActiveAfter), ChainReadEvery: platform.Duration(s.ChainReadEvery),
	}
}

// billing is what paperwork needs of the settings.
func (s Settings) billing() billing.Settings {
	return billing.Settings{ContractorAcceptsAfter: time.Duration(s.ContractorAcceptsAfter), MaxUpload: s.MaxUpload}
}

// cards is what cards need of the settings.
func (s Settings) cards() card.Settings {
	return card.Settings{ActiveAfter: time.Duration(s.CardActiveAfter), RequireLowS: s.RequireLowS}
}

// login is what the login needs of the settings.
func (s Settings) login() session.Settings {
	return session.Settings{Available: s.LoginAvailable, Mode: s.LoginMode, Opaque: s.OpaqueLogin, LowS: s.RequireLowS}
}

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
	first := c.first.clone()
	c.current.Store(&first)
}

// change makes all of a change or, if it fails, nothing of it.
func (c *configured) change(change func(*Settings) error) (Settings, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	changed := c.get().clone()
	if err := change(&changed); err != nil {
		return Settings{}, err
	}
	if err := changed.Check(); err != nil {
		return Settings{}, err
	}
	changed = changed.clone() // whatever the caller put in stays the caller's
	c.current.Store(&changed)
	return changed.clone(), nil
}

// Settings answers a copy of the current settings.
func (h *Host) Settings() Settings { return h.configured.get().clone() }

// Configure changes the settings in one step. Settings that make no sense are
// not taken over, and the error says which.
func (h *Host) Configure(change func(*Settings)) error {
	_, err := h.configured.change(func(s *Settings) error {
		change(s)
		return nil
	})
	return err
}
