package payments_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is a host with money on a client's account, and a store. All of it is in one synctest bubble.
type world struct {
	*worlds.World
	store   payments.Store
	options []moneymovement.Option // of each platform
	settle  func()                 // waits until each goroutine of a bubble is blocked, nil elsewhere
	account dapi.ClientID
	contact dapi.ContactID
	clients []dapi.ClientID
}

func newWorld(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	rich := sandbox.WithSettings(func(s *sandbox.Settings) {
		s.MaxCredit = decimal.NewFromInt(1_000_000)
		s.FaucetBalance = decimal.NewFromInt(100_000_000)
	})
	w := &world{World: worlds.New(t, append([]sandbox.Option{rich}, options...)...), store: payments.NewMemoryStore()}
	w.account, w.contact = w.client("acme@example.com", "1000")
	return w
}

// platform returns a new client of the host, as a new process has one.
func (w *world) platform(options ...moneymovement.Option) *dapi.Integrator {
	w.Helper()
	return w.Integrator(w.Developer(), append(options, w.options...)...)
}

// client makes a client with money and a contact.
func (w *world) client(email, money string) (dapi.ClientID, dapi.ContactID) {
	w.Helper()
	ctx := w.Context()
	platform := w.platform()
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: email, EntityName: "Acme"})
	require.NoError(w, err)
	_, err = platform.Clients.WaitReady(ctx, client.ID)
	require.NoError(w, err)
	account := platform.For(client.ID)
	w.Credit(account.Sandbox, money, dapi.USDC)
	w.clients = append(w.clients, client.ID)
	return client.ID, w.Contact(account.Contacts, worlds.SEPA())
}

// processor returns a processor of a new process on the store.
func (w *world) processor(change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	config := payments.Config{Logger: slog.New(slog.NewTextHandler(w.Output(), nil))}
	for _, c := range change {
		c(&config)
	}
	p, err := payments.New(w.store, payments.IntegratorServices(w.platform()), config)
	require.NoError(w, err)
	return p
}

// started is processor, resumed. It is stopped at the end of the test.
func (w *world) started(change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	p := w.processor(change...)
	_, err := p.Resume(w.Context())
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, p.Stop(context.Background())) })
	return p
}

func (w *world) payment(n int) payments.Payment {
	return payments.Payment{
		Key: moneymovement.DeriveKey("invoice", fmt.Sprint(n)), Account: w.account,
		Payout: dapi.PayoutCreate{ContactID: w.contact, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC},
	}
}

// confirmPath is where a payout is confirmed.
const confirmPath = "/payouts/{payoutId}/confirm"

// inBubble runs a test with a world in which time passes when everything waits.
func inBubble(t *testing.T, test func(w *world), options ...sandbox.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options...)
		w.settle = synctest.Wait
		test(w)
	})
}

// assertPaid checks that so many payouts were paid, each of them once.
func (w *world) assertPaid(payouts int) {
	w.Helper()
	moved := w.Moved("payout_funding")
	assert.Len(w, moved, payouts)
	for id, times := range moved {
		assert.Equal(w, 1, times, id)
	}
}

func (w *world) submit(p *payments.Processor, s payments.Submission) payments.Record {
	w.Helper()
	r, err := p.Submit(w.Context(), s)
	require.NoError(w, err)
	return r
}

// becomes waits until a payment is in a state. In a bubble, what the processor says of it is said then, too.
func (w *world) becomes(
	p *payments.Processor, key moneymovement.Key, state moneymovement.PaymentState,
) payments.Record {
	w.Helper()
	r, err := p.Await(w.Context(), key, moneymovement.PaymentNeedsDecision, moneymovement.PaymentRefused,
		moneymovement.PaymentCameBack, moneymovement.PaymentCompleted, state)
	require.NoError(w, err)
	require.Equal(w, state, r.State, "%+v", r.Reason)
	if w.settle != nil {
		w.settle()
	}
	return r
}

func (w *world) decide(p *payments.Processor, key moneymovement.Key, d payments.Decision) payments.Record {
	w.Helper()
	r, err := p.Decide(w.Context(), key, d)
	require.NoError(w, err)
	return r
}

func as[E error](t testing.TB, err error) E { t.Helper(); return worlds.As[E](t, err) }

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// waitQuietly waits, for checks that something does not happen.
func (w *world) waitQuietly() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

// pollRarely lets a processor ask its store rarely: in a test that takes days, that is most of the work.
func pollRarely(c *payments.Config) { c.PollEvery, c.LoadEvery = 10*time.Minute, time.Hour }

// onConfirm makes the next confirms fail.
func (w *world) onConfirm(f sandbox.Fault) *sandbox.ArmedFault {
	return w.Host.Arm(http.MethodPost, confirmPath, f)
}

// assertSilent checks that no text has a secret.
func (w *world) assertSilent(text string) {
	w.Helper()
	for _, secret := range []string{"Bearer", "PRIVATE KEY", w.Host.Credentials().APIKey.Reveal()} {
		assert.NotContains(w, text, secret)
	}
}

func newEscrow() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: worlds.Payee, HoldFor: "14d"}
}

// selfServe returns a client of the credential's own account, which has money.
func (w *world) selfServe() *dapi.SelfServe {
	w.Helper()
	own := w.SelfServe()
	w.Credit(own.Sandbox, "1000", dapi.USDC, moneymovement.IdempotencyKey("own-money"))
	return own
}

// ownPayment is a payment from the credential's own account.
func (w *world) ownPayment(n int) payments.Payment {
	w.Helper()
	contact := w.Contact(w.selfServe().Contacts, worlds.SEPA())
	return payments.Payment{Key: moneymovement.DeriveKey("own", fmt.Sprint(n)), Payout: dapi.PayoutCreate{
		ContactID: contact, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC}}
}

// app returns a client of the app API for the credential's own account, and a contact that it can pay.
func (w *world) app() (app *appapi.Client, contact string) {
	w.Helper()
	w.selfServe()
	app = w.App(w.AppKey())
	return app, w.AppContact(app)
}

// observedStore is a store that a test can make fail, and that counts its calls.
type observedStore struct {
	payments.Store

	mu    sync.Mutex
	calls map[string]int
	fail  func(method string, n int) bool
}

var errStore = errors.New("the disk is full")

func watch(store payments.Store) *observedStore {
	return &observedStore{Store: store, calls: map[string]int{}}
}

// failing sets which calls fail from now on, before anything is stored.
func (s *observedStore) failing(fail func(method string, n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.calls = fail, map[string]int{}
}

func (s *observedStore) fails(method string) bool {
	s.mu.Lock()
	s.calls[method]++
	fail, n := s.fail, s.calls[method]
	s.mu.Unlock()
	return fail != nil && fail(method, n) // it may wait
}

func call[T any](s *observedStore, method string, call func() (T, error)) (T, error) {
	if s.fails(method) {
		var none T
		return none, errStore
	}
	return call()
}

func (s *observedStore) Insert(ctx context.Context, record payments.Record) (payments.Record, bool, error) {
	var inserted bool
	stored, err := call(s, "Insert", func() (stored payments.Record, err error) {
		stored, inserted, err = s.Store.Insert(ctx, record)
		return stored, err
	})
	return stored, inserted, err
}

func (s *observedStore) Load(ctx context.Context, key moneymovement.Key) (payments.Record, error) {
	return call(s, "Load", func() (payments.Record, error) { return s.Store.Load(ctx, key) })
}

func (s *observedStore) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	var next time.Time
	claimed, err := call(s, "Claim", func() (claimed []payments.Claimed, err error) {
		claimed, next, err = s.Store.Claim(ctx, claim)
		return claimed, err
	})
	return claimed, next, err
}

func (s *observedStore) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) ([]moneymovement.Key, error) {
	return call(s, "Extend", func() ([]moneymovement.Key, error) { return s.Store.Extend(ctx, leases, d) })
}

func (s *observedStore) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (payments.Position, error) {
	return call(s, "Save", func() (payments.Position, error) {
		return s.Store.Save(ctx, claimed, release)
	})
}

func (s *observedStore) Postpone(ctx context.Context, claimed payments.Claimed) error {
	_, err := call(s, "Postpone", func() (bool, error) { return true, s.Store.Postpone(ctx, claimed) })
	return err
}

func (s *observedStore) Summary(ctx context.Context) (payments.Summary, error) {
	return call(s, "Summary", func() (payments.Summary, error) { return s.Store.Summary(ctx) })
}
