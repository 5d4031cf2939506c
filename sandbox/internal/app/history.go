package app

import (
	"context"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// ListTransfers lists the transfers of the app, newest first. With an idempotency key it lists only the transfer with
// that key.
func (a *App) ListTransfers(ctx context.Context, params appwire.ListTransfersParams) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Answer{}, err
	}
	items, total := wire.Newest(t.sentInOrder,
		func(sent *transfer) bool {
			return sent.AppID == key.AppID && (params.IdempotencyKey == "" || sent.Key == params.IdempotencyKey)
		},
		(*transfer).view, wire.Page{Limit: params.Limit, Offset: params.Offset})
	return wire.OK(appwire.TransferList{Items: items, Total: &total}), nil
}

func (s *transfer) view() appwire.Transfer {
	return appwire.Transfer{
		ID: s.ID, ContactID: s.ContactID, QuoteID: s.QuoteID, InvoiceID: s.Invoice, Amount: wire.NumberOf(s.Amount),
		Memo: s.Terms.Memo, TxHash: s.Hash, Status: transferStatus, IdempotencyKey: s.Key, CreatedAt: s.CreatedAt,
	}
}

// ListTransactions lists the ledger of the account, newest first.
func (a *App) ListTransactions(ctx context.Context, params appwire.ListTransactionsParams) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	var visible func(platform.Entry) bool
	if isFiltered(params) {
		visible = func(entry platform.Entry) bool { return matches(t.transactionView(entry), params) }
	}
	entries, total, err := t.own.Transactions(visible, wire.Page{Limit: params.Limit, Offset: params.Offset})
	if err != nil {
		return wire.Answer{}, err
	}
	list := appwire.TransactionList{Items: make([]appwire.Transaction, 0, len(entries)), Total: &total}
	for _, entry := range entries {
		list.Items = append(list.Items, t.transactionView(entry))
	}
	return wire.OK(list), nil
}

func isFiltered(params appwire.ListTransactionsParams) bool {
	return len(params.Type) > 0 || params.Status != "" || params.IncomeOnly || params.BankAccountID != ""
}

func matches(entry appwire.Transaction, params appwire.ListTransactionsParams) bool {
	return (len(params.Type) == 0 || slices.Contains(params.Type, entry.Type)) &&
		(params.Status == "" || params.Status == entry.Status) &&
		(!params.IncomeOnly || *entry.Incoming) &&
		(params.BankAccountID == "" || params.BankAccountID == entry.BankAccountID)
}

// transactionView returns an entry of the ledger with what this surface knows about it.
func (t *turn) transactionView(entry platform.Entry) appwire.Transaction {
	incoming := entry.Direction == platformwire.TransactionDirectionIn
	view := appwire.Transaction{
		ID: entry.ID, Type: entry.Method, Status: string(entry.Status), Incoming: &incoming,
		Amount: entry.Amount, Currency: string(entry.Currency), BankAccountID: entry.BankAccountID,
		QuoteID: entry.PayinID, Memo: t.account.memos[entry.PayinID], TxHash: entry.TransactionHash,
		CreatedAt: entry.CreatedAt,
	}
	if sent := t.transfers[entry.ID]; sent != nil {
		view.Type, view.Memo = sent.Method, sent.Terms.Memo
		view.ContactID, view.QuoteID, view.InvoiceID = sent.ContactID, sent.QuoteID, sent.Invoice
	}
	return view
}
