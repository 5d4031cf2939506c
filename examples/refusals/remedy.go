package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// remedy returns what to do about the error of a call. Branch on types, never on messages. Begin with the types that
// your program handles in its own way; byQuestions handles the rest. For a payment, first branch on Payment.State: a
// refusal says nothing about the calls before it, so a payment in doubt stays in doubt.
func remedy(err error) string {
	var (
		invalid    *errors.InvalidInput
		validation *errors.ValidationFailed
		notPayable *errors.ContactNotPayable
		unmet      *errors.RailRequirementsUnmet
		notFunded  *errors.PayoutNotFundable
		tooMuch    *errors.AmountAboveMaximum
		reused     *errors.IdempotencyKeyReused
		limited    *errors.RateLimited
		forbidden  *errors.Forbidden
		login      *errors.InvalidCredentials
		missing    *errors.NotFound
		unsigned   *signing.ApprovalRefused
		differs    *dapi.TermsDiffer
		price      *dapi.PriceRefused
		ended      *dapi.PayoutNotCompleted
		unknown    *errors.OutcomeUnknown
		unsent     *errors.NotDelivered
	)
	switch {
	case errors.As(err, &invalid):
		return "nothing was sent; correct " + fields(invalid.Fields)
	case errors.As(err, &validation):
		return "correct " + fields(validation.Fields)
	case errors.As(err, &notPayable):
		return "ask the payee: " + blockers(notPayable.Blockers)
	case errors.As(err, &unmet):
		return "ask the client: " + blockers(unmet.Blockers)
	case errors.As(err, &notFunded):
		return "fill the balance, then pay again with the same key"
	case errors.As(err, &tooMuch):
		return "ask for at most " + tooMuch.MaxCredit.String()
	case errors.As(err, &reused):
		return "another payment has this key; look at " + reused.PayoutID + reused.EscrowID +
			" before you pay with another key"
	case errors.As(err, &limited):
		return "wait until " + limited.RetryAt.UTC().Format(time.TimeOnly) +
			"; the SDK does so itself, up to RetryPolicy.WaitMax"
	case errors.As(err, &forbidden):
		if forbidden.RequiredScope != "" {
			return "create a developer key with the scope " + forbidden.RequiredScope +
				"; an existing key never changes"
		}
		return "check whether the developer key still exists and allows this address"
	case errors.As(err, &login):
		return "check the email and the key; the service does not say which of them is wrong"
	case errors.As(err, &missing):
		return "check the id, and the account that the call acts for"
	case errors.As(err, &unsigned):
		return "nothing was signed; find out why " + unsigned.Field + " differs from what you asked for, then try again"
	case errors.As(err, &differs):
		return "nothing was signed; find out why " + differs.Member + " differs from what you asked for, then try again"
	case errors.As(err, &price):
		return "nothing was signed; decide whether to change the bound " + string(price.Bound) +
			", then pay again with the same key"
	case errors.As(err, &ended):
		return fmt.Sprintf("the money did not arrive: payout %s is %s; ask a person; another payment needs another key",
			ended.Payout.ID, ended.Payout.Status)
	case errors.As(err, &unknown):
		return "the service may have done it; call again with the same terms and the key " + unknown.IdempotencyKey
	case errors.As(err, &unsent):
		return "nothing was done; try again later"
	}
	return byQuestions(err)
}

// byQuestions handles every other error of the SDK, also slugs that are newer than this program. Refusal.Remedy says
// what kind of action helps.
func byQuestions(err error) string {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return "log it; if money may have moved, call again with the same key"
	}
	switch refusal.Remedy() {
	case errors.RemedyWait:
		return "try again later with the same key; if it goes on, report request " + refusal.RequestID
	case errors.RemedyRestart:
		return "begin again: with a new price, a new approval, or the first page"
	case errors.RemedyLogin:
		return "log in again; the SDK does so itself, once"
	case errors.RemedyNone:
		return "nothing: it is done already"
	case errors.RemedyChangeAccount:
		return "an operator must correct the account; then call again with the same key, and report request " +
			refusal.RequestID + " if it goes on"
	}
	return "change the request, or the resource that it is about, then try again; request " + refusal.RequestID
}

func fields(list []errors.Field) string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Field + " (" + f.Code + ")"
	}
	return strings.Join(names, ", ")
}

func blockers(list []errors.Blocker) string {
	messages := make([]string, len(list))
	for i, b := range list {
		messages[i] = b.Message
	}
	return strings.Join(messages, " ")
}
