package dapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Developer is the credential of the platform API: the email of an account, and one of its developer keys. It does not
// work for the other APIs of the service, such as that of package appapi.
//
// # Session
//
// The first call logs in: the service sends a challenge, the key signs it, and the service returns an access token and
// a refresh token. All goroutines share this session. The access token is valid for 60 minutes. The SDK renews it 90
// seconds before it expires, or in the last quarter of a shorter life, before all other calls. If the service refuses a
// call with token_expired, the SDK refreshes the token and sends the call once more. If the service refuses the refresh
// token, the SDK logs in again. [Integrator.UseKey] changes to another key while calls are running.
//
// The same key signs challenges and approvals, and the service chooses the bytes of both. So the SDK never signs a
// challenge that has the form of an approval, or that the service has sent as an approval before. The error is
// *signing.ChallengeRefused.
type Developer struct {
	// Email is the email of the account.
	Email string
	// Key signs logins and approvals. It is a *signing.DeveloperKey, a wallet key, or your own signer.
	Key signing.Signer
	// Store keeps the session for other processes and for the next start of the program. If it is nil, the session is
	// kept in memory only.
	Store TokenStore
	// StoreRequired makes a call that needs a new token fail with *TokenStoreUnavailable if the Store cannot be
	// reached. Otherwise, the process then logs in by itself. Set it if so many processes share the session that they
	// must never all log in: the service allows 10 logins in 5 minutes for an email.
	StoreRequired bool
	// Verifier checks approvals instead of signing.CheckApproval. Set it for a service whose approvals the SDK cannot
	// read. If it is nil, such approvals are refused. Set ChallengeVerifier as well, because the SDK then cannot see
	// whether a login challenge is an approval.
	Verifier signing.Verifier
	// ChallengeVerifier decides whether a login signs a challenge. It gets the result of signing.CheckChallenge, which
	// decides if ChallengeVerifier is nil. signing.OnlyChallenges returns a strict one. Set it if the service has its
	// own format of approvals, which the SDK cannot recognize.
	ChallengeVerifier signing.ChallengeVerifier
	// ChainNames allows an approval to name a chain by another code. You name chains by their EVM ids, and an approval
	// may have the id or a code. The SDK knows the codes base, ethereum, arbitrum, optimism and polygon. It does not
	// ask the service which code belongs to which chain, because the service also writes the approval. A code is a
	// short word, which must not name another chain.
	ChainNames map[ChainCode]ChainID
}

// Credential returns a name for this developer at a service, the same as [Session].Credential. The name is a digest of
// the service's address, the email and the public key. It differs for different credentials and does not show them. Use
// it in a store that keeps the sessions of several credentials. For a developer without a key it returns "".
func (d Developer) Credential(baseURL string) string {
	if d.Key == nil {
		return ""
	}
	digest := sha256.New()
	for _, part := range []string{strings.TrimRight(baseURL, "/"), d.Email, string(d.Key.PublicKey())} {
		fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(digest.Sum(nil)[:16])
}

// Integrator makes the calls of an integrator's backend, which creates clients and signs for them (the whitelabel
// product). Make it with [NewIntegrator]. It is safe for concurrent use.
type Integrator struct {
	// Clients creates and reads the accounts of the integrator's customers.
	Clients *Clients

	platform *platform
}

// Account has the services of one account: the integrator's own account, or the account of one client. [Integrator.For]
// and [Integrator.Self] return one. It is safe for concurrent use, and costs little to make.
type Account struct {
	// Verification and Rails are for clients only. The other services work for every account.
	Verification *Verification
	Rails        *Rails
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

// NewIntegrator returns an [Integrator] for a developer key. It sends nothing: the first call logs in.
//
// baseURL is the service's address without /dapi/v1, such as https://host. It must be https, except for a loopback
// address. NewIntegrator fails with *errors.InvalidInput if the address or a field of the developer is invalid.
func NewIntegrator(baseURL string, developer Developer, options ...moneymovement.Option) (*Integrator, error) {
	p, err := newPlatform(baseURL, developer, options)
	if err != nil {
		return nil, err
	}
	return &Integrator{platform: p, Clients: &Clients{p.low()}}, nil
}

// For returns the services of a client. Their calls carry the client's id in the header X-Service-Account. For does not
// check the id. The calls fail with *errors.InvalidInput if it is empty or does not begin with cl_.
func (i *Integrator) For(client ClientID) *Account {
	platform := transport.OrNew(i).platform
	low := platform.low()
	low.account, low.acting = client, true
	return platform.account(low)
}

// Self returns the services of the integrator's own account. The platform API describes no call that returns the
// balance of this account: see [SelfServe]. The balances of a client are in [Client].Balances.
func (i *Integrator) Self() *Account {
	platform := transport.OrNew(i).platform
	return platform.account(platform.low())
}

// platform is what all accounts of one credential share: connections, session, rate windows, retry budget, and the
// queues of payments.
type platform struct {
	baseURL   string
	transport *transport.Client
	logger    *slog.Logger
	keys      keyring
	chains    *liveChains
	names     chainNames
	payouts   *paymentQueue
	escrows   *paymentQueue
	seen      *signing.SeenApprovals
}

// mostItems is how many items a list of a response may have. A page has at most 100, as the description states.
const mostItems = 1000

func newPlatform(baseURL string, developer Developer, options []moneymovement.Option) (*platform, error) {
	if err := developer.validate("New"); err != nil {
		return nil, err
	}
	config := transport.Config{
		ClientSettings: moneymovement.ClientSettingsOf(options...), Most: mostItems, StateShown: stateShown,
	}
	windows := ratewindow.ShareOfStatedWindows(config.RateShare)
	paced := config.RateLimiter == nil && !config.Unpaced
	if paced {
		config.RateLimiter = ratewindow.New(windows, nil)
	}
	client, err := transport.New(baseURL, "/dapi/v1", config)
	if err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	names, err := newChainNames(developer.ChainNames)
	if err != nil {
		return nil, err
	}
	writes := windows[moneymovement.WindowWrites]
	p := &platform{
		baseURL: baseURL, transport: client, logger: config.Logger,
		names:   names,
		seen:    new(signing.SeenApprovals),
		payouts: newPaymentQueue(opBookPayout.ID, writes, payoutApproval, paced, config.Logger),
		escrows: newPaymentQueue(opCreateEscrow.ID, writes, escrowApproval, paced, config.Logger),
	}
	p.chains = newLiveChains(p.low())
	p.use(developer)
	return p, nil
}

func (d Developer) validate(operation string) error {
	return transport.Validate(operation, func(c *transport.Check) {
		c.Text("email", d.Email, transport.Rule{Required: true})
		c.Missing("key", d.Key == nil || len(d.Key.PublicKey()) == 0)
	})
}

func (p *platform) low() lowLevel {
	p = transport.OrNew(p)
	return lowLevel{transport: p.transport, keys: &p.keys}
}

func (p *platform) account(low lowLevel) *Account {
	p = transport.OrNew(p)
	approver := approver{low: low, account: low.actingFor(), clock: p.transport, seen: p.seen}
	return &Account{
		Verification: &Verification{low},
		Rails:        &Rails{low},
		Payins:       &Payins{low},
		Contacts:     &Contacts{low, p.logger},
		Payouts:      &Payouts{low, approver, p.chains, p.names, paymentMemory{p.transport.Keys()}, p.payouts},
		Escrows:      &Escrows{low, approver, p.chains, paymentMemory{p.transport.Keys()}, p.escrows},
		Transactions: &Transactions{low},
		Chains:       &Chains{low, p.chains},
		Sandbox:      &Sandbox{low, p.chains},
		platform:     p,
	}
}

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
func (s *SelfServe) UseKey(key signing.Signer) error { return transport.OrNew(s).platform.useKey(key) }
