package dapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The entries of a payout in each status, as the documentation of Transactions says of the sandbox host. The amount of
// an entry is that of the payout, which includes the fee.
func TestEntriesOfAPayoutInEachStatus(t *testing.T) {
	for end, want := range map[dapi.PayoutStatus][]string{
		dapi.PayoutStatusAwaitingApproval: nil,
		dapi.PayoutStatusCompleted:        {"payout out completed"},
		dapi.PayoutStatusFailed:           {"payout out failed"},
		dapi.PayoutStatusRefunded:         {"payout out completed", "refund in completed"},
	} {
		t.Run(string(end), func(t *testing.T) {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			require.True(t, booked.Quote.Fee.IsPositive())
			if end != dapi.PayoutStatusAwaitingApproval {
				_, err = w.pay()
				require.NoError(t, err)
				_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), booked.ID, end)
				require.NoError(t, err)
			}
			var entries []string
			for entry, err := range w.account.Transactions.All(t.Context(), dapi.ListTransactionsParams{}) {
				require.NoError(t, err)
				if entry.PayoutID != booked.ID {
					continue
				}
				entries = append(entries, string(entry.Type)+" "+string(entry.Direction)+" "+string(entry.Status))
				assert.True(t, entry.Amount.Equal(booked.Amount), "%s", entry.Amount)
			}
			slices.Reverse(entries)
			assert.Equal(t, want, entries)
		})
	}
}

// A payout is seen to leave and to arrive, and its money to come back, each soon after it happens.
func TestFollowDeliversWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
		account := w.account()
		contact := w.Contact(account.Contacts, wallet())
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		var payment dapi.Payment
		began := time.Now()
		time.AfterFunc(10*time.Minute, func() {
			var err error
			payment, err = account.Payouts.Pay(ctx,
				dapi.PayoutCreate{ContactID: contact, Amount: amount("20"), Currency: dapi.USDC}, "payout-1",
				dapi.PayTerms{})
			assert.NoError(t, err)
		})
		time.AfterFunc(5*time.Hour, func() {
			completed, err := account.Payouts.Get(ctx, payment.Payout.ID)
			assert.NoError(t, err)
			assert.True(t, completed.Status.Final())
			_, err = account.Sandbox.SetPayoutStatus(ctx, payment.Payout.ID, dapi.PayoutStatusRefunded)
			assert.NoError(t, err)
		})

		var got []string
		var at []time.Duration
		var reads int
		for change, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(time.Second, 30*time.Second),
			moneymovement.OnProgress(func(p moneymovement.Progress) {
				reads++
				assert.Equal(t, "ledger", p.Resource)
				assert.Equal(t, "self", p.ID)
			})) {
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				got = append(got, "ended")
				continue
			}
			got = append(got, string(change.Transaction.Type)+" "+string(change.Transaction.Status))
			at = append(at, time.Since(began))
			if change.Transaction.Type == dapi.TransactionTypeRefund {
				assert.Equal(t, payment.Payout.ID, change.Transaction.PayoutID)
				cancel()
			}
		}
		assert.Equal(t, []string{"deposit completed", "deposit completed", "payout pending", "payout completed",
			"refund completed", "ended"}, got)
		for i, when := range []time.Duration{0, 0, 10 * time.Minute, 130 * time.Minute, 5 * time.Hour} {
			assert.InDelta(t, float64(when), float64(at[i]), float64(31*time.Second))
		}
		assert.Equal(t, reads, w.Sent("ListTransactions"), "a small ledger is read with one request")
		assert.Less(t, reads, 1300, "they get rarer while nothing changes")
	})
}

// A ledger that changes all the time is not read all the time.
func TestFollowPausesAfterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		for _, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(2*time.Second, 10*time.Second)) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			_, err := account.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC},
				moneymovement.IdempotencyKey(moneymovement.Key(rand.Text())))
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, w.Sent("ListTransactions"), 31)
	})
}

// The loop can be left at any time, and another program goes on from the stored position.
func TestFollowIsTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	account := w.account()
	var params dapi.ChangesParams
	for range 2 {
		for change, err := range account.Transactions.Follow(t.Context(), params) {
			require.NoError(t, err)
			stored, err := json.Marshal(change.Position)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(stored, &params.Position))
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for change, err := range w.integrator().Self().Transactions.Follow(ctx, params,
		moneymovement.OnProgress(func(p moneymovement.Progress) {
			assert.Equal(t, "unchanged", p.Status)
			cancel()
		})) {
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, change, "both were dealt with")
	}
}

func TestFollowOutlivesFailedReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(20))
		for change, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			require.NoError(t, err)
			assert.Equal(t, "100", change.Transaction.Amount.String())
			break
		}
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden"))
		times := 0
		for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			as[*errors.Forbidden](t, err)
			times++
		}
		assert.Equal(t, 1, times, "it ends")
	})
}

// limiterFunc is a rate limiter that lets every call pass.
type limiterFunc func(moneymovement.RateCall)

func (f limiterFunc) Wait(_ context.Context, call moneymovement.RateCall) error {
	f(call)
	return nil
}

// Reads leave room in the window of reads to other calls, as all waits do.
func TestFollowReadsAsAWait(t *testing.T) {
	w := newWorld(t)
	var classes []moneymovement.RateClass
	account := w.Integrator(w.Developer(), moneymovement.WithRateLimiter(
		limiterFunc(func(call moneymovement.RateCall) {
			if call.Window == moneymovement.WindowReads {
				classes = append(classes, call.Class)
			}
		}))).Self()
	w.Credit(account.Sandbox, "1", dapi.USDC)
	classes = nil
	for _, err := range account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
	}
	for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, []moneymovement.RateClass{moneymovement.ClassRead, moneymovement.ClassPoll}, classes)
}

func TestFollowRefusesWhatItCannotFollow(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	w.Credit(platform.Self().Sandbox, "1", dapi.USDC)
	var own dapi.LedgerPosition
	for change, err := range platform.Self().Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		own = change.Position
	}
	sent := w.Sent("ListTransactions")
	for field, params := range map[string]dapi.ChangesParams{
		"position": {Position: own}, "lateBy": {LateBy: -1}, "pendingFor": {PendingFor: -1},
	} {
		times := 0
		check := func(_ dapi.TransactionChange, err error) bool {
			times++
			assert.Equal(t, field, as[*errors.InvalidInput](t, err).Fields[0].Field)
			return true
		}
		platform.For("cl_acme").Transactions.Changes(t.Context(), params)(check)
		platform.For("cl_acme").Transactions.Follow(t.Context(), params)(check)
		assert.Equal(t, 2, times)
	}
	assert.Equal(t, sent, w.Sent("ListTransactions"))
}

// bookkeeper keeps rows of a ledger by its changes, and the position with them, as one database transaction would.
type bookkeeper struct {
	*world
	account *dapi.Account
	params  dapi.ChangesParams
	stored  []byte // the position
	rows    map[dapi.TransactionID]dapi.Transaction
}

// run escrows with the changes since the stored position, and is killed after so many if that is not negative.
func (b *bookkeeper) run(killedAfter int) {
	b.Helper()
	params := b.params
	if b.stored != nil {
		require.NoError(b, json.Unmarshal(b.stored, &params.Position))
	}
	var last time.Time
	for change, err := range b.account.Transactions.Changes(b.Context(), params) {
		require.NoError(b, err)
		if killedAfter--; killedAfter == -1 {
			return
		}
		entry := change.Transaction
		row, known := b.rows[entry.ID]
		require.Equal(b, row.Status, change.Previous, "%s: a change is delivered once for each position", entry.ID)
		require.NotEqual(b, entry.Status, change.Previous)
		require.False(b, known && row.Status.Final(), "what has settled does not change")
		require.False(b, entry.CreatedAt.Before(last), "the oldest first")
		require.False(b, change.LastChange)
		last, b.rows[entry.ID] = entry.CreatedAt, entry
		b.stored, err = json.Marshal(change.Position)
		require.NoError(b, err)
	}
}

// compare holds the rows to the ledger, and their sum to the balance.
func (b *bookkeeper) compare(account string) {
	b.Helper()
	listed, sums := map[dapi.TransactionID]dapi.Transaction{}, map[string]decimal.Decimal{}
	for entry, err := range b.account.Transactions.All(b.Context(), dapi.ListTransactionsParams{}) {
		require.NoError(b, err)
		listed[entry.ID] = entry
	}
	require.Equal(b, listed, b.rows)
	for _, row := range b.rows {
		signed, ok := row.Signed()
		require.True(b, ok)
		if row.Status != dapi.TransactionStatusFailed {
			sums[string(row.Currency)] = sums[string(row.Currency)].Add(signed)
		}
	}
	for currency, sum := range sums {
		assert.Equal(b, b.Host.Ledger().Balances[account][currency].String(), sum.String(),
			"the entries that have not failed add up to the balance")
	}
}

// Whatever happens to payments, and whenever the bookkeeper is killed, its rows are those of the ledger in the end.
func TestEveryChangeOfTheLedgerIsDelivered(t *testing.T) {
	rapid.Check(t, func(drawn *rapid.T) {
		w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) {
			s.PayoutStepAfter = sandbox.Duration(2 * time.Hour)
		}))
		platform := w.integrator()
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		w.Host.Advance(time.Hour)
		b := &bookkeeper{world: w, account: platform.For(client.ID), rows: map[dapi.TransactionID]dapi.Transaction{}}
		other := platform.Self()
		w.Credit(other.Sandbox, "100", dapi.USDC)
		contacts := []dapi.ContactID{
			w.Contact(b.account.Contacts, sepa()), w.Contact(b.account.Contacts, wallet()),
		}
		toClient := w.Contact(other.Contacts, dapi.EmailContact("acme@example.com"))
		var paid []dapi.PayoutID
		number := 0
		key := func() moneymovement.Key { number++; return moneymovement.Key(fmt.Sprint("key-", number)) }

		drawn.Repeat(map[string]func(*rapid.T){
			"deposit": func(r *rapid.T) {
				cents := rapid.Int64Range(10, 10_000).Draw(r, "cents")
				_, err := b.account.Sandbox.Deposit(t.Context(),
					dapi.DepositCreate{Amount: decimal.New(cents, -2), Currency: dapi.USDC},
					moneymovement.IdempotencyKey(key()))
				require.NoError(t, err)
			},
			"pay": func(r *rapid.T) {
				payment, err := b.account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: rapid.SampledFrom(contacts).Draw(r, "contact"),
					Amount:    decimal.New(rapid.Int64Range(200, 3_000).Draw(r, "cents"), -2), Currency: dapi.USDC,
				}, key(), dapi.PayTerms{})
				if err == nil { // the balance may be too low
					paid = append(paid, payment.Payout.ID)
				}
			},
			"be paid": func(r *rapid.T) {
				_, _ = other.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: toClient,
					Amount: decimal.New(rapid.Int64Range(100, 500).Draw(r, "cents"), -2), Currency: dapi.USDC}, key(),
					dapi.PayTerms{})
			},
			"end": func(r *rapid.T) {
				if len(paid) > 0 {
					_, _ = b.account.Sandbox.SetPayoutStatus(t.Context(), rapid.SampledFrom(paid).Draw(r, "payout"),
						rapid.SampledFrom([]dapi.PayoutStatus{"processing", "completed", "failed", "refunded"}).
							Draw(r, "to")) // what cannot be is refused
				}
			},
			"let time pass": func(r *rapid.T) {
				w.Host.Advance(rapid.SampledFrom([]time.Duration{time.Second, 30 * time.Minute, 3 * time.Hour,
					50 * time.Hour}).Draw(r, "for"))
			},
			"keep books":            func(*rapid.T) { b.run(-1); b.compare(string(client.ID)) },
			"keep books, and crash": func(r *rapid.T) { b.run(rapid.IntRange(0, 4).Draw(r, "after")) },
			"":                      func(*rapid.T) {},
		})
		b.run(-1)
		b.compare(string(client.ID))
		before := b.stored
		b.run(0)
		assert.Equal(t, before, b.stored, "nothing has changed")
	})
}

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
		w, escrow := newReleaseWorld(t)
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		payment, err := w.pay()
		require.NoError(t, err)
		for resource, wait := range map[string]func(ctx context.Context) (id string, err error){
			"payout": func(ctx context.Context) (string, error) {
				_, err := w.account.Payouts.Wait(ctx, payment.Payout.ID)
				return string(payment.Payout.ID), err
			},
			"escrow": func(ctx context.Context) (string, error) {
				_, err := w.account.Escrows.Wait(ctx, escrow, []dapi.EscrowStatus{dapi.EscrowStatusReleased})
				return string(escrow), err
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
