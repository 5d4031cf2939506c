package dapi

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// headOf is the head of an error of an operation.
func headOf(op *transport.Operation) errors.Refusal {
	return errors.Refusal{CallInfo: errors.CallInfo{Operation: op.ID}}
}

// A payment that was not paid by this call: what a caller gets follows from the refusal and from what is known of
// earlier calls.
func TestStateAfterARefusal(t *testing.T) {
	type want struct {
		state   moneymovement.PaymentState
		unpaid  bool
		refusal bool // errors.As finds it
		doubt   bool // errors.As finds *errors.InDoubt
	}
	const (
		notPaid, inDoubt = moneymovement.PaymentNotPaid, moneymovement.PaymentInDoubt
		decide           = moneymovement.PaymentNeedsDecision
	)
	for name, c := range map[string]struct {
		refusals    []error
		first, then want // if no call has paid, and if one may have
	}{
		"nothing is wrong with it": {
			refusals: []error{&errors.Forbidden{}, &errors.RateLimited{}, &errors.KeyNotRegistered{},
				&errors.NotDelivered{Err: context.Canceled}, &errors.NotDelivered{Err: &errors.ValidationFailed{}},
				&signing.ApprovalRefused{Expired: true}, &PaymentDeclined{},
				&PaymentDeclined{Err: &errors.InDoubt{}}, &PaymentDeclined{Err: &KeyTooOld{}},
				&errors.Conflict{}, errors.New("of no known type")},
			first: want{notPaid, true, true, false},
			then:  want{inDoubt, false, false, true},
		},
		"somebody must act": {
			refusals: []error{&errors.PayoutNotFundable{}, &errors.ContactNotPayable{}, &errors.NotFound{},
				&errors.AmountBelowMinimum{}, &errors.ValidationFailed{Refusal: headOf(&opConfirmPayout)},
				&errors.ValidationFailed{Refusal: headOf(&opConfirmEscrowAction)},
				&errors.InvalidRequest{Refusal: headOf(&opCreateChallenge)},
				&errors.InvalidRequest{Refusal: headOf(&opCreateToken)},
				&errors.UnexpectedResponse{Status: 403}, &signing.ApprovalRefused{}, &PriceRefused{}, &TermsDiffer{}},
			first: want{decide, true, true, false},
			then:  want{inDoubt, false, false, true},
		},
		"input that this SDK refuses": {
			refusals: []error{&errors.InvalidInput{}},
			first:    want{decide, true, true, false},
			then:     want{decide, false, true, true},
		},
		"input": {
			refusals: []error{
				&errors.ValidationFailed{Refusal: errors.Refusal{Code: errors.CodeValidationFailed}},
				&errors.InvalidRequest{Refusal: errors.Refusal{Code: errors.CodeInvalidRequest}},
				&errors.InvalidID{Refusal: errors.Refusal{Code: errors.CodeInvalidID}}},
			first: want{decide, true, true, false},
			then:  want{decide, false, false, true},
		},
		"key": {
			refusals: []error{&errors.IdempotencyKeyReused{}, &KeyTooOld{}},
			first:    want{decide, false, true, false},
			then:     want{decide, false, false, true},
		},
	} {
		for earlier, want := range map[errorbase.Earlier]want{
			errorbase.NonePaid: c.first, errorbase.MayExist: c.then, errorbase.MayPay: c.then,
		} {
			for _, refusal := range c.refusals {
				t.Run(fmt.Sprintf("%s, %T, %v", name, refusal, earlier), func(t *testing.T) {
					f := &flow{first: &opBookPayout, second: &opConfirmPayout, key: "invoice-42"}
					r := f.refusedResult(refusal, earlier)
					assert.Equal(t, want.state, r.state)
					assert.Equal(t, want.unpaid, r.history.Unpaid)
					assert.Same(t, refusal, r.refusal)
					itsType := reflect.New(reflect.TypeOf(refusal)).Interface()
					assert.Equal(t, want.refusal, errors.As(r.err, itsType), "%v", r.err)
					unknown, doubt := errors.AsType[*errors.InDoubt](r.err)
					doubt = doubt && unknown.IdempotencyKey == string(f.key) // and not one of another payment
					assert.Equal(t, want.doubt, doubt, "%v", r.err)
				})
			}
		}
	}
}

// A payment that is paid or has ended, by the status of its payout or deal.
func TestStateOfASettledPayment(t *testing.T) {
	payout := func(status PayoutStatus, phase phase) *offer {
		return &offer{id: "po_1", phase: phase, payout: &Payout{ID: "po_1", Status: status}}
	}
	for name, c := range map[string]struct {
		offer  *offer
		state  moneymovement.PaymentState
		unpaid bool
	}{
		"not read":      {nil, moneymovement.PaymentPaid, false},
		"funding":       {payout("funding", phasePaid), moneymovement.PaymentPaid, false},
		"completed":     {payout("completed", phasePaid), moneymovement.PaymentPaid, false},
		"a new status":  {payout("on_hold", phasePaid), moneymovement.PaymentPaid, false},
		"failed":        {payout("failed", phaseEnded), moneymovement.PaymentEnded, false},
		"refunded":      {payout("refunded", phaseEnded), moneymovement.PaymentEnded, false},
		"expired":       {payout("expired", phaseLapsed), moneymovement.PaymentEnded, true},
		"deal, active":  {&offer{phase: phasePaid, deal: &Escrow{ID: "esc_1"}}, moneymovement.PaymentPaid, false},
		"deal, expired": {&offer{phase: phaseEnded, deal: &Escrow{ID: "esc_1"}}, moneymovement.PaymentEnded, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flow{clean: true, first: &opBookPayout, second: &opConfirmPayout, key: "invoice-42",
				history: History{PayoutID: "po_1"}}
			if c.offer != nil && c.offer.deal != nil {
				f.first, f.second = &opCreateEscrow, &opConfirmEscrowAction
			}
			r := f.settledResult(c.offer)
			assert.Equal(t, c.state, r.state)
			assert.Equal(t, c.unpaid, r.history.Unpaid)
			assert.Equal(t, c.state == moneymovement.PaymentPaid, r.err == nil)
			assert.Equal(t, r.err, r.refusal)
			if payment, _ := r.payment(); f.first == &opBookPayout {
				assert.Equal(t, PayoutID("po_1"), payment.Payout.ID)
			} else {
				deal, _ := r.deal()
				assert.Equal(t, EscrowID("esc_1"), deal.Escrow.ID)
			}
		})
	}
}

// Programs store what a payment came to, and log which bound a price broke: the words stay.
func TestWordsThatProgramsStore(t *testing.T) {
	assert.Equal(t, []moneymovement.PaymentState{"paid", "not_paid", "ended", "in_doubt", "needs_decision"},
		[]moneymovement.PaymentState{
			moneymovement.PaymentPaid, moneymovement.PaymentNotPaid, moneymovement.PaymentEnded,
			moneymovement.PaymentInDoubt, moneymovement.PaymentNeedsDecision,
		})
	assert.Equal(t, []PriceBound{"min_destination_amount", "max_fee", "no_worse_than", "amount", "asset", "readable"},
		[]PriceBound{
			BoundMinDestinationAmount, BoundMaxFee, BoundNoWorseThan, BoundAmount, BoundAsset, BoundReadable,
		})
}

// A deal of which only the id is known.
func TestADealWithoutItsTerms(t *testing.T) {
	for name, r := range map[string]result{
		"booked": {offer: &offer{id: "esc_1"}},
		"stored": {history: History{EscrowID: "esc_1"}},
	} {
		deal, err := r.deal()
		require.NoError(t, err, name)
		assert.Equal(t, &Escrow{ID: "esc_1"}, deal.Escrow, name)
	}
}

func TestApprovalClosed(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		closed bool
	}{
		"by the service":              {&errors.ApprovalExpired{}, true},
		"before it was signed":        {&signing.ApprovalRefused{Expired: true}, true},
		"before the confirm was sent": {&moneymovement.WindowFull{Closed: true}, true},
		"no room":                     {&moneymovement.WindowFull{}, false},
		"refused":                     {&signing.ApprovalRefused{}, false},
		"consumed":                    {&errors.ApprovalConsumed{}, false},
	} {
		assert.Equal(t, c.closed, approvalClosed(c.err), name)
	}
}

// The time in a payload is exact. That of a response can lack its seconds or their fraction.
func TestEndOfAnApproval(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, text)
		assert.NoError(t, err)
		return parsed
	}
	const exact, second, minute = "2026-03-01T12:02:41.5Z", "2026-03-01T12:02:41Z", "2026-03-01T12:02:00Z"
	for name, tc := range map[string]struct{ payload, end, want string }{
		"the same":            {`{"expiresAt":"` + exact + `"}`, exact, exact},
		"no fraction":         {`{"expiresAt":"` + exact + `"}`, second, exact},
		"no seconds":          {`{"expiresAt":"` + exact + `"}`, minute, exact},
		"no fraction in both": {`{"expiresAt":"` + second + `"}`, second, second},
		"another time": {`{"expiresAt":"` + exact + `"}`, "2026-03-01T12:03:00Z",
			"2026-03-01T12:03:00Z"},
		"less exact in the payload":    {`{"expiresAt":"` + minute + `"}`, exact, exact},
		"a payload with white space":   {`{ "expiresAt": "` + exact + `" }`, second, exact},
		"another zone":                 {`{"expiresAt":"2026-03-01T13:02:41.5+01:00"}`, second, exact},
		"the time of something else":   {`{"startsAt":"` + exact + `"}`, second, second},
		"no time in the payload":       {`{}`, second, second},
		"a payload that is not JSON":   {`opaque`, second, second},
		"a payload that has the bytes": {`opaque "expiresAt":"` + second + `"`, second, second},
	} {
		t.Run(name, func(t *testing.T) {
			got := approver{}.endOf(&Approval{Payload: []byte(tc.payload), ExpiresAt: at(tc.end)}, time.Minute)
			assert.True(t, at(tc.want).Equal(got), "%s", got)
		})
	}
}

func TestFeeOfABooking(t *testing.T) {
	quote := func(fee int64) *Quote { return &Quote{Fee: decimal.NewFromInt(fee)} }
	for name, tc := range map[string]struct {
		quote *Quote
		body  string
		want  bool
	}{
		"a fee":                   {quote(2), `{"quote":{"fee":"2"}}`, true},
		"a fee of zero":           {quote(0), `{"quote":{"fee":"0.00"}}`, true},
		"a number":                {quote(0), `{"quote":{"fee":0}}`, true},
		"none":                    {quote(0), `{"quote":{}}`, false},
		"null":                    {quote(0), `{"quote":{"fee":null}}`, false},
		"one that cannot be read": {quote(0), `{"quote":{"fee":"free"}}`, false},
		"no quote":                {nil, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, hasFee(tc.quote, []byte(tc.body))) })
	}
}
