// Package deployment holds the settings of the sandbox host: what a deployment of the service or one of its partners
// would decide. Package sandbox has the same types under the same names.
package deployment

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/coverage"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
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
	// MaxRecords is how many records the host keeps at most, see Host.Records of package sandbox. What would add to
	// them is then refused with conflict, whose message names this setting; reads and deletions go on.
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
	// ForgetFinishedAfter is how long a payout that is completed, failed or refunded is kept, on the host's clock; for
	// good when zero. After that its id is not_found, its transactions are no longer listed, and its entries are folded
	// into one sum for each account and currency, so that the ledger still balances. Its idempotency keys stay known
	// for as long as they replay: the same request is refused with gone then, and books nothing.
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
const LoginModeDeveloperKey = "developer_key"

// SigningPolicy is what the service's signing policy says when it is asked to
// co-sign.
type SigningPolicy string

// The policies.
const (
	SigningPolicyAllow  SigningPolicy = "allow"
	SigningPolicyRefuse SigningPolicy = "refuse"
)

// KYBDecision is what the review of a verification ends with.
type KYBDecision string

// The decisions.
const (
	KYBDecisionApprove KYBDecision = "approve"
	KYBDecisionReject  KYBDecision = "reject"
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

// DefaultMaxRecords is how many records a host keeps at most unless it is told
// otherwise: about two million payouts, of which each is ten or so.
const DefaultMaxRecords = 20_000_000

// The longest lifetimes that the description allows, and how many bytes the body of a request carries in base64.
// Source: Limits, Lifetimes.
const (
	maxQuoteLifetime    = Duration(2 * time.Minute)
	maxApprovalLifetime = Duration(120 * time.Second)
	largestUpload       = 10 << 20
)

// short is how long what happens by itself takes.
const short = Duration(300 * time.Millisecond)

// DefaultSettings are the values of the description, everything available, no
// rate limits, short steps, and a full faucet.
func DefaultSettings() Settings {
	return Settings{
		DatabaseAvailable:      true,
		LoginAvailable:         true,
		LoginMode:              LoginModeDeveloperKey,
		MaxRecords:             DefaultMaxRecords,
		MaxCredit:              decimal.NewFromInt(100),
		FaucetBalance:          decimal.NewFromInt(1_000_000),
		FaucetGas:              decimal.NewFromInt(1),
		SigningPolicy:          SigningPolicyAllow,
		ClientReadyAfter:       Duration(250 * time.Millisecond),
		PayoutStepAfter:        short,
		QuoteLifetime:          maxQuoteLifetime,
		ApprovalLifetime:       maxApprovalLifetime,
		KYBDecision:            KYBDecisionApprove,
		KYBDecisionAfter:       short,
		RailActiveAfter:        short,
		ChainReadEvery:         Duration(15 * time.Second),
		ContractorAcceptsAfter: short,
		MaxUpload:              largestUpload,
		CardActiveAfter:        short,
	}
}

// SetProgress sets how long everything takes that progresses by itself: ClientReadyAfter, PayoutStepAfter,
// KYBDecisionAfter, RailActiveAfter, ContractorAcceptsAfter and CardActiveAfter become after, and ChainReadEvery
// becomes after if it was longer. With 0 nothing stays pending. With an hour, nothing progresses until the test calls
// Host.Advance.
func (s *Settings) SetProgress(after time.Duration) {
	for _, step := range []*Duration{&s.ClientReadyAfter, &s.PayoutStepAfter, &s.KYBDecisionAfter, &s.RailActiveAfter,
		&s.ContractorAcceptsAfter, &s.CardActiveAfter} {
		*step = Duration(after)
	}
	s.ChainReadEvery = min(s.ChainReadEvery, Duration(after))
}

// Check tells which settings make no sense, or nil.
func (s Settings) Check() error {
	var problems []error
	problem := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	problem(s.LoginMode == "", "loginMode is empty")
	problem(s.MaxRecords <= 0, "maxRecords is not positive")
	problem(s.MaxCredit.IsNegative(), "maxCredit is negative")
	problem(s.FaucetBalance.IsNegative(), "faucetBalance is negative")
	problem(s.FaucetGas.IsNegative(), "faucetGas is negative")
	problem(s.SigningPolicy != SigningPolicyAllow && s.SigningPolicy != SigningPolicyRefuse,
		"signingPolicy is neither %q nor %q", SigningPolicyAllow, SigningPolicyRefuse)
	problem(s.PriceWorsening.IsNegative() || s.PriceWorsening.GreaterThanOrEqual(decimal.NewFromInt(1)),
		"priceWorsening is not from 0 up to 1")
	problem(s.ClientReadyAfter < 0, "clientReadyAfter is negative")
	problem(s.PayoutStepAfter < 0, "payoutStepAfter is negative")
	problem(s.ReturnAfter < 0, "returnAfter is negative")
	problem(s.ReturnFee.IsNegative(), "returnFee is negative")
	problem(s.ForgetFinishedAfter < 0, "forgetFinishedAfter is negative")
	problem(s.QuoteLifetime <= 0 || s.QuoteLifetime > maxQuoteLifetime, "quoteLifetime is not within %v",
		maxQuoteLifetime)
	problem(s.ApprovalLifetime <= 0 || s.ApprovalLifetime > maxApprovalLifetime, "approvalLifetime is not within %v",
		maxApprovalLifetime)
	for _, method := range s.PayoutMethodsDisabled {
		_, known := coverage.Methods[method]
		problem(!known, "payoutMethodsDisabled: there is no method %q", method)
	}
	problem(s.KYBDecision != KYBDecisionApprove && s.KYBDecision != KYBDecisionReject,
		"kybDecision is neither %q nor %q", KYBDecisionApprove, KYBDecisionReject)
	problem(s.KYBDecisionAfter < 0, "kybDecisionAfter is negative")
	problem(s.RailActiveAfter < 0, "railActiveAfter is negative")
	problem(s.ChainReadEvery < 0, "chainReadEvery is negative")
	for _, list := range []struct {
		name  string
		rails []string
	}{{"railsHidden", s.RailsHidden}, {"railsDisabled", s.RailsDisabled},
		{"channelsUnavailable", s.ChannelsUnavailable}} {
		for _, method := range list.rails {
			_, known := coverage.RailOf(platformwire.BankMethod(method))
			problem(!known, "%s: no virtual account is held on %q", list.name, method)
		}
	}
	problem(s.ContractorAcceptsAfter < 0, "contractorAcceptsAfter is negative")
	problem(s.MaxUpload <= 0 || s.MaxUpload > largestUpload, "maxUpload is not within 10 MiB")
	problem(s.CardActiveAfter < 0, "cardActiveAfter is negative")
	return errors.Join(problems...)
}

// Clone is a copy that shares nothing.
func (s Settings) Clone() Settings {
	for _, list := range []*[]string{&s.PayoutMethodsDisabled, &s.RailsHidden, &s.RailsDisabled,
		&s.ChannelsUnavailable} {
		*list = slices.Clone(*list)
	}
	return s
}
