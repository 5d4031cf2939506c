package platform

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// OwnAccount is an integrator's own account, for the other surfaces. The app API and the reference endpoints act for
// the account that the platform API uses without X-Service-Account, with the same balance, rails and ledger.
type OwnAccount struct {
	platform *Platform
	caller   wire.Caller
}

// OwnAccount returns the account that a caller of another surface acts for. It creates the account at the first
// request.
func (p *Platform) OwnAccount(c wire.Caller) OwnAccount {
	c.Account = wire.Self
	return OwnAccount{p, c}
}

// Identity has the names of an account.
type Identity struct {
	UserID    string // a UUID
	Email     string
	Wallet    string // on Base
	CreatedAt time.Time
}

// begin takes the lock for the account. The caller must release it. The account always exists: it is created if needed.
func (o OwnAccount) begin() (*txn, *holder, error) {
	t := o.platform.begin()
	h, err := t.holderOf(o.caller)
	return t, h, err
}

// Identity returns the names of the account.
func (o OwnAccount) Identity() (Identity, error) {
	_, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return Identity{}, err
	}
	return Identity{UserID: h.UserID, Email: h.Client.Email, Wallet: h.Wallet, CreatedAt: h.Client.CreatedAt}, nil
}

// Balances lists the account's balance in each settlement asset.
func (o OwnAccount) Balances() ([]platformwire.Balance, error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return nil, err
	}
	return t.balances(h.ledgerAccount()), nil
}

// Rails lists the rails that the account can have, opened or not.
func (o OwnAccount) Rails() ([]platformwire.Rail, error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return nil, err
	}
	var rails []platformwire.Rail
	for _, offered := range platformwire.CoverageRails {
		if !t.hidden(offered) || h.Rails[offered.Method] != nil {
			rails = append(rails, t.railView(h, offered))
		}
	}
	return rails, nil
}

// OpenRail opens a rail like OpenRail of the platform API, in the currency that its method receives.
func (o OwnAccount) OpenRail(method string) (platformwire.Rail, error) {
	offered, _ := platformwire.CoverageRailOf(platformwire.BankMethod(method)) // OpenRail refuses an unknown method
	response, err := o.platform.OpenRail(o.context(), platformwire.RailCreate{Method: platformwire.BankMethod(method),
		Currency: offered.Currency})
	opened, _ := response.Body.(platformwire.Rail)
	return opened, err
}

// QuotePayin prices an incoming payment like CreatePayin of the platform API.
func (o OwnAccount) QuotePayin(terms platformwire.PayinCreate) (platformwire.Payin, error) {
	response, err := o.platform.CreatePayin(o.context(), terms)
	quoted, _ := response.Body.(platformwire.Payin)
	return quoted, err
}

// SubmitPayin accepts a payin's quote, like a request for its instructions.
func (o OwnAccount) SubmitPayin(id string) (platformwire.Payin, error) {
	if _, err := o.platform.CreatePayinInstructions(o.context(), id); err != nil {
		return platformwire.Payin{}, err
	}
	return o.Payin(id)
}

// Payin reads one payin.
func (o OwnAccount) Payin(id string) (platformwire.Payin, error) {
	response, err := o.platform.GetPayin(o.context(), id)
	read, _ := response.Body.(platformwire.Payin)
	return read, err
}

// RailOf returns the rail of a virtual account of the account.
func (o OwnAccount) RailOf(bankID string) (platformwire.Rail, error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return platformwire.Rail{}, err
	}
	found, err := t.railByID(h, bankID)
	if err != nil {
		return platformwire.Rail{}, err
	}
	return t.railView(h, found.CoverageRail), nil
}

// context returns a context for operations of the platform API on this account.
func (o OwnAccount) context() context.Context {
	c := o.caller
	c.IdempotencyKey = "" // the key belongs to an operation of another surface
	return wire.WithCaller(context.Background(), c)
}

// The methods of money that uses no bank rail, in the words of a contract's priority methods.
const (
	MethodCrypto   = "crypto"
	MethodInternal = "internal"
	MethodRefund   = "refund"
)

// Entry is a transaction of an account with its method.
type Entry struct {
	platformwire.Transaction
	Method        string // a bank method, or crypto, internal, refund
	BankAccountID string // the virtual account that received it
}

// Transactions returns a page of the account's ledger, newest first, and the number of all visible entries. Without
// visible, all are.
func (o OwnAccount) Transactions(visible func(Entry) bool, page wire.Page) (items []Entry, total int, err error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return nil, 0, err
	}
	items, total = wire.NewestFirst(h.history.all.list,
		func(recorded *transaction) bool {
			return !recorded.isForgotten() && (visible == nil || visible(t.entryOf(recorded.Transaction)))
		},
		func(recorded *transaction) Entry { return t.entryOf(recorded.Transaction) }, page)
	return items, total, nil
}

func (t *txn) entryOf(recorded platformwire.Transaction) Entry {
	entry := Entry{Transaction: recorded, Method: MethodCrypto}
	if received := t.payins[recorded.PayinID]; received != nil && received.rail != nil {
		entry.Method, entry.BankAccountID = string(received.rail.Method), received.rail.ID
	}
	if sent := t.payouts[recorded.PayoutID]; sent != nil {
		entry.Method = sent.Contact.To.method()
	}
	if recorded.Type == platformwire.TransactionTypeRefund {
		entry.Method = MethodRefund
	}
	return entry
}

// method returns the method by which money reaches a destination.
func (d destination) method() string {
	switch {
	case d.Bank != nil:
		return string(d.Bank.AccountType)
	case d.Email != nil:
		return MethodInternal
	default:
		return MethodCrypto
	}
}

// Destination is where a contact of the app API is paid: the account behind an email, or a wallet.
type Destination struct {
	Email                 string
	Chain, Token, Address string
}

// PaymentResult says what a payment did.
type PaymentResult struct {
	TransactionID string
	Hash          string
	Method        string // crypto or internal
	Quote         platformwire.Quote
}

// CheckDollars refuses an amount that is not positive, is too long, or has more decimals than the settlement asset.
func CheckDollars(amount decimal.Decimal) error { return checkAmount(amount, assetDecimals) }

// Resolve refuses a destination without an existing account.
func (o OwnAccount) Resolve(to Destination) error {
	t, _, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return err
	}
	_, err = t.contactFor(o.caller.Owner, to)
	return err
}

// Price prices a payment in dollars.
func (o OwnAccount) Price(to Destination, amount decimal.Decimal) (platformwire.Quote, error) {
	t, _, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return platformwire.Quote{}, err
	}
	paid, err := t.payableContact(o.caller.Owner, to)
	if err != nil {
		return platformwire.Quote{}, err
	}
	quote, err := t.currentQuote(paid, amount)
	if err != nil {
		return platformwire.Quote{}, err
	}
	return quote, nil
}

// Pay moves dollars out of the account at once, at the given price or, without one, at the present price. If the
// balance is too low, the refusal is payout_not_fundable, with the available amount.
func (o OwnAccount) Pay(
	to Destination, amount decimal.Decimal, agreed *platformwire.Quote, resource string,
) (PaymentResult, error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return PaymentResult{}, err
	}
	paid, err := t.payableContact(o.caller.Owner, to)
	if err != nil {
		return PaymentResult{}, err
	}
	if agreed == nil {
		price, err := t.currentQuote(paid, amount)
		if err != nil {
			return PaymentResult{}, err
		}
		agreed = &price
	}
	return t.pay(h, t.receiver(paid.To, settlementDollars), *agreed, resource)
}

// PayByEmail moves dollars to the account with an email, or out of the host if there is none.
func (o OwnAccount) PayByEmail(email string, amount decimal.Decimal, resource string) (PaymentResult, error) {
	t, h, err := o.begin()
	defer o.platform.commit()
	if err != nil {
		return PaymentResult{}, err
	}
	receiver, _ := t.holderByEmail(o.caller.Owner, email)
	return t.pay(h, receiver, platformwire.Quote{
		SourceAmount: amount, SourceCurrency: settlementDollars,
		DestinationAmount: amount, DestinationCurrency: settlementDollars, Rate: decimal.NewFromInt(1),
	}, resource)
}

// contactFor returns a contact for a destination.
func (t *txn) contactFor(owner string, to Destination) (*contact, error) {
	if to.Email == "" {
		return &contact{To: walletAt(to.Chain, to.Token, to.Address)}, nil
	}
	found, err := t.accountByEmail(owner, to.Email)
	return &contact{To: found}, err
}

// payableContact returns the contact of a destination, or the refusal if it cannot be paid.
func (t *txn) payableContact(owner string, to Destination) (*contact, error) {
	paid, err := t.contactFor(owner, to)
	if err != nil {
		return nil, err
	}
	if blockers := t.blockers(paid); len(blockers) > 0 {
		return nil, wire.ContactNotPayable(blockers)
	}
	return paid, nil
}

// currentQuote returns the present price of dollars for a contact.
func (t *txn) currentQuote(paid *contact, amount decimal.Decimal) (platformwire.Quote, error) {
	if err := CheckDollars(amount); err != nil {
		return platformwire.Quote{}, err
	}
	return t.quote(paid, settlementDollars, amount, decimal.Zero)
}

// pay settles at once: these payments are one transaction on chain.
func (t *txn) pay(h, receiver *holder, quote platformwire.Quote, resource string) (PaymentResult, error) {
	available := t.ledger.balance(h.ledgerAccount(), quote.SourceCurrency)
	if available.LessThan(quote.SourceAmount) {
		return PaymentResult{}, wire.PayoutNotFundable("The balance does not cover the amount.", map[string]any{
			"available": available.String(), "currency": quote.SourceCurrency,
		})
	}
	paid := PaymentResult{Hash: newHash(), Method: MethodCrypto, Quote: quote}
	delivered := quote.SourceAmount.Sub(quote.Fee)
	movement := t.ledger.movement("transfer", resource, t.now)
	movement.transfer(h.ledgerAccount(), accountFees, quote.SourceCurrency, quote.Fee)
	entry := platformwire.Transaction{
		Type:            platformwire.TransactionTypePayout,
		Direction:       platformwire.TransactionDirectionOut,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          quote.SourceAmount,
		Currency:        platformwire.Asset(quote.SourceCurrency),
		TransactionHash: paid.Hash,
		CreatedAt:       t.now,
	}
	paid.TransactionID = t.record(h, entry).ID
	if receiver == nil {
		movement.transfer(h.ledgerAccount(), accountOutside, quote.SourceCurrency, delivered)
		return paid, nil
	}
	paid.Method = MethodInternal
	movement.transfer(h.ledgerAccount(), receiver.ledgerAccount(), quote.SourceCurrency, delivered)
	entry.Type, entry.Direction, entry.Amount = platformwire.TransactionTypeDeposit,
		platformwire.TransactionDirectionIn, delivered
	t.record(receiver, entry)
	return paid, nil
}

// Method returns the method by which money reaches the destination.
func (d Destination) Method() string {
	if d.Email != "" {
		return MethodInternal
	}
	return MethodCrypto
}
