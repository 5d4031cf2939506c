package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestEachKindOfErrorHasSomethingToDo(t *testing.T) {
	host, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))

	for _, c := range [][]string{
		{"a reference that is too long", "*errors.InvalidInput", "nothing was sent; mend paymentReference (too_long)"},
		{"an amount with more decimals", "*errors.ValidationFailed", "mend amount (amount_precision)"},
		{"does not cover the fee", "*errors.ValidationFailed", "mend amount (amount_below_fee)"},
		{"lacks its IBAN", "*errors.ContactNotPayable", "ask the payee: The method sepa needs iban."},
		{"more than the balance", "*errors.PayoutNotFundable", "fill the balance", "money: not_moved"},
		{"one key for two payments", "*errors.IdempotencyKeyReused", "look at po_"},
		{"somebody else's payout", "*errors.NotFound", "check the id"},
		{"not verified", "*errors.RailRequirementsUnmet", "ask the client: "},
		{"not complete", "*errors.Conflict", "change the request or what it is about"},
		{"over the maximum", "*errors.AmountAboveMaximum", "at most 100"},
		{"no account", "*errors.InvalidCredentials", "check the email and the key"},
		{"another amount than the one asked for", "*dapi.TermsDiffer", "find out why amount is not what was asked for"},
		{"not for this payout", "*signing.ApprovalRefused", "find out why resourceId is not what was asked for"},
		{"a fee over the bound", "*dapi.PriceRefused", "whether max_fee may be looser"},
		{"that was in doubt", "the first call: the payment is unknown",
			"the second call was refused: the payment is unknown",
			"the third call: the payment is paid, by payout po_", "*errors.OutcomeUnknown",
			"whatever was refused last; ask again with the key"},
		{"comes back", "*dapi.PayoutNotCompleted", "ended refunded; tell a person"},
		{"too many calls", "*errors.RateLimited", "wait until ", "send the same again: true"},
		{"without the scope", "*errors.Forbidden", "has the scope payouts:write"},
		{"a partner that is down", "*errors.ProviderUnavailable",
			"try again later with the same key; request req_made_up"},
		{"newer than this program", "*errors.Unrecognized", "change the request"},
		{"a proxy's page", "*errors.UnexpectedResponse", "ask again with the same key"},
		{"lost", "asked again with the same key: it is payout po_", "*errors.OutcomeUnknown",
			"ask again with the key refusals-", "money: maybe_moved"},
		{"not there", "*errors.NotDelivered", "nothing has happened"},
	} {
		rehearsal.Told(t, out.String(), c...)
	}

	booked := map[string]bool{}
	for _, request := range host.Requests() {
		if request.Operation == "BookPayout" && strings.Contains(request.IdempotencyKey, ":lost.") {
			booked[request.IdempotencyKey] = true
		}
	}
	assert.Len(t, booked, 1, "the lost booking was asked for again with its key")
	left := decimal.Zero
	for _, amount := range rehearsal.Left(host, "po_") {
		left = left.Add(amount)
	}
	assert.Equal(t, "5", left.String(),
		"the payment in doubt was made once; what was refused moved nothing, and what was refunded came back")
}

func TestErrorsThatTheRunDoesNotMeetHaveSomethingToDoAsWell(t *testing.T) {
	for code, says := range map[errors.Code]string{
		errors.CodeQuoteExpired:        "begin the step again",
		errors.CodeTokenExpired:        "log in again",
		errors.CodeAlreadyFunded:       "it is so already",
		errors.CodeFundingInProgress:   "try again later",
		errors.CodeSignerNotAttached:   "let an operator mend the account",
		errors.CodeInternalError:       "request req_7 helps",
		errors.Code("not_yet_thought"): "change the request",
	} {
		assert.Contains(t,
			byQuestions(&errors.Refusal{CallInfo: errors.CallInfo{RequestID: "req_7"}, Code: code,
				Status: http.StatusConflict}), says, code)
	}
	assert.Contains(t, remedy(&errors.Forbidden{}), "still exists and allows this address")
}
