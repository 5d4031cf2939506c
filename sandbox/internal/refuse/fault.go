package refuse

import "net/http"

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
	return &Refusal{Status: http.StatusServiceUnavailable, Code: "database_unavailable", Message: "The service's database is unavailable; retry with backoff."}
}
