// Package deployment has the settings of the sandbox host: limits, durations and failures that the operator of the
// service or one of its partners decides about. Package sandbox has the same types under the same names.
//
// The words of the service are explained in the glossary:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package deployment

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Settings are the settings of a host: limits, durations and failures that the operator of the service or one of its
// partners decides about. A change applies from the next request on. Amounts are in units of the token, and times are
// on the host's clock. The zero Settings is not valid: start from [DefaultSettings].
type Settings struct {
	// RateLimits makes the host count requests against the service's rate windows, and refuse requests over a limit
	// with rate_limited. The default is false.
	RateLimits bool `json:"rateLimits"`
	// RateMinute is how long a minute of the rate windows lasts. It is more than 0 and at most 1 minute, which is the
	// default. With one second, a window of a minute lasts one second, and a window of an hour lasts one minute, so
	// that a test in real time fills many windows. The limits stay the same. Retry-After has whole seconds, rounded up:
	// it is never too short, and with short windows it is longer than needed.
	RateMinute Duration `json:"rateMinute"`
	// DatabaseAvailable is true by default. If it is false, every operation fails with database_unavailable.
	DatabaseAvailable bool `json:"databaseAvailable"`
	// LoginAvailable is true by default. If it is false, logins and refreshes fail with login_unavailable.
	LoginAvailable bool `json:"loginAvailable"`
	// LoginMode is the login mode that is enabled. The default is [LoginModeDeveloperKey]. With any other mode, logins
	// fail with login_mode_unavailable, and the details name the mode.
	LoginMode string `json:"loginMode"`
	// OpaqueLogin makes a login with a bad signature fail with invalid_credentials instead of signature_invalid. The
	// service's description states both.
	OpaqueLogin bool `json:"opaqueLogin"`
	// MaxRecords is the largest number of records that the host keeps, see Host.Records of package sandbox. A request
	// that would add one more is refused with conflict, and the message names this setting. Reads and deletions still
	// work. The default is [DefaultMaxRecords].
	MaxRecords int `json:"maxRecords"`

	// MaxCredit is the largest amount of one sandbox deposit. The default is 100.
	MaxCredit decimal.Decimal `json:"maxCredit"`
	// FaucetBalance is how much of each token the faucet has for deposits. A change fills or drains the faucet to the
	// new value. The default is 1,000,000.
	FaucetBalance decimal.Decimal `json:"faucetBalance"`
	// FaucetGas is how much the faucet has to pay for gas. At zero, deposits fail with provider_unavailable. The
	// default is 1.
	FaucetGas decimal.Decimal `json:"faucetGas"`

	// SigningPolicy is [SigningPolicyAllow] by default. With [SigningPolicyRefuse], every confirmation fails with
	// signing_policy_refused.
	SigningPolicy SigningPolicy `json:"signingPolicy"`
	// RequireLowS makes the host refuse ECDSA signatures whose number S is in the upper half of the curve's order. They
	// fail with signature_invalid, and the message names the reason. The default is false: the service's description
	// does not require a low S.
	RequireLowS bool `json:"requireLowS"`
	// SignerDetached makes bookings and confirmations fail with signer_not_attached.
	SignerDetached bool `json:"signerDetached"`
	// PartnerDown makes three operations fail with provider_unavailable: booking a bank payout, opening a rail, and
	// quoting a bank payin.
	PartnerDown bool `json:"partnerDown"`
	// PayoutMethodsDisabled lists bank methods, such as sepa, that no contact can be paid by.
	PayoutMethodsDisabled []string `json:"payoutMethodsDisabled"`
	// PriceWorsening lowers every rate by this fraction. It is 0 or more and less than 1: 0.02 is 2 %. Change it after
	// a booking to make a new quote worse than the first.
	PriceWorsening decimal.Decimal `json:"priceWorsening"`
	// PriceDrift is the largest fraction by which the rate and the fee of a payout are above or below those of the
	// host. It is 0 or more and less than 1. Each price of a payout has its own drift: Seed, the idempotency key and
	// the number of the price decide, and not the time or the order of requests.
	PriceDrift decimal.Decimal `json:"priceDrift"`
	// FeeIncrease is added to the fee of every payout that has a fee.
	FeeIncrease decimal.Decimal `json:"feeIncrease"`

	// FailOneIn makes about one in so many funded payouts fail, at the end of the time that it stays in processing.
	// Seed and the idempotency key decide which. With 1 all of them fail, and with 0, the default, none.
	FailOneIn int `json:"failOneIn"`
	// FailAmount makes funded payouts of this amount fail. Zero, the default, means no amount.
	FailAmount decimal.Decimal `json:"failAmount"`
	// RefundOneIn and RefundAmount choose payouts in the same way. The money of these payouts comes back: they are
	// completed, and refunded RefundAfter later. A payout to an account of the host does not come back.
	RefundOneIn  int             `json:"refundOneIn"`
	RefundAmount decimal.Decimal `json:"refundAmount"`
	// RefundAfter is how long a payout stays completed before RefundOneIn or RefundAmount refunds it. The money is then
	// on its way back for ReturnAfter. The default is 0.
	RefundAfter Duration `json:"refundAfter"`
	// Seed changes what PriceDrift, FailOneIn and RefundOneIn decide. The same seed and keys give the same decisions.
	Seed int64 `json:"seed"`

	// ClientReadyAfter is how long a new client stays pending. The default is 250 ms.
	ClientReadyAfter Duration `json:"clientReadyAfter"`
	// PayoutStepAfter is how long a confirmed payout stays in funding. It then stays in processing for the same time,
	// before it is completed. The default is 300 ms.
	PayoutStepAfter Duration `json:"payoutStepAfter"`
	// ReturnAfter is how long the money of a refunded payout is on its way back. With zero, the default, it is back at
	// once.
	ReturnAfter Duration `json:"returnAfter"`
	// ReturnFee is the fee that the bank keeps from returned money. The host finds the payout of returned money by its
	// amount, with a tolerance of 0.20. If the fee is higher, it finds none.
	ReturnFee decimal.Decimal `json:"returnFee"`
	// ForgetFinishedAfter is how long the host keeps a payout that is completed, failed or refunded. With zero, the
	// default, it keeps payouts forever. Once a payout is forgotten, its id is not_found, its transactions are no
	// longer listed, and its ledger entries become part of one sum for each account and currency, so that the books
	// still balance. Its idempotency key stays known for as long as it would replay. The same request then fails with
	// gone, and books nothing.
	ForgetFinishedAfter Duration `json:"forgetFinishedAfter"`
	// QuoteLifetime is how long a price is valid. It is more than 0 and at most 2 minutes, which is the default.
	QuoteLifetime Duration `json:"quoteLifetime"`
	// ApprovalLifetime is how long a booked payout can be confirmed. It is more than 0 and at most 120 seconds, which
	// is the default.
	ApprovalLifetime Duration `json:"approvalLifetime"`

	// KYBDecision is how a review ends. The host decides when the review is first read after KYBDecisionAfter. The
	// default is [KYBDecisionApprove].
	KYBDecision KYBDecision `json:"kybDecision"`
	// KYBDecisionAfter is how long a completed verification stays under review. The default is 300 ms.
	KYBDecisionAfter Duration `json:"kybDecisionAfter"`
	// RailsHidden lists the methods of rails, such as sepa, that are not in any client's list, for example because of
	// the client's residency or legal form.
	RailsHidden []string `json:"railsHidden"`
	// RailsDisabled lists the methods of rails that the integrator's agreement does not include. Opening one fails with
	// rail_not_available.
	RailsDisabled []string `json:"railsDisabled"`
	// ChannelsUnavailable lists the methods of rails that report channel_unavailable.
	ChannelsUnavailable []string `json:"channelsUnavailable"`
	// RailActiveAfter is how long an opened rail stays pending. The default is 300 ms.
	RailActiveAfter Duration `json:"railActiveAfter"`
	// ChainReadEvery is the shortest time between two reads of an escrow from the chain. In between, a sync returns
	// what was last read. The default is 15 seconds.
	ChainReadEvery Duration `json:"chainReadEvery"`

	// ContractorAcceptsAfter is how long a contractor takes to accept a contract. The default is 300 ms.
	ContractorAcceptsAfter Duration `json:"contractorAcceptsAfter"`
	// MaxUpload is how many bytes an uploaded document may have. A larger one is refused with payload_too_large. The
	// default and largest value is 10 MiB.
	MaxUpload int `json:"maxUpload"`
	// CardActiveAfter is how long a new card stays pending, and how long the verification of its holder for cards
	// takes. The default is 300 ms.
	CardActiveAfter Duration `json:"cardActiveAfter"`
}

// LoginModeDeveloperKey is the login mode that the host supports.
const LoginModeDeveloperKey = "developer_key"

// SigningPolicy is what the service's signing policy decides about a signed approval.
type SigningPolicy string

// The values of SigningPolicy: the policy accepts every approval, or refuses every approval.
const (
	SigningPolicyAllow  SigningPolicy = "allow"
	SigningPolicyRefuse SigningPolicy = "refuse"
)

// KYBDecision is how the review of a verification ends.
type KYBDecision string

// The values of KYBDecision: the review approves the client, or rejects it.
const (
	KYBDecisionApprove KYBDecision = "approve"
	KYBDecisionReject  KYBDecision = "reject"
)

// Duration is a [time.Duration] that is written in JSON as Go prints it: "300ms".
type Duration time.Duration

// String returns the duration as Go prints it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText returns the duration as Go prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts what [time.ParseDuration] accepts.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// DefaultMaxRecords is the default of [Settings.MaxRecords]. A payout is about ten records, so this is about two
// million payouts.
const DefaultMaxRecords = 20_000_000

// The longest lifetimes that the service's description allows, and the largest document.
const (
	maxQuoteLifetime    = Duration(2 * time.Minute)
	maxApprovalLifetime = Duration(120 * time.Second)
	largestUpload       = 10 << 20
)

// short is how long each step of progress takes.
const short = Duration(300 * time.Millisecond)

// DefaultSettings returns the settings of a new host. Lifetimes are those of the service, everything is available, the
// faucet is full, nothing counts against rate windows, and each step of progress takes 250 to 300 milliseconds.
func DefaultSettings() Settings {
	return Settings{
		RateMinute:             Duration(time.Minute),
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

// SetProgress sets how long each step of progress takes: ClientReadyAfter, PayoutStepAfter, KYBDecisionAfter,
// RailActiveAfter, ContractorAcceptsAfter and CardActiveAfter become after, and ChainReadEvery becomes after if it was
// longer. With 0 nothing stays pending. With an hour, nothing progresses until the test calls Host.Advance.
func (s *Settings) SetProgress(after time.Duration) {
	for _, step := range []*Duration{&s.ClientReadyAfter, &s.PayoutStepAfter, &s.KYBDecisionAfter, &s.RailActiveAfter,
		&s.ContractorAcceptsAfter, &s.CardActiveAfter} {
		*step = Duration(after)
	}
	s.ChainReadEvery = min(s.ChainReadEvery, Duration(after))
}

// Check returns an error that names every invalid setting, or nil.
func (s Settings) Check() error {
	var problems []error
	problem := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	problem(s.RateMinute <= 0 || s.RateMinute > Duration(time.Minute),
		"rateMinute must be more than 0 and at most 1 minute")
	problem(s.LoginMode == "", "loginMode must not be empty")
	problem(s.MaxRecords <= 0, "maxRecords must be 1 or more")
	problem(s.MaxCredit.IsNegative(), "maxCredit must not be negative")
	problem(s.FaucetBalance.IsNegative(), "faucetBalance must not be negative")
	problem(s.FaucetGas.IsNegative(), "faucetGas must not be negative")
	problem(s.SigningPolicy != SigningPolicyAllow && s.SigningPolicy != SigningPolicyRefuse,
		"signingPolicy must be %q or %q", SigningPolicyAllow, SigningPolicyRefuse)
	problem(s.PriceWorsening.IsNegative() || s.PriceWorsening.GreaterThanOrEqual(decimal.NewFromInt(1)),
		"priceWorsening must be 0 or more and less than 1")
	problem(!isFraction(s.PriceDrift), "priceDrift must be 0 or more, less than 1, with at most 18 decimals")
	problem(!isAmount(s.FeeIncrease), "feeIncrease "+amountRule)
	problem(s.FailOneIn < 0, "failOneIn must not be negative")
	problem(!isAmount(s.FailAmount), "failAmount "+amountRule)
	problem(s.RefundOneIn < 0, "refundOneIn must not be negative")
	problem(!isAmount(s.RefundAmount), "refundAmount "+amountRule)
	problem(s.RefundAfter < 0, "refundAfter must not be negative")
	problem(s.ClientReadyAfter < 0, "clientReadyAfter must not be negative")
	problem(s.PayoutStepAfter < 0, "payoutStepAfter must not be negative")
	problem(s.ReturnAfter < 0, "returnAfter must not be negative")
	problem(s.ReturnFee.IsNegative(), "returnFee must not be negative")
	problem(s.ForgetFinishedAfter < 0, "forgetFinishedAfter must not be negative")
	problem(s.QuoteLifetime <= 0 || s.QuoteLifetime > maxQuoteLifetime,
		"quoteLifetime must be more than 0 and at most %v",
		maxQuoteLifetime)
	problem(s.ApprovalLifetime <= 0 || s.ApprovalLifetime > maxApprovalLifetime,
		"approvalLifetime must be more than 0 and at most %v",
		maxApprovalLifetime)
	for _, method := range s.PayoutMethodsDisabled {
		_, known := platformwire.CoverageMethods[method]
		problem(!known, "payoutMethodsDisabled: there is no method %q", method)
	}
	problem(s.KYBDecision != KYBDecisionApprove && s.KYBDecision != KYBDecisionReject,
		"kybDecision must be %q or %q", KYBDecisionApprove, KYBDecisionReject)
	problem(s.KYBDecisionAfter < 0, "kybDecisionAfter must not be negative")
	problem(s.RailActiveAfter < 0, "railActiveAfter must not be negative")
	problem(s.ChainReadEvery < 0, "chainReadEvery must not be negative")
	for _, list := range []struct {
		name  string
		rails []string
	}{{"railsHidden", s.RailsHidden}, {"railsDisabled", s.RailsDisabled},
		{"channelsUnavailable", s.ChannelsUnavailable}} {
		for _, method := range list.rails {
			_, known := platformwire.CoverageRailOf(platformwire.BankMethod(method))
			problem(!known, "%s: no rail has the method %q", list.name, method)
		}
	}
	problem(s.ContractorAcceptsAfter < 0, "contractorAcceptsAfter must not be negative")
	problem(s.MaxUpload <= 0 || s.MaxUpload > largestUpload, "maxUpload must be 1 or more and at most 10 MiB")
	problem(s.CardActiveAfter < 0, "cardActiveAfter must not be negative")
	return errors.Join(problems...)
}

// maxAmountExponent limits the amounts of settings, so that computing with them is cheap.
const (
	maxAmountExponent = 18
	amountRule        = "must not be negative, and have at most 18 digits before and 18 after the point"
)

// isAmount reports whether the host can compute with an amount.
func isAmount(d decimal.Decimal) bool {
	exponent := int(d.Exponent())
	return !d.IsNegative() && exponent >= -maxAmountExponent && d.NumDigits()+exponent <= maxAmountExponent
}

// isFraction reports whether a number is 0 or more and less than 1.
func isFraction(d decimal.Decimal) bool { return isAmount(d) && d.LessThan(decimal.NewFromInt(1)) }

// Clone returns a copy that shares nothing with s.
func (s Settings) Clone() Settings {
	for _, list := range []*[]string{&s.PayoutMethodsDisabled, &s.RailsHidden, &s.RailsDisabled,
		&s.ChannelsUnavailable} {
		*list = slices.Clone(*list)
	}
	return s
}
