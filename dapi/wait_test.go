package dapi_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// Rule: rail.states, rail.residency
func TestRailWaits(t *testing.T) {
	page := func(status string) string {
		return `{"items":[{"method":"ach","currency":"USD","status":"active"},{"method":"sepa","currency":"EUR",` +
			`"status":"` + status + `"}]}`
	}
	const list = "GET /banks?limit=100"
	t.Run("until it is active", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, integrator := newScript(t,
				map[string][]string{list: {page("available"), page("pending"), page("active")}})
			rail, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
			require.NoError(t, err)
			assert.Equal(t, dapi.RailStatusActive, rail.Status)
			assert.Equal(t, dapi.BankMethodSEPA, rail.Method)
			assert.Equal(t, 3, s.sent(list))
		})
	})
	t.Run("until its channel is down", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{list: {page("channel_unavailable")}})
		rail, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
		down := as[*dapi.ChannelUnavailable](t, err)
		assert.Same(t, rail, down.Rail)
		assert.Equal(t, []string{"ListRails", "", "cl_1"}, []string{down.Operation, down.Resource, down.Account})
		assert.ErrorContains(t, err,
			"rail sepa EUR reports channel_unavailable: the channel of its banking partner is down; "+
				"wait again later")
	})
	t.Run("not for one that is not there", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{list: {page("active")}})
		_, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "PLN")
		unlisted := as[*dapi.RailNotListed](t, err)
		assert.Equal(t, "PLN", unlisted.Currency)
		assert.Equal(t, []string{"ListRails", "", "cl_1"},
			[]string{unlisted.Operation, unlisted.Resource, unlisted.Account})
		assert.ErrorContains(t, err, "rail sepa PLN is not in the client's list: it was not requested (see "+
			"Rails.Open), or it is not available for the client's country of residence or legal form")
	})
	t.Run("on any page", func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{
			list: {`{"items":[],"nextCursor":"2"}`}, "GET /banks?cursor=2&limit=100": {page("active")},
		})
		_, err := integrator.For("cl_1").Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
		require.NoError(t, err)
	})
}

func TestPayinWaits(t *testing.T) {
	payin := func(status string) string {
		return `{"id":"pi_1","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z"}`
	}
	for end, completed := range map[string]bool{"completed": true, "expired": false} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, integrator := newScript(t,
					map[string][]string{"GET /payins/pi_1": {payin("quoted"), payin("awaiting_funds"), payin(end)}})
				got, err := integrator.For("cl_1").Payins.Wait(t.Context(), "pi_1")
				assert.Equal(t, dapi.PayinStatus(end), got.Status)
				assert.Equal(t, 3, s.sent("GET /payins/pi_1"))
				if completed {
					require.NoError(t, err)
					return
				}
				assert.Same(t, got, as[*dapi.PayinNotCompleted](t, err).Payin)
				assert.ErrorContains(t, err,
					"payin pi_1 ended with status expired: no money arrived; to receive money, create a new payin")
			})
		})
	}
}

// If the response to Complete shows no status, it is read. If it cannot be read, Complete succeeds all the same.
func TestCompleteWithoutAStatusReadsIt(t *testing.T) {
	for response, status := range map[string]model.KYCStatus{`{"status":"under_review","requirements":[]}`: "under_review", `[`: ""} {
		_, integrator := newScript(t,
			map[string][]string{"POST /client/kyb/complete": {`{}`}, "GET /client/kyb": {response}})
		submitted, err := integrator.For("cl_1").Verification.Complete(t.Context())
		require.NoError(t, err)
		require.NotNil(t, submitted)
		assert.Equal(t, status, submitted.Status)
	}
}

// Rule: verification.completed-explicitly
func TestVerificationWaits(t *testing.T) {
	for _, end := range []model.KYCStatus{model.KYCStatusApproved, model.KYCStatusRejected} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, integrator := newScript(t, map[string][]string{"GET /client/kyb": {
					`{"status":"under_review","requirements":[]}`,
					`{"status":"a_status_of_tomorrow","requirements":[]}`,
					`{"status":"` + string(end) + `","requirements":[]}`,
				}})
				var ids []string
				kyb, err := integrator.For("cl_1").Verification.WaitDecided(t.Context(),
					moneymovement.OnProgress(func(p moneymovement.Progress) { ids = append(ids, p.ID) }))
				require.NoError(t, err)
				assert.Equal(t, end, kyb.Status)
				assert.Equal(t, []string{"cl_1", "cl_1", "cl_1"}, ids)
			})
		})
	}
}

// Each wait reports the name of its resource.
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

// A wait polls with the pauses of its options, or else of its client.
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

// A wait ends with an error if its status cannot be reached: if the status stays one that this version does not know,
// or if an escrow has ended in another one.
func TestWaitEndsWhenItsStatusCannotBeReached(t *testing.T) {
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
		"an escrow": {"POST /escrow/esc_1/sync", `{"id":"esc_1","status":"expired"}`, "has ended as expired",
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

// underWay is a host with so many payouts that complete at different times.
func underWay(count int, completes func(number int) time.Duration) (*busyHost, []dapi.PayoutID) {
	host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
	ids := make([]dapi.PayoutID, count)
	for i := range ids {
		ids[i] = dapi.PayoutID(fmt.Sprint("po_", i))
		host.payouts[string(ids[i])] = &busyPayout{id: string(ids[i]), contact: "ct_bob", amount: "1", paid: true,
			completes: time.Now().Add(completes(i))}
	}
	return host, ids
}

func (h *busyHost) payoutReads() (reads int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, payout := range h.payouts {
		reads += payout.reads
	}
	return reads
}

// Progress is reported for one payout at a time, even if many are read at once.
func TestWaitAllReportsOneAtATime(t *testing.T) {
	responses, ids := map[string][]string{}, []dapi.PayoutID{}
	for i := range 10 {
		id := fmt.Sprint("po_", i)
		ids = append(ids, dapi.PayoutID(id))
		responses["GET /payouts/"+id] = []string{`{"id":"` + id + `","status":"completed"}`}
	}
	_, integrator := newScript(t, responses)
	var inside atomic.Int32
	for waited := range integrator.Self().Payouts.WaitAll(t.Context(), ids,
		moneymovement.OnProgress(func(moneymovement.Progress) {
			assert.EqualValues(t, 1, inside.Add(1))
			time.Sleep(5 * time.Millisecond) // until the other responses are there
			inside.Add(-1)
		})) {
		require.NoError(t, waited.Err)
	}
}

func TestWaitAllStopsWhenTheLoopBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, ids := underWay(100, func(number int) time.Duration { return time.Duration(number) * time.Hour })
		for waited := range host.integrator(t).Self().Payouts.WaitAll(t.Context(), ids) {
			assert.Equal(t, ids[0], waited.ID)
			break
		}
		reads := host.payoutReads()
		time.Sleep(time.Hour)
		// and synctest knows of no goroutine that is left
		assert.Equal(t, reads, host.payoutReads(), "nothing goes on behind the caller's back")
		for range host.integrator(t).Self().Payouts.WaitAll(t.Context(), nil) {
			assert.Fail(t, "there is nothing to wait for")
		}
	})
}

// Two thousand payouts are read in turn, within the share of waits, and other reads do not wait for them.
func TestWaitAllReadsPayoutsInTurnWithinTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hours = 1
		host, ids := underWay(2000, func(int) time.Duration { return hours * time.Hour })
		host.payouts["po_other"] = &busyPayout{id: "po_other", contact: "ct_bob", amount: "1", paid: true}
		account := host.integrator(t).Self()
		ctx, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		others.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				_, err := account.Payouts.Get(t.Context(), "po_other")
				assert.NoError(t, err)
				assert.Less(t, time.Since(began), time.Second)
				time.Sleep(2 * time.Second)
			}
		})
		ended := 0
		for waited := range account.Payouts.WaitAll(t.Context(), ids) {
			assert.NoError(t, waited.Err)
			ended++
		}
		stop()
		others.Wait()
		assert.Len(t, ids, ended)
		assert.Zero(t, host.counts().limited)
		least, most := host.payouts["po_0"].reads, 0
		for _, id := range ids {
			reads := host.payouts[string(id)].reads
			least, most = min(least, reads), max(most, reads)
		}
		assert.LessOrEqual(t, most-least, 2, "%d to %d reads", least, most)
		assert.GreaterOrEqual(t, least, 10, "a read of each in less than 4 minutes")
	})
}

// An escrow is read from chain once in 15 seconds, and less often once it takes long.
// Rule: lifetime.escrow-refresh
func TestEscrowWaitPollsAtThePaceOfChainReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, integrator := newScript(t, map[string][]string{"POST /escrow/esc_1/sync": append(
			slices.Repeat([]string{`{"id":"esc_1","status":"active","idempotencyKey":"k"}`}, 15),
			`{"id":"esc_1","status":"released","idempotencyKey":"k"}`)})
		var last time.Duration
		ended, err := integrator.Self().Escrows.Wait(t.Context(), "esc_1",
			[]dapi.EscrowStatus{dapi.EscrowStatusReleased, dapi.EscrowStatusRefunded},
			moneymovement.OnProgress(func(p moneymovement.Progress) {
				pause := p.Waited - last
				switch {
				case p.Reads == 2:
					assert.LessOrEqual(t, p.Waited, 30*time.Second)
					fallthrough
				case p.Reads == 3:
					assert.GreaterOrEqual(t, pause, 15*time.Second)
				case p.Reads > 3:
					assert.GreaterOrEqual(t, pause, 30*time.Second)
				}
				assert.LessOrEqual(t, pause, time.Minute, "and not much less often")
				last = p.Waited
			}))
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, ended.Status)
	})
}
