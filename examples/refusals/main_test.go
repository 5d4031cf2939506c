package main

import (
	"bytes"
	"net/http"
	"os"
	"regexp"
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
		{"a reference that is too long", "*errors.InvalidInput",
			"nothing was sent; correct paymentReference (too_long)"},
		{"an amount with more decimals", "*errors.ValidationFailed", "correct amount (amount_precision)"},
		{"does not cover the fee", "*errors.ValidationFailed", "correct amount (amount_below_fee)"},
		{"without an IBAN", "*errors.ContactNotPayable", "ask the payee: The method sepa needs iban."},
		{"more than the balance", "*errors.PayoutNotFundable", "fill the balance"},
		{"one key for two payments", "*errors.IdempotencyKeyReused", "look at po_"},
		{"somebody else's payout", "*errors.NotFound", "check the id"},
		{"not verified", "*errors.RailRequirementsUnmet", "ask the client: "},
		{"not complete", "*errors.Conflict", "change the request, or the resource"},
		{"over the maximum", "*errors.AmountAboveMaximum", "at most 100"},
		{"no account", "*errors.InvalidCredentials", "check the email and the key"},
		{"another amount than the one asked for", "*dapi.TermsDiffer",
			"find out why amount differs from what you asked for"},
		{"not for this payout", "*signing.ApprovalRefused", "find out why resourceId differs from what you asked for"},
		{"a fee over the bound", "*dapi.PriceRefused", "whether to change the bound max_fee"},
		{"that was in doubt", "the first call: the payment is in_doubt",
			"the second call was refused: the payment is in_doubt",
			"the third call: the payment is paid, by payout po_", "*errors.OutcomeUnknown",
			"call again with the same terms and the key"},
		{"comes back", "*dapi.PayoutNotCompleted", "is refunded; ask a person"},
		{"too many calls", "*errors.RateLimited", "wait until "},
		{"without the scope", "*errors.Forbidden", "with the scope payouts:write"},
		{"a partner that is down", "*errors.ProviderUnavailable",
			"try again later with the same key; if it goes on, report request req_made_up"},
		{"newer than this program", "*errors.Unrecognized", "change the request"},
		{"a proxy's page", "*errors.UnexpectedResponse", "call again with the same key"},
		{"a response that was lost", "called again with the same key: payout po_", "*errors.OutcomeUnknown",
			"call again with the same terms and the key refusals-"},
		{"not there", "*errors.NotDelivered", "nothing was done"},
	} {
		rehearsal.Told(t, out.String(), c...)
	}

	assertLookedUp(t, out.String())
	table := rehearsal.Told(t, out.String(), "all of them:")
	for _, row := range []string{
		`a contact without an IBAN +\*errors.ContactNotPayable +no +not moved`,
		`too many calls +\*errors.RateLimited +yes +not moved`,
		`a response that was lost +\*errors.OutcomeUnknown +yes +maybe moved`,
		`a payout that comes back +\*dapi.PayoutNotCompleted +no +`,
	} {
		assert.Regexp(t, `(?m)^    `+row, table)
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

// assertLookedUp checks that docs/errors.md has each anchor.
func assertLookedUp(t *testing.T, out string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/errors.md")
	require.NoError(t, err)
	anchors := regexp.MustCompile(`look up     docs/errors\.md(#\w+)\n`).FindAllStringSubmatch(out, -1)
	assert.Len(t, anchors, strings.Count(out, "    what to do  "))
	for _, anchor := range anchors {
		assert.Contains(t, string(page), "]("+anchor[1]+")", "no such anchor")
	}
}

func TestErrorsThatTheRunDoesNotMeetHaveSomethingToDoAsWell(t *testing.T) {
	for code, says := range map[errors.Code]string{
		errors.CodeQuoteExpired:        "begin again",
		errors.CodeTokenExpired:        "log in again",
		errors.CodeAlreadyFunded:       "it is done already",
		errors.CodeFundingInProgress:   "try again later",
		errors.CodeSignerNotAttached:   "an operator must correct the account",
		errors.CodeInternalError:       "report request req_7",
		errors.Code("not_yet_thought"): "change the request",
	} {
		assert.Contains(t,
			byQuestions(&errors.Refusal{CallInfo: errors.CallInfo{RequestID: "req_7"}, Code: code,
				Status: http.StatusConflict}), says, code)
	}
	assert.Contains(t, remedy(&errors.Forbidden{}), "still exists and allows this address")
}
