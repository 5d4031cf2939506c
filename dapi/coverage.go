package dapi

import (
	"slices"
	"strings"
)

// Coverage is a row of the coverage catalogue: a bank method and a currency that it moves.
//
// The catalogue says what can exist at all. What a client or a contact really has is decided per integrator, client and
// partner, and answered by [Rails.List] and [Contacts.Capabilities].
//
// Source: Coverage catalogue.
type Coverage struct {
	Method   BankMethod
	Currency string // ISO 4217
	// International says that the method crosses borders: SWIFT, as a US dollar wire.
	International bool
}

// RailCoverage lists the methods and currencies that a client can hold a virtual account in. The slice is the caller's.
func RailCoverage() []Coverage { return slices.Clone(moneyIn[:]) }

// PayoutCoverage lists the methods that a contact can hold, by currency. The slice is the caller's.
func PayoutCoverage() []Coverage { return slices.Clone(moneyOut[:]) }

// MethodKind is the kind of a bank method.
type MethodKind string

// The kinds of bank methods.
const (
	MethodKindScheme  MethodKind = "scheme"  // a named payment scheme
	MethodKindLocal   MethodKind = "local"   // a domestic clearing system, suffix _local
	MethodKindEwallet MethodKind = "ewallet" // a mobile wallet by phone number, suffix _ewallet
)

// Kind tells the kind by the method's suffix, also for methods that this version does not know.
func (m BankMethod) Kind() MethodKind {
	switch {
	case strings.HasSuffix(string(m), "_local"):
		return MethodKindLocal
	case strings.HasSuffix(string(m), "_ewallet"):
		return MethodKindEwallet
	}
	return MethodKindScheme
}

// PaidDirectly reports that the wallet is paid from the balance without conversion: it is on Base and expects USDC or
// EURC. Any other is paid by a cross-chain route, quoted with FromChainID and ToChainID of the payout.
//
// Source: Coverage catalogue, On chain.
func (a OnchainAccount) PaidDirectly() bool {
	return a.ChainID == "base" && (a.Currency == string(USDC) || a.Currency == string(EURC))
}
