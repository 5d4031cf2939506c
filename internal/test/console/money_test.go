package console_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAPaymentArrives(t *testing.T) {
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

func TestACredit(t *testing.T) {
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
func TestALowBalanceIsCreditedWhereItIsRefused(t *testing.T) {
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
