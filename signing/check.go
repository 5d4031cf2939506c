package signing

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
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

// maxPayload is the largest size of a payload in bytes. Real ones have a few hundred.
const maxPayload = 16 << 10

// payload is a decoded approval payload.
type payload struct {
	ApprovalID  string
	Operation   string
	ResourceID  string
	Account     string
	Amount      decimal.Decimal
	Currency    string
	Destination Destination
	ExpiresAt   time.Time
	Nonce       string
}

// parsePayload reads an RFC 8785 canonical JSON object with all known members of the right types, and no others. A
// signature must not cover a member that nobody compares.
func parsePayload(data []byte) (payload, *ApprovalRefused) {
	if len(data) > maxPayload {
		return payload{}, opaque(fmt.Sprintf("it has %d bytes, which is too long", len(data)))
	}
	if refused := checkCanonical(data); refused != nil {
		return payload{}, refused
	}
	top := members{value: data}
	top.decode("approvalId", "operation", "resourceId", "account", "amount", "currency", "destination", "expiresAt",
		"nonce")
	p := payload{
		ApprovalID: top.text("approvalId"),
		Operation:  top.text("operation"),
		ResourceID: top.text("resourceId"),
		Account:    top.text("account"),
		Amount:     top.amount("amount"),
		Currency:   top.text("currency"),
		ExpiresAt:  top.time("expiresAt"),
		Nonce:      top.text("nonce"),
	}
	destination := members{value: top.take("destination"), prefix: "destination."}
	destination.refused = top.refused
	destination.decode("contactId", "address", "chainId")
	p.Destination = Destination{
		ContactID: destination.optionalText("contactId"),
		Address:   destination.optionalText("address"),
		ChainID:   destination.optionalChain("chainId"),
	}
	return p, destination.refused
}

func opaque(reason string) *ApprovalRefused {
	return &ApprovalRefused{Field: "payload", Reason: reason}
}

// members reads the members of one canonical JSON object. refused is the first problem, and later values are not used.
type members struct {
	value   codec.Value
	prefix  string
	found   []member
	refused *ApprovalRefused
}

// decode splits the object, and refuses members that are not known. Of several, it names the first one by bytes.
func (m *members) decode(known ...string) {
	if m.value.Kind() != '{' {
		m.refuse("", "it must be a JSON object", m.value)
		return
	}
	m.found = split(m.value)
	var unknown *member
	for i, found := range m.found {
		if !slices.Contains(known, string(found.name)) &&
			(unknown == nil || bytes.Compare(found.name, unknown.name) < 0) {
			unknown = &m.found[i]
		}
	}
	if unknown != nil { // a name can be empty
		m.refuse(cmp.Or(string(unknown.name), `""`), "the member is unknown, and a signature would cover it",
			unknown.value)
	}
}

// get returns a member's value, or nil.
func (m *members) get(name string) codec.Value {
	for _, found := range m.found {
		if string(found.name) == name {
			return found.value
		}
	}
	return nil
}

func (m *members) refuse(name, reason string, got codec.Value) {
	if m.refused == nil {
		field := m.prefix + name
		if name == "" {
			field = strings.TrimSuffix(m.prefix, ".")
		}
		m.refused = &ApprovalRefused{Field: field, Reason: reason, Got: string(got)}
	}
}

// take returns a required member.
func (m *members) take(name string) codec.Value {
	value := m.get(name)
	if value == nil {
		m.refuse(name, "the member is missing", nil)
	}
	return value
}

// text returns a required string, which must not be empty.
func (m *members) text(name string) string {
	value := m.take(name)
	if value.Kind() != '"' || len(value) == len(`""`) {
		m.refuse(name, "it must be a non-empty string", value)
		return ""
	}
	return string(unquote(value))
}

func (m *members) optionalText(name string) string {
	if m.get(name) == nil {
		return ""
	}
	return m.text(name)
}

// optionalChain reads a chain code, or an EVM chain id as a canonical JSON number.
func (m *members) optionalChain(name string) string {
	if value := m.get(name); value.Kind() == '0' {
		if value[0] == '0' || !digits(string(value), 16) {
			m.refuse(name, "it must be a chain code or a positive integer", value)
		}
		return string(value)
	}
	return m.optionalText(name)
}

func (m *members) amount(name string) decimal.Decimal {
	s := m.text(name)
	if !plainAmount(s) {
		m.refuse(name, "it must be a decimal string without sign or exponent", m.get(name))
		return decimal.Decimal{}
	}
	return decimal.RequireFromString(s)
}

// plainAmount reports a short decimal string without sign or exponent.
func plainAmount(s string) bool {
	const most = 40
	whole, fraction, point := strings.Cut(s, ".")
	return digits(whole, most) && (!point || digits(fraction, most))
}

// digits reports a text of decimal digits: at least one, and no more than most.
func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

func (m *members) time(name string) time.Time {
	s := m.text(name)
	var t time.Time
	if t.UnmarshalText([]byte(s)) != nil {
		m.refuse(name, "it must be an RFC 3339 time", m.get(name))
	}
	return t
}
