package dapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Developer is the credential of the platform API: an account and one of its developer keys. It is no credential of
// another surface.
//
// Source: Authentication, Platform API.
type Developer struct {
	// Email is the account's.
	Email string
	// Key signs logins and approvals: a *signing.DeveloperKey, a wallet key, or a signer of the caller's own.
	Key signing.Signer
	// Store hands the session to another process or the next start; nil keeps it in memory only.
	Store TokenStore
	// Verifier judges approvals in place of signing.CheckApproval, for a service whose approvals are not readable. Nil
	// refuses those. An approval that cannot be read cannot be told from a login challenge either: set
	// ChallengeVerifier as well.
	Verifier signing.Verifier
	// ChallengeVerifier has the last word on the bytes that a login signs, after signing.CheckChallenge. Nil leaves it
	// at that.
	ChallengeVerifier signing.ChallengeVerifier
}

// Credential names the developer at a service, as [Session].Credential does: a digest of the service's address, the
// email and the public key, which tells credentials apart without showing them. It is for stores that keep sessions of
// several. A developer without a key has the empty name.
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

// Integrator is the whitelabel product: an integrator's backend that created clients and signs for them. It is safe for
// concurrent use.
//
// Source: What the service does.
type Integrator struct {
	// Clients are the accounts that the integrator created.
	Clients *Clients

	platform *platform
}

// Account acts as one account: the integrator's own, or one client's. It is safe for concurrent use and cheap to make.
type Account struct {
	// Verification and Rails are a client's; the others are any account's.
	Verification *Verification
	Rails        *Rails
	Payins       *Payins
	Contacts     *Contacts
	Payouts      *Payouts
	Escrows      *Escrows
	Transactions *Transactions
	Chains       *Chains
	// Sandbox emulates credits and lifecycle events; only sandbox hosts answer it.
	Sandbox *Sandbox

	platform *platform
}

// NewIntegrator makes the client of an integrator. baseURL is the service's address, such as https://host, without
// /dapi/v1; it has to be https unless it is loopback. Nothing is sent before the first call, which logs in. Bad input
// is *errors.InvalidInput.
func NewIntegrator(baseURL string, developer Developer, options ...moneymovement.Option) (*Integrator, error) {
	p, err := newPlatform(baseURL, developer, options)
	if err != nil {
		return nil, err
	}
	return &Integrator{platform: p, Clients: &Clients{p.low()}}, nil
}

// For acts for a client: its calls carry the client's id as X-Service-Account. The id is checked by the calls, which
// refuse an empty one, and one without its prefix cl_, as *errors.InvalidInput.
//
// Source: Authentication, Platform API.
func (i *Integrator) For(client ClientID) *Account {
	platform := transport.Of(i).platform
	low := platform.low()
	low.account, low.acting = client, true
	return platform.account(low)
}

// Self acts as the integrator itself, with its own account. The description does not show an operation of the platform
// API that reads the balance of this account: see [SelfServe]. That of a client is in [Client].Balances.
func (i *Integrator) Self() *Account {
	platform := transport.Of(i).platform
	return platform.account(platform.low())
}

// platform is what all accounts of one credential share: connections, session, rate windows, retry budget, and the
// lines of payments that wait for room in them.
type platform struct {
	baseURL   string
	transport *transport.Client
	logger    *slog.Logger
	keys      keyring
	chains    *liveChains
	memory    *paymentMemory
	payouts   *paymentLine
	deals     *paymentLine
	seen      *signing.SeenApprovals
}

func newPlatform(baseURL string, developer Developer, options []moneymovement.Option) (*platform, error) {
	if err := developer.validate("New"); err != nil {
		return nil, err
	}
	config := transport.ConfigOf(moneymovement.Version, options)
	paced := config.Limiter == nil && !config.Unpaced
	if paced {
		config.Limiter = transport.NewLocalLimiter(transport.StatedWindows())
	}
	config.Auth = nil // whatever the options of another surface brought along
	client, err := transport.New(baseURL, "/dapi/v1", config)
	if err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	writes := transport.StatedWindows()[transport.WindowWrites]
	p := &platform{
		baseURL: baseURL, transport: client, logger: config.Logger, memory: newPaymentMemory(),
		seen:    new(signing.SeenApprovals),
		payouts: newPaymentLine(opBookPayout.ID, writes, payoutApproval, paced, config.Logger),
		deals:   newPaymentLine(opCreateEscrow.ID, writes, escrowApproval, paced, config.Logger),
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
	p = transport.Of(p)
	return lowLevel{transport: p.transport, keys: &p.keys}
}

func (p *platform) account(low lowLevel) *Account {
	p = transport.Of(p)
	approver := approver{low: low, account: low.actingFor(), clock: p.transport, seen: p.seen}
	return &Account{
		Verification: &Verification{low},
		Rails:        &Rails{low},
		Payins:       &Payins{low},
		Contacts:     &Contacts{low},
		Payouts:      &Payouts{low, approver, p.chains, p.memory, p.payouts},
		Escrows:      &Escrows{low, approver, p.chains, p.memory, p.deals},
		Transactions: &Transactions{low},
		Chains:       &Chains{low, p.chains},
		Sandbox:      &Sandbox{low, p.chains},
		platform:     p,
	}
}
