package dapi

import (
	"slices"
	"strings"
)

// Coverage is one row of the coverage catalogue: a bank method and a currency that it moves.
//
// The catalogue lists what is possible in general. The service decides what one client or contact can use: call
// [Rails.List] and [Contacts.Capabilities].
type Coverage struct {
	Method   BankMethod
	Currency string // ISO 4217
	// International is true for an international wire: SWIFT in US dollars.
	International bool
}

// RailCoverage returns the methods and currencies of virtual accounts (money in). Each call
// returns a new slice.
func RailCoverage() []Coverage { return slices.Clone(moneyIn[:]) }

// PayoutCoverage returns the methods and currencies in which a contact can be paid (money out). Each call returns a new
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

// Kind returns the kind of the method. The suffix of its name decides, so Kind also works for methods that this version
// does not know.
func (m BankMethod) Kind() MethodKind {
	switch {
	case strings.HasSuffix(string(m), "_local"):
		return MethodKindLocal
	case strings.HasSuffix(string(m), "_ewallet"):
		return MethodKindEwallet
	}
	return MethodKindScheme
}

// PaidDirectly reports whether the wallet is on the Base chain and accepts USDC or EURC. The service then pays it from
// the balance without conversion. It pays any other wallet over a cross-chain route: set FromChainID and ToChainID in
// [PayoutCreate].
func (a OnchainAccount) PaidDirectly() bool {
	return a.ChainID == "base" && (a.Currency == string(USDC) || a.Currency == string(EURC))
}
