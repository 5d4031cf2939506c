package wire

import (
	"net/http"
	"strconv"
	"time"
)

// InvalidRequest is 400 invalid_request: a mistake that no single field covers.
func InvalidRequest(message string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "invalid_request", Message: message}
}

// Unreadable is 400 invalid_request for a request that cannot be read.
func Unreadable() *Refusal { return InvalidRequest("The request cannot be read.") }

// ValidationFailed is 422 validation_failed with details.fields. The location is "query", "path" or "header" if the
// mistake is outside the body, else "".
func ValidationFailed(location string, fields ...Field) *Refusal {
	details := map[string]any{"fields": fields}
	if location != "" {
		details["location"] = location
	}
	return &Refusal{
		Status:  http.StatusUnprocessableEntity,
		Code:    "validation_failed",
		Message: "One or more fields are wrong.",
		Details: details,
	}
}

// InvalidField is validation_failed for one field of the body.
func InvalidField(field, code, message string) *Refusal {
	return ValidationFailed("", Field{Field: field, Code: code, Message: message})
}

// InvalidCursor is 400 invalid_cursor: the cursor belongs to another query or sort order.
func InvalidCursor() *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "invalid_cursor",
		Message: "The cursor belongs to another query; list again without a cursor.",
	}
}

// InvalidID is 400 invalid_id: the id is that of another type.
func InvalidID(expectedPrefix string) *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "invalid_id",
		Message: "The id comes from another namespace.",
		Details: map[string]any{"expectedPrefix": expectedPrefix},
	}
}

// IdempotencyKeyInvalid is 400 idempotency_key_invalid: the header does not match the pattern.
func IdempotencyKeyInvalid() *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "idempotency_key_invalid",
		Message: "The Idempotency-Key must match ^[A-Za-z0-9._:-]{1,128}$.",
	}
}

// IdempotencyKeyReused is 409 idempotency_key_reused: the same key with other terms. owner is the member of details
// with the id of the key's resource, "payoutId" or "escrowId", or "" if the key belongs to neither.
func IdempotencyKeyReused(owner, id string) *Refusal {
	refusal := &Refusal{
		Status:  http.StatusConflict,
		Code:    "idempotency_key_reused",
		Message: "The idempotency key was used before with different terms.",
	}
	if owner != "" {
		refusal.Details = map[string]any{owner: id}
	}
	return refusal
}

// NotFound is 404 not_found: there is no such resource, or it belongs to someone else.
func NotFound() *Refusal {
	return &Refusal{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such resource."}
}

// MethodNotAllowed is 405 method_not_allowed.
func MethodNotAllowed() *Refusal {
	return &Refusal{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
		Message: "The path does not accept this method."}
}

// Conflict is 409 conflict: the state does not allow the request, and no other slug fits.
func Conflict(message string) *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "conflict", Message: message}
}

// Gone is 410 gone: the resource is no longer available.
func Gone(message string) *Refusal {
	return &Refusal{Status: http.StatusGone, Code: "gone", Message: message}
}

// PayloadTooLarge is 413 payload_too_large.
func PayloadTooLarge() *Refusal {
	return &Refusal{Status: http.StatusRequestEntityTooLarge, Code: "payload_too_large",
		Message: "The body is too large."}
}

// RateLimited is 429 rate_limited; the wait becomes Retry-After.
func RateLimited(wait time.Duration) *Refusal {
	return &Refusal{
		Status:     http.StatusTooManyRequests,
		Code:       "rate_limited",
		Message:    "There were too many calls in the rate window.",
		RetryAfter: wait,
	}
}

// Full is 409 conflict: the host keeps as many records as its settings allow. The service has no such rule.
func Full(limit int) *Refusal {
	return Conflict("The host keeps as many records as its setting maxRecords allows, " + strconv.Itoa(limit) +
		": raise it, let the setting forgetFinishedAfter forget finished payouts, or reset the host.")
}

// InternalError is 500 internal_error. The host adds details.requestId, as on every 5xx.
func InternalError() *Refusal {
	return &Refusal{Status: http.StatusInternalServerError, Code: "internal_error", Message: "The service failed."}
}

// ProviderUnavailable is 503 provider_unavailable: a partner is down, or the faucet cannot pay.
func ProviderUnavailable(message string) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Code: "provider_unavailable", Message: message}
}

// DatabaseUnavailable is 503 database_unavailable.
func DatabaseUnavailable() *Refusal {
	return &Refusal{
		Status: http.StatusServiceUnavailable, Code: "database_unavailable",
		Message: "The service's database is unavailable; retry with backoff.",
	}
}

// Unauthenticated is 401 unauthenticated: the bearer token is missing or invalid.
func Unauthenticated() *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "unauthenticated",
		Message: "The bearer token is missing or cannot be verified."}
}

// TokenExpired is 401 token_expired: the access token has expired.
func TokenExpired() *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "token_expired", Message: "The access token has expired."}
}

// Forbidden is 403 forbidden without details: the key was deleted, or the address is not on the key's allowlist.
func Forbidden() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "forbidden", Message: "The session may not do this."}
}

// UnknownHost is 403 forbidden without details: the host does not accept the name in the Host header. The service has
// no such rule. It protects the host from web pages whose own domain name points to this machine.
func UnknownHost() *Refusal {
	refusal := Forbidden()
	refusal.Message = "This sandbox host does not accept the name in the Host header; " +
		"add it with sandbox.WithHosts or the flag -host."
	return refusal
}

// DeveloperSessionRequired is 403 forbidden with details.reason: the token does not come from a developer-key login, or
// it is a refresh token on a business route.
func DeveloperSessionRequired() *Refusal {
	refusal := Forbidden()
	refusal.Message = "The platform API accepts only the access token of a developer-key session."
	refusal.Details = map[string]any{"reason": "developerSessionRequired"}
	return refusal
}

// MissingScope is 403 forbidden with details.requiredScope, and with the held scopes in details.scope.
func MissingScope(required string, keyScopes []string) *Refusal {
	if keyScopes == nil {
		keyScopes = []string{}
	}
	refusal := Forbidden()
	refusal.Message = "The key does not have the scope that this call needs."
	refusal.Details = map[string]any{"requiredScope": required, "scope": keyScopes}
	return refusal
}

// InvalidCredentials is 401 invalid_credentials: the login failed. The response does not say why.
func InvalidCredentials() *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "invalid_credentials", Message: "The login failed."}
}

// RequestExpired is 400 request_expired: requestExpiry is in the past or more than five minutes ahead.
func RequestExpired() *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "request_expired",
		Message: "requestExpiry must not be past, or more than five minutes ahead."}
}

// ChallengeNotFound is 404 challenge_not_found.
func ChallengeNotFound() *Refusal {
	return &Refusal{Status: http.StatusNotFound, Code: "challenge_not_found", Message: "The challenge is unknown."}
}

// ChallengeConsumed is 409 challenge_consumed: a challenge can be used once.
func ChallengeConsumed() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "challenge_consumed",
		Message: "The challenge was used before; ask for a new one."}
}

// ChallengeExpired is 410 challenge_expired.
func ChallengeExpired() *Refusal {
	return &Refusal{Status: http.StatusGone, Code: "challenge_expired", Message: "The challenge is too old."}
}

// LoginUnavailable is 503 login_unavailable.
func LoginUnavailable() *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Code: "login_unavailable",
		Message: "Login is temporarily unavailable."}
}

// LoginModeUnavailable is 501 login_mode_unavailable; use names the enabled mode.
func LoginModeUnavailable(use string) *Refusal {
	return &Refusal{
		Status:  http.StatusNotImplemented,
		Code:    "login_mode_unavailable",
		Message: "This login mode is not enabled.",
		Details: map[string]any{"use": use},
	}
}

// DeveloperKeyNotFound is 404 developer_key_not_found: the account has no key with this dk_ id.
func DeveloperKeyNotFound() *Refusal {
	return &Refusal{Status: http.StatusNotFound, Code: "developer_key_not_found",
		Message: "There is no such developer key."}
}

// DeveloperKeyAlreadyExists is 409 developer_key_already_exists: the public key already belongs to a key on the
// account.
func DeveloperKeyAlreadyExists() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "developer_key_already_exists",
		Message: "The public key already belongs to a key on the account."}
}

// SignatureInvalid is 400 signature_invalid: the signature does not verify, and nothing is consumed.
func SignatureInvalid() *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "signature_invalid",
		Message: "The signature is not valid for this message and public key."}
}

// SignatureHighS is 400 signature_invalid for a signature that verifies and has a high S, on a host that requires a low
// S.
func SignatureHighS() *Refusal {
	refusal := SignatureInvalid()
	refusal.Message = "The signature is valid, but its S is in the upper half of the curve's order; S must be low."
	return refusal
}

// KeyNotRegistered is 403 key_not_registered: the public key is not among the account's developer keys.
func KeyNotRegistered() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "key_not_registered",
		Message: "The public key is not among the account's developer keys."}
}

// SignerNotAttached is 409 signer_not_attached: the developer signer is not attached to the wallet.
func SignerNotAttached() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "signer_not_attached",
		Message: "The developer signer is not attached to the wallet."}
}

// WalletNotLinked is 409 wallet_not_linked: the account has no wallet yet.
func WalletNotLinked() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "wallet_not_linked",
		Message: "The account has no wallet yet; wait until the client is ready."}
}

// ApprovalConsumed is 409 approval_consumed: the approval was already used.
func ApprovalConsumed() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "approval_consumed",
		Message: "The approval already signed something; prepare again."}
}

// ApprovalExpired is 410 approval_expired: the approval window has closed.
func ApprovalExpired() *Refusal {
	return &Refusal{Status: http.StatusGone, Code: "approval_expired",
		Message: "The approval window has closed; prepare again."}
}

// ApprovalMismatch is 409 approval_mismatch: the approval belongs to another operation.
func ApprovalMismatch() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "approval_mismatch",
		Message: "The approval belongs to another operation."}
}

// SigningPolicyRefused is 403 signing_policy_refused.
func SigningPolicyRefused() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "signing_policy_refused",
		Message: "The signing policy refused the approval."}
}

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
