package signing

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

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
	canonical := jsonv2.Value(bytes.Clone(data))
	if err := canonical.Canonicalize(); err != nil || canonical.Kind() != '{' {
		return payload{}, opaque("it is not a JSON object, or it has duplicate members")
	}
	if !bytes.Equal(canonical, data) {
		return payload{}, opaque("it is not in RFC 8785 canonical form")
	}
	top := members{value: canonical}
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

// members reads the members of one JSON object. refused is the first problem, and later values are not used.
type members struct {
	value   jsonv2.Value
	prefix  string
	found   map[string]jsonv2.Value
	refused *ApprovalRefused
}

// decode splits the object, and refuses members that are not known.
func (m *members) decode(known ...string) {
	if m.value.Kind() != '{' || jsonv2.Unmarshal(m.value, &m.found) != nil {
		m.refuse("", "it must be a JSON object", m.value)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.found)) {
		if !slices.Contains(known, name) {
			// a name can be empty
			m.refuse(cmp.Or(name, `""`), "the member is unknown, and a signature would cover it", m.found[name])
			return
		}
	}
}

func (m *members) refuse(name, reason string, got jsonv2.Value) {
	if m.refused == nil {
		field := m.prefix + name
		if name == "" {
			field = strings.TrimSuffix(m.prefix, ".")
		}
		m.refused = &ApprovalRefused{Field: field, Reason: reason, Got: string(got)}
	}
}

// take returns a required member.
func (m *members) take(name string) jsonv2.Value {
	value, ok := m.found[name]
	if !ok {
		m.refuse(name, "the member is missing", nil)
	}
	return value
}

// text returns a required string, which must not be empty.
func (m *members) text(name string) string {
	value := m.take(name)
	var s string
	if value.Kind() != '"' || jsonv2.Unmarshal(value, &s) != nil || s == "" {
		m.refuse(name, "it must be a non-empty string", value)
	}
	return s
}

func (m *members) optionalText(name string) string {
	if _, ok := m.found[name]; !ok {
		return ""
	}
	return m.text(name)
}

// chainInteger matches an EVM chain id as a canonical JSON number.
var chainInteger = regexp.MustCompile(`^[1-9][0-9]{0,15}$`)

func (m *members) optionalChain(name string) string {
	if value := m.found[name]; value.Kind() == '0' {
		if !chainInteger.Match(value) {
			m.refuse(name, "it must be a chain code or a positive integer", value)
		}
		return string(value)
	}
	return m.optionalText(name)
}

// plainAmount matches a short decimal string without sign or exponent.
var plainAmount = regexp.MustCompile(`^[0-9]{1,40}(\.[0-9]{1,40})?$`)

func (m *members) amount(name string) decimal.Decimal {
	s := m.text(name)
	if !plainAmount.MatchString(s) {
		m.refuse(name, "it must be a decimal string without sign or exponent", m.found[name])
		return decimal.Decimal{}
	}
	return decimal.RequireFromString(s)
}

func (m *members) time(name string) time.Time {
	s := m.text(name)
	var t time.Time
	if t.UnmarshalText([]byte(s)) != nil {
		m.refuse(name, "it must be an RFC 3339 time", m.found[name])
	}
	return t
}
