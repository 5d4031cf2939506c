package errors

import (
	"strings"
	"time"
)

// What a refusal's details or the call itself add to the slug's hint.

func (e *NotFound) advice() string {
	if e.Resource == "" {
		return ""
	}
	return "there is no " + oneLine(e.Resource, maxName) + " " + e.actingFor() +
		": check the id, and whom the call acts for, for what belongs to somebody else is not found either"
}

// actingFor says whose things a call can see.
func (h CallInfo) actingFor() string {
	if h.Account == "" {
		return "of the credential's own account"
	}
	return "of client " + oneLine(h.Account, maxName)
}

func (e *Forbidden) advice() string {
	switch {
	case e.Reason == ReasonDeveloperSessionRequired:
		return "the token does not come from a login with a developer key: log in with one"
	case e.RequiredScope != "":
		held := "no scopes"
		if len(e.Scope) > 0 {
			held = listed(safeNames(e.Scope))
		}
		return "the key lacks the scope " + oneLine(e.RequiredScope, maxName) + ", it has " + held +
			": give it the scope, then repeat with the same key"
	}
	return ""
}

func (e *InvalidID) advice() string {
	if e.ExpectedPrefix == "" {
		return ""
	}
	expected := "an id that begins with " + oneLine(e.ExpectedPrefix, maxName) + " is expected"
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
	return "the key belongs to " + oneLine(owner, maxName) +
		", with other terms: look at that, and use another key for this"
}

func (e *RateLimited) advice() string {
	if e.RetryAt.IsZero() {
		return ""
	}
	return "not before " + e.RetryAt.UTC().Format(time.RFC3339) + "; let all processes of the credential share one pace"
}

func (e *LoginModeUnavailable) advice() string {
	if e.Use == "" {
		return ""
	}
	return "log in by " + oneLine(e.Use, maxName) + ", the mode that is enabled"
}

func (e *AlreadyFunded) advice() string {
	if e.PayoutID == "" {
		return ""
	}
	return "this is success: payout " + oneLine(e.PayoutID, maxName) + " is funded, do not pay it again"
}

func (e *AmountAboveMaximum) advice() string {
	if e.MaxCredit.IsZero() {
		return ""
	}
	return "ask for at most " + e.MaxCredit.String() + " a call"
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
		": credit the account, then repeat with the same key"
}

func safeNames(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = oneLine(name, maxName)
	}
	return safe
}
