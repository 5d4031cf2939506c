package dapi_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The state follows from types alone, so that a fake can return zero values.
func TestPaymentStateOf(t *testing.T) {
	payout := func(status dapi.PayoutStatus, hash string) *dapi.Payout {
		return &dapi.Payout{ID: "po_1", Status: status, TransactionHash: hash}
	}
	for name, c := range map[string]struct {
		payout *dapi.Payout
		err    error
		want   dapi.PaymentState
	}{
		"nothing at all":              {nil, nil, dapi.PaymentUnknown},
		"funding":                     {payout("funding", ""), nil, dapi.PaymentPaid},
		"completed":                   {payout("completed", "0x1"), nil, dapi.PaymentPaid},
		"a status of a later version": {payout("on_hold", "0x1"), nil, dapi.PaymentPaid},
		// Pay returned it without an error
		"the same, not on chain":       {payout("on_hold", ""), nil, dapi.PaymentPaid},
		"no status":                    {payout("", ""), nil, dapi.PaymentUnknown},
		"booked, as Book returns it":   {payout("awaiting_approval", ""), nil, dapi.PaymentUnknown},
		"awaiting, with a transaction": {payout("awaiting_approval", "0x1"), nil, dapi.PaymentPaid},
		"failed":                       {payout("failed", "0x1"), nil, dapi.PaymentEnded},
		"refunded":                     {payout("refunded", "0x1"), nil, dapi.PaymentEnded},
		"expired":                      {payout("expired", ""), nil, dapi.PaymentEnded},
		"not completed": {nil, &dapi.PayoutNotCompleted{Payout: payout("failed", "")},
			dapi.PaymentEnded},
		"already funded":         {nil, &errors.AlreadyFunded{}, dapi.PaymentPaid},
		"already funded, inside": {nil, fmt.Errorf("invoice 42: %w", &errors.AlreadyFunded{}), dapi.PaymentPaid},
		"lost":                   {nil, &errors.OutcomeUnknown{}, dapi.PaymentUnknown},
		"lost, and a refusal beside it": {nil, errors.Join(&errors.Forbidden{}, &errors.OutcomeUnknown{}),
			dapi.PaymentUnknown},
		"under way": {nil, &errors.FundingInProgress{}, dapi.PaymentUnknown},
		"still pending": {nil, &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: "payout"}},
			dapi.PaymentUnknown},
		"forbidden":        {nil, &errors.Forbidden{}, dapi.PaymentNotPaid},
		"over a window":    {nil, &errors.RateLimited{}, dapi.PaymentNotPaid},
		"a low balance":    {nil, &errors.PayoutNotFundable{}, dapi.PaymentNotPaid},
		"bad input":        {nil, &errors.InvalidInput{}, dapi.PaymentNeedsDecision},
		"not delivered":    {nil, &errors.NotDelivered{Err: context.Canceled}, dapi.PaymentNotPaid},
		"another approval": {nil, &signing.ApprovalRefused{}, dapi.PaymentNotPaid},
		"declined":         {nil, &dapi.PaymentDeclined{}, dapi.PaymentNotPaid},
		"declined, after a lost call": {nil, &dapi.PaymentDeclined{Err: &errors.OutcomeUnknown{}},
			dapi.PaymentNotPaid},
		"a price out of bounds":    {nil, &dapi.PriceRefused{}, dapi.PaymentNeedsDecision},
		"other terms":              {nil, &dapi.TermsDiffer{}, dapi.PaymentNeedsDecision},
		"a key of another payment": {nil, &errors.IdempotencyKeyReused{}, dapi.PaymentNeedsDecision},
		"a key too old":            {nil, &dapi.KeyTooOld{}, dapi.PaymentNeedsDecision},
		"a read that is refused": {payout("funding", ""), &errors.Forbidden{Refusal: errors.Refusal{
			CallInfo: errors.CallInfo{Operation: "GetPayout"}}}, dapi.PaymentUnknown},
		"an error of no type": {nil, errors.New("what"), dapi.PaymentUnknown},
		"a context's error":   {nil, context.DeadlineExceeded, dapi.PaymentUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, dapi.PaymentStateOf(c.payout, c.err))
		})
	}
}

// Each ending of Pay, and whether the next call may say that it is the first use of the key.
func TestMayHavePaid(t *testing.T) {
	declined := &dapi.PaymentDeclined{Err: &dapi.KeyTooOld{}} // the key of another payment, which the hook makes
	unpaid := []error{
		&errors.NotDelivered{}, &errors.Forbidden{}, &errors.RateLimited{}, &errors.PayoutNotFundable{},
		&errors.ContactNotPayable{}, &signing.ApprovalRefused{}, declined, fmt.Errorf("invoice 42: %w", declined),
		&dapi.PriceRefused{}, &dapi.TermsDiffer{}, fmt.Errorf("invoice 42: %w", &dapi.PriceRefused{}),
	}
	for _, err := range unpaid {
		assert.False(t, dapi.MayHavePaid(nil, err), "%T", err)
		assert.False(t, dapi.MayHavePaid(&dapi.Payout{ID: "po_1"}, err), "%T", err)
	}
	for _, err := range []error{
		nil, errors.New("what"), context.Canceled, &errors.OutcomeUnknown{}, &errors.AlreadyFunded{},
		&errors.FundingInProgress{}, &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: "payout"}},
		&dapi.PayoutNotCompleted{}, &dapi.KeyTooOld{}, &errors.IdempotencyKeyReused{},
		&errors.InvalidInput{}, // which does not say that it came from a first use
		errors.Join(&dapi.PriceRefused{}, &dapi.KeyTooOld{}), errors.Join(&dapi.TermsDiffer{}, &errors.InvalidInput{}),
		errors.Join(&dapi.PriceRefused{}, &errors.OutcomeUnknown{}),
	} {
		for _, status := range []dapi.PayoutStatus{"", "awaiting_approval", "funding", "completed", "failed", "expired",
			"new"} {
			assert.True(t, dapi.MayHavePaid(&dapi.Payout{ID: "po_1", Status: status}, err), "%T, %s", err, status)
		}
		assert.True(t, dapi.MayHavePaid(nil, err), "%T", err)
	}
}

// For each refusal of the service, as for each other error: "may not have paid" is said of what is not paid, and of
// nothing else but a refused price and other terms. The service's refusal of the input, like the SDK's, does not say
// whether it came from a first use.
func TestMayHavePaidAfterEachRefusal(t *testing.T) {
	var decisions []errors.Code
	for _, code := range errors.Codes() {
		err := errors.Decode(errors.Response{Status: code.Status(),
			Body: fmt.Appendf(nil, `{"error":{"code":%q,"message":"no"}}`, code)})
		state := dapi.PaymentStateOf(nil, err)
		assert.Equal(t, state != dapi.PaymentNotPaid, dapi.MayHavePaid(nil, err), code)
		if state == dapi.PaymentNeedsDecision {
			decisions = append(decisions, code)
		}
	}
	assert.ElementsMatch(t, []errors.Code{errors.CodeIdempotencyKeyReused, errors.CodeValidationFailed,
		errors.CodeInvalidRequest, errors.CodeInvalidID}, decisions)
}

// Programs store what a payment came to, and log what a price broke: the words stay.
func TestWordsThatProgramsStore(t *testing.T) {
	assert.Equal(t, []dapi.PaymentState{"paid", "not_paid", "ended", "unknown", "needs_decision"}, []dapi.PaymentState{
		dapi.PaymentPaid, dapi.PaymentNotPaid, dapi.PaymentEnded, dapi.PaymentUnknown, dapi.PaymentNeedsDecision,
	})
	assert.Equal(t, []dapi.PriceBound{"min_destination_amount", "max_fee", "no_worse_than", "amount", "asset",
		"readable"},
		[]dapi.PriceBound{
			dapi.BoundMinDestinationAmount, dapi.BoundMaxFee, dapi.BoundNoWorseThan, dapi.BoundAmount, dapi.BoundAsset,
			dapi.BoundReadable,
		})
	assert.Equal(t, []dapi.MethodKind{"scheme", "local", "ewallet"}, []dapi.MethodKind{
		dapi.MethodKindScheme, dapi.MethodKindLocal, dapi.MethodKindEwallet,
	})
}

// Every error that a payment ends in can be asked the common questions, and prints even when its fields are empty.
func TestErrorsOfAPaymentAreFailures(t *testing.T) {
	for _, failure := range []errors.Failure{
		&dapi.PriceRefused{}, &dapi.TermsDiffer{}, &dapi.PaymentDeclined{}, &dapi.KeyTooOld{},
		&dapi.PayoutNotCompleted{}, &dapi.EscrowNotOpened{},
		&dapi.PayinNotCompleted{}, &dapi.ChannelUnavailable{}, &dapi.RailNotListed{}, &signing.ApprovalRefused{},
		&signing.ChallengeRefused{},
	} {
		assert.Equal(t, errors.NotMoved, failure.MovedByCall(), "%T", failure)
		assert.NotEmpty(t, failure.Error(), "%T", failure)
		_, headed := errors.CallInfoOf(failure)
		assert.True(t, headed, "%T", failure)
	}
}
