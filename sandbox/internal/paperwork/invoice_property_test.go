package paperwork_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// anything makes random calls of the parties.
type anything struct {
	*office
	rt                  *rapid.T
	contracts, invoices []string
	transferred         map[string]string // hash by invoice
}

func (a *anything) who() context.Context {
	return as(rapid.SampledFrom([]string{acme, ada, acme, ada, acme, ada, acme, ada, eve}).Draw(a.rt, "who"))
}

func (a *anything) one(ids []string, label string) string {
	if len(ids) == 0 || rapid.IntRange(0, 19).Draw(a.rt, label+" is made up") == 19 {
		return "nowhere"
	}
	return rapid.SampledFrom(ids).Draw(a.rt, label)
}

// tolerate fails on any error that is not a refusal.
func (a *anything) tolerate(err error) bool {
	if err != nil {
		var refusal *wire.Refusal
		require.ErrorAs(a.rt, err, &refusal)
	}
	return err == nil
}

func (a *anything) line() []commonwire.LineItem {
	cents := rapid.SampledFrom([]int64{1, 20, 300, 4000, 50_000, 1, 20, 300, 4000, -1}).Draw(a.rt, "cents")
	return []commonwire.LineItem{line("x", "1", decimal.New(cents, -2).String())}
}

func (a *anything) createContract(rt *rapid.T) {
	signed := rapid.Bool().Draw(rt, "signed")
	created, err := a.CreateContract(a.who(), appwire.ContractCreate{
		ContractorEmail: ada, Type: "service", RequireSignature: &signed,
		Fields: appwire.ContractFields{Amount: decimal.NewFromInt(rapid.Int64Range(0, 3).Draw(rt, "amount")),
			Currency: "EUR"},
	})
	if a.tolerate(err) {
		a.contracts = append(a.contracts, created.ID)
	}
}

func (a *anything) moveContract(rt *rapid.T) {
	id := a.one(a.contracts, "contract")
	var err error
	switch rapid.SampledFrom([]string{"approve", "approve", "approve", "pause", "approve", "approve", "delete", "end"}).
		Draw(rt, "move") {
	case "approve":
		_, err = a.ApproveContract(a.who(), id)
	case "pause":
		_, err = a.PauseContract(a.who(), id)
	case "delete":
		err = a.DeleteContract(a.who(), id)
	default:
		end := a.clock.Now().Add(time.Duration(rapid.IntRange(1, 100_000).Draw(rt, "ms")) * time.Millisecond)
		_, err = a.UpdateContract(a.who(), id, appwire.ContractUpdate{ExpirationAt: nullable.NewNullableWithValue(end)})
	}
	a.tolerate(err)
}

func (a *anything) invoiceContracts(rt *rapid.T) {
	rows := make(appwire.InvoiceBatch, rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(rt, "rows"))
	for i := range rows {
		rows[i] = appwire.InvoiceBatchEntry{ContractID: a.one(a.contracts, "contract"), Items: a.line()}
		if rapid.Bool().Draw(rt, "numbered") {
			period := rapid.IntRange(0, 3).Draw(rt, "period")
			rows[i].Period = &period
		}
	}
	who := a.who()
	before := *a.Invoices(who, wire.Page{}).Total
	issued, err := a.CreateInvoiceBatch(who, rows)
	if a.tolerate(err) {
		require.Len(rt, issued.Items, len(rows))
		for _, created := range issued.Items {
			a.invoices = append(a.invoices, created.ID)
		}
		return
	}
	require.Equal(rt, before, *a.Invoices(who, wire.Page{}).Total, "a refused batch issues nothing")
}

func (a *anything) update(rt *rapid.T) {
	_, err := a.UpdateInvoice(a.who(), a.one(a.invoices, "invoice"), commonwire.InvoiceUpdate{
		Status: rapid.SampledFrom([]commonwire.InvoiceStatus{"draft", "sent", "paid", "paid", "cancelled",
			"client_paid", "client_declined"}).Draw(rt, "status"),
		OnchainTransactionID: rapid.SampledFrom([]nullable.Nullable[string]{
			nil, nullable.NewNullNullable[string](), referring("ref 1"), referring("ref 2"),
		}).Draw(rt, "reference"),
	})
	a.tolerate(err)
}

func (a *anything) transfer(*rapid.T) {
	id := a.one(a.invoices, "invoice")
	hash := fmt.Sprintf("0x%d", len(a.transferred))
	if a.tolerate(a.Settle(id, func(decimal.Decimal, string, string) (string, error) { return hash, nil })) {
		a.transferred[id] = hash
	}
}

func (a *anything) wait(rt *rapid.T) {
	a.clock.Advance(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "ms")) * time.Millisecond)
}

// check asserts the invariants.
func (a *anything) check(rt *rapid.T) {
	references, periods := map[string]string{}, map[string]string{}
	for _, who := range []string{acme, ada, eve} {
		for _, read := range a.Invoices(as(who), wire.Page{Limit: 100}).Items {
			require.True(rt, read.Amount.IsPositive())
			require.Equal(rt, read.Status == "paid", !read.PaidAt.IsZero(), "only paid invoices have a time of payment")
			require.Equal(rt, read.OnchainTransactionID != "", read.Transaction != nil,
				"a reference is a linked transaction")
			if hash, paid := a.transferred[read.ID]; paid {
				require.Equal(rt, commonwire.InvoiceStatusPaid, read.Status)
				require.Equal(rt, hash, read.Transaction.TxHash)
			}
			if read.OnchainTransactionID != "" {
				require.Contains(rt, []string{"", read.ID}, references[read.OnchainTransactionID])
				references[read.OnchainTransactionID] = read.ID
			}
			if read.Status != "cancelled" && read.Contract != nil {
				period := fmt.Sprint(read.Contract.ID, read.PeriodNumber)
				require.Contains(rt, []string{"", read.ID}, periods[period], "a period is invoiced once")
				periods[period] = read.ID
			}
		}
	}
}

func TestPaperworkInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := &anything{office: newOffice(t), rt: rt, transferred: map[string]string{}}
		a.contracts = []string{a.contract(), a.contract()}
		rt.Repeat(map[string]func(*rapid.T){
			"create contract": a.createContract, "move contract": a.moveContract,
			"invoice contracts": a.invoiceContracts,
			"update":            a.update, "transfer": a.transfer, "wait": a.wait, "reopen": func(*rapid.T) {
				a.reopen()
			}, "": a.check,
		})
	})
}
