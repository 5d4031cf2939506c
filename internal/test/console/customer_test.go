package console_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// customer is a client of the integrator, through the SDK and a real connection.
type customer struct {
	*dapi.Account
	t       *testing.T
	id      dapi.ClientID
	contact dapi.ContactID
}

// newCustomer makes a client with 50 USDC and a contact with a bank account.
func newCustomer(p *page, email string) *customer {
	p.Helper()
	credentials := p.host.Credentials()
	platform, err := dapi.NewIntegrator(p.server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(p, err)
	client, err := platform.Clients.Create(p.Context(), dapi.ClientCreate{Email: email})
	require.NoError(p, err)
	account := platform.For(client.ID)
	_, err = account.Sandbox.Deposit(p.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	require.NoError(p, err)
	contact, err := account.Contacts.Create(p.Context(), dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Example supplier"})})
	require.NoError(p, err)
	return &customer{Account: account, t: p.T, id: client.ID, contact: contact.ID}
}

// asked is a payout of an amount to the contact.
func (c *customer) asked(amount string) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: c.contact, Amount: decimal.RequireFromString(amount), Currency: dapi.USDC}
}

// pay pays the contact.
func (c *customer) pay(amount, key string) *dapi.Payout {
	c.t.Helper()
	paid, err := c.Payouts.Pay(c.t.Context(), c.asked(amount), moneymovement.Key(key), dapi.PayTerms{})
	require.NoError(c.t, err)
	return paid.Payout
}

// deal creates an escrow deal, which waits for its approval.
func (c *customer) deal() (dapi.EscrowCreate, *dapi.Escrow) {
	c.t.Helper()
	terms := dapi.EscrowCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC,
		Payee: "0x52908400098527886E0F7030069857D2E4169EE7"}
	created, err := c.Escrows.Create(c.t.Context(), terms, moneymovement.IdempotencyKey("deal-1"))
	require.NoError(c.t, err)
	return terms, created
}

// verify submits what a verification needs.
func verify(t *testing.T, c *customer) {
	t.Helper()
	_, err := c.Verification.Save(t.Context(), dapi.KYBInformation{
		Applicant: dapi.Applicant{LegalName: "Acme", Country: "DE"}.Map(), DocumentIDs: []string{"doc-1"},
	})
	require.NoError(t, err)
	_, err = c.Verification.Complete(t.Context())
	require.NoError(t, err)
}
