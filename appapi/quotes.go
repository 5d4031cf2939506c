package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Quotes are prices for one specific payment each. A price is at most two minutes old when it is used; then it is
// *errors.QuoteExpired. A quote moves nothing. Pay a payout's by its id, with [ToQuote].
//
// Source: App API, Banks and quotes; Vocabulary, quote.
type Quotes struct{ low lowLevel }

// PayinFromChain prices a transfer from another chain to the balance.
func (s *Quotes) PayinFromChain(
	ctx context.Context, payin BalancePayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBalancePayin(ctx, &payin, options)
}

// PayinFromBank prices a transfer from a bank account to the balance. [Quotes.SubmitPayin] accepts the price.
func (s *Quotes) PayinFromBank(
	ctx context.Context, payin BankPayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBankPayin(ctx, &payin, options)
}

// SubmitPayin accepts the price of a transfer from a bank account. The answer is the payment as it stands; follow it by
// its quote id. Whether a second submission is harmless is not shown, so that it is never sent twice.
func (s *Quotes) SubmitPayin(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.Of(s).low.SubmitBankPayinQuote(ctx, &quoteSubmission{quoteID}, options).OrZero()
}

// Payout prices a payout from the balance to a contact.
func (s *Quotes) Payout(
	ctx context.Context, payout BalancePayoutQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.Of(s).low.QuoteBalancePayout(ctx, &payout, options)
}
