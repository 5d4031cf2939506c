package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// seedEmail is the email of the client that -seed prepares. It identifies the client.
const seedEmail = "acme@example.com"

// What the client gets. Each credit is as large as the host gives at once.
var (
	seedCredit     = decimal.NewFromInt(100)
	seedCurrencies = []dapi.Asset{dapi.USDC, dapi.EURC}
	seedBank       = dapi.ContactCreate{Name: "Example supplier", Account: dapi.SEPA(dapi.BankFields{
		IBAN: "DE89370400440532013000", AccountHolderName: "Example supplier"})}
	seedWallet = dapi.ContactCreate{Name: "Example wallet", Account: dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x1111111111111111111111111111111111111111", ChainID: "base", Currency: "USDC"})}
	seedRail = dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}
)

// seeded are the ids of what -seed prepared.
type seeded struct {
	Client         dapi.ClientID  `json:"client"`
	Email          string         `json:"email"`
	BankContact    dapi.ContactID `json:"bankContact"`
	WalletContact  dapi.ContactID `json:"walletContact"`
	VirtualAccount dapi.BankID    `json:"virtualAccount,omitzero"`
	// NoVirtualAccount says why VirtualAccount is empty, for example because a setting of the host does not allow one.
	NoVirtualAccount string `json:"noVirtualAccount,omitzero"`
	AppKeyID         string `json:"appKeyId,omitzero"`
}

const (
	seedTime  = 30 * time.Second
	pollLeast = 10 * time.Millisecond
	pollMost  = 250 * time.Millisecond
)

// prepare makes what -seed asks for with calls of the SDK to the host. It changes nothing that is there already: the
// email identifies the client, and the account details a contact.
func prepare(ctx context.Context, host *sandbox.Host) (*seeded, error) {
	ctx, cancel := context.WithTimeout(ctx, seedTime)
	defer cancel()
	address, stop, err := serveOnLoopback(ctx, host)
	if err != nil {
		return nil, err
	}
	defer stop()
	own := host.Credentials()
	platform, err := dapi.NewIntegrator("http://"+address, dapi.Developer{Email: own.Email, Key: own.Key},
		moneymovement.WithUserAgent("moneymove-seed/"+moneymovement.Version),
		moneymovement.WithPolling(pollLeast, pollMost))
	if err != nil {
		return nil, err
	}
	seed, err := prepareClient(ctx, platform)
	if err != nil {
		return nil, fmt.Errorf("-seed: %w; if a setting of the host is the reason, start it without -seed, and set it "+
			"back", err)
	}
	for _, key := range host.AppKeys() {
		if key.Key.Reveal() == own.APIKey.Reveal() {
			seed.AppKeyID = key.ID
		}
	}
	return seed, nil
}

// serveOnLoopback serves the host on a port of its own: it is not announced yet, and may not listen on loopback.
func serveOnLoopback(ctx context.Context, host *sandbox.Host) (address string, stop func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: host, ReadHeaderTimeout: headerTime}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

func prepareClient(ctx context.Context, platform *dapi.Integrator) (*seeded, error) {
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: seedEmail, Type: dapi.ClientTypeBusiness,
		EntityName: "Acme", Country: "DE"})
	if err != nil {
		return nil, err
	}
	if _, err := platform.Clients.WaitReady(ctx, client.ID); err != nil {
		return nil, err
	}
	account, seed := platform.For(client.ID), &seeded{Client: client.ID, Email: seedEmail}
	if err := fund(ctx, account, "client"); err != nil {
		return nil, err
	}
	if err := fund(ctx, platform.Self(), "self"); err != nil { // which the app key pays from
		return nil, err
	}
	bank, err := account.Contacts.Create(ctx, seedBank)
	if err != nil {
		return nil, err
	}
	purse, err := account.Contacts.Create(ctx, seedWallet)
	if err != nil {
		return nil, err
	}
	seed.BankContact, seed.WalletContact = bank.ID, purse.ID
	rail, err := openRail(ctx, account)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		seed.NoVirtualAccount = err.Error()
		return seed, nil //nolint:nilerr // the rest is ready, and the announcement says why this is not
	}
	seed.VirtualAccount = rail.VirtualAccount.ID
	return seed, nil
}

// fund credits an account once in each currency.
func fund(ctx context.Context, account *dapi.Account, of string) error {
	funded := map[dapi.Asset]bool{}
	credits := dapi.ListTransactionsParams{Type: dapi.TransactionTypeDeposit, Limit: 100}
	for entry, err := range account.Transactions.All(ctx, credits) {
		if err != nil {
			return err
		}
		funded[entry.Currency] = true
	}
	treasury, err := account.Sandbox.Treasury(ctx)
	if err != nil {
		return err
	}
	for _, currency := range seedCurrencies {
		if funded[currency] {
			continue
		}
		credit := dapi.DepositCreate{Amount: decimal.Min(seedCredit, treasury.MaxCredit), Currency: currency}
		key := moneymovement.DeriveKey("seed", of, string(currency))
		if _, err := account.Sandbox.Deposit(ctx, credit, moneymovement.IdempotencyKey(key)); err != nil {
			return err
		}
	}
	return nil
}

var errRejected = errors.New("the verification is rejected")

// openRail verifies the client, and opens a virtual account.
func openRail(ctx context.Context, account *dapi.Account) (*dapi.Rail, error) {
	verification, err := account.Verification.Get(ctx)
	if err != nil {
		return nil, err
	}
	if verification.Status != model.KYCStatusApproved {
		_, err := account.Verification.Save(ctx, dapi.KYBInformation{
			Applicant:   dapi.Applicant{LegalName: "Acme", Country: "DE"}.Map(),
			DocumentIDs: []string{"doc_registration"},
		})
		if err != nil {
			return nil, err
		}
		if _, err := account.Verification.Complete(ctx); err != nil {
			return nil, err
		}
		if verification, err = account.Verification.WaitDecided(ctx); err != nil {
			return nil, err
		}
		if verification.Status != model.KYCStatusApproved {
			return nil, errRejected
		}
	}
	if _, err := account.Rails.Open(ctx, seedRail); err != nil {
		return nil, err
	}
	return account.Rails.WaitActive(ctx, seedRail.Method, seedRail.Currency)
}
