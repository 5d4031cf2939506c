package dapi_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: client.ready, ledger.progress
func TestWaitReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(5 * time.Minute) }))
		integrator := w.integrator()
		created, err := integrator.Clients.Create(w.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		require.Equal(t, dapi.ClientStatusPending, created.Status)

		var seen []moneymovement.Progress
		started := time.Now()
		client, err := integrator.Clients.WaitReady(w.Context(), created.ID,
			moneymovement.OnProgress(func(p moneymovement.Progress) { seen = append(seen, p) }))
		require.NoError(t, err)
		assert.Equal(t, dapi.ClientStatusReady, client.Status)
		assert.NotEmpty(t, client.BaseSmartWallet)

		last := seen[len(seen)-1]
		assert.Equal(t, "client", last.Resource)
		assert.Equal(t, string(created.ID), last.ID)
		assert.Equal(t, "ready", last.Status)
		assert.Equal(t, len(seen), last.Reads)
		assert.Equal(t, w.Sent("GetClient"), last.Reads)
		assert.Equal(t, time.Since(started), last.Waited)
		assert.LessOrEqual(t, time.Since(started), 5*time.Minute+15*time.Second,
			"the longest pause bounds how late the news is")
		assertBacksOff(t, seen)
	})
}

// assertBacksOff checks that each pause lies in the upper half of a bound that grows by half from 500 ms to 15 s, and
// that pauses differ.
func assertBacksOff(t *testing.T, seen []moneymovement.Progress) {
	t.Helper()
	bound, jittered := 500*time.Millisecond, false
	for i := 1; i < len(seen); i++ {
		pause := seen[i].Waited - seen[i-1].Waited
		assert.GreaterOrEqual(t, pause, bound/2, "pause %d", i)
		assert.LessOrEqual(t, pause, bound, "pause %d", i)
		jittered = jittered || pause > bound/2+time.Millisecond && pause < bound-time.Millisecond
		bound = min(bound*3/2, 15*time.Second)
	}
	assert.True(t, jittered, "waits must not read in step")
	assert.Equal(t, 15*time.Second, bound, "the wait was long enough to see the longest pause")
}

func TestWaitGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) }))
		integrator := w.integrator()
		created, err := integrator.Clients.Create(w.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
		defer cancel()
		client, err := integrator.Clients.WaitReady(ctx, created.ID)
		pending, ok := errors.AsType[*moneymovement.StillPending](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, dapi.ClientStatusPending, client.Status, "the last reading comes with the error")
		assert.Equal(t, "pending", pending.Status)
		assert.Equal(t, 20*time.Second, pending.Waited)
		assert.Positive(t, pending.Reads)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Regexp(t, `^client cl_\S+ is still pending after 20s and \d+ reads: context deadline exceeded - see `,
			err.Error())
	})
}

func TestWaitThatEndsBeforeItReads(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	client, err := w.integrator().Clients.WaitReady(ctx, "cl_1")
	pending, ok := errors.AsType[*moneymovement.StillPending](err)
	require.True(t, ok, "%v", err)
	assert.Nil(t, client)
	assert.Zero(t, pending.Reads)
	assert.Equal(t, "unread", pending.Status)
	assert.ErrorIs(t, err, context.Canceled)
}

// What a wait was for is named when it ends before its time.
func TestWaitsNameWhatTheyWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, deal := newReleaseWorld(t)
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		payment, err := w.pay()
		require.NoError(t, err)
		for resource, wait := range map[string]func(ctx context.Context) (id string, err error){
			"payout": func(ctx context.Context) (string, error) {
				_, err := w.account.Payouts.Wait(ctx, payment.Payout.ID)
				return string(payment.Payout.ID), err
			},
			"escrow": func(ctx context.Context) (string, error) {
				_, err := w.account.Escrows.Wait(ctx, deal, []dapi.EscrowStatus{dapi.EscrowStatusReleased})
				return string(deal), err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			id, err := wait(ctx)
			cancel()
			pending := as[*moneymovement.StillPending](t, err)
			assert.Equal(t, resource, pending.Resource)
			assert.Equal(t, id, pending.ID)
			assert.Equal(t, errors.MaybeMoved, pending.MovedByCall())
		}
	})
}

func TestWaitEndsWithTheErrorOfARead(t *testing.T) {
	w := newWorld(t)
	_, err := w.integrator().Clients.WaitReady(w.Context(), "cl_nobody")
	notFound, ok := errors.AsType[*errors.NotFound](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "GetClient", notFound.Operation)
	assert.Equal(t, 1, w.Sent("GetClient"))
}

func TestWaitOutlastsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(2 * time.Minute) }))
		integrator := w.integrator()
		created, err := integrator.Clients.Create(w.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)

		down := w.Host.Arm("GET", "/clients/*", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(10))
		client, err := integrator.Clients.WaitReady(w.Context(), created.ID)
		require.NoError(t, err)
		assert.Equal(t, dapi.ClientStatusReady, client.Status)
		assert.Equal(t, 10, down.Consumed())

		w.Host.Arm("GET", "/clients/*", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(1000))
		_, err = integrator.Clients.WaitReady(w.Context(), created.ID)
		_, ok := errors.AsType[*errors.DatabaseUnavailable](err)
		assert.True(t, ok, "one that does not end ends the wait: %v", err)
	})
}

// The bounds of a pause are pauses themselves: the shortest does not spin, and the longest still reads.
func TestWaitsAtTheBoundsOfAPause(t *testing.T) {
	for name, bounds := range map[string][2]time.Duration{
		"the shortest": {time.Millisecond, time.Millisecond},
		"the longest":  {24 * time.Hour, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t,
					sandbox.WithSettings(func(s *sandbox.Settings) {
						s.ClientReadyAfter = sandbox.Duration(time.Second)
					}))
				integrator := w.integrator()
				created, err := integrator.Clients.Create(w.Context(), dapi.ClientCreate{Email: "acme@example.com"})
				require.NoError(t, err)
				client, err := integrator.Clients.WaitReady(w.Context(), created.ID,
					moneymovement.PollEvery(bounds[0], bounds[1]), nil)
				require.NoError(t, err)
				assert.Equal(t, dapi.ClientStatusReady, client.Status)
				assert.Less(t, w.Sent("GetClient"), 2000, "a wait must not spin")
			})
		})
	}
}

func TestWaitForAPayout(t *testing.T) {
	for _, end := range []dapi.PayoutStatus{dapi.PayoutStatusCompleted, dapi.PayoutStatusFailed,
		dapi.PayoutStatusRefunded} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t,
					sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
				account := w.account()
				payment, err := account.Payouts.Pay(w.Context(), dapi.PayoutCreate{
					ContactID: w.Contact(account.Contacts, wallet()), Amount: amount("25"), Currency: dapi.USDC,
				}, "invoice-42", dapi.PayTerms{})
				require.NoError(t, err)
				time.AfterFunc(time.Minute, func() {
					_, err := account.Sandbox.SetPayoutStatus(w.Context(), payment.Payout.ID, end)
					assert.NoError(t, err)
				})
				payment.Payout, err = account.Payouts.Wait(w.Context(), payment.Payout.ID)
				assert.Equal(t, end, payment.Payout.Status)
				if end == dapi.PayoutStatusCompleted {
					require.NoError(t, err)
					return
				}
				ended, ok := errors.AsType[*dapi.PayoutNotCompleted](err)
				require.True(t, ok, "%v", err)
				assert.Same(t, payment.Payout, ended.Payout)
				assert.ErrorContains(t, err, "payout "+string(payment.Payout.ID)+" ended with status "+string(end)+
					": its money came back or never left; to pay, use a new key")
			})
		})
	}
}

func TestWaitAllGivesEachPayoutAsSoonAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
		account := w.account()
		contact := w.Contact(account.Contacts, wallet())
		var ids []dapi.PayoutID
		for _, value := range []string{"10", "20", "30"} {
			payment, err := account.Payouts.Pay(w.Context(), dapi.PayoutCreate{
				ContactID: contact, Amount: amount(value), Currency: dapi.USDC,
			}, moneymovement.Key("payout-"+value), dapi.PayTerms{})
			require.NoError(t, err)
			ids = append(ids, payment.Payout.ID)
		}
		began := time.Now()
		end := func(id dapi.PayoutID, after time.Duration, status dapi.PayoutStatus) {
			time.AfterFunc(after, func() {
				_, err := account.Sandbox.SetPayoutStatus(w.Context(), id, status)
				assert.NoError(t, err)
			})
		}
		end(ids[2], time.Minute, dapi.PayoutStatusCompleted)
		end(ids[0], 2*time.Minute, dapi.PayoutStatusFailed)
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute)
		defer cancel()

		var order []dapi.PayoutID
		var progress []moneymovement.Progress // unguarded: it is called one at a time
		asked := append([]dapi.PayoutID{"po_nobody"}, append(ids, ids...)...)
		for waited := range account.Payouts.WaitAll(ctx, asked,
			moneymovement.OnProgress(func(p moneymovement.Progress) { progress = append(progress, p) })) {
			order = append(order, waited.ID)
			switch waited.ID {
			case "po_nobody":
				as[*errors.NotFound](t, waited.Err)
				assert.Zero(t, time.Since(began))
			case ids[2]:
				require.NoError(t, waited.Err)
				assert.Equal(t, dapi.PayoutStatusCompleted, waited.Payout.Status)
				assert.Less(t, time.Since(began), 2*time.Minute)
			case ids[0]:
				as[*dapi.PayoutNotCompleted](t, waited.Err)
				assert.Equal(t, dapi.PayoutStatusFailed, waited.Payout.Status)
				assert.Less(t, time.Since(began), 3*time.Minute)
			case ids[1]:
				pending := as[*moneymovement.StillPending](t, waited.Err)
				assert.Equal(t, 10*time.Minute, pending.Waited)
				assert.Equal(t, ids[1], waited.Payout.ID)
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_nobody", ids[2], ids[0], ids[1]}, order, "each once")
		assert.NotEmpty(t, progress)
	})
}
