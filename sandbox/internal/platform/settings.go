package platform

import (
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Duration is a time.Duration that travels in JSON as Go writes it, such as "300ms" or "1m30s".
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

// SigningPolicy is what the service's signing policy says when it is asked to co-sign.
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

// The longest lifetimes that the description allows. Source: Limits, Lifetimes.
const (
	MaxQuoteLifetime    = Duration(2 * time.Minute)
	MaxApprovalLifetime = Duration(120 * time.Second)
)

// Settings are what a deployment or a partner decides, as far as the state machine is concerned. They may change at any
// time and apply to the next request. Amounts are in units of the token.
type Settings struct {
	// MaxCredit is the largest credit per call, live on GET /sandbox/treasury. Source: Limits, Sandbox.
	MaxCredit decimal.Decimal `json:"maxCredit"`
	// FaucetBalance is what the faucet holds of each token. Each change refills or drains it to the new value.
	FaucetBalance decimal.Decimal `json:"faucetBalance"`
	// FaucetGas is what the faucet has for gas; credits fail at zero.
	FaucetGas decimal.Decimal `json:"faucetGas"`
	// SigningPolicy refuses every confirm with signing_policy_refused when it is "refuse".
	SigningPolicy SigningPolicy `json:"signingPolicy"`
	// RequireLowS refuses ECDSA signatures with a high S as signature_invalid.
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
	// ClientReadyAfter is how long a client stays pending on the host's clock.
	ClientReadyAfter Duration `json:"clientReadyAfter"`
	// PayoutStepAfter is how long a confirmed payout stays in funding, and then in processing.
	PayoutStepAfter Duration `json:"payoutStepAfter"`
	// ReturnAfter is how long the money of a refunded payout is on its way back; at once when zero.
	ReturnAfter Duration `json:"returnAfter"`
	// ReturnFee is what is kept of returned money on its way. Over 0.20, the money is attributed to no payout any more.
	// Source: Limits, Sandbox.
	ReturnFee decimal.Decimal `json:"returnFee"`
	// ForgetFinishedAfter is how long a payout that is completed, failed or refunded is kept; for good when zero.
	ForgetFinishedAfter Duration `json:"forgetFinishedAfter"`
	// QuoteLifetime is how long a price holds, at most 2 minutes. Source: Limits, Lifetimes.
	QuoteLifetime Duration `json:"quoteLifetime"`
	// ApprovalLifetime is the approval window of a payout, at most 120 seconds. Source: Limits, Lifetimes.
	ApprovalLifetime Duration `json:"approvalLifetime"`

	// KYBDecision is what a review ends with. It is read when the review is first looked at after KYBDecisionAfter.
	KYBDecision KYBDecision `json:"kybDecision"`
	// KYBDecisionAfter is how long a completed verification stays under review.
	KYBDecisionAfter Duration `json:"kybDecisionAfter"`
	// RailsHidden lists rails that are absent from every client's list, as residency or legal form would have it.
	RailsHidden []string `json:"railsHidden"`
	// RailsDisabled lists rails outside the integrator's agreement: opening one answers rail_not_available.
	RailsDisabled []string `json:"railsDisabled"`
	// ChannelsUnavailable lists rails that report channel_unavailable.
	ChannelsUnavailable []string `json:"channelsUnavailable"`
	// RailActiveAfter is how long an opened rail stays pending.
	RailActiveAfter Duration `json:"railActiveAfter"`
	// ChainReadEvery is how often an escrow deal is read from chain at most. Source: Limits, Lifetimes.
	ChainReadEvery Duration `json:"chainReadEvery"`
}

// DefaultSettings are the values of the description, short steps, and a full faucet.
func DefaultSettings() Settings {
	return Settings{
		MaxCredit:        decimal.NewFromInt(100),
		FaucetBalance:    decimal.NewFromInt(1_000_000),
		FaucetGas:        decimal.NewFromInt(1),
		SigningPolicy:    SigningPolicyAllow,
		ClientReadyAfter: Duration(250 * time.Millisecond),
		PayoutStepAfter:  Duration(300 * time.Millisecond),
		QuoteLifetime:    MaxQuoteLifetime,
		ApprovalLifetime: MaxApprovalLifetime,
		KYBDecision:      KYBDecisionApprove,
		KYBDecisionAfter: Duration(300 * time.Millisecond),
		RailActiveAfter:  Duration(300 * time.Millisecond),
		ChainReadEvery:   Duration(15 * time.Second),
	}
}

// Check tells which settings make no sense, or nil.
func (s Settings) Check() error {
	var problems []error
	problem := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
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
	problem(s.QuoteLifetime <= 0 || s.QuoteLifetime > MaxQuoteLifetime, "quoteLifetime is not within %v", MaxQuoteLifetime)
	problem(s.ApprovalLifetime <= 0 || s.ApprovalLifetime > MaxApprovalLifetime, "approvalLifetime is not within %v", MaxApprovalLifetime)
	for _, method := range s.PayoutMethodsDisabled {
		_, known := methods[method]
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
	}{{"railsHidden", s.RailsHidden}, {"railsDisabled", s.RailsDisabled}, {"channelsUnavailable", s.ChannelsUnavailable}} {
		for _, method := range list.rails {
			_, known := moneyIn(platformwire.BankMethod(method))
			problem(!known, "%s: no virtual account is held on %q", list.name, method)
		}
	}
	return errors.Join(problems...)
}
