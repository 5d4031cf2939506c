package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// remedy says what to do about the error of a call. Branch on types, never on messages; begin with the types that your
// program can do something particular about, and leave the rest to the common questions at the end. Of a payment, ask
// dapi.PaymentStateOf first: a refusal speaks for its call; only success, already funded, or the payout's own end
// settles a payment that was in doubt.
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
		return "nothing was sent; mend " + fields(invalid.Fields)
	case errors.As(err, &validation):
		return "mend " + fields(validation.Fields)
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
			" before paying under another"
	case errors.As(err, &limited):
		return "wait until " + limited.RetryAt.UTC().Format(time.TimeOnly) + "; up to RetryPolicy.WaitMax the SDK does"
	case errors.As(err, &forbidden):
		if forbidden.RequiredScope != "" {
			return "create a developer key that has the scope " + forbidden.RequiredScope + "; keys never change"
		}
		return "see whether the developer key still exists and allows this address"
	case errors.As(err, &login):
		return "check the email and the key; the service says no more, so that nobody can try accounts out"
	case errors.As(err, &missing):
		return "check the id; what belongs to somebody else is not found either"
	case errors.As(err, &unsigned):
		return "nothing was signed; find out why " + unsigned.Field + " is not what was asked for before trying again"
	case errors.As(err, &differs):
		return "nothing was signed; find out why " + differs.Member + " is not what was asked for before trying again"
	case errors.As(err, &price):
		return "nothing was signed; decide whether " + string(price.Bound) +
			" may be looser, then pay again with the same key"
	case errors.As(err, &ended):
		return fmt.Sprintf("the money did not arrive, payout %s ended %s; tell a person, and pay anew only under another key", ended.Payout.ID, ended.Payout.Status)
	case errors.As(err, &unknown):
		return "it may have happened, whatever was refused last; ask again with the key " + unknown.IdempotencyKey
	case errors.As(err, &unsent):
		return "nothing has happened; try again later"
	}
	return byQuestions(err)
}

// byQuestions serves every error of the SDK, also slugs that are newer than the program: log the request id, and ask
// whether the same request makes sense and whether money moved.
func byQuestions(err error) string {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return "log it; if money may have moved, ask again with the same key"
	}
	switch refusal.Remedy() {
	case errors.RemedyWait:
		return "try again later with the same key; request " + refusal.RequestID + " helps the service's people"
	case errors.RemedyRestart:
		return "begin the step again: new price, new approval, first page"
	case errors.RemedyLogin:
		return "log in again; the SDK does, once"
	case errors.RemedyNone:
		return "nothing: it is so already"
	}
	if refusal.Remedy() == errors.RemedyChangeAccount {
		return "let an operator mend the account, then ask again with the same key; request " + refusal.RequestID +
			" helps the service's people"
	}
	return "change the request or what it is about, then try again; request " + refusal.RequestID +
		" helps the service's people"
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
