package simulation

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/transport"
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
	Payments int     // how many are made
	Faults   float64 // the part of all requests with a fault
	Crashes  float64 // the part of all steps before which the process ends
	Events   bool    // prices move, clocks jump, keys are replaced, payouts come back
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
	admin      *dapi.Account
	journal    *journal
	signatures *SignerLog
	calls      *callLog

	ctx      context.Context //nolint:containedctx // ends with the last payment
	stop     context.CancelFunc
	others   sync.WaitGroup // what goes on beside the processes
	mu       sync.Mutex
	key      *signing.DeveloperKey // of new processes
	running  *Process
	platform *dapi.Integrator // of the running process
	started  int
	begun    []*Process
}

// stormLasts is how long faults happen. Afterwards, every payment must end.
const stormLasts = 6 * time.Hour

// Run makes one run. Call it in a bubble of its own.
func Run(seed Seed, plan Plan) (*Result, error) {
	w := &World{seed: seed, plan: plan, signatures: new(SignerLog), calls: new(callLog)}
	if err := w.setUp(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.scheduler.crashes = w.crashes
	w.start()
	w.others.Go(w.endStorm)
	if plan.Events {
		w.startEvents()
	}
	go func() {
		<-w.ctx.Done()
		w.others.Wait()
		w.network.copies.Wait()
		close(done)
	}()
	if err := w.scheduler.Run(done); err != nil {
		return nil, err
	}
	for _, p := range w.begun {
		p.end() // a session that is being renewed
	}
	return w.judge(), nil
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
		}))
	w.plan.Reseed()
	if err := w.openAdmin(); err != nil {
		return err
	}
	w.scheduler = NewScheduler(w.seed)
	w.network = newNetwork(w.seed, w.scheduler, w.host, w.plan.Faults)
	w.journal = &journal{rows: map[string]row{}}
	return w.order()
}

// openAdmin connects a person with a key of their own, whose requests are no steps.
func (w *World) openAdmin() error {
	key, err := newKey(w.seed, "admin")
	if err != nil {
		return err
	}
	if _, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: key.PublicKey()}); err != nil {
		return err
	}
	admin, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: email, Key: key}, moneymovement.WithoutPacing(),
		moneymovement.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: w.host}}))
	if err != nil {
		return err
	}
	w.admin = admin.Self()
	return nil
}

// order makes the contacts, the balance, and the rows of the payments.
func (w *World) order() error {
	ctx := context.Background()
	bank, err := w.admin.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.SEPA(dapi.IBANAccount{
		IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Bob Roe"}})})
	if err != nil {
		return err
	}
	wallet, err := w.admin.Contacts.Create(ctx, dapi.ContactCreate{Name: "Wallet", Account: dapi.Onchain(
		dapi.OnchainAccount{WalletAddress: "0x00000000000000000000000000000000000000b0", ChainID: "base",
			Currency: "USDC"})})
	if err != nil {
		return err
	}
	if _, err := w.admin.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.NewFromInt(1_000_000),
		Currency: dapi.USDC}); err != nil {
		return err
	}
	for i := range w.plan.Payments {
		id := fmt.Sprintf("k-%03d", i)
		amount := decimal.New(int64(2000+137*i), -2)
		r := row{ID: id, Terms: dapi.PayoutCreate{ContactID: wallet.ID, Amount: amount, Currency: dapi.USDC},
			MaxFee: decimal.New(5, -1), Least: amount, Currency: "USDC", State: dapi.PaymentNotPaid}
		if w.seed.Draw("contact", id).IntN(3) > 0 {
			r.Terms.ContactID, r.Currency = bank.ID, "EUR"
			r.Least = amount.Sub(r.MaxFee).Mul(decimal.New(90, -2)).Truncate(2) // the price may get 1.7 % worse
		}
		w.journal.rows[id] = r
	}
	return nil
}

// start starts a process that works on all open payments. The next one starts when it has crashed.
func (w *World) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	p := newProcess("p"+strconv.Itoa(w.started), w.scheduler)
	developer := dapi.Developer{Email: email, Key: w.signerOf(p, w.key)}
	platform, err := dapi.NewIntegrator(baseURL, developer, w.options(p)...)
	if err != nil {
		panic(err) // the settings are constant
	}
	w.running, w.platform, w.begun = p, platform, append(w.begun, p)
	(&payer{process: p, journal: w.journal, account: platform.Self(), seed: w.seed}).run()
	w.others.Go(func() {
		p.work.Wait()
		if len(w.journal.open()) == 0 {
			w.stop()
		}
	})
}

// options are those of a process's client.
func (w *World) options(p *Process) []moneymovement.Option {
	return []moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Transport: w.network.Of(p)}),
		moneymovement.WithMetrics(w.calls),
		func(c *transport.Config) {
			c.Random = func(ctx context.Context, below time.Duration) time.Duration {
				return p.random(w.seed, labelOf(ctx), below)
			}
			c.Limiter = &line{transport.NewLocalLimiter(transport.StatedWindows()), p, map[string]int{}, sync.Mutex{}}
		},
	}
}

func (w *World) signerOf(p *Process, key *signing.DeveloperKey) signing.Signer {
	return &signer{DeveloperKey: key, process: p, log: w.signatures, network: w.network, counts: map[string]int{}}
}

// crashes decides whether a process ends before a step. If so, another one starts later.
func (w *World) crashes(p *Process, _ string) bool {
	if w.plan.Crashes == 0 || w.network.calm.Load() {
		return false
	}
	random := w.seed.Draw("crash", strconv.Itoa(w.scheduler.trace.steps))
	if random.Float64() >= w.plan.Crashes {
		return false
	}
	away := between(random, time.Second, 20*time.Minute)
	w.others.Go(func() {
		<-time.After(away)
		w.scheduler.Step("world: the process after "+p.name+" starts", "")
		w.start()
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
