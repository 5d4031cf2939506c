package dapi_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Each wait of an account and an integrator names its resource to whoever follows it.
func TestProgressNamesTheResource(t *testing.T) {
	s, integrator := newScript(t, map[string][]string{
		"GET /banks?limit=100": {`{"items":[{"method":"sepa","currency":"EUR","status":"active"}]}`},
		"GET /client/kyb":      {`{"status":"approved","requirements":[]}`},
		"GET /payins/pi_1":     {`{"id":"pi_1","status":"expired","createdAt":"2026-01-01T00:00:00Z"}`},
		"GET /clients/cl_1":    {`{"id":"cl_1","status":"ready"}`},
	})
	account := integrator.For("cl_1")
	for resource, wait := range map[string]func(moneymovement.WaitOption) error{
		"rail sepa EUR": func(o moneymovement.WaitOption) error {
			_, err := account.Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR", o)
			return err
		},
		"verification cl_1": func(o moneymovement.WaitOption) error {
			_, err := account.Verification.WaitDecided(t.Context(), o)
			return err
		},
		"payin pi_1": func(o moneymovement.WaitOption) error {
			_, err := account.Payins.Wait(t.Context(), "pi_1", o)
			head, _ := errors.CallInfoOf(err)
			assert.Equal(t, []string{"GetPayin", "pi_1", "cl_1", ""},
				[]string{head.Operation, head.Resource, head.Account, head.IdempotencyKey})
			return nil
		},
		"client cl_1": func(o moneymovement.WaitOption) error {
			_, err := integrator.Clients.WaitReady(t.Context(), "cl_1", o)
			return err
		},
	} {
		var seen []string
		require.NoError(t,
			wait(moneymovement.OnProgress(func(p moneymovement.Progress) { seen = append(seen, p.Resource+" "+p.ID) })))
		assert.Equal(t, []string{resource}, seen)
	}
	assert.Equal(t, 1, s.sent("GET /payins/pi_1"))
}

func TestPayoutStatusFinal(t *testing.T) {
	for status, final := range map[dapi.PayoutStatus]bool{
		dapi.PayoutStatusAwaitingApproval: false, dapi.PayoutStatusFunding: false, dapi.PayoutStatusProcessing: false,
		dapi.PayoutStatusCompleted: true, dapi.PayoutStatusFailed: true, dapi.PayoutStatusRefunded: true,
		dapi.PayoutStatusExpired: true,
		"":                       false, "on_the_moon": false,
	} {
		assert.Equal(t, final, status.Final(), "%q", status)
	}
}

// A client's waits keep its pauses, and a wait its own.
func TestPollingOfAClientAndOfAWait(t *testing.T) {
	for name, c := range map[string]struct {
		ofClient []moneymovement.Option
		ofWait   []moneymovement.WaitOption
		most     time.Duration // that two pauses take
	}{
		"by default": {nil, nil, 1250 * time.Millisecond},
		"of the client": {[]moneymovement.Option{moneymovement.WithPolling(time.Millisecond, time.Millisecond)}, nil,
			2 * time.Millisecond},
		"of the wait": {[]moneymovement.Option{moneymovement.WithPolling(time.Hour, time.Hour)},
			[]moneymovement.WaitOption{moneymovement.PollEvery(time.Second, time.Second)}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pending := `{"id":"cl_1","status":"pending"}`
				_, integrator := newScript(t, map[string][]string{
					"GET /clients/cl_1": {pending, pending, `{"id":"cl_1","status":"ready"}`},
				}, c.ofClient...)
				began := time.Now()
				_, err := integrator.Clients.WaitReady(t.Context(), "cl_1", c.ofWait...)
				require.NoError(t, err)
				assert.LessOrEqual(t, time.Since(began), c.most)
				assert.GreaterOrEqual(t, time.Since(began), c.most/2)
			})
		})
	}
}

// A wait for what will never come ends by itself, and says so: in a status that this version does not know, and for a
// deal that has ended in another one.
func TestAWaitThatCannotEndEnds(t *testing.T) {
	for name, c := range map[string]struct {
		request, response, why string
		wait                   func(context.Context, *dapi.Account) error
		least, most            time.Duration
	}{
		"a payout": {"GET /payouts/po_1", `{"id":"po_1","status":"on_the_moon"}`,
			`does not know the status "on_the_moon"`,
			func(ctx context.Context, a *dapi.Account) error { _, err := a.Payouts.Wait(ctx, "po_1"); return err },
			30 * time.Minute, time.Hour},
		"a payin": {"GET /payins/pi_1", `{"id":"pi_1","status":"on_the_moon","createdAt":"2026-01-01T00:00:00Z"}`,
			`does not know the status "on_the_moon"`,
			func(ctx context.Context, a *dapi.Account) error { _, err := a.Payins.Wait(ctx, "pi_1"); return err },
			30 * time.Minute, time.Hour},
		"a deal": {"POST /escrow/esc_1/sync", `{"id":"esc_1","status":"expired"}`, "has ended as expired",
			func(ctx context.Context, a *dapi.Account) error {
				_, err := a.Escrows.Wait(ctx, "esc_1", []dapi.EscrowStatus{dapi.EscrowStatusActive})
				return err
			}, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, integrator := newScript(t, map[string][]string{c.request: slices.Repeat([]string{c.response}, 999)})
				began := time.Now()
				err := c.wait(t.Context(), integrator.For("cl_1"))
				still, is := errors.AsType[*moneymovement.StillPending](err)
				require.True(t, is, "%v", err)
				assert.Positive(t, still.Reads)
				require.ErrorContains(t, err, c.why)
				assert.GreaterOrEqual(t, time.Since(began), c.least)
				assert.LessOrEqual(t, time.Since(began), c.most)
			})
		})
	}
}
