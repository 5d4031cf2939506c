package console_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// An action of a deal can be approved for 60 seconds.
func TestAnApprovalExpires(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	deal, created := payer.deal()
	prepared := created.Action
	require.NotNil(t, prepared)

	before := p.host.Now()
	p.press("+61 s")
	p.told("The host's clock is")
	assert.GreaterOrEqual(t, p.host.Now().Sub(before), 61*time.Second)

	_, err := payer.Escrows.Confirm(t.Context(), deal, created.ID, dapi.EscrowActionTypeApprove, prepared)
	expired, ok := errors.AsType[*errors.ApprovalExpired](err)
	require.True(t, ok, "%v", err)
	assert.NotNil(t, expired)
	p.open("requests")
	p.see("approval_expired")
	assert.Contains(t, eval[string](p, `document.querySelector("#request-table tbody tr").innerText`), "410")
	p.click("#request-table tbody tr button")
	p.see("What to do about approval_expired")
	advice := eval[string](p, `document.querySelector(".advice .do").innerText`)
	assert.NotContains(t, advice, "The error page says", "the page says what to do itself")
	assert.NotEmpty(t, advice)
	assert.Equal(t, "https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#approval_expired",
		eval[string](p, `document.querySelector(".advice a").href`))
}

// A payout can be confirmed for 120 seconds.
func TestAFundingAttemptExpires(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	asked := payer.asked("12.50")
	booked, err := payer.Payouts.Book(t.Context(), asked, moneymovement.IdempotencyKey("invoice-42"))
	require.NoError(t, err)
	p.press("+121 s")
	p.told("The host's clock is")
	_, err = payer.Payouts.Confirm(t.Context(), asked, booked)
	_, ok := errors.AsType[*errors.FundingAttemptExpired](err)
	require.True(t, ok, "%v", err)
	p.open("requests")
	p.see("funding_attempt_expired")
	p.open("payouts")
	p.see("Now: Expired")
}

func TestTheClockMovesAsFarAsAsked(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	before := p.host.Now()
	p.fill("#clock-advance", "36h")
	p.see(`-d '{"advance":"36h"}'`)
	p.press("Move")
	p.told("The host's clock is " + before.Add(36*time.Hour).UTC().Format("2006-01-02"))
	p.until(`document.getElementById("now").textContent.startsWith("` + before.Add(36*time.Hour).UTC().Format("2006-01-02") + `")`)
	p.expect("422")
	p.expect("400")
	p.fill("#clock-advance", "soon")
	p.press("Move")
	p.until(`document.getElementById("result").classList.contains("refused")`)
}
