package payments

import (
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Services are the clients that a processor pays with. Make them with [IntegratorServices] or [SelfServeServices]. The zero Services
// pay nothing: they are for a process that only reads and decides.
type Services struct {
	account   func(id dapi.ClientID) (account, bool)
	single    bool // there is one account, which a payment need not name
	transfers *appapi.Transfers
}

// account is what the processor needs of one account.
type account struct {
	payouts      *dapi.Payouts
	escrows      *dapi.Escrows
	transactions *dapi.Transactions
}

// Integrator pays from the accounts of an integrator's clients, and from the integrator's own account, which a payment
// names by [OwnAccount].
func IntegratorServices(platform *dapi.Integrator) Services {
	if platform == nil {
		return Services{}
	}
	return Services{account: func(id dapi.ClientID) (account, bool) {
		of := platform.For(id)
		if id == OwnAccount {
			of = platform.Self()
		}
		return account{of.Payouts, of.Escrows, of.Transactions}, id != ""
	}}
}

// SelfServe pays from one account, which its owner's key signs for. A payment need not name it.
func SelfServeServices(platform *dapi.SelfServe) Services {
	if platform == nil {
		return Services{}
	}
	return Services{single: true, account: func(id dapi.ClientID) (account, bool) {
		return account{platform.Payouts, platform.Escrows, platform.Transactions}, id == OwnAccount
	}}
}

// WithTransfers returns the services with the app API, which [TransferPayment] needs. Services with transfers alone are
// Services{}.WithTransfers(app).
func (s Services) WithTransfers(app *appapi.Client) Services {
	if app != nil {
		s.transfers = app.Transfers
	}
	return s
}

// check refuses a payment that these services cannot make.
func (s Services) check(operation string, r *Record) error {
	if r.Kind == KindTransfer {
		if s.transfers == nil {
			return invalid(operation, "services", errors.FieldMissing,
				"have no app API for transfers: make the processor with Services.WithTransfers")
		}
		return nil
	}
	if s.account == nil {
		return invalid(operation, "services", errors.FieldMissing,
			"have no platform API: make the processor with Integrator or SelfServe")
	}
	if _, ok := s.account(r.Account); !ok {
		if s.single {
			return invalid(operation, "account", "unexpected", "must be payments.OwnAccount, or empty: with "+
				"self-serve there is one account")
		}
		return checkAccount(operation, r.Account)
	}
	if operation != "Submit" {
		return nil
	}
	switch of := s.of(r); r.Kind { // nothing is stored that this process knows to be impossible
	case KindPayout:
		return outcome.CheckPayout(of.payouts, *r.Payout, r.Bounds, string(r.Key))
	case KindEscrow:
		return outcome.CheckDeal(of.escrows, *r.Escrow, string(r.Key))
	}
	return nil
}

// OwnAccount is the account of the credential itself, where the id of a client would be. With [IntegratorServices], it is paid
// from by this name alone, so that a forgotten account does not pay from the integrator's own money.
const OwnAccount dapi.ClientID = "self"

// named returns the account that an id names. With one account, no id names it as well.
func (s Services) named(id dapi.ClientID) dapi.ClientID {
	if id == "" && s.single {
		return OwnAccount
	}
	return id
}

// checkAccount refuses what names no account.
func checkAccount(operation string, id dapi.ClientID) error {
	switch id {
	case OwnAccount:
		return nil
	case "":
		return invalid(operation, "account", errors.FieldMissing, "is empty: pass the id of the client, or "+
			"payments.OwnAccount for the account of the credential itself")
	}
	return transport.Validate(operation, func(c *transport.Check) { c.ClientID("account", string(id)) })
}

// of returns the services of a payment's account.
func (s Services) of(r *Record) account {
	of, _ := s.account(r.Account)
	return of
}
