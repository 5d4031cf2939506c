package refuse

// SpendLimitExceeded is 403 forbidden with details.reason and what the app key may still spend in USDC, a decimal string.
//
// Source: App API, Account and profile (remaining spend limit).
func SpendLimitExceeded(remaining string) *Refusal {
	refusal := Forbidden()
	refusal.Message = "The amount is beyond what the app key may still spend."
	refusal.Details = map[string]any{"reason": "spendLimitExceeded", "remainingSpendLimit": remaining}
	return refusal
}
