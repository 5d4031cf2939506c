package dapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// SelfServe makes the calls of one account, whose owner holds the only key (the self-serve product). Make it with
// [NewSelfServe]. It is safe for concurrent use.
//
// It has the services that every account can use. Only an integrator has clients, with their verification and rails:
// see [Integrator] and [Account]. For the rails of your own account, see package appapi.
//
// # Balance
//
// The platform API describes no call that returns the balance of a self-serve account. Only clients have balances there
// ([Client].Balances). There are two other ways:
//
//   - The app API describes GET /balance. It takes an app API key, which is another credential: see package appapi.
//   - Add up [Transaction.Signed] of all entries of [Transactions.All] that have not failed, for each currency. On the
//     sandbox host, the sum is the balance. The description does not promise it: it does not say that the ledger goes
//     back to the first entry, that fees are in the amounts, or which entries count.
type SelfServe struct {
	Payins       *Payins
	Contacts     *Contacts
	Payouts      *Payouts
	Escrows      *Escrows
	Transactions *Transactions
	Chains       *Chains
	// Sandbox emulates incoming money and status changes. It works on sandbox hosts only.
	Sandbox *Sandbox

	platform *platform
}

// NewSelfServe returns a [SelfServe] for the key of an account. It sends nothing. Its arguments and errors are the same
// as those of [NewIntegrator].
func NewSelfServe(baseURL string, developer Developer, options ...moneymovement.Option) (*SelfServe, error) {
	p, err := newPlatform(baseURL, developer, options)
	if err != nil {
		return nil, err
	}
	own := p.account(p.low())
	return &SelfServe{
		Payins: own.Payins, Contacts: own.Contacts, Payouts: own.Payouts, Escrows: own.Escrows,
		Transactions: own.Transactions, Chains: own.Chains, Sandbox: own.Sandbox, platform: p,
	}, nil
}

// UseKey does the same as [Integrator.UseKey], for this account.
func (s *SelfServe) UseKey(key signing.Signer) error { return transport.Of(s).platform.useKey(key) }
