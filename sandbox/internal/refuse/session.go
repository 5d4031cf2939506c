package refuse

import "net/http"

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
func MissingScope(required string, held []string) *Refusal {
	if held == nil {
		held = []string{}
	}
	refusal := Forbidden()
	refusal.Message = "The key does not have the scope that this call needs."
	refusal.Details = map[string]any{"requiredScope": required, "scope": held}
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
