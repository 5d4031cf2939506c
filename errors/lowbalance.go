package errors

import "github.com/moneymovement/moneymovement-go/internal/codec"

// LowBalance reports whether the balance is too low for the payout. If it returns false, the account has no routing to
// fund the payout. After a credit, the same call with the same idempotency key can succeed.
func (e *PayoutNotFundable) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// LowBalance reports whether the balance is too low for the escrow deal. After a credit, the same call with the same
// idempotency key can succeed.
func (e *Conflict) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// namesBalance reports whether the details have the available balance, which can be zero.
func namesBalance(raw []byte) bool {
	named := false
	s := codec.Over(raw)
	members := s.Object()
	for s.Member(&members) {
		named = named || string(members.Name) == "available"
	}
	return named && s.End()
}
