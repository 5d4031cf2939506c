package errors

// LowBalance tells the two conditions of this slug apart: true is a balance that does not cover the payout, and false
// an account without the routing to fund it. A low balance is cured by a credit; then the same call with the same key
// succeeds.
func (e *PayoutNotFundable) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// LowBalance reports that the conflict is a balance that does not cover the deal. It is cured by a credit; then the
// same call with the same key succeeds.
func (e *Conflict) LowBalance() bool {
	return e.Currency != "" || !e.Available.IsZero() || namesBalance(e.Details)
}

// namesBalance reports details that say how much there is. A balance of zero has to be told from none that is named.
func namesBalance(raw []byte) bool {
	_, named := newDetails(raw)["available"]
	return named
}
