package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Own is an integrator's own account for the other surfaces of the service. The app API and the reference endpoints act
// for the account that the platform API uses without X-Service-Account, with the same balance, rails and ledger.
type Own struct {
	platform *Platform
	caller   wire.Caller
}

// Own returns the account that a caller of another surface acts for. It creates the account at the first request.
func (p *Platform) Own(c wire.Caller) Own {
	c.Account = wire.Self
	return Own{p, c}
}

// Identity has the names of an account.
type Identity struct {
	UserID    string // a UUID
	Email     string
	Wallet    string // on Base
	CreatedAt time.Time
}

// enter takes the lock for the account. The caller must release it. The account always exists: it is created if needed.
func (o Own) enter() (*turn, *holder, error) {
	t := o.platform.enter()
	h, err := t.holderOf(o.caller)
	return t, h, err
}

// Identity returns the names of the account.
func (o Own) Identity() (Identity, error) {
	_, h, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return Identity{}, err
	}
	return Identity{UserID: h.UserID, Email: h.Client.Email, Wallet: h.Wallet, CreatedAt: h.Client.CreatedAt}, nil
}

// Balances lists the account's balance in each settlement asset.
func (o Own) Balances() ([]platformwire.Balance, error) {
	t, h, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return nil, err
	}
	return t.balances(h.book()), nil
}

// Rails lists the rails that the account can have, opened or not.
func (o Own) Rails() ([]platformwire.Rail, error) {
	t, h, err := o.enter()
	defer o.platform.leave()
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
func (o Own) OpenRail(method string) (platformwire.Rail, error) {
	offered, _ := platformwire.CoverageRailOf(platformwire.BankMethod(method)) // OpenRail refuses an unknown method
	answer, err := o.platform.OpenRail(o.context(), platformwire.RailCreate{Method: platformwire.BankMethod(method),
		Currency: offered.Currency})
	opened, _ := answer.Body.(platformwire.Rail)
	return opened, err
}

// QuotePayin prices an incoming payment like CreatePayin of the platform API.
func (o Own) QuotePayin(terms platformwire.PayinCreate) (platformwire.Payin, error) {
	answer, err := o.platform.CreatePayin(o.context(), terms)
	quoted, _ := answer.Body.(platformwire.Payin)
	return quoted, err
}

// SubmitPayin accepts a payin's quote, like a request for its instructions.
func (o Own) SubmitPayin(id string) (platformwire.Payin, error) {
	if _, err := o.platform.CreatePayinInstructions(o.context(), id); err != nil {
		return platformwire.Payin{}, err
	}
	return o.Payin(id)
}

// Payin reads one payin.
func (o Own) Payin(id string) (platformwire.Payin, error) {
	answer, err := o.platform.GetPayin(o.context(), id)
	read, _ := answer.Body.(platformwire.Payin)
	return read, err
}

// RailOf returns the rail of a virtual account of the account.
func (o Own) RailOf(bankID string) (platformwire.Rail, error) {
	t, h, err := o.enter()
	defer o.platform.leave()
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
func (o Own) context() context.Context {
	c := o.caller
	c.IdempotencyKey = "" // the key belongs to an operation of another surface
	return wire.WithCaller(context.Background(), c)
}
