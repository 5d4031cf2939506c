package payment

import (
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/temporal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Kind is the kind of a problem. It is the type of the application error that carries the problem.
type Kind string

// The kinds of problems.
const (
	// Unknown means that the payment may have been made. It is the only kind that Temporal retries.
	Unknown Kind = "OutcomeUnknown"
	// NotPaid means that nothing was paid, and that a later call can succeed. The workflow makes it, because only the
	// workflow may say that no earlier call can have paid.
	NotPaid Kind = "NotPaid"

	// A person decides about the kinds that follow.

	PriceRefused      Kind = "PriceRefused"      // Quote breaks the bounds
	TermsDiffer       Kind = "TermsDiffer"       // the service booked something else
	ContactNotPayable Kind = "ContactNotPayable" // Blockers says what the contact lacks
	PayoutNotFundable Kind = "PayoutNotFundable" // Available is the balance
	KeyReused         Kind = "IdempotencyKeyReused"
	KeyTooOld         Kind = "KeyTooOld" // the service may have forgotten the key
	InvalidInput      Kind = "InvalidInput"
	Refused           Kind = "Refused" // any other refusal that a repeat does not change
)

// Problem is why a call did not pay, or why it is not known whether it paid.
type Problem struct {
	Kind    Kind
	Message string       // one line, safe to log
	History dapi.History // what is known of the calls with the key
	// RetryAfter is the pause that the service asked for, or zero. It is not a time, because clocks differ.
	RetryAfter time.Duration
	// Quote is the refused price.
	Quote *dapi.Quote
	// Blockers are what the contact lacks.
	Blockers []errors.Blocker
	// Available is the balance in Currency, if it is too low.
	Available decimal.Decimal
	Currency  string
	// NotInLedger reports that the key is too old, and that the ledger does not have the payment.
	NotInLedger bool
}

// problemOf describes a payment that was not made, or may have been made.
func problemOf(made dapi.Payment, err error) Problem {
	problem := Problem{Kind: kindOf(made), Message: err.Error(), History: made.History, RetryAfter: until(made.RetryAt)}
	if price, ok := errors.AsType[*dapi.PriceRefused](made.Refusal); ok {
		problem.Quote = price.Quote
	}
	if contact, ok := errors.AsType[*errors.ContactNotPayable](made.Refusal); ok {
		problem.Blockers = contact.Blockers
	}
	if low, ok := errors.AsType[*errors.PayoutNotFundable](made.Refusal); ok {
		problem.Available, problem.Currency = low.Available, low.Currency
	}
	return problem
}

func kindOf(made dapi.Payment) Kind {
	switch made.State {
	case moneymovement.PaymentNeedsDecision:
		return decisionKind(made.Refusal)
	case moneymovement.PaymentNotPaid:
		return NotPaid
	}
	return Unknown
}

func decisionKind(err error) Kind {
	if _, ok := errors.AsType[*dapi.PriceRefused](err); ok {
		return PriceRefused
	}
	if _, ok := errors.AsType[*dapi.TermsDiffer](err); ok {
		return TermsDiffer
	}
	if _, ok := errors.AsType[*errors.IdempotencyKeyReused](err); ok {
		return KeyReused
	}
	if _, ok := errors.AsType[*dapi.KeyTooOld](err); ok {
		return KeyTooOld
	}
	if _, ok := errors.AsType[*errors.ContactNotPayable](err); ok {
		return ContactNotPayable
	}
	if _, ok := errors.AsType[*errors.PayoutNotFundable](err); ok {
		return PayoutNotFundable
	}
	if _, ok := errors.AsType[*errors.InvalidInput](err); ok || errors.HasCode(err, errors.CodeValidationFailed) {
		return InvalidInput
	}
	return Refused
}

// failure returns the problem as the error of an activity. Temporal repeats only what is unknown: the same call with
// the same key settles it. It waits as long as the service asked for.
func (p Problem) failure() error {
	return temporal.NewApplicationErrorWithOptions(p.Message, string(p.Kind), temporal.ApplicationErrorOptions{
		NonRetryable: p.Kind != Unknown, NextRetryDelay: p.RetryAfter, Details: []any{p},
	})
}

// until returns how long it is until a time, and zero for a time that has passed.
func until(at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(0, time.Until(at))
}

// problemFrom reads the problem from what an activity returned to the workflow. For an error without a problem, such as
// a timeout, no more is known than before the call: the worker may have died after it paid.
func problemFrom(err error, before dapi.History) Problem {
	problem := Problem{Kind: Unknown, Message: err.Error(), History: before}
	if failure, ok := errors.AsType[*temporal.ApplicationError](err); ok && failure.HasDetails() {
		var carried Problem
		if failure.Details(&carried) == nil && carried.Kind != "" {
			return carried
		}
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok && timeout.HasLastHeartbeatDetails() {
		_ = timeout.LastHeartbeatDetails(&problem.History.PayoutID) // without the id, the next call finds it
	}
	return problem
}
