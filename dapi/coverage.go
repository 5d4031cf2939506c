package dapi

import (
	"slices"
	"strings"
)

// Coverage is one row of the coverage catalogue: a bank method and a currency that it moves.
//
// The catalogue lists what can exist at all. The service decides what one client or contact can use: call [Rails.List]
// and [Contacts.Capabilities].
type Coverage struct {
	Method   BankMethod
	Currency string // ISO 4217
	// International is true for a method that crosses borders: SWIFT, as a US dollar wire.
	International bool
}

// RailCoverage returns the methods and currencies in which a client can hold a virtual account, for money in. Each call
// returns a new slice.
func RailCoverage() []Coverage { return slices.Clone(moneyIn[:]) }

// PayoutCoverage returns the methods that a contact can hold, by currency, for money out. Each call returns a new
// slice.
func PayoutCoverage() []Coverage { return slices.Clone(moneyOut[:]) }

// MethodKind is the kind of a bank method.
type MethodKind string

// The kinds of bank methods.
const (
	MethodKindScheme  MethodKind = "scheme"  // a named payment scheme
	MethodKindLocal   MethodKind = "local"   // a domestic clearing system, suffix _local
	MethodKindEwallet MethodKind = "ewallet" // a mobile wallet by phone number, suffix _ewallet
)

// Kind returns the kind by the suffix of the method's name. It works for methods that this version does not know, too.
func (m BankMethod) Kind() MethodKind {
	switch {
	case strings.HasSuffix(string(m), "_local"):
		return MethodKindLocal
	case strings.HasSuffix(string(m), "_ewallet"):
		return MethodKindEwallet
	}
	return MethodKindScheme
}

// PaidDirectly reports whether the wallet is paid from the balance without conversion: it is on Base and expects USDC
// or EURC. Any other wallet is paid over a cross-chain route, which is quoted with FromChainID and ToChainID of the
// payout.
func (a OnchainAccount) PaidDirectly() bool {
	return a.ChainID == "base" && (a.Currency == string(USDC) || a.Currency == string(EURC))
}
