package payment_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// rig is a workflow in Temporal's test environment, with a worker that can die and a sandbox host. The host has the
// clock of the workflow, which jumps over pauses.
type rig struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	host    *sandbox.Host
	client  dapi.ClientID
	contact dapi.ContactID

	admin    *dapi.Integrator // does what is not a worker's
	platform *dapi.Integrator // of the worker that lives
	wire     *wire
	fate     func() (request int, after bool) // of the next worker, see dieAt; nil means that it lives
	calls    []payment.PayCall                // of the first attempts of the activity
	attempts int                              // of the activity Pay
}

// deposit is what the client has at first.
const deposit = "100"

func newRig(t *testing.T) *rig {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	r := &rig{t: t, env: suite.NewTestWorkflowEnvironment()}
	r.host = sandbox.New(sandbox.WithClock(r.env.Now), sandbox.WithInstantProgress())
	r.admin = r.connect(&inprocess.Transport{Handler: r.host})
	client, err := r.admin.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	r.client = client.ID
	_, err = r.admin.Clients.WaitReady(t.Context(), client.ID)
	require.NoError(t, err)
	r.deposit(deposit)
	r.contact = r.newContact("DE89370400440532013000")
	r.startWorker()

	r.env.SetTestTimeout(time.Minute)
	r.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	r.env.RegisterWorkflow(payment.Workflow)
	r.env.RegisterActivity(&mortal{r})
	r.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		var call payment.PayCall
		if info.ActivityType.Name != "Pay" {
			return
		}
		r.attempts++
		if info.Attempt == 1 && assert.NoError(t, args.Get(&call)) {
			r.calls = append(r.calls, call)
		}
	})
	return r
}

func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

// startWorker makes a client that knows nothing about earlier calls, as after the start of a process.
func (r *rig) startWorker() {
	r.wire = &wire{host: r.host, next: &inprocess.Transport{Handler: r.host}}
	if r.fate != nil {
		r.wire.dieAt(r.fate())
	}
	r.platform = r.connect(r.wire)
}

// connect makes a client that sends each request once, so that Temporal meets each failure.
func (r *rig) connect(transport http.RoundTripper) *dapi.Integrator {
	credentials := r.host.Credentials()
	platform, err := dapi.NewIntegrator("http://localhost",
		dapi.Developer{Email: credentials.Email, Key: credentials.Key},
		moneymovement.WithHTTPClient(&http.Client{Transport: transport}),
		moneymovement.WithoutPacing(), // it would wait on the machine's clock
		moneymovement.WithPolling(time.Millisecond, 2*time.Millisecond),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	require.NoError(r.t, err)
	return platform
}

func (r *rig) account() *dapi.Account { return r.admin.For(r.client) }

func (r *rig) deposit(amount string) {
	_, err := r.account().Sandbox.Deposit(r.t.Context(),
		dapi.DepositCreate{Amount: decimal.RequireFromString(amount), Currency: dapi.USDC})
	require.NoError(r.t, err)
}

func (r *rig) newContact(iban string) dapi.ContactID {
	contact, err := r.account().Contacts.Create(r.t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: iban, Holder: dapi.AccountHolder{Name: "Supplier"}})})
	require.NoError(r.t, err)
	return contact.ID
}

// input is a payment of 20 USDC to a bank, which costs 0.50.
func (r *rig) input() payment.Input {
	return payment.Input{ID: "invoice-42", Account: r.client,
		Terms: dapi.PayoutCreate{ContactID: r.contact, Amount: decimal.NewFromInt(20), Currency: dapi.USDC,
			PaymentReference: "invoice 42"},
		Bounds: dapi.Bounds{MaxFee: new(decimal.NewFromInt(1))}}
}

// payOutside runs the workflow of a payment in an environment of its own, with the same host, and returns its payout.
func (r *rig) payOutside(in payment.Input) dapi.PayoutID {
	r.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(&payment.Activities{Platform: r.platform})
	env.ExecuteWorkflow(payment.Workflow, in)
	var state payment.State
	require.NoError(r.t, env.GetWorkflowResult(&state))
	require.Equal(r.t, payment.Completed, state.Status)
	return state.History.PayoutID
}

// run runs the workflow to its end.
func (r *rig) run(in payment.Input) payment.State {
	r.t.Helper()
	r.env.ExecuteWorkflow(payment.Workflow, in)
	require.True(r.t, r.env.IsWorkflowCompleted())
	require.NoError(r.t, r.env.GetWorkflowError())
	var state payment.State
	require.NoError(r.t, r.env.GetWorkflowResult(&state))
	return state
}

// state asks the running workflow.
func (r *rig) state() (state payment.State) {
	value, err := r.env.QueryWorkflow(payment.StateQuery)
	if assert.NoError(r.t, err) {
		assert.NoError(r.t, value.Get(&state))
	}
	return state
}

// after runs f when the workflow has waited for so long.
func (r *rig) after(wait time.Duration, f func()) { r.env.RegisterDelayedCallback(f, wait) }

// decide sends a decision, and returns why it was refused.
func (r *rig) decide(d payment.Decision, refused func(error)) {
	r.env.UpdateWorkflow(payment.DecideUpdate, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: refused, OnComplete: func(any, error) {},
	}, d)
}

// accepted fails the test if a decision is refused.
func (r *rig) accepted(err error) { assert.NoError(r.t, err) }

// left returns how much left the client's account for each payout, without what came back.
func (r *rig) left() map[string]string {
	sums := map[string]decimal.Decimal{}
	for _, entry := range r.host.Ledger().Entries {
		if entry.Account == string(r.client) && entry.Kind != "deposit" {
			sums[entry.ResourceID] = sums[entry.ResourceID].Sub(entry.Amount)
		}
	}
	left := map[string]string{}
	for id, sum := range sums {
		if !sum.IsZero() {
			left[id] = sum.String()
		}
	}
	return left
}

// fundings returns how many movements of money out of the client's account there were, also if it came back.
func (r *rig) fundings() (count int) {
	for _, entry := range r.host.Ledger().Entries {
		if entry.Account == string(r.client) && entry.Amount.IsNegative() {
			count++
		}
	}
	return count
}

// paidOnce fails the test unless 20 USDC left in one payout.
func (r *rig) paidOnce(state payment.State) {
	r.t.Helper()
	assert.Equal(r.t, map[string]string{string(state.History.PayoutID): "20"}, r.left())
}

// mortal is a worker that can die in the middle of an activity. Temporal then sees that its heartbeats stop, and
// another worker starts, which knows nothing.
type mortal struct{ rig *rig }

func (m *mortal) worker() *payment.Activities { return &payment.Activities{Platform: m.rig.platform} }

func (m *mortal) Pay(ctx context.Context, call payment.PayCall) (payment.Receipt, error) {
	receipt, err := m.worker().Pay(ctx, call)
	return receipt, m.lives(err)
}

func (m *mortal) Find(ctx context.Context, call payment.FindCall) (payment.Receipt, error) {
	receipt, err := m.worker().Find(ctx, call)
	return receipt, m.lives(err)
}

func (m *mortal) Follow(ctx context.Context, account dapi.ClientID, id dapi.PayoutID) (payment.Receipt, error) {
	receipt, err := m.worker().Follow(ctx, account, id)
	return receipt, m.lives(err)
}

// lives returns err, or a timeout if the worker is dead, whatever it would have reported.
func (m *mortal) lives(err error) error {
	if !m.rig.wire.isDead() {
		return err
	}
	m.rig.startWorker()
	return temporal.NewHeartbeatTimeoutError()
}

// wire carries requests until the worker dies. It moves the host's clock with each request, because Temporal's test
// environment stops the clock of the workflow while an activity runs. A read moves it by more: an activity may read
// until something ends.
type wire struct {
	host *sandbox.Host
	next http.RoundTripper

	mu    sync.Mutex
	left  int // requests until the worker dies; 0 means that it lives
	after bool
	dead  bool
}

// dieAt makes the worker die at a request, counted from 1: before it is sent, or before its response arrives.
func (w *wire) dieAt(request int, after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.after = request, after
}

func (w *wire) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	last := w.left == 1
	w.left = max(0, w.left-1)
	sent := !w.dead && (!last || w.after)
	w.dead = w.dead || last
	w.mu.Unlock()
	if !sent {
		return nil, errDead
	}
	if r.Method == http.MethodGet {
		w.host.Advance(time.Minute)
	}
	w.host.Advance(time.Second)
	response, err := w.next.RoundTrip(r)
	if last && err == nil {
		response.Body.Close()
		return nil, errDead
	}
	return response, err
}

var errDead = errors.New("the worker is dead")
