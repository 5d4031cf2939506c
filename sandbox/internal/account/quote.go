package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// payoutQuote is a price for paying one contact. It can be used once.
type payoutQuote struct {
	ID        string
	Account   string  // of the owner
	Contact   contact // as it was when the quote was made
	Price     platformwire.Quote
	CreatedAt time.Time
	UsedBy    string // the transfer that used it, or ""

	used *transfer
}

// QuoteBalancePayin prices a transfer from another chain. The transfer may be sent at once.
func (a *Service) QuoteBalancePayin(ctx context.Context, body appwire.BalancePayinQuote) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	if body.OriginChainID == 0 {
		return wire.Response{}, wire.InvalidField("originChainId", "missing", "originChainId is required.")
	}
	quote, err := t.own.QuotePayin(platformwire.PayinCreate{
		Amount: body.Amount, Currency: strings.ToUpper(body.Currency), OriginChainID: body.OriginChainID,
	})
	if err != nil {
		return wire.Response{}, err
	}
	quote, err = t.own.SubmitPayin(quote.ID)
	return wire.OK(payinView(quote)), err
}

// QuoteBankPayin prices a transfer to one of the account's own bank accounts, in its currency.
func (a *Service) QuoteBankPayin(ctx context.Context, body appwire.BankPayinQuote) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	rail, err := t.own.RailOf(body.BankAccountID)
	if err != nil {
		return wire.Response{}, err
	}
	quote, err := t.own.QuotePayin(platformwire.PayinCreate{Amount: body.Amount, Currency: rail.Currency,
		BankID: body.BankAccountID})
	if err == nil && body.Memo != "" {
		t.account.memos[quote.ID] = body.Memo
		t.state.memos.Put(quote.ID, &memo{t.caller.Owner, body.Memo})
	}
	return wire.OK(payinView(quote)), err
}

// SubmitBankPayinQuote accepts the price of a bank payin. The payin then waits for its money. Submitting again changes
// nothing.
func (a *Service) SubmitBankPayinQuote(ctx context.Context, body appwire.QuoteSubmission) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	quote, err := t.payin(body.QuoteID)
	if err != nil {
		return wire.Response{}, err
	}
	if quote.BankID == "" {
		return wire.Response{}, wire.Conflict("The quote is not for a bank payin.")
	}
	if quote, err = t.own.SubmitPayin(quote.ID); err != nil {
		return wire.Response{}, err
	}
	status, err := t.payinStatus(quote)
	return wire.OK(status), err
}

// payin finds a payin by its quote. It does not find the quote of a payout.
func (t *txn) payin(quoteID string) (platformwire.Payin, error) {
	if t.account.quotes[quoteID] != nil {
		return platformwire.Payin{}, wire.Conflict("The quote is for a payout.")
	}
	return t.own.Payin(quoteID)
}

// QuoteBalancePayout prices a payment to a contact, in USDC.
func (a *Service) QuoteBalancePayout(ctx context.Context, body appwire.BalancePayoutQuote) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	paid, err := t.contactOf(body.ContactID)
	if err != nil {
		return wire.Response{}, err
	}
	if body.BankAccountID != "" {
		// contacts of this surface are wallets and emails, and have no bank account
		return wire.Response{}, wire.NotFound()
	}
	price, err := t.own.Price(paid.To, body.Amount)
	if err != nil {
		return wire.Response{}, err
	}
	quote := &payoutQuote{ID: "qt_" + strings.ToLower(rand.Text()), Account: t.caller.Owner, Contact: *paid,
		Price: price, CreatedAt: t.now}
	t.account.quotes[quote.ID] = quote
	t.state.quotes.Put(quote.ID, quote)
	return wire.OK(quoteView(quote.ID, price)), nil
}

func payinView(p platformwire.Payin) appwire.Quote {
	if p.Quote == nil {
		return appwire.Quote{QuoteID: p.ID}
	}
	view := quoteView(p.ID, *p.Quote)
	view.DepositAddress = p.DepositAddress
	return view
}

func quoteView(id string, price platformwire.Quote) appwire.Quote {
	return appwire.Quote{
		QuoteID:      id,
		SourceAmount: price.SourceAmount, SourceCurrency: price.SourceCurrency,
		DestinationAmount: price.DestinationAmount, DestinationCurrency: price.DestinationCurrency,
		Rate: price.Rate, Fee: &price.Fee, ExpiresAt: price.ExpiresAt,
	}
}

// The statuses of a quoted payment that the description does not show, besides the statuses of a payin.
const (
	typePayin       = "payin"
	typePayout      = "payout"
	statusQuoted    = "quoted"
	statusExpired   = "expired"
	statusCompleted = "completed"
)

// Status returns the status of a quote's payment.
func (a *Service) Status(ctx context.Context, quoteID string) (commonwire.UniversalTransactionStatus, error) {
	t := a.begin(ctx)
	defer a.commit()
	if quote := t.account.quotes[quoteID]; quote != nil {
		return t.payoutStatus(quote), nil
	}
	quote, err := t.own.Payin(quoteID)
	if err != nil {
		return commonwire.UniversalTransactionStatus{}, err
	}
	return t.payinStatus(quote)
}

func (t *txn) payoutStatus(quote *payoutQuote) commonwire.UniversalTransactionStatus {
	status := statusOf(quote.ID, typePayout, quote.Price, quote.CreatedAt)
	status.PaymentChannel = quote.Contact.To.Method()
	status.Status = statusQuoted
	switch {
	case quote.used != nil:
		status.Status, status.OriginTxHash = statusCompleted, quote.used.Hash
	case !t.now.Before(quote.Price.ExpiresAt):
		status.Status, status.ErrorMessage = statusExpired, "The price expired before it was used."
	}
	return status
}

func (t *txn) payinStatus(quote platformwire.Payin) (commonwire.UniversalTransactionStatus, error) {
	status := statusOf(quote.ID, typePayin, *quote.Quote, quote.CreatedAt)
	status.Status, status.DepositAddress = string(quote.Status), quote.DepositAddress
	status.PaymentChannel = platform.MethodCrypto
	if quote.Status == platformwire.PayinStatusExpired {
		status.ErrorMessage = "The price expired before the money arrived."
	}
	if quote.BankID != "" {
		rail, err := t.own.RailOf(quote.BankID)
		if err != nil {
			return status, err
		}
		status.PaymentChannel = string(rail.Method)
	}
	if quote.Status != platformwire.PayinStatusCompleted {
		return status, nil
	}
	received, _, err := t.own.Transactions(func(entry platform.Entry) bool { return entry.PayinID == quote.ID },
		wire.Page{Limit: 1})
	for _, entry := range received {
		status.DestinationTxHash = entry.TransactionHash
	}
	return status, err
}

// statusOf returns the status of a quote. The transaction's id is derived from the quote's.
func statusOf(
	quoteID, kind string, price platformwire.Quote, createdAt time.Time,
) commonwire.UniversalTransactionStatus {
	received := wire.NumberOf(price.DestinationAmount)
	return commonwire.UniversalTransactionStatus{
		ID:      uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("payment of "+quoteID), 8).String(),
		QuoteID: quoteID, Type: kind, CreatedAt: createdAt, ExpiresAt: price.ExpiresAt,
		FromAmount: wire.NumberOf(price.SourceAmount), FromCurrency: price.SourceCurrency,
		ToAmount: &received, ToCurrency: price.DestinationCurrency,
	}
}
