// Package fakes tests a backend through an interface of its own, without a host: go test ./examples/fakes
//
// The backend declares the methods that it uses of a service of the SDK. In production it gets the service, in a test a
// fake that records the calls. Such a test is fast and shows what the backend asked for. To test what happens to the
// money, run the sandbox host, as examples/yourbackend does.
package fakes

import (
	"context"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Payouts are the methods that this backend uses. *dapi.Payouts has them.
type Payouts interface {
	Book(ctx context.Context, payout dapi.PayoutCreate, options ...moneymovement.WriteOption) (*dapi.Payout, error)
	Pay(ctx context.Context, payout dapi.PayoutCreate, key moneymovement.Key, terms dapi.PayTerms,
		options ...moneymovement.CallOption) (dapi.Payment, error)
}

var _ Payouts = (*dapi.Payouts)(nil)

// Invoice is what this backend has to pay.
type Invoice struct {
	Number   string
	Supplier dapi.ContactID
	Amount   decimal.Decimal // in USDC
	History  dapi.History    // what Pay must remember
}

// Cashier pays invoices.
type Cashier struct {
	Payouts Payouts
	MaxFee  decimal.Decimal                      // in USDC
	Save    func(context.Context, Invoice) error // stores an invoice in the database
}

// Price returns the fee of a payment, before anybody pays. The booking has the key of the payment: Pay continues it.
func (c *Cashier) Price(ctx context.Context, invoice Invoice) (fee decimal.Decimal, err error) {
	booked, err := c.Payouts.Book(ctx, terms(invoice), moneymovement.IdempotencyKey(key(invoice)))
	if err != nil {
		return decimal.Zero, err
	}
	if booked.Quote == nil { // a wallet on Base is paid without a conversion
		return decimal.Zero, nil
	}
	return booked.Quote.Fee, nil
}

// Pay pays an invoice once, however often it is called, and returns what to show to the person who clicked.
func (c *Cashier) Pay(ctx context.Context, invoice Invoice) string {
	save := func(ctx context.Context, history dapi.History) error {
		invoice.History = history
		return c.Save(ctx, invoice)
	}
	payment, err := c.Payouts.Pay(ctx, terms(invoice), key(invoice), dapi.PayTerms{
		Bounds: dapi.Bounds{MaxFee: &c.MaxFee}, History: invoice.History, Journal: save})
	if err := save(context.WithoutCancel(ctx), payment.History); err != nil {
		payment.State = moneymovement.PaymentInDoubt // the database may be without what was signed
	}
	switch payment.State {
	case moneymovement.PaymentPaid:
		return "paid"
	case moneymovement.PaymentNotPaid:
		return "not paid: try again later"
	case moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded:
		if _, low := errors.AsType[*errors.PayoutNotFundable](err); low {
			return "not paid: fill the account first"
		}
		return "somebody has to look"
	default: // in doubt
		return "not known yet: try again later"
	}
}

// key makes two clicks on one invoice one payment. It has no number of the attempt, because this cashier never pays an
// invoice again: somebody looks at a payment that has failed.
func key(invoice Invoice) moneymovement.Key {
	return moneymovement.DeriveKey("invoice", invoice.Number)
}

func terms(invoice Invoice) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: invoice.Supplier, Amount: invoice.Amount, Currency: dapi.USDC,
		PaymentReference: "Invoice " + invoice.Number}
}
