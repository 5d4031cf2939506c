package account

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// keyLifetime is how long the host repeats its first response to a key.
const keyLifetime = 7 * 24 * time.Hour

// transfer is money that an app sent.
type transfer struct {
	ID, AppID, Key    string
	Account           string // of the owner
	Terms             transferTerms
	ContactID, Hash   string
	Method            string
	Amount            decimal.Decimal // in USDC, fee included
	CreatedAt         time.Time
	QuoteID, Invoice  string
	LedgerTransaction string
}

// transferTerms are the terms of a transfer. Requests with equal terms are the same transfer.
type transferTerms struct{ ContactID, QuoteID, InvoiceID, Amount, Memo string }

// CreateTransfer pays a contact, a quote or an invoice.
func (a *Service) CreateTransfer(ctx context.Context, body appwire.TransferCreate) (wire.Response, error) {
	if err := checkTransfer(body); err != nil {
		return wire.Response{}, err
	}
	t := a.begin(ctx)
	defer a.commit()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Response{}, err
	}
	requested := termsOf(body)
	anchor := t.caller.IdempotencyKey // per account, for all of its apps
	if earlier := t.byKey[anchor]; earlier != nil && t.now.Before(earlier.CreatedAt.Add(keyLifetime)) {
		if earlier.Terms != requested {
			return wire.Response{}, wire.IdempotencyKeyReused("transferId", earlier.ID)
		}
		return receipt(earlier.Hash).Replayed(), nil
	}
	transfer, err := a.createTransfer(t, requested, body)
	if err != nil {
		return wire.Response{}, err
	}
	transfer.AppID, transfer.Key = key.AppID, anchor
	t.state.addTransfer(t.account, transfer)
	t.sent.Put(transfer.ID, transfer)
	return receipt(transfer.Hash), nil
}

// receipt is the response to a transfer.
func receipt(hash string) wire.Response { return wire.OK(appwire.TransferReceipt{TxHash: hash}).Lean() }

// checkTransfer requires exactly one way to pay. An amount is for a contact only.
func checkTransfer(body appwire.TransferCreate) error {
	var wrong []wire.Field
	given := 0
	for _, way := range []string{body.ContactID, body.QuoteID, body.InvoiceID} {
		if way != "" {
			given++
		}
	}
	switch {
	case given != 1:
		for _, name := range []string{"contactId", "quoteId", "invoiceId"} {
			wrong = append(wrong,
				wire.Field{Field: name, Code: "exactly_one",
					Message: "Give exactly one of contactId, quoteId and invoiceId."})
		}
	case body.ContactID != "" && body.Amount == nil:
		wrong = append(wrong,
			wire.Field{Field: "amount", Code: "missing", Message: "To pay a contact, give an amount."})
	case body.ContactID == "" && body.Amount != nil:
		wrong = append(wrong,
			wire.Field{Field: "amount", Code: "extra_forbidden",
				Message: "Leave amount out: the quote or invoice has it."})
	}
	if len(wrong) > 0 {
		return wire.ValidationFailed("", wrong...)
	}
	if body.Amount != nil {
		return platform.CheckDollars(body.Amount.Decimal)
	}
	return nil
}

func termsOf(body appwire.TransferCreate) transferTerms {
	requested := transferTerms{
		ContactID: body.ContactID, QuoteID: body.QuoteID, InvoiceID: body.InvoiceID, Memo: body.Memo,
	}
	if body.Amount != nil {
		requested.Amount = body.Amount.String()
	}
	return requested
}

// createTransfer finds the payment, and makes it within the key's spend limit.
func (a *Service) createTransfer(t *txn, requested transferTerms, body appwire.TransferCreate) (*transfer, error) {
	tr := &transfer{
		ID: uuid.NewString(), Account: t.caller.Owner, Terms: requested, CreatedAt: t.now,
		ContactID: body.ContactID, QuoteID: body.QuoteID, Invoice: body.InvoiceID,
	}
	switch {
	case body.QuoteID != "":
		return tr, a.payQuote(t, tr)
	case body.InvoiceID != "":
		return tr, a.payInvoice(t, tr)
	default:
		return tr, a.payContact(t, tr, body.Amount.Decimal)
	}
}

func (a *Service) payContact(t *txn, tr *transfer, amount decimal.Decimal) error {
	paid, err := t.contactOf(tr.ContactID)
	if err != nil {
		return err
	}
	tr.Amount = amount
	return a.payWithinLimit(t, tr, func() (platform.PaymentResult, error) {
		return t.own.Pay(paid.To, amount, nil, tr.ID)
	})
}

func (a *Service) payQuote(t *txn, tr *transfer) error {
	quote := t.account.quotes[tr.QuoteID]
	switch {
	case quote == nil:
		if _, err := t.own.Payin(tr.QuoteID); err != nil {
			return err
		}
		return wire.Conflict("The quote is for a payin.")
	case quote.used != nil:
		return wire.Conflict("The quote was used before.")
	case !t.now.Before(quote.Price.ExpiresAt):
		return wire.QuoteExpired()
	}
	tr.Amount = quote.Price.SourceAmount
	err := a.payWithinLimit(t, tr, func() (platform.PaymentResult, error) {
		return t.own.Pay(quote.Contact.To, tr.Amount, &quote.Price, tr.ID)
	})
	if err == nil {
		quote.UsedBy, quote.used = tr.ID, tr
		t.state.quotes.Put(quote.ID, quote)
	}
	return err
}

func (a *Service) payInvoice(t *txn, tr *transfer) error {
	return a.Invoices.Settle(tr.Invoice, func(amount decimal.Decimal, currency, payee string) (string, error) {
		cost, err := t.own.CostOf(amount, currency)
		if err != nil {
			return "", err
		}
		tr.Amount = cost
		err = a.payWithinLimit(t, tr, func() (platform.PaymentResult, error) {
			return t.own.PayByEmail(payee, cost, tr.ID)
		})
		return tr.Hash, err
	})
}

// payWithinLimit pays within the key's spend limit. If the money did not move, the limit gets the amount back.
func (a *Service) payWithinLimit(t *txn, tr *transfer, pay func() (platform.PaymentResult, error)) error {
	if err := a.Keys.Spend(t.caller.KeyID, tr.Amount); err != nil {
		return err
	}
	paid, err := pay()
	if err != nil {
		a.Keys.Refund(t.caller.KeyID, tr.Amount)
		return err
	}
	tr.Hash, tr.Method, tr.LedgerTransaction = paid.Hash, paid.Method, paid.TransactionID
	return nil
}

// status is the status of every transfer: it arrives at once.
const transferStatus = string(platformwire.TransactionStatusCompleted)

// ListTransfers lists the transfers of the app, newest first. With an idempotency key it lists only the transfer with
// that key.
func (a *Service) ListTransfers(ctx context.Context, params appwire.ListTransfersParams) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Response{}, err
	}
	items, total := wire.NewestFirst(t.transferList,
		func(tr *transfer) bool {
			return tr.AppID == key.AppID && (params.IdempotencyKey == "" || tr.Key == params.IdempotencyKey)
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
func (a *Service) ListTransactions(ctx context.Context, params appwire.ListTransactionsParams) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	var visible func(platform.Entry) bool
	if isFiltered(params) {
		visible = func(entry platform.Entry) bool { return matches(t.transactionView(entry), params) }
	}
	entries, total, err := t.own.Transactions(visible, wire.Page{Limit: params.Limit, Offset: params.Offset})
	if err != nil {
		return wire.Response{}, err
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
func (t *txn) transactionView(entry platform.Entry) appwire.Transaction {
	incoming := entry.Direction == platformwire.TransactionDirectionIn
	view := appwire.Transaction{
		ID: entry.ID, Type: entry.Method, Status: string(entry.Status), Incoming: &incoming,
		Amount: entry.Amount, Currency: string(entry.Currency), BankAccountID: entry.BankAccountID,
		QuoteID: entry.PayinID, Memo: t.account.memos[entry.PayinID], TxHash: entry.TransactionHash,
		CreatedAt: entry.CreatedAt,
	}
	if transfer := t.transfers[entry.ID]; transfer != nil {
		view.Type, view.Memo = transfer.Method, transfer.Terms.Memo
		view.ContactID, view.QuoteID, view.InvoiceID = transfer.ContactID, transfer.QuoteID, transfer.Invoice
	}
	return view
}
