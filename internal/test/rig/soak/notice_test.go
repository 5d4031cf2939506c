package soak_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The checks notice each kind of damage, and nothing else.
func TestTheChecksNotice(t *testing.T) {
	t.Parallel()
	w := &world{T: t, work: work{Contact: "ct_1"}}
	good := func() (payments.Record, sandbox.AuditedPayment) {
		return payments.Record{State: moneymovement.PaymentCompleted, PayoutID: "po_1"}, sandbox.AuditedPayment{
			Bodies: 1, PayoutIDs: []string{"po_1"}, Fundings: 1, Settlements: 1, Paid: amountOf(3),
			Approvals: []sandbox.AuditedApproval{{Amount: amountOf(3), ContactID: "ct_1", Fee: maxFee, Funded: true}}}
	}
	record, audited := good()
	assert.Empty(t, w.problems(3, record, audited))
	for name, damage := range map[string]func(*payments.Record, *sandbox.AuditedPayment){
		"paid twice":     func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Fundings = 2 },
		"not paid":       func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Fundings = 0 },
		"did not arrive": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Settlements = 0 },
		"came back":      func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Returns = 1 },
		"another amount": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Paid = amountOf(4) },
		"two bodies":     func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Bodies = 2 },
		"another payout": func(r *payments.Record, _ *sandbox.AuditedPayment) { r.PayoutID = "po_2" },
		"in doubt": func(r *payments.Record, _ *sandbox.AuditedPayment) {
			r.State = moneymovement.PaymentInDoubt
		},
		"signed more":      func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals[0].Amount = amountOf(4) },
		"signed to others": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals[0].ContactID = "ct_2" },
		"above the bound": func(_ *payments.Record, a *sandbox.AuditedPayment) {
			a.Approvals[0].Fee = maxFee.Add(decimal.New(1, -2))
		},
		"funded unsigned": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals = nil },
	} {
		record, audited := good()
		damage(&record, &audited)
		assert.Len(t, w.problems(3, record, audited), 1, name)
	}
}

// The longest take-over is that of the payment that waited longest, from the kill on.
func TestTakeOversAreMeasured(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	all := map[string][]event{
		"quick":        {{at(1), "a"}, {at(4), "b"}},
		"slow":         {{at(2), "a"}, {at(9), "b"}, {at(30), "c"}},
		"ended":        {{at(1), "a"}},
		"another":      {{at(1), "a"}, {at(2), "b"}, {at(60), "c"}},
		"given back":   {{at(1), "a"}, {at(2), ""}, {at(60), "c"}},
		"taken twice":  {{at(2), "a"}, {at(8), "d"}, {at(14), "b"}},
		"taken before": {{at(1), "a"}, {at(2), "c"}},
	}
	longest, taken := takeOver(all, []kill{{at: at(3), worker: "a"}, {at: at(9), worker: "d"}})
	assert.Equal(t, 6*time.Second, longest)
	assert.Equal(t, 4, taken)
}
