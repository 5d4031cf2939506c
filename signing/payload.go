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
