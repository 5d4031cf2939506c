package signing

import (
	"cmp"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// maxDigits bounds an intent's amount before its point and behind it: a comparison with 1e1000000 would take minutes,
// and a refusal would quote all digits.
const maxDigits = 80

// CheckApproval compares an approval with what the caller asked for. now is the current time. It returns nil, or
// [*ApprovalRefused] with the first difference. It requires that
//
//   - the payload is UTF-8 JSON in RFC 8785 canonical form, without duplicate, missing or unknown members,
//   - approvalId and expiresAt equal the ID and ExpiresAt of the approval, and the window is open,
//   - the window is not longer than the service allows: 120 seconds, or 60 for an escrow action, plus 30 for clocks
//     that differ,
//   - operation, resourceId, account, amount, currency and each part of destination equal those of the intent,
//   - nonce is not empty.
//
// CheckApproval refuses a payload that is not such JSON. Use [VerifyWith] to check other payloads yourself.
func CheckApproval(a Approval, want Intent, now time.Time) error {
	return refusal(a, cmp.Or(checkWindow(a, want.Operation, now, approvalOptions{}), checkTerms(a, want)))
}

// refusal sets the approval's id, and returns a nil error for a nil pointer.
func refusal(a Approval, refused *ApprovalRefused) error {
	if refused == nil {
		return nil
	}
	refused.ApprovalID = a.ID
	return refused
}

// checkWindow checks what every approval must satisfy, also with a [Verifier]: its id, its size and its window.
func checkWindow(a Approval, operation string, now time.Time, options approvalOptions) *ApprovalRefused {
	latest := now.Add(longestWindow(operation) + windowSkew)
	switch {
	case a.ID == "":
		return &ApprovalRefused{Field: "approvalId", Reason: "the approval has no id"}
	case len(a.Payload) == 0:
		return opaque("it is empty")
	case a.ExpiresAt.After(latest):
		return &ApprovalRefused{
			Field: "expiresAt", Reason: "the approval window is longer than the service allows",
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

// How long the service keeps an approval open. A longer window would let somebody use the approval after the caller has
// given up.
const (
	payoutWindow = 120 * time.Second // of payouts and transfers
	escrowWindow = 60 * time.Second
)

// windowSkew is how far the clocks of the service and the caller may differ.
const windowSkew = 30 * time.Second

// longestWindow returns the longest window of an operation.
func longestWindow(operation string) time.Duration {
	if strings.HasPrefix(operation, escrowOperations) {
		return escrowWindow
	}
	return payoutWindow
}

// checkTerms compares the payload with the intent.
func checkTerms(a Approval, want Intent) *ApprovalRefused {
	if refused := checkIntent(want); refused != nil {
		return refused
	}
	return comparePayload(a, want)
}

// checkIntent refuses an intent with an empty field, because no payload could contradict it.
func checkIntent(want Intent) *ApprovalRefused {
	open := func(field string) *ApprovalRefused {
		return &ApprovalRefused{Field: field, Reason: "the intent leaves it empty: set it"}
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
	case want.Amount.Exponent() > maxDigits, want.Amount.Exponent() < -maxDigits,
		want.Amount.NumDigits() > 2*maxDigits:
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

const differs = "it differs from what was asked for"

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

func sameAddress(got, want string) *ApprovalRefused {
	if evmAddress(got) && evmAddress(want) && strings.EqualFold(got, want) {
		return nil
	}
	return same("destination.address", got, want)
}

// evmAddress reports an EVM address. Its letter case is only a checksum (EIP-55).
func evmAddress(s string) bool {
	hexadecimal, prefixed := strings.CutPrefix(s, "0x")
	return prefixed && len(hexadecimal) == 40 && strings.Trim(hexadecimal, "0123456789abcdefABCDEF") == ""
}

// sameChain accepts a chain by either of its names. Two EVM ids, or two codes, are the names of two chains.
func sameChain(got string, want Destination) *ApprovalRefused {
	named := want.ChainID != "" && want.ChainAlias != "" && evmChain(want.ChainID) != evmChain(want.ChainAlias)
	if named && got == want.ChainAlias {
		return nil
	}
	return same("destination.chainId", got, want.ChainID)
}

// evmChain reports an EVM chain id.
func evmChain(s string) bool { return digits(s, len(s)) }

func sameTime(got, want time.Time) *ApprovalRefused {
	if got.Equal(want) {
		return nil
	}
	return &ApprovalRefused{Field: "expiresAt", Reason: "it differs from the end of the approval's window",
		Want: timestamp(want),
		Got:  timestamp(got)}
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
