package dapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
	"github.com/moneymovement/moneymovement-go/recorded"
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
		inDoubt bool // errors.As finds *errors.InDoubt
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
					inDoubt, isInDoubt := errors.AsType[*errors.InDoubt](r.err)
					isInDoubt = isInDoubt && inDoubt.IdempotencyKey == string(f.key) // and not one of another payment
					assert.Equal(t, want.inDoubt, isInDoubt, "%v", r.err)
				})
			}
		}
	}
}

// A payment that is paid or has ended, by the status of its payout or escrow.
func TestStateOfASettledPayment(t *testing.T) {
	payout := func(status PayoutStatus, phase phase) *offer {
		return &offer{id: "po_1", phase: phase, payout: &Payout{ID: "po_1", Status: status}}
	}
	for name, c := range map[string]struct {
		offer  *offer
		state  moneymovement.PaymentState
		unpaid bool
	}{
		"not read":        {nil, moneymovement.PaymentPaid, false},
		"funding":         {payout("funding", phasePaid), moneymovement.PaymentPaid, false},
		"completed":       {payout("completed", phasePaid), moneymovement.PaymentPaid, false},
		"a new status":    {payout("on_hold", phasePaid), moneymovement.PaymentPaid, false},
		"failed":          {payout("failed", phaseEnded), moneymovement.PaymentEnded, false},
		"refunded":        {payout("refunded", phaseEnded), moneymovement.PaymentEnded, false},
		"expired":         {payout("expired", phaseLapsed), moneymovement.PaymentEnded, true},
		"escrow, active":  {&offer{phase: phasePaid, escrow: &Escrow{ID: "esc_1"}}, moneymovement.PaymentPaid, false},
		"escrow, expired": {&offer{phase: phaseEnded, escrow: &Escrow{ID: "esc_1"}}, moneymovement.PaymentEnded, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flow{neverInDoubt: true, first: &opBookPayout, second: &opConfirmPayout, key: "invoice-42",
				history: History{PayoutID: "po_1"}}
			if c.offer != nil && c.offer.escrow != nil {
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
				escrow, _ := r.escrow()
				assert.Equal(t, EscrowID("esc_1"), escrow.Escrow.ID)
			}
		})
	}
}

// Programs store the state of a payment, and log the bound that refused a price. So these names must not change.
func TestStoredNamesStayTheSame(t *testing.T) {
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

// An escrow of which only the id is known.
func TestEscrowWithoutItsTerms(t *testing.T) {
	for name, r := range map[string]result{
		"booked": {offer: &offer{id: "esc_1"}},
		"stored": {history: History{EscrowID: "esc_1"}},
	} {
		escrow, err := r.escrow()
		require.NoError(t, err, name)
		assert.Equal(t, &Escrow{ID: "esc_1"}, escrow.Escrow, name)
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

const (
	notPaid   = transport.KeyUnpaid
	maybePaid = transport.KeyInDoubt
	finished  = transport.KeySettled
)

// maxInDoubt is how many payments in doubt a client keeps.
const maxInDoubt = 100_000

func keyOf(i int) transport.KeyScope { return transport.KeyScopeOf(&opBookPayout, "", strconv.Itoa(i)) }

func newPaymentMemory() paymentMemory { return paymentMemory{transport.NewKeys()} }

func (m paymentMemory) pay(
	t *testing.T, key transport.KeyScope, firstUse bool, came transport.KeyState,
) errorbase.Earlier {
	t.Helper()
	attempt, left, err := m.begin(key, firstUse)
	require.NoError(t, err)
	attempt.end(came)
	return left
}

func TestPaymentsInDoubtAreKeptUntilTheyAreSettled(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(1), true, maybePaid))
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, maybePaid), "this client knows better than the caller")
	for _, other := range []transport.KeyScope{transport.KeyScopeOf(&opBookPayout, "cl_1", "1"),
		transport.KeyScopeOf(&opCreateEscrow, "", "1"), keyOf(2)} {
		assert.Equal(t, errorbase.NonePaid, m.pay(t, other, true, notPaid),
			"another account, operation or key is another payment")
	}
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), false, notPaid), "a call that came to nothing settles nothing")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), false, finished), "and one that paid does")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, notPaid),
		"it is paid all the same, whatever is refused now")
}

// If too many payments are in doubt, those are forgotten whose keys the service has forgotten.
func TestPaymentsInDoubtAreForgottenWhenTheirKeysExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPaymentMemory()
		m.pay(t, keyOf(-1), true, maybePaid)
		underway, left, err := m.begin(keyOf(-1), true)
		require.NoError(t, err)
		assert.Equal(t, errorbase.MayPay, left)
		time.Sleep(8 * 24 * time.Hour)
		assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-1), true, maybePaid), "there is room")
		for i := range maxInDoubt - 1 {
			m.pay(t, keyOf(i), true, maybePaid)
		}
		time.Sleep(7*24*time.Hour + time.Second)
		_, _, err = m.begin(keyOf(maxInDoubt), true)
		require.Error(t, err, "the oldest is of a call that is still under way")
		underway.end(maybePaid)
		assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(maxInDoubt), true, maybePaid))
		assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(0), true, maybePaid))
	})
}

// A payment in doubt is never forgotten to make room for another: new first uses are refused before anything is sent,
// and what is in doubt can be settled.
func TestTooManyPaymentsInDoubt(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(-1), true, notPaid))
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range maxInDoubt {
		m.pay(t, keyOf(i), true, maybePaid)
	}
	_, _, err = m.begin(keyOf(-1), true)
	require.Error(t, err, "nothing came of its first call, so that this is a first use as any other")
	second, left, err := m.begin(keyOf(-2), true)
	require.NoError(t, err, "its first call is under way")
	assert.Equal(t, errorbase.MayExist, left)
	underway.end(notPaid)
	second.end(notPaid)
	_, _, err = m.begin(keyOf(maxInDoubt), true)
	unsent, ok := errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, errors.NotMoved, unsent.MovedByCall())
	assert.Contains(t, err.Error(), "100,000 payments")
	m.Note(keyOf(-3), maybePaid, nil)
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-3), false, finished),
		"a payment in doubt is kept all the same")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(1), true, maybePaid),
		"what is in doubt may be called again, whatever its caller says")
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(0), false, finished), "the oldest is still known, and settled now")
	assert.Equal(t, errorbase.NonePaid, m.pay(t, keyOf(maxInDoubt), true, maybePaid), "which makes room")
}

func TestPaymentsThatAreNotInDoubtAreForgotten(t *testing.T) {
	m := newPaymentMemory()
	m.pay(t, keyOf(-1), true, maybePaid)
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range 60_000 {
		m.pay(t, keyOf(i), false, notPaid)
	}
	assert.Nil(t, m.Get(keyOf(0)))
	assert.Equal(t, errorbase.MayPay, m.pay(t, keyOf(-1), true, maybePaid), "a payment in doubt is not forgotten")
	assert.False(t, underway.onlyCall() && m.Get(keyOf(-2)) == nil, "nor a call that is under way")
	assert.NotNil(t, m.Get(keyOf(-2)))
}

// unsent is a way to a service that nothing goes.
type unsent struct{ *testing.T }

func (u unsent) RoundTrip(r *http.Request) (*http.Response, error) {
	u.Errorf("%s %s was sent", r.Method, r.URL.Path)
	return nil, http.ErrHandlerTimeout
}

// A client with too many payments in doubt begins no other payment.
func TestPayIsRefusedWithTooManyPaymentsInDoubt(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	account, err := NewSelfServe("https://service.example", Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: unsent{t}}))
	require.NoError(t, err)
	for i := range maxInDoubt {
		account.Payouts.memory.pay(t, keyOf(i), true, maybePaid)
	}
	stored := func(context.Context, History) error { return nil }
	asked := PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(25), Currency: USDC}
	_, err = account.Payouts.Pay(t.Context(), asked, "invoice-42", PayTerms{Journal: stored})
	full, ok := errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "BookPayout", full.Operation)
	assert.Equal(t, "invoice-42", full.IdempotencyKey)

	escrow := EscrowCreate{Amount: decimal.NewFromInt(40), Currency: USDC,
		Payee: "0x52908400098527886E0F7030069857D2E4169EE7"}
	_, err = account.Escrows.Open(t.Context(), escrow, "escrow-1", EscrowTerms{Journal: stored})
	full, ok = errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "CreateEscrow", full.Operation)
	assert.Equal(t, "escrow-1", full.IdempotencyKey)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = account.Escrows.Act(ended, escrow, "esc_1", EscrowActionTypeRelease, "release-1", EscrowTerms{})
	require.ErrorIs(t, err, context.Canceled, "an action without a journal is tried: the escrow itself shows it")
}

// Little is kept of a settled payment. An expired one can be booked again, so its first price is kept.
func TestRecordOfASettledPayment(t *testing.T) {
	quote := &Quote{DestinationAmount: decimal.NewFromInt(25)}
	for name, c := range map[string]struct {
		end   *offer
		kept  paymentRecord
		first *Quote // that a later booking is compared with
		again bool
	}{
		"paid": {&offer{phase: phasePaid, payout: &Payout{Status: PayoutStatusProcessing, TransactionHash: "0x1"}},
			paymentRecord{booked: true, settled: true, phase: phasePaid, hash: "0x1"}, nil, false},
		"paid, and not read": {nil, paymentRecord{booked: true, settled: true, phase: phasePaid}, nil, false},
		"ended": {&offer{phase: phaseEnded, payout: &Payout{Status: PayoutStatusFailed}},
			paymentRecord{booked: true, first: quote, settled: true, phase: phaseEnded, status: "failed"}, quote, true},
		"expired": {&offer{phase: phaseLapsed, payout: &Payout{Status: PayoutStatusExpired}},
			paymentRecord{booked: true, first: quote, settled: true, phase: phaseLapsed, status: "expired"}, quote,
			true},
		"an escrow": {&offer{phase: phaseEnded, escrow: &Escrow{Status: EscrowStatusExpired, TransactionHash: "0x2"}},
			paymentRecord{booked: true, first: quote, settled: true, phase: phaseEnded, status: "expired", hash: "0x2"},
			quote, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, err := newPaymentMemory().begin(keyOf(1), true)
			require.NoError(t, err)
			first, again := a.recordPrice(quote)
			assert.Nil(t, first)
			assert.False(t, again)
			a.settle(c.end)
			assert.Equal(t, c.kept, a.record())
			first, again = a.recordPrice(nil)
			assert.Equal(t, c.first, first)
			assert.Equal(t, c.again, again)
		})
	}
}

// A request that is sent often has an encoder of its own. It writes what the general one writes.
func TestGeneratedEncodersMatchTheGeneralOne(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", `"\/` + "\n\x7f", "Γειά", "\u2028<&>",
		"\xff", "a\xed\xa0\x80"}))
	bytesOrNil := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOf(rapid.Byte()))
	rapid.Check(t, func(t *rapid.T) {
		same := func(body any, encode func(*wire.Writer)) {
			want, err := wire.Marshal(body)
			got, ok := wire.Write(encode)
			require.Equal(t, err == nil, ok)
			if ok {
				require.Equal(t, string(want), string(got))
			}
		}
		create := &PayoutCreate{
			Amount:    decimal.New(rapid.Int64().Draw(t, "coefficient"), rapid.Int32Range(-30, 30).Draw(t, "exponent")),
			ContactID: ContactID(texts.Draw(t, "contact")), Currency: Asset(texts.Draw(t, "currency")),
			DocumentIDs: rapid.SliceOf(texts).Draw(t, "documents"), Purpose: texts.Draw(t, "purpose"),
			PaymentReference: texts.Draw(t, "reference"),
			FromChainID:      ChainID(rapid.Int64().Draw(t, "from")),
			ToChainID:        ChainID(rapid.Int64Range(0, 1).Draw(t, "to")),
		}
		same(create, create.encode)
		confirm := &approvalConfirm{ApprovalID: texts.Draw(t, "approval"),
			PublicKey: bytesOrNil.Draw(t, "key"), Signature: bytesOrNil.Draw(t, "signature")}
		same(confirm, confirm.encode)
	})
	for want, encode := range map[string]func(*wire.Writer){
		`{"contactId":""}`: new(PayoutCreate).encode, `{}`: new(approvalConfirm).encode,
	} {
		got, ok := wire.Write(encode)
		require.True(t, ok)
		require.Equal(t, want, string(got))
	}
}

// readInOnePass lists responses whose Go types reflect can compare. A type with a secret is not one of them.
var readInOnePass = []struct {
	operation string
	response  *wire.Response
	value     func() any
}{
	{"dapi.GetPayout", &responseGetPayout, func() any { return new(Payout) }},
	{"dapi.ListTransactions", &responseListTransactions, func() any { return new(TransactionPage) }},
	{"dapi.CreateContact", &responseCreateContact, func() any { return new(Contact) }},
	{"dapi.GetContactCapabilities", &responseGetContactCapabilities, func() any { return new(ContactCapabilities) }},
	{"dapi.CreateClient", &responseCreateClient, func() any { return new(Client) }},
	{"dapi.CreatePayin", &responseCreatePayin, func() any { return new(Payin) }},
	{"dapi.CreateEscrow", &responseCreateEscrow, func() any { return new(Escrow) }},
	{"dapi.ListRails", &responseListRails, func() any { return new(RailPage) }},
	{"dapi.ListChains", &responseListChains, func() any { return new(ChainPage) }},
	{"dapi.GetKYB", &responseGetKYB, func() any { return new(KYB) }},
	{"dapi.CreateChallenge", &responseCreateChallenge, func() any { return new(challenge) }},
}

// FuzzReadInOnePass reads a response in one pass, and also member by member against its shape. Both find the same. The
// second way reads every response, but is slow.
func FuzzReadInOnePass(f *testing.F) {
	for i, a := range readInOnePass {
		body, err := recorded.Body(a.operation, time.Unix(1_800_000_000, 0))
		require.NoError(f, err, a.operation)
		f.Add(uint8(i), body)
	}
	var r wire.Reader
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		a := readInOnePass[int(which)%len(readInOnePass)]
		read, bent := a.value(), a.value()
		unread, err := a.response.Decode(&r, body, read)
		byShape := wire.Response{Shape: &wire.Shape{Kind: a.response.Shape.Kind, Members: a.response.Shape.Members}}
		bentUnread, bentErr := byShape.Decode(&r, body, bent)
		if bentErr != nil {
			require.EqualError(t, err, bentErr.Error(), "%s", body)
			return
		}
		require.NoError(t, err, "%s", body)
		require.Equal(t, bentUnread, unread, "%s", body)
		require.Equal(t, bent, read, "%s", body)
	})
}
