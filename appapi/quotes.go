package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Quotes returns prices, each for one payment. Asking for a quote moves no money. A price is valid for at most two
// minutes; a later payment fails with *errors.QuoteExpired. Amounts are exact decimals in units of their currency. To
// pay a payout quote, use [Transfers.Send] with [ToQuote].
type Quotes struct{ low lowLevel }

// PayinFromChain returns the price of a transfer from another chain to the balance. The payer sends the money to the
// DepositAddress of the quote.
func (s *Quotes) PayinFromChain(
	ctx context.Context, payin BalancePayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBalancePayin(ctx, &payin, options)
}

// PayinFromBank returns the price of a bank transfer to the balance. [Quotes.SubmitPayin] accepts the price.
func (s *Quotes) PayinFromBank(
	ctx context.Context, payin BankPayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBankPayin(ctx, &payin, options)
}

// SubmitPayin accepts the price of a bank transfer, and returns the status of the payment. To wait for the payment,
// pass the quote id to Quotes.Wait of package refapi. The description does not say whether a second submission is
// harmless, so SubmitPayin is never sent twice. If its response is lost, it fails with *errors.InDoubt.
func (s *Quotes) SubmitPayin(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.Of(s).low.SubmitBankPayinQuote(ctx, &quoteSubmission{quoteID}, options).OrZero()
}

// Payout returns the price of a payout from the balance to a contact.
func (s *Quotes) Payout(
	ctx context.Context, payout BalancePayoutQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBalancePayout(ctx, &payout, options)
}
