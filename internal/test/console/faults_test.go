package console_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAFaultIsArmedAndTheRetryWatched(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	p.see("No fault was armed")
	p.choose("#fault-operation", "ConfirmPayout")
	p.choose("#fault-kind", "drop_after_commit")
	p.see(`"path":"/dapi/v1/payouts/{payoutId}/confirm","times":1,"fault":{"kind":"drop_after_commit"}`)
	p.press("Arm the fault")
	p.told("flt_1 waits for ConfirmPayout.")
	p.see("0 of 1")

	payout := payer.pay("12.50", "invoice-42")
	p.see("1 of 1")
	p.see("consumed")
	p.open("requests")
	p.see("attempt 2")
	rows := eval[[]string](p, `[...document.querySelectorAll("#request-table tbody tr")].map((row) => row.innerText)
		.filter((text) => text.includes("/confirm"))`)
	require.Len(t, rows, 2, "the confirm and its retry")
	assert.Contains(t, rows[1], "fault drop_after_commit")
	assert.Contains(t, rows[1], "no response")
	assert.Contains(t, rows[0], "attempt 2")
	assert.Equal(t, "37.5", p.host.Ledger().Balances[string(payer.id)]["USDC"].String(), "%s left once", payout.ID)
}

func TestAFaultIsDisarmed(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.fill("#fault-times", "3")
	p.press("Arm the fault")
	p.see("0 of 3")
	p.press("Disarm flt_1")
	p.told("flt_1 is disarmed.")
	p.see("disarmed")
	p.press("Arm the fault")
	p.press("Disarm all")
	p.told("No fault is armed.")
	p.until(`document.querySelectorAll("[data-fault] .badge").length === 2`)
}

// The page offers the options of the kind and no others, and the host takes every kind that the page offers.
func TestEveryKindOfFaultCanBeArmed(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.until(`document.querySelectorAll("#fault-kind option").length > 1`)
	kinds := eval[[]string](p, `[...document.querySelectorAll("#fault-kind option")].map((option) => option.value)`)
	for i, kind := range kinds {
		p.choose("#fault-kind", kind)
		p.see(`"fault":{"kind":"` + kind + `"`)
		p.press("Arm the fault")
		p.told(fmt.Sprintf("flt_%d waits for", i+1))
	}
	refusal := p.send(http.MethodPost, "/_host/faults", `{"path":"/chains","fault":{"kind":"none"}}`)
	assert.Contains(t, refusal, fmt.Sprint(kinds), "the host has these kinds, in its order")

	p.choose("#fault-kind", "respond")
	p.fill("#fault-headers", "not JSON")
	p.see("Headers is not a JSON object.")
	p.fill("#fault-headers", `{"Retry-After":"1"}`)
	p.see(`"headers":{"Retry-After":"1"}`)
	p.choose("#fault-kind", "drop_before")
	p.until(`!document.getElementById("fault-headers")`)
}

// The page names each operation that the host serves.
func TestFaultsAreForRealOperations(t *testing.T) {
	t.Parallel()
	p := openPage(t, "faults")
	p.until(`document.querySelectorAll("#fault-surface option").length === 4`)
	for surface, operation := range map[string]string{"appapi": "CreateTransfer", "public": "GetRate"} {
		p.choose("#fault-surface", surface)
		p.until(`document.querySelectorAll("#fault-operation option").length > 0`)
		names := eval[[]string](p, `[...document.querySelectorAll("#fault-operation option")]
			.map((option) => option.value)`)
		assert.Contains(t, names, operation, surface)
	}
}
