package console_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// withWaits makes everything wait for the clock, except new clients.
func withWaits() sandbox.Option {
	return sandbox.WithSettings(func(s *sandbox.Settings) {
		s.SetProgress(time.Hour)
		s.ClientReadyAfter = 0
	})
}

func TestAPayoutMovesByItsButton(t *testing.T) {
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

// No button confirms an action of a deal, because the account signs it. A button closes its window.
func TestTheWindowOfADealCloses(t *testing.T) {
	t.Parallel()
	p := openPage(t, "deals", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	_, created := payer.deal()
	p.see("The account can confirm: Approve")
	p.press("Move the clock past approve")
	p.see("Now: Expired")
	p.see("No action is allowed any more.")
	read, err := payer.Escrows.Sync(t.Context(), created.ID)
	require.NoError(t, err)
	assert.Equal(t, dapi.EscrowStatusExpired, read.Status)
}

// Every state of a diagram is drawn once, and every cause of a move is written beside it.
func TestEachDiagramIsWhole(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts")
	for section, route := range map[string]string{"payouts": "payouts", "payins": "payins",
		"verification": "verifications", "deals": "escrows"} {
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
