package errors_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
)

func TestRefusalJudgement(t *testing.T) {
	const key = "invoice-42"
	for name, tc := range map[string]struct {
		refusal   errors.Refusal
		retryable bool
		moved     errors.Movement
		remedy    errors.Remedy
	}{
		"a read never moves money": {
			errors.Refusal{Code: errors.CodeInternalError, Status: 500},
			true, errors.NotMoved, errors.RemedyWait},
		"a server error on a write may have": {
			errors.Refusal{Code: errors.CodeInternalError, Status: 500, Write: true, IdempotencyKey: key, Repeatable: true},
			true, errors.MaybeMoved, errors.RemedyWait},
		"and without a key must not be repeated": {
			errors.Refusal{Code: errors.CodeInternalError, Status: 500, Write: true},
			false, errors.MaybeMoved, errors.RemedyWait},
		"a rate limit refuses before anything happens": {
			errors.Refusal{Code: errors.CodeRateLimited, Status: 429, Write: true},
			true, errors.NotMoved, errors.RemedyWait},
		"success in disguise": {
			errors.Refusal{Code: errors.CodeAlreadyFunded, Status: 409, Write: true, IdempotencyKey: key, Repeatable: true},
			false, errors.Moved, errors.RemedyNone},
		"funding under way": {
			errors.Refusal{Code: errors.CodeFundingInProgress, Status: 409, Write: true, IdempotencyKey: key, Repeatable: true},
			true, errors.MaybeMoved, errors.RemedyWait},
		"a new token first": {
			errors.Refusal{Code: errors.CodeTokenExpired, Status: 401, Write: true, IdempotencyKey: key, Repeatable: true},
			false, errors.NotMoved, errors.RemedyLogin},
		"a login moves no money, also when it is down": {
			errors.Refusal{Code: errors.CodeLoginUnavailable, Status: 503, Write: true},
			true, errors.NotMoved, errors.RemedyWait},
		"a known slug without a status": {
			errors.Refusal{Code: errors.CodeQuoteExpired, Write: true},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with another client error": {
			errors.Refusal{Code: errors.CodeQuoteExpired, Status: 410, Write: true},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with a server error it does not come with": {
			errors.Refusal{Code: errors.CodeQuoteExpired, Status: 502, Write: true},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with a success": {
			errors.Refusal{Code: errors.CodeQuoteExpired, Status: 200, Write: true},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"an unknown slug with a client error": {
			errors.Refusal{Code: "documents_missing", Status: 422, Write: true},
			false, errors.NotMoved, errors.RemedyChange},
		"an unknown conflict may say that it is done already": {
			errors.Refusal{Code: "escrow_released", Status: 409, Write: true},
			false, errors.MaybeMoved, errors.RemedyChange},
		"an unknown conflict of a read": {
			errors.Refusal{Code: "escrow_released", Status: 409},
			false, errors.NotMoved, errors.RemedyChange},
		"chain infrastructure unreachable": {
			errors.Refusal{Code: "chain_unreachable", Status: 502, Write: true, IdempotencyKey: key, Repeatable: true},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 401": {
			errors.Refusal{Code: "session_revoked", Status: 401, Write: true},
			false, errors.NotMoved, errors.RemedyLogin},
		"a key that anchors nothing makes no repeat safe": {
			errors.Refusal{Code: errors.CodeInternalError, Status: 500, Write: true, IdempotencyKey: key},
			false, errors.MaybeMoved, errors.RemedyWait},
		"what moves no money can be done twice all the same": {
			errors.Refusal{Code: errors.CodeInternalError, Status: 500, Write: true, IdempotencyKey: key, Moneyless: true},
			false, errors.NotMoved, errors.RemedyWait},
		"a slug that says moved is believed": {
			errors.Refusal{Code: errors.CodeAlreadyFunded, Status: 409, Write: true, Moneyless: true},
			false, errors.Moved, errors.RemedyNone},
		"an unknown slug with 408": {
			errors.Refusal{Code: "took_too_long", Status: 408, Write: true, IdempotencyKey: key, Repeatable: true},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 501": {
			errors.Refusal{Code: "mode_unavailable", Status: 501, Write: true, IdempotencyKey: key, Repeatable: true},
			false, errors.MaybeMoved, errors.RemedyChange},
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
		"gateway down on a read":           {&errors.UnexpectedAnswer{Status: 502}, true, errors.NotMoved},
		"gateway down on a keyed write":    {&errors.UnexpectedAnswer{Status: 504, Write: true, IdempotencyKey: "k", Repeatable: true}, true, errors.MaybeMoved},
		"gateway down on a write, no key":  {&errors.UnexpectedAnswer{Status: 504, Write: true}, false, errors.MaybeMoved},
		"gateway says 404 to a write":      {&errors.UnexpectedAnswer{Status: 404, Write: true}, false, errors.NotMoved},
		"gateway limits a write":           {&errors.UnexpectedAnswer{Status: 429, Write: true}, true, errors.NotMoved},
		"gateway times out a read":         {&errors.UnexpectedAnswer{Status: 408}, true, errors.NotMoved},
		"gateway times out a keyed write":  {&errors.UnexpectedAnswer{Status: 408, Write: true, IdempotencyKey: "k", Repeatable: true}, true, errors.MaybeMoved},
		"gateway times out a write":        {&errors.UnexpectedAnswer{Status: 408, Write: true}, false, errors.MaybeMoved},
		"redirect of a write":              {&errors.UnexpectedAnswer{Status: 307, Write: true, IdempotencyKey: "k", Repeatable: true}, false, errors.MaybeMoved},
		"unreadable success of a write":    {&errors.UnexpectedAnswer{Status: 201, Write: true, IdempotencyKey: "k", Repeatable: true}, false, errors.MaybeMoved},
		"outcome unknown with a key":       {&errors.OutcomeUnknown{IdempotencyKey: "k", Repeatable: true}, true, errors.MaybeMoved},
		"gateway down on a contact":        {&errors.UnexpectedAnswer{Status: 502, Write: true, Repeatable: true, Moneyless: true}, true, errors.NotMoved},
		"gateway down on an invoice":       {&errors.UnexpectedAnswer{Status: 502, Write: true, IdempotencyKey: "k", Moneyless: true}, false, errors.NotMoved},
		"a contact, nobody knows":          {&errors.OutcomeUnknown{IdempotencyKey: "k", Repeatable: true, Moneyless: true}, true, errors.NotMoved},
		"a key that anchors nothing":       {&errors.OutcomeUnknown{IdempotencyKey: "k"}, false, errors.MaybeMoved},
		"outcome unknown without a key":    {&errors.OutcomeUnknown{}, false, errors.MaybeMoved},
		"invalid input":                    {&errors.InvalidInput{}, false, errors.NotMoved},
		"not delivered":                    {&errors.NotDelivered{Err: context.Canceled}, true, errors.NotMoved},
		"validation failure of /api/v1":    {&errors.DetailErrors{Refusal: errors.Refusal{Status: 422, Write: true}}, false, errors.NotMoved},
		"the question asked of the slug":   {&errors.RateLimited{Refusal: errors.Refusal{Code: errors.CodeRateLimited}}, true, errors.NotMoved},
		"the question asked of an unknown": {&errors.Unrecognized{Refusal: errors.Refusal{Status: 503}}, true, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.retryable, tc.failure.Retryable())
			assert.Equal(t, tc.moved, tc.failure.MovedByCall())
		})
	}
}
