package payment

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// FindCall says which payment [Activities.Find] looks for.
type FindCall struct {
	Account  dapi.ClientID
	Terms    dapi.PayoutCreate
	Key      moneymovement.Key
	PayoutID dapi.PayoutID // empty if it is not known
	Since    time.Time     // the first use of the key
}

// clocks is how much the clocks of the service and of Temporal may differ.
const clocks = time.Hour

// Find looks for a payment whose key is too old to be sent again. It only reads. If neither the
// payout nor the ledger shows the payment, it returns an empty receipt. The payment may still have been made, so a
// person must decide.
func (a *Activities) Find(ctx context.Context, call FindCall) (Receipt, error) {
	account := a.account(call.Account)
	if call.PayoutID != "" {
		receipt, err := read(ctx, account, call.PayoutID, call.Key)
		if err != nil || receipt.State != "" {
			return receipt, later(err)
		}
	}
	params := dapi.ListTransactionsParams{Type: dapi.TransactionTypePayout, Since: call.Since.Add(-clocks), Limit: 100}
	for entry, err := range account.Transactions.All(ctx, params) {
		if err != nil {
			return Receipt{}, later(err)
		}
		if entry.PayoutID == "" || entry.Currency != call.Terms.Currency || !entry.Amount.Equal(call.Terms.Amount) {
			continue
		}
		receipt, err := read(ctx, account, entry.PayoutID, call.Key)
		if err != nil || receipt.State != "" {
			return receipt, later(err)
		}
	}
	return Receipt{}, nil
}

// Follow reads the payout. It returns when the payout has ended, and otherwise an error that Temporal repeats: the
// worker is free between two reads, and the repeats do not fill the history of the workflow.
func (a *Activities) Follow(ctx context.Context, account dapi.ClientID, id dapi.PayoutID) (Receipt, error) {
	payout, err := a.account(account).Payouts.Get(ctx, id)
	if err != nil {
		return Receipt{}, later(err)
	}
	if !payout.Status.Final() {
		return Receipt{}, later(fmt.Errorf("payout %s is %s", id, payout.Status))
	}
	return receiptOf(payout), nil
}

// receiptOf returns what a payout shows. The state is empty if the payout does not show that it was confirmed.
func receiptOf(payout *dapi.Payout) Receipt {
	receipt := Receipt{PayoutID: payout.ID, Status: payout.Status}
	switch status := payout.Status; {
	case status == dapi.PayoutStatusFunding, status == dapi.PayoutStatusProcessing,
		status == dapi.PayoutStatusCompleted, payout.TransactionHash != "" && !status.Final():
		receipt.State = moneymovement.PaymentPaid
	case status.Final():
		receipt.State = moneymovement.PaymentEnded
	}
	return receipt
}

// read returns an empty receipt for the payout of another key, and for a payout that was never confirmed.
func read(ctx context.Context, account *dapi.Account, id dapi.PayoutID, key moneymovement.Key) (Receipt, error) {
	payout, err := account.Payouts.Get(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	if receipt := receiptOf(payout); receipt.State != "" && payout.IdempotencyKey == string(key) {
		return receipt, nil
	}
	return Receipt{}, nil
}

// later makes Temporal repeat a read, at the time that the service gave. A read moves no money, so every error of it
// may be repeated.
func later(err error) error {
	if err == nil {
		return nil
	}
	call, _ := errors.CallInfoOf(err)
	return temporal.NewApplicationErrorWithOptions(err.Error(), "NotYet",
		temporal.ApplicationErrorOptions{NextRetryDelay: until(call.RetryAt)})
}
