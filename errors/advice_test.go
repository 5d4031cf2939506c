package errors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// What a refusal's details or its call add to the slug's hint, and the hint alone where they say nothing.
func TestAdvice(t *testing.T) {
	about := func(code errors.Code, resource, account string) errors.Refusal {
		return errors.Refusal{Code: code, CallInfo: errors.CallInfo{Resource: resource, Account: account}}
	}
	known := func(code errors.Code) errors.Refusal { return errors.Refusal{Code: code} }
	at := time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	for want, err := range map[string]error{
		"the credential's own account has no po_7: check the id, and the account " +
			"that the call acts for": &errors.NotFound{
			Refusal: about(errors.CodeNotFound, "po_7", "")},
		"client cl_1 has no po_7: check the id, and the account that the call acts for": &errors.NotFound{
			Refusal: about(errors.CodeNotFound, "po_7", "cl_1")},
		errors.CodeNotFound.Hint(): &errors.NotFound{Refusal: known(errors.CodeNotFound)},

		"the token does not come from a developer-key login: log in with a developer key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), Reason: errors.ReasonDeveloperSessionRequired},
		"the developer key has cards:read, invoices but needs cards:write: use " +
			"a key with this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write",
			Scope: []string{"cards:read", "invoices"}},
		"the developer key has no scopes but needs cards:write: use a key with " +
			"this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write"},
		"the developer key has cards:read but needs cards:write: use a key with " +
			"this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write", Scope: []string{"cards:read"}},
		errors.CodeForbidden.Hint(): &errors.Forbidden{Refusal: known(errors.CodeForbidden)},

		"pass an id that begins with po_": &errors.InvalidID{Refusal: known(errors.CodeInvalidID),
			ExpectedPrefix: "po_"},
		"pass an id that begins with po_ ": &errors.InvalidID{Refusal: about(errors.CodeInvalidID,
			"po_7", ""), ExpectedPrefix: "po_"},
		"pass an id that begins with po_, not ct_1": &errors.InvalidID{Refusal: about(errors.CodeInvalidID,
			"ct_1", ""), ExpectedPrefix: "po_"},
		errors.CodeInvalidID.Hint(): &errors.InvalidID{Refusal: known(errors.CodeInvalidID)},

		"the idempotency key belongs to po_1, which has other terms: " +
			"check it before you use a new key": &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused), PayoutID: "po_1", EscrowID: "esc_1"},
		"the idempotency key belongs to esc_1, which has other terms: " +
			"check it before you use a new key": &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused), EscrowID: "esc_1"},
		errors.CodeIdempotencyKeyReused.Hint(): &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused)},

		"wait until 2026-01-02T03:04:05Z, and let all processes that use this " +
			"credential share one rate limiter": &errors.RateLimited{
			Refusal: errors.Refusal{Code: errors.CodeRateLimited, CallInfo: errors.CallInfo{RetryAt: at}}},
		errors.CodeRateLimited.Hint(): &errors.RateLimited{Refusal: known(errors.CodeRateLimited)},

		"log in with developer_key, the mode that is enabled": &errors.LoginModeUnavailable{
			Refusal: known(errors.CodeLoginModeUnavailable), Use: "developer_key"},
		errors.CodeLoginModeUnavailable.Hint(): &errors.LoginModeUnavailable{
			Refusal: known(errors.CodeLoginModeUnavailable)},

		"treat this as a success: payout po_1 is funded, do not pay it again": &errors.AlreadyFunded{
			Refusal: known(errors.CodeAlreadyFunded), PayoutID: "po_1"},
		errors.CodeAlreadyFunded.Hint(): &errors.AlreadyFunded{
			Refusal: known(errors.CodeAlreadyFunded)},

		"ask for at most 100 per call": &errors.AmountAboveMaximum{Refusal: known(errors.CodeAmountAboveMaximum),
			MaxCredit: decimal.NewFromInt(100)},
		errors.CodeAmountAboveMaximum.Hint(): &errors.AmountAboveMaximum{Refusal: known(errors.CodeAmountAboveMaximum)},

		"the balance is 2.5 USDC: credit the account, then repeat with the same " +
			"idempotency key": &errors.PayoutNotFundable{
			Refusal: known(errors.CodePayoutNotFundable), Available: decimal.RequireFromString("2.5"),
			Currency: "USDC"},
		"the balance is 0: credit the account, then repeat with the same idempotency key": &errors.PayoutNotFundable{
			Refusal: errors.Refusal{Code: errors.CodePayoutNotFundable, Details: []byte(`{"available":"0"}`)}},
		errors.CodePayoutNotFundable.Hint(): &errors.PayoutNotFundable{Refusal: known(errors.CodePayoutNotFundable)},
		"the balance is 1 EURC: credit the account, then repeat with the same idempotency key": &errors.Conflict{
			Refusal: known(errors.CodeConflict), Available: decimal.NewFromInt(1), Currency: "EURC"},
		errors.CodeConflict.Hint(): &errors.Conflict{Refusal: known(errors.CodeConflict)},
	} {
		t.Run(want, func(t *testing.T) {
			_, advice, found := strings.Cut(errorbase.WithoutLink(err.Error()), " - ")
			assert.True(t, found, err.Error())
			said, _, _ := strings.Cut(advice, " (po_") // the resource, where the advice does not name it
			assert.Equal(t, strings.TrimSpace(want), said)
		})
	}
}

// What comes from outside into advice is bounded as everything else.
func TestAdviceIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, err := range []error{
		&errors.NotFound{Refusal: errors.Refusal{CallInfo: errors.CallInfo{Resource: long, Account: long}}},
		&errors.Forbidden{RequiredScope: long, Scope: []string{long, long}},
		&errors.InvalidID{ExpectedPrefix: long},
		&errors.IdempotencyKeyReused{PayoutID: long},
		&errors.LoginModeUnavailable{Use: long},
		&errors.AlreadyFunded{PayoutID: long},
		&errors.PayoutNotFundable{Currency: long},
	} {
		assert.NotContains(t, err.Error(), strings.Repeat("x", 129), "%T", err)
		assert.Contains(t, err.Error(), strings.Repeat("x", 100), "%T", err)
	}
}

// Each part of a line has a bound of its own, in bytes.
func TestBoundsOfALine(t *testing.T) {
	for name, tc := range map[string]struct {
		most int
		line func(text string) error
	}{
		"operation": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{Operation: text}}
		}},
		"code": {128, func(text string) error { return &errors.Refusal{Code: errors.Code(text)} }},
		"key": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{IdempotencyKey: text}}
		}},
		"request": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{RequestID: text}}
		}},
		"resource": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{Resource: text}}
		}},
		"content type": {128, func(text string) error { return &errors.UnexpectedResponse{ContentType: text} }},
		"field": {128, func(text string) error {
			return &errors.ValidationFailed{Fields: []errors.Field{{Field: text}}}
		}},
		"message": {300, func(text string) error { return &errors.Refusal{Message: text} }},
		"resolve": {300, func(text string) error { return &errors.InDoubt{Resolve: text} }},
		"a cause": {300, func(text string) error { return &errors.NotDelivered{Err: errors.New(text)} }},
		"causes": {1000, func(text string) error {
			four := len(text) - 3*len("; ")
			part := text[:four/4]
			return &errors.NotDelivered{Err: fmt.Errorf("%w%w%w%w", errors.New(part), errors.New(part),
				errors.New(part), errors.New(text[:four-3*len(part)]))}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NotContains(t, tc.line(strings.Repeat("x", tc.most)).Error(), "…")
			assert.Contains(t, tc.line(strings.Repeat("x", tc.most+1)).Error(), "…")
		})
	}
}
