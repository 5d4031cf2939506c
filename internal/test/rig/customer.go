package rig

import (
	"path/filepath"
	"testing"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Customer is a client of the host that can pay, and somebody whom it pays.
type Customer struct {
	Client  dapi.ClientID
	Contact dapi.ContactID
}

// largestDeposit is the most that the host takes in one call, in USDC.
var largestDeposit = decimal.NewFromInt(100)

// Customer makes a client with this balance in USDC and a contact with a bank account in the euro area.
func (h *Host) Customer(t testing.TB, balance decimal.Decimal) Customer {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("rig: a customer: %v", err)
		}
	}
	ctx := t.Context()
	platform, err := dapi.NewIntegrator(h.URL(), dapi.Developer{Email: h.Credentials().Email,
		Key: h.Credentials().Key}, moneymovement.WithoutPacing())
	fail(err)
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	fail(err)
	_, err = platform.Clients.WaitReady(ctx, client.ID)
	fail(err)
	account := platform.For(client.ID)
	for left := balance; left.IsPositive(); left = left.Sub(largestDeposit) {
		// Without a key of its own, a deposit with the same terms is the same deposit.
		_, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.Min(left, largestDeposit),
			Currency: dapi.USDC},
			moneymovement.IdempotencyKey(moneymovement.DeriveKey("deposit", left.String())))
		fail(err)
	}
	contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Supplier"}})})
	fail(err)
	return Customer{Client: client.ID, Contact: contact.ID}
}

// KeyFile writes the developer key of the host's first account to a file that ends with the test, and returns its path.
func (h *Host) KeyFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "developer.pem")
	if err := h.Credentials().Key.Save(path); err != nil {
		t.Fatalf("rig: %v", err)
	}
	return path
}
