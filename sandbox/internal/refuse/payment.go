package refuse

import "net/http"

// QuoteExpired is 409 quote_expired: the price is older than its window.
func QuoteExpired() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "quote_expired",
		Message: "The price has expired; ask for a new price."}
}

// FundingAttemptExpired is 409 funding_attempt_expired: the approval window of a payout has passed.
func FundingAttemptExpired() *Refusal {
	return &Refusal{
		Status:  http.StatusConflict,
		Code:    "funding_attempt_expired",
		Message: "The approval has expired; book the payout again with the same key.",
	}
}

// AlreadyFunded is 409 already_funded: the payment has succeeded before.
func AlreadyFunded(payoutID, transactionHash string) *Refusal {
	return &Refusal{
		Status:  http.StatusConflict,
		Code:    "already_funded",
		Message: "The payment is already funded.",
		Details: map[string]any{"payoutId": payoutID, "transactionHash": transactionHash},
	}
}

// FundingInProgress is 409 funding_in_progress: wait.
func FundingInProgress() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "funding_in_progress",
		Message: "The payment is being funded; read it later."}
}

// ContactNotPayable is 409 contact_not_payable with details.blockers as in the contact's capabilities.
func ContactNotPayable(blockers []Blocker) *Refusal {
	return &Refusal{
		Status:  http.StatusConflict,
		Code:    "contact_not_payable",
		Message: "The contact cannot be paid.",
		Details: map[string]any{"blockers": blockers},
	}
}

// PayoutNotFundable is 409 payout_not_fundable. The details may be nil, or hold for example the available amount.
func PayoutNotFundable(message string, details map[string]any) *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "payout_not_fundable", Message: message, Details: details}
}

// QuoteNotSubmitted is 409 quote_not_submitted.
func QuoteNotSubmitted() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "quote_not_submitted",
		Message: "First confirm the payout, or ask for the payin's instructions."}
}

// RailNotAvailable is 403 rail_not_available: the rail is not enabled for the integrator.
func RailNotAvailable() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "rail_not_available",
		Message: "The rail is not enabled for the integrator."}
}

// RailRequirementsUnmet is 422 rail_requirements_unmet with details.blockers.
func RailRequirementsUnmet(blockers []Blocker) *Refusal {
	return &Refusal{
		Status:  http.StatusUnprocessableEntity,
		Code:    "rail_requirements_unmet",
		Message: "The client's verification state blocks the rail.",
		Details: map[string]any{"blockers": blockers},
	}
}

// AmountBelowMinimum is 422 amount_below_minimum: a sandbox credit below 0.10.
func AmountBelowMinimum() *Refusal {
	return &Refusal{Status: http.StatusUnprocessableEntity, Code: "amount_below_minimum",
		Message: "The smallest deposit is 0.10 of the token."}
}

// AmountAboveMaximum is 422 amount_above_maximum with details.maxCredit, a decimal string.
func AmountAboveMaximum(maxCredit string) *Refusal {
	return &Refusal{
		Status:  http.StatusUnprocessableEntity,
		Code:    "amount_above_maximum",
		Message: "The deposit is over the largest amount for each call.",
		Details: map[string]any{"maxCredit": maxCredit},
	}
}

// SpendLimitExceeded is 403 forbidden with details.reason and what the app key may still spend in USDC, a decimal
// string.
func SpendLimitExceeded(remaining string) *Refusal {
	refusal := Forbidden()
	refusal.Message = "The amount is more than the app key may still spend."
	refusal.Details = map[string]any{"reason": "spendLimitExceeded", "remainingSpendLimit": remaining}
	return refusal
}
