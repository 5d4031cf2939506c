package signing

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// maxExponent bounds an intent's amount: comparing 1e1000000 with anything would compute for minutes.
const maxExponent = 80

// CheckApproval compares an approval with what the caller asked for, at the time now, and returns nil or
// [*ApprovalRefused] naming the first difference. It demands that
//
//   - the payload is UTF-8 JSON in RFC 8785 canonical form, without duplicate, missing or unknown members;
//   - approvalId and expiresAt are those of the approval, and the window is still open;
//   - the window is no longer than the service's own: 120 seconds, or 60 for an escrow action, and 30 for clocks
//     that differ;
//   - operation, resourceId, account, amount, currency and each part of destination are the intent's;
//   - nonce is not empty.
//
// An opaque payload is refused; [VerifyWith] lets a caller judge such payloads.
func CheckApproval(a Approval, want Intent, now time.Time) error {
	return refusal(a, cmp.Or(envelopeRefused(a, want.Operation, now, approvalOptions{}), termsRefused(a, want)))
}

// refusal names the approval, and keeps a nil pointer from becoming an error.
func refusal(a Approval, refused *ApprovalRefused) error {
	if refused == nil {
		return nil
	}
	refused.ApprovalID = a.ID
	return refused
}

// envelopeRefused is what every approval must satisfy, whoever judges its payload.
func envelopeRefused(a Approval, operation string, now time.Time, options approvalOptions) *ApprovalRefused {
	latest := now.Add(longestWindow(operation) + windowSkew)
	switch {
	case a.ID == "":
		return &ApprovalRefused{Field: "approvalId", Reason: "the approval has no id"}
	case len(a.Payload) == 0:
		return opaque("it is empty")
	case a.ExpiresAt.After(latest):
		return &ApprovalRefused{
			Field: "expiresAt", Reason: "the approval window is longer than the service's own",
			Want: "at most " + timestamp(latest), Got: timestamp(a.ExpiresAt),
		}
	case !now.Before(a.ExpiresAt) && !options.allowExpired:
		return &ApprovalRefused{
			Field: "expiresAt", Reason: "the approval window is closed; prepare the operation again",
			Want: "after " + timestamp(now), Got: timestamp(a.ExpiresAt), Expired: true,
		}
	}
	return nil
}

// How long the service keeps an approval open. A longer one could be used long after the caller gave up on it.
//
// Source: Limits, Lifetimes.
const (
	payoutWindow = 120 * time.Second // of payouts and transfers
	escrowWindow = 60 * time.Second
)

// windowSkew is how far the service's time may be from the caller's idea of it.
const windowSkew = 30 * time.Second

// longestWindow is the longest of all for an operation that is not known.
func longestWindow(operation string) time.Duration {
	if strings.HasPrefix(operation, escrowOperations) {
		return escrowWindow
	}
	return payoutWindow
}

// termsRefused is [CheckApproval] without the envelope.
func termsRefused(a Approval, want Intent) *ApprovalRefused {
	if refused := intentRefused(want); refused != nil {
		return refused
	}
	return comparePayload(a, want)
}

// intentRefused refuses an intent that leaves something open, which no payload could then contradict.
func intentRefused(want Intent) *ApprovalRefused {
	open := func(field string) *ApprovalRefused {
		return &ApprovalRefused{Field: field, Reason: "the intent does not say what is wanted"}
	}
	switch {
	case want.Operation == "":
		return open("operation")
	case want.ResourceID == "":
		return open("resourceId")
	case want.Account == "":
		return open("account")
	case want.Currency == "":
		return open("currency")
	case want.Destination.ContactID == "" && want.Destination.Address == "":
		return open("destination")
	case !want.Amount.IsPositive():
		return &ApprovalRefused{Field: "amount", Reason: "the intent's amount is not positive"}
	case want.Amount.Exponent() > maxExponent || want.Amount.Exponent() < -maxExponent:
		return &ApprovalRefused{Field: "amount", Reason: "the intent's amount is out of range"}
	}
	return nil
}

func comparePayload(a Approval, want Intent) *ApprovalRefused {
	got, refused := parsePayload(a.Payload)
	if refused != nil {
		return refused
	}
	return cmp.Or(
		same("approvalId", got.ApprovalID, a.ID),
		same("operation", got.Operation, want.Operation),
		same("resourceId", got.ResourceID, want.ResourceID),
		same("account", got.Account, want.Account),
		sameAmount(got.Amount, want.Amount),
		same("currency", got.Currency, want.Currency),
		same("destination.contactId", got.Destination.ContactID, want.Destination.ContactID),
		sameAddress(got.Destination.Address, want.Destination.Address),
		sameChain(got.Destination.ChainID, want.Destination),
		sameTime(got.ExpiresAt, a.ExpiresAt),
	)
}

const differs = "it is not what was asked for"

func same(field, got, want string) *ApprovalRefused {
	if got == want {
		return nil
	}
	return &ApprovalRefused{Field: field, Reason: differs, Want: want, Got: got}
}

func sameAmount(got, want decimal.Decimal) *ApprovalRefused {
	if got.Equal(want) {
		return nil
	}
	return &ApprovalRefused{Field: "amount", Reason: differs, Want: want.String(), Got: got.String()}
}

// evmAddress is an address whose letter case is a checksum and no part of its value (EIP-55).
var evmAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

func sameAddress(got, want string) *ApprovalRefused {
	if evmAddress.MatchString(got) && evmAddress.MatchString(want) && strings.EqualFold(got, want) {
		return nil
	}
	return same("destination.address", got, want)
}

// evmChain is an EVM chain id.
var evmChain = regexp.MustCompile(`^[0-9]+$`)

// sameChain takes a chain by either of its names. Two EVM ids, or two codes, are two chains and no names of one.
func sameChain(got string, want Destination) *ApprovalRefused {
	named := want.ChainID != "" && want.ChainAlias != "" &&
		evmChain.MatchString(want.ChainID) != evmChain.MatchString(want.ChainAlias)
	if named && got == want.ChainAlias {
		return nil
	}
	return same("destination.chainId", got, want.ChainID)
}

func sameTime(got, want time.Time) *ApprovalRefused {
	if got.Equal(want) {
		return nil
	}
	return &ApprovalRefused{Field: "expiresAt", Reason: "it is not the approval's own end", Want: timestamp(want),
		Got: timestamp(got)}
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
