package errors_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Heads of calls about which different things are known.
var (
	reading      = errorbase.With(errors.CallInfo{Operation: "GetPayout"}, errorbase.Facts{ReadOnly: true})
	keyed        = errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42"}
	once         = errorbase.With(errors.CallInfo{Operation: "CreateQuote"}, errorbase.Facts{Once: true})
	harmless     = errorbase.With(errors.CallInfo{Operation: "CreateContact"}, errorbase.Facts{Moneyless: true})
	harmlessOnce = errorbase.With(errors.CallInfo{Operation: "CreateInvoice"},
		errorbase.Facts{Once: true, Moneyless: true})
)

func TestRefusalJudgement(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal   errors.Refusal
		retryable bool
		moved     errors.Movement
		remedy    errors.Remedy
	}{
		"a read never moves money": {
			errors.Refusal{CallInfo: reading, Code: errors.CodeInternalError, Status: 500},
			true, errors.NotMoved, errors.RemedyWait},
		"a server error on a write may have": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeInternalError, Status: 500},
			true, errors.MaybeMoved, errors.RemedyWait},
		"and without a key must not be repeated": {
			errors.Refusal{CallInfo: once, Code: errors.CodeInternalError, Status: 500},
			false, errors.MaybeMoved, errors.RemedyWait},
		"a rate limit refuses before anything happens": {
			errors.Refusal{CallInfo: once, Code: errors.CodeRateLimited, Status: 429},
			true, errors.NotMoved, errors.RemedyWait},
		"success in disguise": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeAlreadyFunded, Status: 409},
			false, errors.Moved, errors.RemedyNone},
		"funding under way": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeFundingInProgress, Status: 409},
			true, errors.MaybeMoved, errors.RemedyWait},
		"a new token first": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeTokenExpired, Status: 401},
			false, errors.NotMoved, errors.RemedyLogin},
		"a login moves no money, also when it is down": {
			errors.Refusal{CallInfo: once, Code: errors.CodeLoginUnavailable, Status: 503},
			true, errors.NotMoved, errors.RemedyWait},
		"a known slug without a status": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with another client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 410},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with a server error it does not come with": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 502},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with the least server error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 500},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with less than a client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 399},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with the least client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 400},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with a success": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 200},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"an unknown slug with a client error": {
			errors.Refusal{CallInfo: once, Code: "documents_missing", Status: 422},
			false, errors.NotMoved, errors.RemedyChangeRequest},
		"an unknown conflict may say that it is done already": {
			errors.Refusal{CallInfo: once, Code: "escrow_released", Status: 409},
			false, errors.MaybeMoved, errors.RemedyChangeRequest},
		"an unknown conflict of a read": {
			errors.Refusal{CallInfo: reading, Code: "escrow_released", Status: 409},
			false, errors.NotMoved, errors.RemedyChangeRequest},
		"chain infrastructure unreachable": {
			errors.Refusal{CallInfo: keyed, Code: "chain_unreachable", Status: 502},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 401": {
			errors.Refusal{CallInfo: once, Code: "session_revoked", Status: 401},
			false, errors.NotMoved, errors.RemedyLogin},
		"a key that anchors nothing makes no repeat safe": {
			errors.Refusal{CallInfo: once, Code: errors.CodeInternalError, Status: 500},
			false, errors.MaybeMoved, errors.RemedyWait},
		"what moves no money can be done twice all the same": {
			errors.Refusal{CallInfo: harmlessOnce, Code: errors.CodeInternalError, Status: 500},
			false, errors.NotMoved, errors.RemedyWait},
		"a slug that says moved is believed": {
			errors.Refusal{CallInfo: harmlessOnce, Code: errors.CodeAlreadyFunded, Status: 409},
			false, errors.Moved, errors.RemedyNone},
		"an unknown slug with 408": {
			errors.Refusal{CallInfo: keyed, Code: "took_too_long", Status: 408},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 501": {
			errors.Refusal{CallInfo: keyed, Code: "mode_unavailable", Status: 501},
			false, errors.MaybeMoved, errors.RemedyChangeRequest},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.retryable, tc.refusal.Retryable())
			assert.Equal(t, tc.moved, tc.refusal.MovedByCall())
			assert.Equal(t, tc.remedy, tc.refusal.Remedy())
		})
	}
}

func TestOtherFailuresJudgement(t *testing.T) {
	for name, tc := range map[string]struct {
		failure   errors.Failure
		retryable bool
		moved     errors.Movement
	}{
		"gateway down on a read": {&errors.UnexpectedResponse{CallInfo: reading, Status: 502}, true,
			errors.NotMoved},
		"gateway down on a keyed write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 504}, true,
			errors.MaybeMoved},
		"gateway down on a write, no key": {&errors.UnexpectedResponse{CallInfo: once, Status: 504}, false,
			errors.MaybeMoved},
		"gateway says 404 to a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 404}, false,
			errors.NotMoved},
		"gateway limits a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 429}, true, errors.NotMoved},
		"gateway times out a read": {&errors.UnexpectedResponse{CallInfo: reading, Status: 408}, true,
			errors.NotMoved},
		"gateway times out a keyed write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 408}, true,
			errors.MaybeMoved},
		"gateway times out a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 408}, false,
			errors.MaybeMoved},
		"redirect of a write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 307}, false,
			errors.MaybeMoved},
		"unreadable success of a write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 201}, false,
			errors.MaybeMoved},
		"outcome unknown with a key": {&errors.InDoubt{CallInfo: keyed}, true, errors.MaybeMoved},
		"gateway down on a contact": {&errors.UnexpectedResponse{CallInfo: harmless, Status: 502}, true,
			errors.NotMoved},
		"gateway down on an invoice": {&errors.UnexpectedResponse{CallInfo: harmlessOnce, Status: 502}, false,
			errors.NotMoved},
		"a contact, nobody knows":       {&errors.InDoubt{CallInfo: harmless}, true, errors.NotMoved},
		"a key that anchors nothing":    {&errors.InDoubt{CallInfo: once}, false, errors.MaybeMoved},
		"outcome unknown without a key": {&errors.InDoubt{CallInfo: once}, false, errors.MaybeMoved},
		"invalid input":                 {&errors.InvalidInput{}, false, errors.NotMoved},
		"not delivered, a refused login": {&errors.NotDelivered{Err: &errors.InvalidCredentials{}}, false,
			errors.NotMoved},
		"not delivered, login is down": {&errors.NotDelivered{Err: &errors.LoginUnavailable{}}, true,
			errors.NotMoved},
		"not delivered": {&errors.NotDelivered{Err: context.Canceled}, true, errors.NotMoved},
		"validation failure of /api/v1": {&errors.DetailErrors{Refusal: errors.Refusal{CallInfo: once, Status: 422}},
			false, errors.NotMoved},
		"the question asked of the slug": {&errors.RateLimited{Refusal: errors.Refusal{CallInfo: reading,
			Code: errors.CodeRateLimited}}, true, errors.NotMoved},
		"the question asked of an unknown": {&errors.Unrecognized{Refusal: errors.Refusal{CallInfo: reading,
			Status: 503}},
			true, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.retryable, tc.failure.Retryable())
			assert.Equal(t, tc.moved, tc.failure.MovedByCall())
		})
	}
}
