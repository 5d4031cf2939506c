package payments

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
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

// failures returns the errors that are no refusals.
func failures() map[string]error {
	payout := &dapi.Payout{Quote: &dapi.Quote{}}
	return map[string]error{
		"errors.InvalidInput":            &errors.InvalidInput{},
		"errors.NotDelivered":            &errors.NotDelivered{Err: context.DeadlineExceeded},
		"errors.OutcomeUnknown":          &errors.OutcomeUnknown{Cause: context.Canceled},
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
func shown(kind Kind, doubted bool, f found) (Record, string) {
	r := Record{Key: "k", Kind: kind, State: Paying, Calls: 1, MayHaveLeft: doubted, FirstUsed: birth,
		AcceptedAt: birth}
	if doubted {
		r.State = InDoubt
	}
	r = r.after(f, Policy{}.withDefaults(), birth)
	text := string(r.State)
	if r.Reason != nil {
		text += ", " + string(r.Reason.Code)
	}
	if f.verdict == verdictBlocked {
		text += ", all calls pause"
	}
	return r, text
}

// What each error means for a payment. The file says it in a table, for people to read: after a call for a payout, and
// after one for a transfer or an action, of a payment from which nothing can have left before.
func TestWhatErrorsMean(t *testing.T) {
	path := "testdata/errors.txt"
	wanted, err := os.ReadFile(path)
	require.NoError(t, err)
	all := refusals()
	for name, err := range failures() {
		all[name] = err
	}
	lines := []string{"error | payout | transfer or action"}
	for _, name := range sorted(all) {
		err := all[name]
		payout, ofPayout := shown(KindPayout, false, paid(nil, err))
		other, ofOther := shown(KindTransfer, false, called(err, false, false))
		lines = append(lines, strings.Join([]string{name, ofPayout, ofOther}, " | "))
		failure, typed := errors.AsType[errors.Failure](err)
		if !typed || failure.MovedByCall() != errors.NotMoved {
			assert.True(t, payout.MayHaveLeft, "%s of a payout", name)
			assert.True(t, other.MayHaveLeft, "%s of a transfer", name)
		}
	}
	if !assert.Equal(t, string(wanted), strings.Join(lines, "\n")+"\n", "the table differs from %s", path) {
		if dir := os.Getenv("WRITE_TESTDATA"); dir != "" {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		}
	}
}

// A payment that may be paid stays so after each error that says nothing about the earlier calls.
func TestADoubtIsNotEndedByAnError(t *testing.T) {
	settles := map[string]bool{"dapi.EscrowNotOpened": true} // the deal itself ended
	all := refusals()
	for name, err := range failures() {
		all[name] = err
	}
	for name, err := range all {
		if _, over := errors.AsType[*dapi.PayoutNotCompleted](err); over {
			continue
		}
		afterPay, _ := shown(KindPayout, true, paid(nil, &errors.OutcomeUnknown{Cause: err})) // as Pay returns it
		assert.Equal(t, InDoubt, afterPay.State, name)
		r, _ := shown(KindTransfer, true, called(err, true, false))
		assert.Equal(t, !settles[name], r.MayHaveLeft, name)
		if isOfInput(err) {
			r, _ = shown(KindEscrow, true, called(err, true, true))
			assert.Equal(t, InDoubt, r.State, "%s of a deal that may be open", name)
		}
	}
	old, _ := shown(KindPayout, true, paid(nil, &dapi.KeyTooOld{}))
	assert.Equal(t, stepSearch, old.next(birth.Add(time.Minute)))
	wrong, _ := shown(KindPayout, true, paid(nil, &errors.InvalidInput{}))
	assert.Equal(t, NeedsDecision, wrong.State)
	assert.True(t, wrong.MayHaveLeft)
}

// A payout that ended without an error of its own.
func TestWhatAPayoutShows(t *testing.T) {
	for status, want := range map[dapi.PayoutStatus]State{
		dapi.PayoutStatusCompleted: Completed, dapi.PayoutStatusFunding: Paid, dapi.PayoutStatusProcessing: Paid,
		dapi.PayoutStatusFailed: CameBack, dapi.PayoutStatusRefunded: CameBack, dapi.PayoutStatusExpired: Refused,
		dapi.PayoutStatusAwaitingApproval: InDoubt, "": InDoubt, "one_of_tomorrow": Paid,
	} {
		r, _ := shown(KindPayout, true, paid(&dapi.Payout{ID: "po_1", Status: status}, nil))
		assert.Equal(t, want, r.State, "status %q", status)
		assert.Equal(t, dapi.PayoutID("po_1"), r.PayoutID)
	}
	r, _ := shown(KindPayout, true, paid(nil, nil))
	assert.Equal(t, InDoubt, r.State)
}

// A key that is too old by the service's clock alone: a payment of which nothing can have left waits until the service
// has forgotten the key, and does not call again at once.
func TestAKeyThatIsTooOldForTheServiceAlone(t *testing.T) {
	r, _ := shown(KindEscrow, false, called(&dapi.KeyTooOld{}, false, true))
	assert.Equal(t, Accepted, r.State)
	assert.False(t, r.MayHaveLeft)
	assert.True(t, r.Due.After(birth.Add(7*24*time.Hour)), "due %s", r.Due)
}

// The advice of dapi's doubts is to call again. Who reads the reason of a stored payment calls nothing.
func TestTheReasonOfADoubtSaysWhoGoesOn(t *testing.T) {
	r := reasonOf(&errors.OutcomeUnknown{Resolve: "call Pay again", Cause: context.DeadlineExceeded})
	assert.Equal(t, ReasonUnknown, r.Code)
	assert.Contains(t, r.Message, "outcome unknown")
	assert.Contains(t, r.Message, context.DeadlineExceeded.Error())
	assert.Contains(t, r.Message, "the processor goes on by itself")
	assert.NotContains(t, r.Message, "call Pay again")
}
