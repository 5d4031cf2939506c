package console_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestPaymentAppearsOnThePage(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	p.see("No request yet")
	payer := newCustomer(p, "acme@example.com")
	payout := payer.pay("12.50", "invoice-42")

	confirm := "/dapi/v1/payouts/" + string(payout.ID) + "/confirm"
	p.see("POST " + confirm)
	newest := `document.querySelector("#request-table tbody tr").innerText`
	p.until(newest + `.includes("acme@example.com")`) // the page learns the names of accounts a little later
	for _, part := range []string{"POST", confirm, "200"} {
		assert.Contains(t, eval[string](p, newest), part, "the newest request is first")
	}
	p.until(`document.getElementById("arrived").textContent.includes("new request")`)

	p.press("POST " + confirm)
	p.see(`"transactionHash"`)
	for _, part := range []string{"Request body", "Response body", "Send it again", "ConfirmPayout", string(payout.ID),
		"curl -i -X POST " + p.server.URL + confirm, "authorization: Bearer $(moneymove token)"} {
		assert.Contains(t, p.text(), part)
	}
	assert.Equal(t, "request-title", eval[string](p, "document.activeElement.id"), "the focus is in what was opened")
	p.press("Close")
	assert.Contains(t, eval[string](p, "document.activeElement.innerText"), confirm, "the focus is back in the list")

	p.open("balances")
	p.see("acme@example.com")
	balance := `document.querySelector('[data-key="balance ` + string(payer.id) + `"] .amount').innerText`
	assert.Equal(t, "37.5", eval[string](p, balance))
	p.open("ledger")
	p.see("Payout settlement")
	assert.Contains(t, p.text(), "All entries in USDC: sum 0")
	assert.NotContains(t, p.text(), "not balanced")
	p.see("each movement: sum 0")
	entries := eval[int](p, `document.querySelectorAll("#ledger-table tbody tr").length`)
	assert.GreaterOrEqual(t, entries, 6)
	p.fill("#find-ledger", "settlement")
	p.until(`document.querySelectorAll("#ledger-table tbody tr").length < ` + strconv.Itoa(entries))
	p.see("Payout settlement")
	assert.NotContains(t, p.text(), "Deposit")
	p.press(string(payout.ID))
	p.until(`!document.getElementById("panel-payouts").hidden`)
	p.see("Completed")
}

func TestAccountIsCredited(t *testing.T) {
	t.Parallel()
	p := openPage(t, "balances")
	p.fill("#credit-amount", "7.25")
	p.see(`-d '{"account":"self","amount":"7.25","currency":"USDC"}'`)
	p.press("Credit")
	p.told("7.25 USDC from the faucet; the balance is 7.25.")
	assert.Equal(t, "7.25",
		p.host.Ledger().Balances["faucet"]["USDC"].Neg().Add(sandbox.DefaultSettings().FaucetBalance).String())
	p.expect("422")
	p.fill("#credit-amount", "0.01")
	p.press("Credit")
	p.told("amount_below_minimum")
	p.until(`[...document.querySelectorAll("#result a")]
		.some((a) => a.href.endsWith("docs/errors.md#amount_below_minimum"))`)
}

// The advice for a balance that is too low is that of the SDK's error, and the button beside it follows it.
func TestCreditFromARefusalForALowBalance(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	refused, _ := payer.Payouts.Pay(t.Context(), payer.asked("70"), moneymovement.Key("too-much"), dapi.PayTerms{})
	require.Error(t, refused.Refusal)
	p.fill("#find-requests", "payout_not_fundable")
	p.click("tr[data-id] button")
	p.see("The balance is 50 USDC: credit the account, then repeat with the same idempotency key.")
	assert.Contains(t, refused.Refusal.Error(), "the balance is 50 USDC: credit the account, then repeat")
	p.press("Credit acme@example.com with 100 USDC")
	p.told("100 USDC from the faucet; the balance is 150.")
	payer.pay("70", "too-much")
}

// withWaits makes everything wait for the clock, except new clients.
func withWaits() sandbox.Option {
	return sandbox.WithSettings(func(s *sandbox.Settings) {
		s.SetProgress(time.Hour)
		s.ClientReadyAfter = 0
	})
}

func TestPayoutIsMovedByItsButton(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts", withWaits())
	p.see("No payout yet.")
	payer := newCustomer(p, "acme@example.com")
	payout := payer.pay("12.50", "invoice-42")
	p.see(string(payout.ID))
	p.see("Now: Funding")
	assert.Equal(t, "funding", eval[string](p, `document.querySelector("#panel-payouts .diagram").dataset.now`))
	assert.Equal(t, "Funding", eval[string](p, `document.querySelector("#panel-payouts .state.now text").textContent`))
	p.click(`[data-key="` + string(payout.ID) + ` failed"] summary`)
	p.see(`/_host/payouts/` + string(payout.ID) + ` -d '{"status":"failed"}'`)

	p.press("Move to failed")
	p.told(string(payout.ID) + " is failed.")
	p.see("Now: Failed")
	assert.Equal(t, "Failed", eval[string](p, `document.querySelector("#panel-payouts .state.now text").textContent`))
	p.see("No move is allowed from this state.")
	read, err := payer.Payouts.Get(t.Context(), payout.ID)
	require.NoError(t, err)
	assert.Equal(t, dapi.PayoutStatusFailed, read.Status)
	assert.Equal(t, "50", p.host.Ledger().Balances[string(payer.id)]["USDC"].String(), "the money is back")
}

func TestAVerificationIsDecided(t *testing.T) {
	t.Parallel()
	for _, decided := range []string{"approved", "rejected"} {
		t.Run(decided, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, "verification", withWaits())
			payer := newCustomer(p, "acme@example.com")
			verify(t, payer)
			p.see("Now: Under review")
			p.press("Move to " + decided)
			p.told(string(payer.id) + " is " + decided + ".")
			p.see("Now: " + map[string]string{"approved": "Approved", "rejected": "Rejected"}[decided])
			read, err := payer.Verification.Get(t.Context())
			require.NoError(t, err)
			assert.Equal(t, decided, string(read.Status))
		})
	}
}

// No button confirms an action of an escrow, because the account signs it. A button closes its window.
func TestEscrowWindowIsClosedByItsButton(t *testing.T) {
	t.Parallel()
	p := openPage(t, "escrows", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	_, created := payer.newEscrow()
	p.see("The account can confirm: Approve")
	p.press("Move the clock past approve")
	p.see("Now: Expired")
	p.see("No action is allowed any more.")
	read, err := payer.Escrows.Sync(t.Context(), created.ID)
	require.NoError(t, err)
	assert.Equal(t, dapi.EscrowStatusExpired, read.Status)
}

// Every state of a diagram is drawn once, and every cause of a move is written beside it.
func TestEachDiagramHasAllStates(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts")
	for section, route := range map[string]string{"payouts": "payouts", "payins": "payins",
		"verification": "verifications", "escrows": "escrows"} {
		p.open(section)
		p.until(`document.querySelector("#panel-` + section + ` .state")`)
		states := eval[int](p, `fetch("/_host/`+route+`").then((r) => r.json()).then(({ states }) =>
			new Set(states.flatMap(({ from, to }) => [from, to]).filter(Boolean)).size)`)
		assert.Equal(t, states, eval[int](p, `document.querySelectorAll("#panel-`+section+` .state").length`), section)
		overlaps := eval[int](p, `(() => {
			const boxes = [...document.querySelectorAll("#panel-`+section+` .state rect")].map((r) => r.getBoundingClientRect());
			return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right &&
				a.top < b.bottom && b.top < a.bottom)).length;
		})()`)
		assert.Zero(t, overlaps, "%s: states stand on each other", section)
		label := eval[string](p, `document.querySelector("#panel-`+section+` .diagram").getAttribute("aria-label")`)
		assert.Contains(t, label, "states ", section)
	}
}

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

// escrow creates an escrow, which waits for its approval.
func (c *customer) newEscrow() (dapi.EscrowCreate, *dapi.Escrow) {
	c.t.Helper()
	terms := dapi.EscrowCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC,
		Payee: "0x52908400098527886E0F7030069857D2E4169EE7"}
	created, err := c.Escrows.Create(c.t.Context(), terms, moneymovement.IdempotencyKey("escrow-1"))
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
