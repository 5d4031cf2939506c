package app

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/commonapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/number"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
)

// The values of a quoted payment that the description does not show, beside those of a payin's status.
const (
	typePayin       = "payin"
	typePayout      = "payout"
	statusQuoted    = "quoted"
	statusExpired   = "expired"
	statusCompleted = "completed"
)

// Status is how far the payment of a quote has come. Source: Universal transaction status.
func (a *App) Status(ctx context.Context, quoteID string) (commonapi.UniversalTransactionStatus, error) {
	t := a.enter(ctx)
	defer a.leave()
	if quoted := t.quotes[quoteID]; quoted != nil {
		return t.payoutStatus(quoted), nil
	}
	quoted, err := t.own.Payin(quoteID)
	if err != nil {
		return commonapi.UniversalTransactionStatus{}, err
	}
	return t.payinStatus(quoted)
}

func (t *turn) payoutStatus(quoted *payoutQuote) commonapi.UniversalTransactionStatus {
	status := statusOf(quoted.id, typePayout, quoted.price, quoted.createdAt)
	status.PaymentChannel = quoted.contact.to.Method()
	status.Status = statusQuoted
	switch {
	case quoted.used != nil:
		status.Status, status.OriginTxHash = statusCompleted, quoted.used.hash
	case !t.now.Before(quoted.price.ExpiresAt):
		status.Status, status.ErrorMessage = statusExpired, "The price expired before it was used."
	}
	return status
}

func (t *turn) payinStatus(quoted api.Payin) (commonapi.UniversalTransactionStatus, error) {
	status := statusOf(quoted.ID, typePayin, *quoted.Quote, quoted.CreatedAt)
	status.Status, status.DepositAddress = string(quoted.Status), quoted.DepositAddress
	status.PaymentChannel = platform.MethodCrypto
	if quoted.Status == api.PayinStatusExpired {
		status.ErrorMessage = "The price expired before the money arrived."
	}
	if quoted.BankID != "" {
		rail, err := t.own.RailOf(quoted.BankID)
		if err != nil {
			return status, err
		}
		status.PaymentChannel = string(rail.Method)
	}
	if quoted.Status != api.PayinStatusCompleted {
		return status, nil
	}
	entries, err := t.own.Transactions()
	for _, entry := range entries {
		if entry.PayinID == quoted.ID {
			status.DestinationTxHash = entry.TransactionHash
		}
	}
	return status, err
}

// statusOf is what the price says. The transaction's id follows from the quote's.
func statusOf(quoteID, kind string, price api.Quote, createdAt time.Time) commonapi.UniversalTransactionStatus {
	received := number.Of(price.DestinationAmount)
	return commonapi.UniversalTransactionStatus{
		ID:      uuid.NewSHA1(uuid.NameSpaceURL, []byte("payment of "+quoteID)).String(),
		QuoteID: quoteID, Type: kind, CreatedAt: createdAt, ExpiresAt: price.ExpiresAt,
		FromAmount: number.Of(price.SourceAmount), FromCurrency: price.SourceCurrency,
		ToAmount: &received, ToCurrency: price.DestinationCurrency,
	}
}
