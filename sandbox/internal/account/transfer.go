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
	Terms             terms
	ContactID, Hash   string
	Method            string
	Amount            decimal.Decimal // in USDC, fee included
	CreatedAt         time.Time
	QuoteID, Invoice  string
	LedgerTransaction string
}

// terms are the terms of a transfer. Requests with equal terms are the same transfer.
type terms struct{ ContactID, QuoteID, InvoiceID, Amount, Memo string }

// CreateTransfer pays a contact, a quote or an invoice.
func (a *App) CreateTransfer(ctx context.Context, body appwire.TransferCreate) (wire.Answer, error) {
	if err := checkTransfer(body); err != nil {
		return wire.Answer{}, err
	}
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Answer{}, err
	}
	asked := termsOf(body)
	anchor := t.caller.IdempotencyKey // per account, for all of its apps
	if earlier := t.anchored[anchor]; earlier != nil && t.now.Before(earlier.CreatedAt.Add(keyLifetime)) {
		if earlier.Terms != asked {
			return wire.Answer{}, wire.IdempotencyKeyReused("transferId", earlier.ID)
		}
		return receipt(earlier.Hash).Replayed(), nil
	}
	sent, err := a.send(t, asked, body)
	if err != nil {
		return wire.Answer{}, err
	}
	sent.AppID, sent.Key = key.AppID, anchor
	t.state.enter(t.account, sent)
	t.sent.Put(sent.ID, sent)
	return receipt(sent.Hash), nil
}

// receipt is the response to a transfer.
func receipt(hash string) wire.Answer { return wire.OK(appwire.TransferReceipt{TxHash: hash}).Lean() }

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

func termsOf(body appwire.TransferCreate) terms {
	asked := terms{ContactID: body.ContactID, QuoteID: body.QuoteID, InvoiceID: body.InvoiceID, Memo: body.Memo}
	if body.Amount != nil {
		asked.Amount = body.Amount.String()
	}
	return asked
}

// send finds the payment, and makes it within the key's spend limit.
func (a *App) send(t *turn, asked terms, body appwire.TransferCreate) (*transfer, error) {
	sent := &transfer{
		ID: uuid.NewString(), Account: t.caller.Owner, Terms: asked, CreatedAt: t.now,
		ContactID: body.ContactID, QuoteID: body.QuoteID, Invoice: body.InvoiceID,
	}
	switch {
	case body.QuoteID != "":
		return sent, a.payQuote(t, sent)
	case body.InvoiceID != "":
		return sent, a.payInvoice(t, sent)
	default:
		return sent, a.payContact(t, sent, body.Amount.Decimal)
	}
}

func (a *App) payContact(t *turn, sent *transfer, amount decimal.Decimal) error {
	paid, err := t.contactOf(sent.ContactID)
	if err != nil {
		return err
	}
	sent.Amount = amount
	return a.spend(t, sent, func() (platform.Paid, error) { return t.own.Pay(paid.To, amount, nil, sent.ID) })
}

func (a *App) payQuote(t *turn, sent *transfer) error {
	quoted := t.account.quotes[sent.QuoteID]
	switch {
	case quoted == nil:
		if _, err := t.own.Payin(sent.QuoteID); err != nil {
			return err
		}
		return wire.Conflict("The quote is for a payin.")
	case quoted.used != nil:
		return wire.Conflict("The quote was used before.")
	case !t.now.Before(quoted.Price.ExpiresAt):
		return wire.QuoteExpired()
	}
	sent.Amount = quoted.Price.SourceAmount
	err := a.spend(t, sent, func() (platform.Paid, error) {
		return t.own.Pay(quoted.Contact.To, sent.Amount, &quoted.Price, sent.ID)
	})
	if err == nil {
		quoted.UsedBy, quoted.used = sent.ID, sent
		t.state.quotes.Put(quoted.ID, quoted)
	}
	return err
}

func (a *App) payInvoice(t *turn, sent *transfer) error {
	return a.Invoices.Settle(sent.Invoice, func(amount decimal.Decimal, currency, payee string) (string, error) {
		cost, err := t.own.CostOf(amount, currency)
		if err != nil {
			return "", err
		}
		sent.Amount = cost
		err = a.spend(t, sent, func() (platform.Paid, error) { return t.own.PayByEmail(payee, cost, sent.ID) })
		return sent.Hash, err
	})
}

// spend pays within the key's spend limit. If the money did not move, the limit gets the amount back.
func (a *App) spend(t *turn, sent *transfer, pay func() (platform.Paid, error)) error {
	if err := a.Keys.Spend(t.caller.KeyID, sent.Amount); err != nil {
		return err
	}
	paid, err := pay()
	if err != nil {
		a.Keys.GiveBack(t.caller.KeyID, sent.Amount)
		return err
	}
	sent.Hash, sent.Method, sent.LedgerTransaction = paid.Hash, paid.Method, paid.TransactionID
	return nil
}

// status is the status of every transfer: it arrives at once.
const transferStatus = string(platformwire.TransactionStatusCompleted)

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
