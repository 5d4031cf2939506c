package payments

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/signing"
)

// refusals returns each refusal of the service, as a write that moves money receives it.
func refusals() map[string]error {
	all := map[string]error{}
	for _, code := range errors.Codes() {
		all[string(code)] = errors.Decode(errors.Response{
			CallInfo: errors.CallInfo{Operation: "ConfirmPayout", IdempotencyKey: "k"}, Status: code.Status(),
			Body: fmt.Appendf(nil, `{"error":{"code":%q,"message":"No.","details":{}}}`, code),
		})
	}
	for _, status := range []int{400, 403, 404, 409, 429, 500, 502, 503, 504} {
		of := errors.CallInfo{Operation: "ConfirmPayout", IdempotencyKey: "k"}
		all[fmt.Sprint("another slug, status ", status)] = errors.Decode(errors.Response{CallInfo: of, Status: status,
			Body: []byte(`{"error":{"code":"one_of_tomorrow","message":"No."}}`)})
		all[fmt.Sprint("a page, status ", status)] = errors.Decode(errors.Response{CallInfo: of, Status: status,
			Body: []byte(`<html>`)})
	}
	all["forbidden, for a scope"] = errors.Decode(errors.Response{Status: http.StatusForbidden,
		CallInfo: errors.CallInfo{Operation: "ConfirmPayout"},
		Body:     []byte(`{"error":{"code":"forbidden","message":"No.","details":{"requiredScope":"payouts"}}}`)})
	all["details"] = errors.Decode(errors.Response{Status: http.StatusUnprocessableEntity,
		CallInfo: errors.CallInfo{Operation: "ConfirmPayout"}, Body: []byte(`{"detail":[{"loc":["amount"]}]}`)})
	return all
}

// failures returns the errors that are not refusals.
func failures() map[string]error {
	payout := &dapi.Payout{Quote: &dapi.Quote{}}
	return map[string]error{
		"errors.InvalidInput":            &errors.InvalidInput{},
		"errors.NotDelivered":            &errors.NotDelivered{Err: context.DeadlineExceeded},
		"errors.InDoubt":                 &errors.InDoubt{Cause: context.Canceled},
		"dapi.PriceRefused":              &dapi.PriceRefused{Bound: dapi.BoundMaxFee, Quote: payout.Quote},
		"dapi.TermsDiffer":               &dapi.TermsDiffer{Member: "amount"},
		"dapi.PaymentDeclined":           &dapi.PaymentDeclined{Err: &LeaseLost{}},
		"dapi.KeyTooOld":                 &dapi.KeyTooOld{},
		"dapi.EscrowNotOpened":           &dapi.EscrowNotOpened{},
		"moneymovement.StillPending":     &moneymovement.StillPending{},
		"signing.ApprovalRefused":        &signing.ApprovalRefused{},
		"signing.ChallengeRefused":       &signing.ChallengeRefused{},
		"signing.NotSigned":              &signing.NotSigned{Err: signing.ErrNoKey},
		"signing.RemoteSignatureRefused": &signing.RemoteSignatureRefused{},
		"dapi.PayoutNotCompleted, failed": &dapi.PayoutNotCompleted{Payout: &dapi.Payout{ID: "po_1",
			Status: dapi.PayoutStatusFailed}},
		"dapi.PayoutNotCompleted, refunded": &dapi.PayoutNotCompleted{Payout: &dapi.Payout{ID: "po_1",
			Status: dapi.PayoutStatusRefunded}},
		"dapi.PayoutNotCompleted, expired": &dapi.PayoutNotCompleted{Payout: &dapi.Payout{ID: "po_1",
			Status: dapi.PayoutStatusExpired}},
		"an error of no known type": errors.New("no"),
		"context.Canceled":          context.Canceled,
	}
}

// shown returns the state and the reason of a payment after a call.
func applied(kind Kind, inDoubt bool, result callResult) (Record, string) {
	r := Record{Key: "k", Kind: kind, State: moneymovement.PaymentPaying, Calls: 1, MayHaveLeft: inDoubt,
		FirstUsed: start, AcceptedAt: start}
	if inDoubt {
		r.State = moneymovement.PaymentInDoubt
	}
	r = r.apply(result, Policy{}.withDefaults(), start)
	text := string(r.State)
	if r.Reason != nil {
		text += ", " + string(r.Reason.Code)
	}
	if result.next == outcome.Pause {
		text += ", all calls pause"
	}
	return r, text
}

// stateOf returns the state that a flow of dapi gives a refusal, if no earlier call can have paid.
func stateOf(err error) (state moneymovement.PaymentState, unpaid bool) {
	failure, typed := errors.AsType[errors.Failure](err)
	payout, ended := errors.AsType[*dapi.PayoutNotCompleted](err)
	_, closed := errors.AsType[*dapi.EscrowNotOpened](err)
	_, inDoubt := errors.AsType[*errors.InDoubt](err)
	next := outcome.After(err)
	switch {
	case ended:
		return moneymovement.PaymentEnded, payout.Payout.Status == dapi.PayoutStatusExpired
	case closed:
		return moneymovement.PaymentEnded, true
	case next == outcome.NewKey:
		return moneymovement.PaymentNeedsDecision, false
	case inDoubt, !typed, failure.MovedByCall() == errors.MaybeMoved:
		return moneymovement.PaymentInDoubt, false
	case failure.MovedByCall() == errors.Moved:
		return moneymovement.PaymentPaid, false
	case next == outcome.Decide, next == outcome.Change:
		return moneymovement.PaymentNeedsDecision, true
	}
	return moneymovement.PaymentNotPaid, true
}

// refusedBy returns what a call of a flow shows that ends with a refusal, if no earlier call can have paid.
func refusedBy(err error) callResult {
	state, unpaid := stateOf(err)
	returned := err
	if state == moneymovement.PaymentInDoubt {
		returned = &errors.InDoubt{Cause: err}
	}
	result := resultOf(state, unpaid, err, returned, time.Time{})
	if ended, ok := errors.AsType[*dapi.PayoutNotCompleted](err); ok {
		result = result.withPayout(ended.Payout)
	}
	return result
}

// What each error means for a payment. The file says it in a table, for people to read: after a call for a payout, a
// escrow or an action of an escrow, and after one for a transfer, of a payment from which nothing can have left before.
func TestOutcomeOfEachError(t *testing.T) {
	path := "testdata/errors.txt"
	wanted, err := os.ReadFile(path)
	require.NoError(t, err)
	all := refusals()
	maps.Copy(all, failures())
	lines := []string{"error | payout, escrow or action | transfer"}
	for _, name := range sorted(all) {
		err := all[name]
		payout, ofPayout := applied(KindPayout, false, refusedBy(err))
		other, ofOther := applied(KindTransfer, false, transferResult(err, false))
		failure, typed := errors.AsType[errors.Failure](err)
		if !typed || failure.MovedByCall() != errors.NotMoved {
			assert.True(t, payout.MayHaveLeft, "%s of a payout", name)
			assert.True(t, other.MayHaveLeft, "%s of a transfer", name)
		}
		if strings.HasPrefix(name, "dapi.") { // of the flows alone
			ofOther = "-"
		}
		lines = append(lines, strings.Join([]string{name, ofPayout, ofOther}, " | "))
	}
	if !assert.Equal(t, string(wanted), strings.Join(lines, "\n")+"\n", "the table differs from %s", path) {
		if dir := os.Getenv("WRITE_TESTDATA"); dir != "" {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		}
	}
}

// A refusal of a booking can leave open what the service did, such as a 503. If the flow has signed nothing, it says
// that nothing was paid, and the payment is tried again.
func TestRefusalWithoutSignatureIsRetried(t *testing.T) {
	all := refusals()
	maps.Copy(all, failures())
	tried := 0
	for name, err := range all {
		failure, typed := errors.AsType[errors.Failure](err)
		if !typed || failure.MovedByCall() != errors.MaybeMoved {
			continue
		}
		tried++
		r, _ := applied(KindEscrow, false, resultOf(moneymovement.PaymentNotPaid, true, err, err, time.Time{}))
		assert.Equal(t, moneymovement.PaymentAccepted, r.State, name)
		assert.False(t, r.MayHaveLeft, name)
	}
	assert.Greater(t, tried, 10)
}

// A payment that may be paid stays so after each error that says nothing about the earlier calls.
func TestErrorDoesNotSettleInDoubt(t *testing.T) {
	all := refusals()
	maps.Copy(all, failures())
	for name, err := range all {
		unknown := &errors.InDoubt{Cause: err} // as a flow returns it
		r, _ := applied(KindPayout, true, resultOf(moneymovement.PaymentInDoubt, false, err, unknown, time.Time{}))
		assert.Equal(t, moneymovement.PaymentInDoubt, r.State, name)
		assert.True(t, r.MayHaveLeft, name)
		r, _ = applied(KindEscrow, true, resultOf(moneymovement.PaymentNeedsDecision, false, err, unknown, time.Time{}))
		assert.True(t, r.MayHaveLeft, name)
		assert.False(t, r.State.Final(), name)
		r, _ = applied(KindTransfer, true, transferResult(err, true))
		assert.True(t, r.MayHaveLeft, name)
		want := moneymovement.PaymentInDoubt
		if failure, ok := errors.AsType[errors.Failure](err); ok && failure.MovedByCall() == errors.Moved {
			want = moneymovement.PaymentCompleted
		}
		assert.Equal(t, want, r.State, "%s of a transfer", name)
	}
	old, _ := applied(KindPayout, true, refusedBy(&dapi.KeyTooOld{}))
	assert.Equal(t, stepSearch, old.next(start.Add(time.Minute)))
}

// A state that this version does not know, and none at all, read as in doubt. So a fake that returns an empty result
// makes no payment unpaid.
func TestUnknownStateIsInDoubt(t *testing.T) {
	for _, state := range []moneymovement.PaymentState{"", "one_of_tomorrow"} {
		r, _ := applied(KindPayout, false, resultOf(state, false, nil, nil, time.Time{}))
		assert.Equal(t, moneymovement.PaymentInDoubt, r.State)
		assert.True(t, r.MayHaveLeft)
	}
}

// What the status of a payout says, to a look and in the result of a call that has paid.
func TestPayoutResult(t *testing.T) {
	for status, want := range map[dapi.PayoutStatus]moneymovement.PaymentState{
		dapi.PayoutStatusCompleted: moneymovement.PaymentCompleted, dapi.PayoutStatusFunding: moneymovement.PaymentPaid,
		dapi.PayoutStatusProcessing: moneymovement.PaymentPaid, dapi.PayoutStatusFailed: moneymovement.PaymentCameBack,
		dapi.PayoutStatusRefunded:         moneymovement.PaymentCameBack,
		dapi.PayoutStatusExpired:          moneymovement.PaymentRefused,
		dapi.PayoutStatusAwaitingApproval: moneymovement.PaymentInDoubt, "": moneymovement.PaymentInDoubt,
		"one_of_tomorrow": moneymovement.PaymentInDoubt,
	} {
		payout := &dapi.Payout{ID: "po_1", Status: status}
		r, _ := applied(KindPayout, true, payoutResult(payout))
		assert.Equal(t, want, r.State, "status %q", status)
		assert.Equal(t, dapi.PayoutID("po_1"), r.PayoutID)
		if !status.Final() {
			payout.TransactionHash = "0xabc"
			r, _ = applied(KindPayout, true, payoutResult(payout))
			assert.Equal(t, moneymovement.PaymentPaid, r.State, "status %q with a transaction", status)
		}
	}
	tomorrow := &dapi.Payout{ID: "po_1", Status: "one_of_tomorrow"}
	paid := resultOf(moneymovement.PaymentPaid, false, nil, nil, time.Time{}).withPayout(tomorrow)
	r, _ := applied(KindPayout, true, paid)
	assert.Equal(t, moneymovement.PaymentPaid, r.State)
}

// The advice of dapi's doubts is to call again. Who reads the reason of a stored payment calls nothing.
func TestReasonInDoubtNamesProcessor(t *testing.T) {
	r := reasonOf(&errors.InDoubt{Resolve: "call Pay again", Cause: context.DeadlineExceeded})
	assert.Equal(t, ReasonInDoubt, r.Code)
	assert.Contains(t, r.Message, "in doubt")
	assert.Contains(t, r.Message, context.DeadlineExceeded.Error())
	assert.Contains(t, r.Message, "the processor goes on by itself")
	assert.NotContains(t, r.Message, "call Pay again")
}

// A list may leave out terms of a transfer, and writes ids in its own way. A transfer with other terms is another one.
func TestTransferMatches(t *testing.T) {
	five, six := appapi.Transfer{}, appapi.Transfer{}
	five.Amount.Decimal, six.Amount.Decimal = decimal.NewFromInt(5), decimal.NewFromInt(6)
	toContact := Transfer{ContactID: "ct_A1", Amount: decimal.RequireFromString("5.0")}
	for name, c := range map[string]struct {
		asked  Transfer
		listed func(*appapi.Transfer)
		want   bool
	}{
		"nothing is listed":     {toContact, func(*appapi.Transfer) {}, true},
		"the contact":           {toContact, func(l *appapi.Transfer) { l.ContactID = "a1" }, true},
		"another contact":       {toContact, func(l *appapi.Transfer) { l.ContactID = "ct_A2" }, false},
		"the amount":            {toContact, func(l *appapi.Transfer) { *l = five }, true},
		"another amount":        {toContact, func(l *appapi.Transfer) { *l = six }, false},
		"the quote":             {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.QuoteID = "Q1" }, true},
		"another quote":         {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.QuoteID = "q2" }, false},
		"the amount of a quote": {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { *l = five }, true},
		"the invoice": {Transfer{InvoiceID: "i1"}, func(l *appapi.Transfer) { l.InvoiceID = "i1" },
			true},
		"another invoice": {Transfer{InvoiceID: "i1"}, func(l *appapi.Transfer) { l.InvoiceID = "i2" },
			false},
		"the contact of a quote": {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.ContactID = "ct_A1" },
			true},
		"another quote of a contact": {toContact, func(l *appapi.Transfer) { l.QuoteID = "q2" }, true},
	} {
		var listed appapi.Transfer
		c.listed(&listed)
		assert.Equal(t, c.want, c.asked.matches(&listed), name)
	}
}

// What the status of an escrow says about its opening, and about each action. A status of tomorrow says nothing.
func TestEscrowResult(t *testing.T) {
	const completed, refused, inDoubt = moneymovement.PaymentCompleted, moneymovement.PaymentRefused,
		moneymovement.PaymentInDoubt
	opening := map[dapi.EscrowStatus]moneymovement.PaymentState{
		dapi.EscrowStatusActive: completed, dapi.EscrowStatusReleased: completed, dapi.EscrowStatusRefunded: completed,
		dapi.EscrowStatusExpired: refused, "": inDoubt, "one_of_tomorrow": inDoubt,
	}
	for _, c := range []struct {
		r    Record
		want map[dapi.EscrowStatus]moneymovement.PaymentState
	}{
		{Record{Kind: KindEscrow}, opening},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeApprove}, opening},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeRelease},
			map[dapi.EscrowStatus]moneymovement.PaymentState{
				dapi.EscrowStatusReleased: completed, dapi.EscrowStatusRefunded: refused,
				dapi.EscrowStatusExpired: refused, dapi.EscrowStatusActive: inDoubt, "one_of_tomorrow": inDoubt,
			}},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeRefund},
			map[dapi.EscrowStatus]moneymovement.PaymentState{
				dapi.EscrowStatusRefunded: completed, dapi.EscrowStatusReleased: refused,
				dapi.EscrowStatusExpired: refused, dapi.EscrowStatusActive: inDoubt, "one_of_tomorrow": inDoubt,
			}},
		{Record{Kind: KindEscrowAction, Action: "extend"}, map[dapi.EscrowStatus]moneymovement.PaymentState{
			dapi.EscrowStatusReleased: inDoubt, dapi.EscrowStatusRefunded: inDoubt, dapi.EscrowStatusExpired: inDoubt,
		}},
	} {
		for status, want := range c.want {
			result := escrowResult(&c.r, &dapi.Escrow{Status: status})
			assert.Equal(t, want, result.state, "%s %q, an escrow that is %q", c.r.Kind, c.r.Action, status)
			assert.Equal(t, want != refused, result.mayHaveLeft)
			assert.Equal(t, want == refused, result.reason != nil && result.reason.Code == ReasonEnded)
		}
	}
}

// Which refusals are about the payment itself and do not pass. The price of a quote passes, unless it is all that a
// transfer has.
func TestRefusedForGood(t *testing.T) {
	all := refusals()
	ofQuote, ofContact := &Transfer{QuoteID: "q"}, &Transfer{ContactID: "ct_1"}
	for name, c := range map[string]struct {
		transfer *Transfer
		err      error
		want     bool
	}{
		"nothing":                         {nil, nil, false},
		"an error of no known type":       {nil, errors.New("no"), false},
		"input":                           {nil, &errors.InvalidInput{}, false},
		"not delivered":                   {nil, &errors.NotDelivered{Err: all["validation_failed"]}, false},
		"terms":                           {nil, all["validation_failed"], true},
		"the key of another payment":      {nil, all["idempotency_key_reused"], true},
		"a contact that cannot be paid":   {nil, all["contact_not_payable"], true},
		"the rate":                        {nil, all["rate_limited"], false},
		"the credential":                  {nil, all["token_expired"], false},
		"perhaps made all the same":       {nil, all["internal_error"], false},
		"the price of a payout":           {nil, all["quote_expired"], false},
		"the price of a transfer":         {ofContact, all["quote_expired"], false},
		"the quote of a transfer":         {ofQuote, all["quote_expired"], true},
		"the rate, of a quote's transfer": {ofQuote, all["rate_limited"], false},
	} {
		s := &progress{record: Record{Transfer: c.transfer}}
		assert.Equal(t, c.want, s.refusedForGood(c.err), "%s: %v", name, c.err)
	}
}
