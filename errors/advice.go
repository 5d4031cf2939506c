package errors

import (
	"strings"
	"time"
)

// The advice of errors that know more than the hint of their slug, from their details or their call.

func (e *NotFound) advice() string {
	if e.Resource == "" {
		return ""
	}
	account := "the credential's own account"
	if e.Account != "" {
		account = "client " + oneLine(e.Account, maxName)
	}
	return account + " has no " + oneLine(e.Resource, maxName) +
		": check the id, and the account that the call acts for"
}

func (e *Unauthenticated) advice() string {
	if e.facts.Misplaced == "" {
		return ""
	}
	return "the credential looks like " + e.facts.Misplaced + ": check which credential this client was made with"
}

func (e *Forbidden) advice() string {
	switch {
	case e.Reason == ReasonDeveloperSessionRequired:
		return "the token does not come from a developer-key login: log in with a developer key"
	case e.RequiredScope != "":
		scopes := "has no scopes"
		if len(e.Scope) > 0 {
			scopes = "has " + listed(safeNames(e.Scope))
		}
		return "the developer key " + scopes + " but needs " + oneLine(e.RequiredScope, maxName) +
			": use a key with this scope, then repeat with the same idempotency key"
	}
	return ""
}

func (e *InvalidID) advice() string {
	if e.ExpectedPrefix == "" {
		return ""
	}
	expected := "pass an id that begins with " + oneLine(e.ExpectedPrefix, maxName)
	if e.Resource == "" || strings.HasPrefix(e.Resource, e.ExpectedPrefix) {
		return expected
	}
	return expected + ", not " + oneLine(e.Resource, maxName)
}

func (e *IdempotencyKeyReused) advice() string {
	owner := e.PayoutID
	if owner == "" {
		owner = e.EscrowID
	}
	if owner == "" {
		return ""
	}
	return "the idempotency key belongs to " + oneLine(owner, maxName) +
		", which has other terms: check it before you use a new key"
}

func (e *RateLimited) advice() string {
	if e.RetryAt.IsZero() {
		return ""
	}
	return "wait until " + e.RetryAt.UTC().Format(time.RFC3339) +
		", and let all processes that use this credential share one rate limiter"
}

func (e *LoginModeUnavailable) advice() string {
	if e.Use == "" {
		return ""
	}
	return "log in with " + oneLine(e.Use, maxName) + ", the mode that is enabled"
}

func (e *AlreadyFunded) advice() string {
	if e.PayoutID == "" {
		return ""
	}
	return "treat this as a success: payout " + oneLine(e.PayoutID, maxName) + " is funded, do not pay it again"
}

func (e *AmountAboveMaximum) advice() string {
	if e.MaxCredit.IsZero() {
		return ""
	}
	return "ask for at most " + e.MaxCredit.String() + " per call"
}

func (e *PayoutNotFundable) advice() string {
	if !e.LowBalance() {
		return ""
	}
	return lowBalanceAdvice(e.Available.String(), e.Currency)
}

func (e *Conflict) advice() string {
	if !e.LowBalance() {
		return ""
	}
	return lowBalanceAdvice(e.Available.String(), e.Currency)
}

func lowBalanceAdvice(available, currency string) string {
	return "the balance is " + strings.TrimSpace(available+" "+oneLine(currency, maxName)) +
		": credit the account, then repeat with the same idempotency key"
}

func safeNames(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = oneLine(name, maxName)
	}
	return safe
}
