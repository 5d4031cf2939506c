package simulation

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

const (
	hostName = "127.0.0.1:8080"
	baseURL  = "http://" + hostName
	email    = "ops@example.com"
)

// Plan says what happens in a run.
type Plan struct {
	Program     func(*World) program // the program under test
	Payments    int                  // how many are made
	Deck        []payments.Kind      // their kinds, dealt like cards; an empty deck means payouts
	Processes   int                  // how many work on them at the same time; 0 means one
	Faults      float64              // the part of all requests with a fault
	StoreFaults float64              // the part of all calls of the store that are slow or fail
	Crashes     float64              // the part of all steps before which the process ends
	CrashAt     int                  // the step of a process before which it ends; 0 for none
	Events      bool                 // prices move, clocks jump, keys are replaced, payouts come back
	Limits      *payments.Limits     // of the program; nil for none
	Break       Break                // the rule that is broken
	// Reseed makes the random ids of the host begin anew. It is called when the host is set up.
	Reseed func()
}

// World is one run: the host, the network, and the processes that make payments.
type World struct {
	seed       Seed
	plan       Plan
	scheduler  *Scheduler
	network    *Network
	host       *sandbox.Host
	admin      clients
	appContact string    // whom transfers pay
	opened     time.Time // on the host's clock: when the payments can begin
	orders     []*order
	program    program
	signatures *SignerLog
	calls      *callLog

	reached int // steps of processes so far; only the scheduler changes it

	ctx    context.Context // ends with the last payment
	stop   context.CancelFunc
	others sync.WaitGroup // everything but the scheduler

	mu      sync.Mutex
	key     *signing.DeveloperKey // of new processes
	appKey  sandbox.AppKey        // of new processes
	running []running             // by place
	absent  bool                  // no process may start
	begun   []*Process
}

// clients call both APIs.
type clients struct {
	platform *dapi.Integrator
	app      *appapi.Client
}

// running is a process with its clients.
type running struct {
	clients

	process *Process
}

// stormLasts is how long faults happen. Afterwards, every payment must end.
const stormLasts = 6 * time.Hour

// lastPause is longer than any pause after which a goroutine of a process that has ended notices it.
const lastPause = time.Hour

// Run makes one run. Call it in a bubble of its own.
func Run(seed Seed, plan Plan) (*Result, error) {
	w := &World{seed: seed, plan: plan, signatures: new(SignerLog), calls: new(callLog)}
	if err := w.setUp(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.scheduler.crashes = w.crashes
	w.scheduler.after = w.over
	for place := range w.running {
		w.start(place)
	}
	w.others.Go(w.endStorm)
	w.others.Go(w.giveUp)
	if plan.Events {
		w.startEvents()
	}
	go func() {
		<-w.ctx.Done()
		w.others.Wait()
		w.network.settled()
		close(done)
	}()
	if err := w.scheduler.Run(done); err != nil {
		return &Result{Trace: w.scheduler.trace}, err
	}
	w.network.closed.Store(true)
	for _, p := range w.begun {
		p.end() // a session that is being renewed
	}
	<-time.After(lastPause) // if a goroutine is left after that, the bubble says so
	return w.judge(), w.program.close()
}

// over ends the run when every payment has ended, or when a rule is broken: what follows would only take time.
func (w *World) over() bool {
	if w.ctx.Err() != nil {
		return false
	}
	if w.scheduler.trace.steps == mostSteps {
		w.network.books.note("the run does not end: %d steps in %v", mostSteps, time.Since(w.scheduler.began))
	}
	if w.network.books.broke() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.absent = true
		for _, p := range w.begun {
			p.end()
		}
	} else if !w.program.ended() {
		return false
	}
	w.stop()
	return true
}

// setUp makes the host, its contacts and the payments. Nothing goes wrong here, and nothing is a step.
func (w *World) setUp() error {
	key, err := newKey(w.seed, "first")
	if err != nil {
		return err
	}
	w.key = key
	w.host = sandbox.New(sandbox.WithDeveloperKey(key), sandbox.WithEmail(email), sandbox.WithRateLimits(),
		sandbox.WithSettings(func(s *sandbox.Settings) {
			s.MaxCredit, s.FaucetBalance = decimal.NewFromInt(10_000_000), decimal.NewFromInt(100_000_000)
			s.PayoutStepAfter = sandbox.Duration(between(w.seed.Draw("speed"), 100*time.Millisecond, 4*time.Minute))
		}))
	w.plan.Reseed()
	if err := w.openAdmin(); err != nil {
		return err
	}
	w.scheduler = NewScheduler(w.seed)
	w.network = newNetwork(w.seed, w.scheduler, w.host, w.plan.Faults)
	w.plan.Processes = max(w.plan.Processes, 1)
	w.running = make([]running, w.plan.Processes)
	if err := w.order(); err != nil {
		return err
	}
	<-time.After(time.Second)
	w.opened = w.host.Now()
	w.program = w.plan.Program(w)
	return nil
}

// openAdmin connects a person with a key of their own, whose requests do not count as steps.
func (w *World) openAdmin() error {
	key, err := newKey(w.seed, "admin")
	if err != nil {
		return err
	}
	if _, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: key.PublicKey()}); err != nil {
		return err
	}
	if w.appKey, err = w.newAppKey(); err != nil {
		return err
	}
	direct := []moneymovement.Option{moneymovement.WithoutPacing(),
		moneymovement.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: w.host}})}
	w.admin.platform, err = dapi.NewIntegrator(baseURL, dapi.Developer{Email: email, Key: key}, direct...)
	if err != nil {
		return err
	}
	w.admin.app, err = appapi.New(baseURL, appapi.NewAPIKey(w.appKey.Key.Reveal()), direct...)
	return err
}

// newAppKey returns another key of the app that makes the transfers.
func (w *World) newAppKey() (sandbox.AppKey, error) {
	return w.host.RegisterAppKey(sandbox.AppKeyRegistration{Email: email, App: "payments"})
}

// start starts a process in a place. When it has crashed, the next one starts in the same place.
func (w *World) start(place int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.absent || w.running[place].process.alive() {
		return
	}
	p := newProcess("p"+strconv.Itoa(len(w.begun)+1), w.scheduler)
	p.ctx = transport.WithRandom(p.ctx, func(below time.Duration) time.Duration {
		return p.random(w.seed, below)
	})
	developer := dapi.Developer{Email: email, Key: w.signerOf(p, w.key)}
	if w.plan.Break.Developer != nil {
		w.plan.Break.Developer(&developer)
	}
	platform, err := dapi.NewIntegrator(baseURL, developer, w.options(p)...)
	if err != nil {
		panic(err) // the settings are constant
	}
	app, err := appapi.New(baseURL, appapi.NewAPIKey(w.appKey.Key.Reveal()), w.options(p)...)
	if err != nil {
		panic(err) // the settings are constant
	}
	of := clients{platform, app}
	w.begun, w.running[place] = append(w.begun, p), running{of, p}
	p.place, p.number = place, len(w.begun)
	w.program.start(p, of)
	w.others.Go(p.work.Wait)
}

// options are those of a process's client.
func (w *World) options(p *Process) []moneymovement.Option {
	windows := ratewindow.ShareOfStatedWindows(w.plan.Processes)
	connection := w.network.Of(p)
	if w.plan.Break.Connection != nil {
		connection = w.plan.Break.Connection(connection)
	}
	return []moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Transport: connection}),
		moneymovement.WithObserver(&callsOf{log: w.calls, books: w.network.books, process: p,
			counts: map[string]int{}}),
		moneymovement.WithRateShare(w.plan.Processes),
		moneymovement.WithRateLimiter(&line{ratewindow.New(windows, nil), p, map[string]int{}, sync.Mutex{}}),
	}
}

func (w *World) signerOf(p *Process, key *signing.DeveloperKey) signing.Signer {
	return &signer{DeveloperKey: key, process: p, log: w.signatures, network: w.network, world: w,
		counts: map[string]int{}}
}

// crashes decides whether a process ends before a step. If so, another one starts later.
func (w *World) crashes(p *Process) bool {
	w.reached++
	random := w.seed.Draw("crash", strconv.Itoa(w.scheduler.trace.steps))
	byChance := !w.network.calm.Load() && random.Float64() < w.plan.Crashes
	if !byChance && w.reached != w.plan.CrashAt {
		return false
	}
	away := between(random, time.Second, 20*time.Minute)
	w.others.Go(func() {
		<-time.After(away)
		w.scheduler.Step("world: the process after "+p.name+" starts", "")
		w.start(p.place)
	})
	return true
}

// endStorm ends the faults.
func (w *World) endStorm() {
	if pause(w.ctx, stormLasts) == nil {
		w.scheduler.Step("world: the faults end", "")
		w.network.calm.Store(true)
	}
}

// mostSteps is many times the steps of a run.
const mostSteps = 60_000

// patience is how long after the storm every payment must have ended.
const patience = 10 * 24 * time.Hour

// giveUp ends a run whose payments do not end.
func (w *World) giveUp() {
	if pause(w.ctx, stormLasts+patience) == nil {
		w.scheduler.Step("world: nobody waits any longer", "")
		for _, o := range w.orders {
			if end, said := w.program.end(o); end == "" {
				w.network.books.note("%s has not ended: %s", o.ID, said)
			}
		}
		w.network.books.note("the run did not end")
	}
}

// Break breaks one rule of the program under test. A rig that does not notice that proves nothing. The zero value
// breaks nothing.
type Break struct {
	// Connection stands between the program's client and the network.
	Connection func(http.RoundTripper) http.RoundTripper
	// Developer changes the credential of a process.
	Developer func(*dapi.Developer)
	// Store stands between the program and its store.
	Store func(payments.Store) payments.Store
	// Submit changes what is submitted by a process. The first process of a run has number 1.
	Submit func(process int, payment payments.Submission) payments.Submission
	// Config changes the settings of a processor.
	Config func(*payments.Config)
	// Journal changes the program without package payments.
	Journal JournalBreak
}

// JournalBreak breaks rules of the program that pays with dapi alone.
type JournalBreak struct {
	// Key returns the key of a call. process is 1 for the first process of a run, call is 1 for its first call.
	Key func(r *row, process, call int) moneymovement.Key
	// Asked changes what a call pays.
	Asked func(asked *dapi.PayoutCreate, process, call int)
	// Terms changes the terms of a call. They are those of docs/calling-pay.md.
	Terms func(terms *dapi.PayTerms, r *row, process int)
	// Save decides whether a row is stored. moment is "journal", "after" or "waited".
	Save func(moment string) bool
	// After changes what a call has shown.
	After func(r *row, err error)
	// Blind stores a row although another process has stored it since it was read.
	Blind bool
	// Hurry ignores when the service asks to come back.
	Hurry bool
}

// endedCall is a call of a process.
type endedCall struct {
	moneymovement.CallStart
	moneymovement.CallEnd
}

// callLog notes how often each call was sent.
type callLog struct {
	mu    sync.Mutex
	calls []endedCall
}

// operations are the names of the calls of a payment, as the network names their requests.
var operations = map[string]string{
	"BookPayout": "book payouts", "ConfirmPayout": "confirm", "GetPayout": "read payouts",
	"ListTransactions": "list transactions", "CreateEscrow": "book escrow", "PrepareEscrowAction": "prepare",
	"ConfirmEscrowAction": "confirm action", "SyncEscrow": "sync", "CreateTransfer": "transfer",
	"ListTransfers": "transfers",
}

// callsOf are the calls of one process. The end of each call is a step: calls that waited for the same login end at the
// same time, and what follows them changes what their process knows.
type callsOf struct {
	log     *callLog
	books   *Books
	process *Process

	mu     sync.Mutex
	counts map[string]int
}

// CallBegan implements moneymovement.Observer.
func (c *callsOf) CallBegan(ctx context.Context, _ moneymovement.CallStart) context.Context {
	return ctx
}

// AttemptEnded implements moneymovement.Observer.
func (c *callsOf) AttemptEnded(context.Context, moneymovement.CallStart, moneymovement.CallAttempt) {}

// CallEnded implements moneymovement.Observer.
func (c *callsOf) CallEnded(ctx context.Context, call moneymovement.CallStart, end moneymovement.CallEnd) {
	c.log.mu.Lock()
	c.log.calls = append(c.log.calls, endedCall{call, end})
	c.log.mu.Unlock()
	if operation, known := operations[call.Operation]; known {
		c.books.over(c.process, workOf(ctx), operation, end.Attempts)
	}
	name := labelOf(ctx) + " " + call.Operation
	switch call.Operation {
	case "CreateChallenge", "CreateToken", "RefreshToken":
		name = "session " + call.Operation
	}
	c.mu.Lock()
	c.counts[name]++
	name += " over " + strconv.Itoa(c.counts[name])
	c.mu.Unlock()
	c.process.Step(name, string(end.Result))
}
