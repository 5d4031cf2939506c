package appapi

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Transfers sends payments from the account, and lists the transfers of the app. The service finds the app by the app
// API key.
type Transfers struct{ low lowLevel }

// Destination is what a transfer pays: a [ToContact], [ToQuote] or [ToInvoice] value, not a pointer. Only ToContact has
// an amount. A quote and an invoice determine theirs.
type Destination interface{ isDestination() }

// ToContact pays an amount to a contact. The description does not say in which currency the amount is; the sandbox host
// takes it as USDC.
type ToContact struct {
	ContactID string          // a UUID
	Amount    decimal.Decimal // required and positive
	Memo      string          // optional note
}

// ToQuote pays at the price of a quote from [Quotes.Payout]. A quote is valid for at most two minutes.
type ToQuote struct {
	QuoteID string
	Memo    string // optional note
}

// ToInvoice pays the amount of an invoice.
type ToInvoice struct {
	InvoiceID string // a UUID
	Memo      string // optional note
}

func (ToContact) isDestination() {}
func (ToQuote) isDestination()   {}
func (ToInvoice) isDestination() {}

// Send pays, and returns the hash of the transaction. The key is required. The same key pays once, even if several
// processes use it. Derive it from what you pay, with [moneymovement.DeriveKey]. The same key with other terms fails
// with *errors.IdempotencyKeyReused.
//
// If the response is lost, or is not one of the service, Send fails with *errors.InDoubt and the payment may
// have been made. This is also so if Send repeated the request, and the service refused the repetition. Call Send again
// with the same key and terms, or read the payment with [Transfers.ByKey]. A refusal of that call is about that call
// alone.
//
// The service can forget a key. So if this client has paid with the key before, Send returns that receipt and sends
// nothing. If an earlier call of this client may have paid, Send reads the payment first, and returns it if it is
// there. If the read fails, Send sends nothing and fails with *errors.InDoubt. Another process does not know of
// the call: if an earlier call may have paid, call ByKey before Send. Within one call, Send repeats a lost request with
// the same key and without reading the payment, as long as the service remembers the key.
func (s *Transfers) Send(
	ctx context.Context, to Destination, key moneymovement.Key, options ...moneymovement.CallOption,
) (*TransferReceipt, error) {
	if err := transport.RequireKey(&opCreateTransfer, string(key)); err != nil {
		return nil, err
	}
	body, err := checkedTransfer(to)
	if err != nil {
		return nil, err
	}
	write := []moneymovement.WriteOption{moneymovement.IdempotencyKey(key)}
	for _, option := range options {
		write = append(write, option)
	}
	low := transport.OrNew(s).low
	keys, scope := low.transport.Keys(), transport.KeyScopeOf(&opCreateTransfer, "", string(key))
	state, paid := keys.State(scope)
	if transport.Validate(opCreateTransfer.ID, body.validate) != nil {
		state = transport.KeyUnpaid // the call is refused below, and an amount of a billion digits cannot be compared
	}
	switch state {
	case transport.KeySettled:
		if before, ok := paid.(*paidTransfer); ok && before.terms.same(&body) {
			return new(before.receipt), nil
		} // other terms are refused before they are sent
	case transport.KeyInDoubt:
		earlier := &Transfers{low.with(transport.Origin{Header: moneymovement.CallSettingsOf(options...).Header})}
		if receipt, err := earlier.readEarlier(ctx, &body, key); receipt != nil || err != nil {
			return receipt, err
		}
	}
	receipt, err := low.CreateTransfer(ctx, &body, write)
	err = inDoubt(err)
	if refusal := err; refusal != nil && state == transport.KeyInDoubt { // it speaks for this call only
		if _, lost := errors.AsType[*errors.InDoubt](err); !lost {
			err = &errors.InDoubt{CallInfo: opCreateTransfer.Head(string(key)), Cause: refusal,
				Resolve: "look the payment up with its key"}
		}
	}
	if _, lost := errors.AsType[*errors.InDoubt](err); lost {
		keys.Note(scope, transport.KeyInDoubt, nil)
	} else if err == nil {
		keys.Note(scope, transport.KeySettled, &paidTransfer{body, *receipt})
	}
	return receipt, err
}

// paidTransfer is a transfer that this client has made.
type paidTransfer struct {
	terms   transferCreate
	receipt TransferReceipt
}

// readEarlier returns the payment that an earlier call of this client made, or nil if the service lists no such
// payment.
func (s *Transfers) readEarlier(
	ctx context.Context, body *transferCreate, key moneymovement.Key,
) (*TransferReceipt, error) {
	sent, found, err := s.ByKey(ctx, key)
	if err != nil {
		head := opCreateTransfer.Head(string(key))
		call, _ := errors.CallInfoOf(err)
		head.RetryAt = call.RetryAt
		return nil, &errors.InDoubt{CallInfo: head, Cause: err, Resolve: "look the payment up with its key"}
	}
	if !found {
		return nil, nil
	}
	if !sent.matches(body) || sent.TxHash == "" {
		return nil, &errors.InDoubt{CallInfo: opCreateTransfer.Head(string(key)), Resolve: "look the payment up",
			Cause: errors.New("the service lists a transfer with this key and other terms, or without its hash")}
	}
	return &TransferReceipt{TxHash: sent.TxHash}, nil
}

// same reports whether two requests have the same terms.
func (v *transferCreate) same(other *transferCreate) bool {
	return sameID(v.ContactID, other.ContactID) && sameID(v.QuoteID, other.QuoteID) &&
		sameID(v.InvoiceID, other.InvoiceID) && v.Memo == other.Memo && v.Amount.Equal(other.Amount.Decimal)
}

// matches reports whether a listed transfer can be that of a request. The list may leave out any term.
func (t *Transfer) matches(v *transferCreate) bool {
	agree := func(asked, listed string) bool { return asked == "" || listed == "" || sameID(asked, listed) }
	return agree(v.ContactID, t.ContactID) && agree(v.QuoteID, t.QuoteID) && agree(v.InvoiceID, t.InvoiceID) &&
		(t.Memo == "" || t.Memo == v.Memo) &&
		(v.ContactID == "" || t.Amount.Decimal == (decimal.Decimal{}) || t.Amount.Equal(v.Amount.Decimal))
}

func sameID(a, b string) bool {
	return strings.EqualFold(strings.TrimPrefix(a, "ct_"), strings.TrimPrefix(b, "ct_"))
}

// inDoubt turns a response that is not the service's, such as a proxy's page with status 404, into an error in doubt:
// it does not show what the service did. Only a page with status 429 says that nothing was passed on.
func inDoubt(err error) error {
	page, ok := errors.AsType[*errors.UnexpectedResponse](err)
	if !ok || page.Operation != opCreateTransfer.ID || page.Status == http.StatusTooManyRequests ||
		page.MovedByCall() != errors.NotMoved {
		return err
	}
	return &errors.InDoubt{CallInfo: page.CallInfo, Cause: err,
		Resolve: "repeat the same request with the same idempotency key"}
}

// checkedTransfer returns the body of a transfer. It refuses nil, and a pointer to a destination.
func checkedTransfer(to Destination) (body transferCreate, err error) {
	switch to := to.(type) {
	case ToContact:
		return transferCreate{ContactID: to.ContactID, Amount: model.NewNumber(to.Amount), Memo: to.Memo}, nil
	case ToQuote:
		return transferCreate{QuoteID: to.QuoteID, Memo: to.Memo}, nil
	case ToInvoice:
		return transferCreate{InvoiceID: to.InvoiceID, Memo: to.Memo}, nil
	}
	return transferCreate{}, transport.Validate(opCreateTransfer.ID, func(c *transport.Check) {
		c.Refuse("destination", "unknown_variant", "must be a ToContact, ToQuote or ToInvoice value, not a pointer")
	})
}

// List returns one page of the app's transfers: at most params.Limit of them, starting at params.Offset. If Limit is 0,
// the service decides how many.
func (s *Transfers) List(
	ctx context.Context, params ListTransfersParams, options ...moneymovement.CallOption,
) (*TransferList, error) {
	return transport.OrNew(s).low.ListTransfers(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If transfers are sent meanwhile, it can miss a transfer or return one twice.
func (s *Transfers) All(
	ctx context.Context, params ListTransfersParams, options ...moneymovement.CallOption,
) iter.Seq2[Transfer, error] {
	return pages(ctx, &opListTransfers, s.List, params, options,
		func(p *ListTransfersParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *TransferList) ([]Transfer, int) { return l.Items, l.Total })
}

// ByKey returns the transfer that was sent with an idempotency key. found is false if the service lists no transfer
// with this key. If the service lists transfers that cannot be read, or that have another key or none, and none has
// this key, ByKey fails with *errors.UnexpectedResponse, because the list then does not show whether there is one.
func (s *Transfers) ByKey(
	ctx context.Context, key moneymovement.Key, options ...moneymovement.CallOption,
) (transfer *Transfer, found bool, err error) {
	wanted := string(key)
	err = transport.Validate(opListTransfers.ID, func(c *transport.Check) {
		c.Text("idempotency_key", wanted, transport.KeyRule)
	})
	if err != nil {
		return nil, false, err
	}
	var response moneymovement.Response
	list, err := s.List(ctx, ListTransfersParams{IdempotencyKey: wanted}, capturing(options, &response)...)
	if err != nil {
		return nil, false, err
	}
	leftOut := entriesOf(&opListTransfers, &response) != nil
	only := len(list.Items) == 1 && !leftOut
	for i := range list.Items {
		echoed := list.Items[i].IdempotencyKey
		if echoed == wanted || echoed == "" && only { // among several without a key, any could be the one
			return &list.Items[i], true, nil
		}
	}
	if leftOut || len(list.Items) > 0 || list.Total > 0 {
		return nil, false, &errors.UnexpectedResponse{
			CallInfo: opListTransfers.Head(wanted), Status: response.Status,
			Err: errors.New("a listed transfer cannot be read, or has another key or none, so the list does not show " +
				"whether there is one with this key: look at the response body"),
		}
	}
	return nil, false, nil
}

// CheckSend returns the *errors.InvalidInput with which [Transfers.Send] refuses this input before it sends anything,
// or nil. Use it to refuse a transfer that you store and send later.
func CheckSend(to Destination, key moneymovement.Key) error {
	if err := transport.RequireKey(&opCreateTransfer, string(key)); err != nil {
		return err
	}
	body, err := checkedTransfer(to)
	if err != nil {
		return err
	}
	return transport.Validate(opCreateTransfer.ID, body.validate)
}

// Quotes returns prices, each for one payment. Asking for a quote moves no money. A price is valid for at most two
// minutes; a later payment fails with *errors.QuoteExpired. Amounts are exact decimals in units of their currency. To
// pay a payout quote, use [Transfers.Send] with [ToQuote].
type Quotes struct{ low lowLevel }

// PayinFromChain returns the price of a transfer from another chain to the balance. The payer sends the money to the
// DepositAddress of the quote.
func (s *Quotes) PayinFromChain(
	ctx context.Context, payin BalancePayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.OrNew(s).low.QuoteBalancePayin(ctx, &payin, options)
}

// PayinFromBank returns the price of a bank transfer to the balance. [Quotes.SubmitPayin] accepts the price.
func (s *Quotes) PayinFromBank(
	ctx context.Context, payin BankPayinQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.OrNew(s).low.QuoteBankPayin(ctx, &payin, options)
}

// SubmitPayin accepts the price of a bank transfer, and returns the status of the payment. To wait for the payment,
// pass the quote id to Quotes.Wait of package refapi. The description does not say whether a second submission is
// harmless, so SubmitPayin is never sent twice. If its response is lost, it fails with *errors.InDoubt.
func (s *Quotes) SubmitPayin(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.OrNew(s).low.SubmitBankPayinQuote(ctx, &quoteSubmission{quoteID}, options).ValueOrZero()
}

// Payout returns the price of a payout from the balance to a contact.
func (s *Quotes) Payout(
	ctx context.Context, payout BalancePayoutQuote, options ...moneymovement.CallOption,
) (*Quote, error) {
	return transport.OrNew(s).low.QuoteBalancePayout(ctx, &payout, options)
}
