package app

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The statuses of a quoted payment that the description does not show, besides the statuses of a payin.
const (
	typePayin       = "payin"
	typePayout      = "payout"
	statusQuoted    = "quoted"
	statusExpired   = "expired"
	statusCompleted = "completed"
)

// Status returns the status of a quote's payment.
func (a *App) Status(ctx context.Context, quoteID string) (commonwire.UniversalTransactionStatus, error) {
	t := a.enter(ctx)
	defer a.leave()
	if quoted := t.account.quotes[quoteID]; quoted != nil {
		return t.payoutStatus(quoted), nil
	}
	quoted, err := t.own.Payin(quoteID)
	if err != nil {
		return commonwire.UniversalTransactionStatus{}, err
	}
	return t.payinStatus(quoted)
}

func (t *turn) payoutStatus(quoted *payoutQuote) commonwire.UniversalTransactionStatus {
	status := statusOf(quoted.ID, typePayout, quoted.Price, quoted.CreatedAt)
	status.PaymentChannel = quoted.Contact.To.Method()
	status.Status = statusQuoted
	switch {
	case quoted.used != nil:
		status.Status, status.OriginTxHash = statusCompleted, quoted.used.Hash
	case !t.now.Before(quoted.Price.ExpiresAt):
		status.Status, status.ErrorMessage = statusExpired, "The price expired before it was used."
	}
	return status
}

func (t *turn) payinStatus(quoted platformwire.Payin) (commonwire.UniversalTransactionStatus, error) {
	status := statusOf(quoted.ID, typePayin, *quoted.Quote, quoted.CreatedAt)
	status.Status, status.DepositAddress = string(quoted.Status), quoted.DepositAddress
	status.PaymentChannel = platform.MethodCrypto
	if quoted.Status == platformwire.PayinStatusExpired {
		status.ErrorMessage = "The price expired before the money arrived."
	}
	if quoted.BankID != "" {
		rail, err := t.own.RailOf(quoted.BankID)
		if err != nil {
			return status, err
		}
		status.PaymentChannel = string(rail.Method)
	}
	if quoted.Status != platformwire.PayinStatusCompleted {
		return status, nil
	}
	received, _, err := t.own.Transactions(func(entry platform.Entry) bool { return entry.PayinID == quoted.ID },
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
