package payments

import (
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Services are the clients that a processor pays with. Make them with [Integrator] or [SelfServe]. The zero Services
// pay nothing: they are for a process that only reads and decides.
type Services struct {
	account   func(id dapi.ClientID) (account, bool)
	transfers *appapi.Transfers
}

// account is what the processor needs of one account.
type account struct {
	payouts      *dapi.Payouts
	escrows      *dapi.Escrows
	transactions *dapi.Transactions
}

// Integrator pays from the accounts of an integrator's clients, and from the integrator's own account.
func Integrator(platform *dapi.Integrator) Services {
	if platform == nil {
		return Services{}
	}
	return Services{account: func(id dapi.ClientID) (account, bool) {
		of := platform.For(id)
		if id == "" {
			of = platform.Self()
		}
		return account{of.Payouts, of.Escrows, of.Transactions}, true
	}}
}

// SelfServe pays from one account, which its owner's key signs for. A submission must not name an account.
func SelfServe(platform *dapi.SelfServe) Services {
	if platform == nil {
		return Services{}
	}
	return Services{account: func(id dapi.ClientID) (account, bool) {
		return account{platform.Payouts, platform.Escrows, platform.Transactions}, id == ""
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
		return invalid(operation, "account", "unexpected", "must be empty: with self-serve there is one account")
	}
	return nil
}

// of returns the services of a payment's account.
func (s Services) of(r *Record) account {
	of, _ := s.account(r.Account)
	return of
}
