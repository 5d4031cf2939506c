package payments

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// arrow is a change from one state to another.
type arrow struct{ from, to string }

// drawn returns the arrows of the picture.
func drawn(t *testing.T) (arrows []arrow) {
	t.Helper()
	text, err := os.ReadFile("../docs/pictures/payment-states.dot")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`(\w+) -> (\w+)`).FindAllSubmatch(text, -1) {
		arrows = append(arrows, arrow{string(found[1]), string(found[2])})
	}
	return arrows
}

// possible returns the changes that the state machine can make: every event that can happen in a state, with everything
// that it can show.
func possible(t *testing.T) (arrows []arrow) {
	t.Helper()
	changed := func(from, to Record) {
		if a := (arrow{string(from.State), string(to.State)}); from.State != to.State && !slices.Contains(arrows, a) {
			arrows = append(arrows, a)
		}
	}
	reason, policy := &Reason{Code: ReasonKeyTooOld}, Policy{}.withDefaults()
	show := func(r Record, shown ...found) {
		for _, f := range shown {
			f.mayHaveLeft, f.reason = f.state == moneymovement.PaymentInDoubt, reason
			changed(r, r.after(f, policy, birth))
		}
	}
	ends := []found{
		{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentRefused},
		{state: moneymovement.PaymentNotPaid}, {state: moneymovement.PaymentNotPaid, next: outcome.Pause},
		{state: moneymovement.PaymentNeedsDecision}, {state: moneymovement.PaymentInDoubt},
		{state: moneymovement.PaymentInDoubt, next: outcome.NewKey},
	}
	accepted := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentAccepted}
	paying := accepted.begin(birth)
	changed(accepted, paying)
	changed(accepted, accepted.expire(birth))
	signed := paying.signing(dapi.History{PayoutID: "po_1"}, nil)
	show(signed, ends...)
	doubted := signed
	doubted.State = moneymovement.PaymentInDoubt
	show(doubted, ends...)
	paid := signed.after(found{state: moneymovement.PaymentPaid}, policy, birth)
	show(paid, found{state: moneymovement.PaymentPaid, same: true}, found{state: moneymovement.PaymentCompleted},
		found{state: moneymovement.PaymentCameBack})
	completed := paid.after(found{state: moneymovement.PaymentCompleted}, policy, birth)
	changed(completed, completed.returned(reason, birth))

	for _, state := range moneymovement.StoredPaymentStates() {
		for _, left := range []bool{false, true} {
			unpaid := state == moneymovement.PaymentAccepted
			if left && unpaid || !left && !unpaid && state != moneymovement.PaymentNeedsDecision {
				continue // such a record is not possible, or the state is over in a moment
			}
			r := Record{Key: "k", Kind: KindPayout, State: state, MayHaveLeft: left, Reason: reason}
			r.Reason = &Reason{Code: ReasonKeyReused}
			for _, d := range []Decision{
				NewBounds(dapi.Bounds{}), Retry(), Cancel(""), WasPaid(""), WasPaid("po_1"), WasNotPaid(""),
			} {
				if next, problem := r.decide(d, birth); problem == "" {
					changed(r, next)
				}
			}
		}
	}
	asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC}
	for _, used := range []time.Time{{}, birth} {
		record, err := Prepare(Payment{Key: "k", Account: OwnAccount, Payout: asked, FirstUsed: used}, birth)
		require.NoError(t, err)
		arrows = append(arrows, arrow{"submit", string(record.State)})
	}
	return arrows
}

func TestThePictureHasEveryChangeOfState(t *testing.T) {
	assert.ElementsMatch(t, possible(t), drawn(t), "docs/pictures/payment-states.dot")
}
