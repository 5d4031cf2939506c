package payments

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Config are the settings of a processor. The zero value has the defaults.
type Config struct {
	// Policy says how often and when a payment is tried again and read.
	Policy Policy
	// InFlight is the largest number of calls that pay at the same time in this process. The default is as many as the
	// rate windows carry: see dapi.Payouts.MaxInFlight.
	InFlight int
	// Following is the largest number of reads of paid payments at the same time. The default is 16.
	Following int
	// PollEvery is how often the processor asks the store for work that another process has stored. The default is one
	// second. Work of this process begins at once.
	PollEvery time.Duration
	// LeaseFor is how long a process that has died holds up its payments. It is renewed three times in this time. If
	// the store takes no renewal for so long, the call under way ends: another process may have the payment by then.
	// The default is 15 seconds.
	LeaseFor time.Duration
	// StepTimeout is the longest time of one step, such as a call of dapi.Payouts.Pay with its waits. A payment whose
	// step takes longer is in doubt, and is tried again. The default is 5 minutes. Less than 3 minutes can be too short
	// for a payment that waits for its turn in a rate window.
	StepTimeout time.Duration
	// Now is the clock by which payments are due, keys grow old and deadlines pass. The default is time.Now. A test
	// that moves the clock of a sandbox host passes its Host.Now. Leases and pauses between polls need the machine's.
	Now func() time.Time
	// Owner names this process in leases and logs. The default is a random name.
	Owner string
	// Logger receives a line for each change of state, one for each outage of the store and for its end, and one for
	// each payment that is late: see [Policy]. Nil is silent.
	Logger *slog.Logger
	// Metrics receives counts, until [Processor.Stop]. It may be nil.
	Metrics Metrics
	// LoadEvery is how often Metrics.Load is called. The default is 10 seconds.
	LoadEvery time.Duration
	// Tracer keeps the spans of a payment together. It may be nil.
	Tracer Tracer
	// Limits are what may be paid at all. Nil sets no limit, and counts nothing.
	Limits *Limits
}

func (c Config) withDefaults() Config {
	c.Policy = c.Policy.withDefaults()
	c.Following = max(cmp.Or(c.Following, 16), 1)
	c.PollEvery = cmp.Or(max(c.PollEvery, 0), time.Second)
	c.LeaseFor = cmp.Or(max(c.LeaseFor, 0), 15*time.Second)
	c.StepTimeout = cmp.Or(max(c.StepTimeout, 0), 5*time.Minute)
	c.LoadEvery = cmp.Or(max(c.LoadEvery, 0), 10*time.Second)
	c.Owner = cmp.Or(c.Owner, rand.Text())
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if c.Tracer == nil {
		c.Tracer = noTracer{}
	}
	return c
}

// Processor makes payments that outlive the process. It is safe for concurrent use. See the overview of the package.
type Processor struct {
	store    Store
	services Services
	config   Config
	leases   *leaseHolder
	runner   *runner
	outage   *outage
	load     *load
	limits   *limitRules
	changes  changes
}

// New returns a processor over a store. It does nothing yet: [Processor.Resume] begins to pay. A process that submits
// payments for other processes to pay does not call Resume. A process that only reads payments and decides, such as an
// operator's tool, needs no services: pass the zero Services.
//
// New fails with *errors.InvalidInput without a store, and with limits that are not valid or could not be read.
func New(store Store, services Services, config Config) (*Processor, error) {
	if store == nil {
		return nil, invalid("New", "store", errors.FieldMissing, "is nil: open one, for example with payments/sqlite")
	}
	limits, err := config.Limits.rules("New")
	if err != nil {
		return nil, err
	}
	p := &Processor{store: store, services: services, config: config.withDefaults(), limits: limits}
	if p.config.InFlight <= 0 {
		p.config.InFlight = p.capacity()
	}
	p.outage = &outage{logger: p.config.Logger}
	p.leases = newLeaseHolder(store, p.config, p.outage)
	p.runner = newRunner(p)
	p.load = newLoad(p)
	return p, nil
}

// ready refuses a call without a context, and a processor that New did not make.
func (p *Processor) ready(ctx context.Context, operation string) error {
	if p == nil || p.store == nil {
		return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation},
			Fields: []errors.Field{outcome.NoClient("payments.New")}}
	}
	return outcome.RequireContext(ctx, operation)
}

// capacity returns how many payments the rate windows carry at the same time.
func (p *Processor) capacity() int {
	if p.services.account != nil {
		if of, ok := p.services.account(OwnAccount); ok {
			return max(of.payouts.MaxInFlight(), 1)
		}
	}
	return 16
}

// Submit stores a payment durably, and returns it. Nothing was sent before Submit returns. If Submit returns an error
// of the store, the payment may or may not be stored: submit it again with the same key.
//
// The same key with the same terms is the same payment: Submit then returns it as it stands. With other terms, the
// error is *errors.IdempotencyKeyReused. If the submission is invalid, the error is *errors.InvalidInput. If
// [Config].Limits do not allow the payment, it is stored and needs a decision.
func (p *Processor) Submit(ctx context.Context, submission Submission) (Record, error) {
	if err := p.ready(ctx, "Submit"); err != nil {
		return Record{}, err
	}
	submitted, err := p.prepare(ctx, submission)
	if err != nil {
		return Record{}, err
	}
	stored, inserted, err := p.store.Insert(ctx, submitted)
	if err != nil {
		return Record{}, err
	}
	record, err := Stored(submitted, stored)
	if err != nil {
		return Record{}, err
	}
	if inserted {
		p.report(ctx, "", record)
		p.runner.schedule(record.Work(), record.Due)
	}
	return record, nil
}

// prepare is [Prepare], with what this processor knows.
func (p *Processor) prepare(ctx context.Context, submission Submission) (Record, error) {
	record, err := recordOf(submission)
	if err != nil {
		return Record{}, err
	}
	record.Account = p.services.accountID(record.Account)
	if record, err = record.accept(p.config.Now()); err != nil {
		return Record{}, err
	}
	if err := p.services.check("Submit", &record); err != nil {
		return Record{}, err
	}
	record.Trace = p.config.Tracer.Submitted(ctx, record.Key)
	return p.limits.submitted(record, record.AcceptedAt), nil
}

// Get returns the payment with a key. If there is none, the error is *[NotFound].
func (p *Processor) Get(ctx context.Context, key moneymovement.Key) (Record, error) {
	if err := p.ready(ctx, "Get"); err != nil {
		return Record{}, err
	}
	record, err := p.store.Load(ctx, key)
	return record, cmp.Or(err, record.Err())
}

// Decide stores what a person decided about a payment, and returns it. The payment continues at once, also in another
// process. After a refused price, it first waits until that price has ended: Record.Due says when. If the decision does
// not fit the payment, the error is *[NotPossible]; while a call is being made for it, *[CallInProgress]. If its
// author, its note or its bounds are invalid, the error is *errors.InvalidInput.
func (p *Processor) Decide(ctx context.Context, key moneymovement.Key, decision Decision) (Record, error) {
	if err := p.ready(ctx, "Decide"); err != nil {
		return Record{}, err
	}
	if err := decision.check(); err != nil {
		return Record{}, err
	}
	claimed, err := p.claim(ctx, key)
	if err != nil {
		return Record{}, err
	}
	record, err := p.decided(ctx, claimed, decision)
	if err != nil {
		return record, errors.Join(err, p.store.Postpone(ctx, claimed)) // which gives the lease back
	}
	p.runner.schedule(record.Work(), record.Due)
	return record, nil
}

// MarkRestored says that the store was restored from a copy that was made at a time. Call it before [Processor.Resume]
// in any process, and while no process of before the restore is left. Payments may have been made after the copy that
// the store does not know, or does not know as made. From then on, each payment that waits is searched for before it is
// paid, and so is each one that is submitted, until [Processor.EndRestored]: also if the service may have forgotten its
// key. A time that is too early does no harm, only the searches take longer.
//
// A file that is a copy by Backup of package payments/sqlite says so itself, and needs no call.
func (p *Processor) MarkRestored(ctx context.Context, since time.Time) error {
	if err := p.ready(ctx, "MarkRestored"); err != nil {
		return err
	}
	switch {
	case since.IsZero():
		return invalid("MarkRestored", "since", errors.FieldMissing, "is zero: pass the time of the copy")
	case since.After(p.config.Now().Add(clockMargin)):
		return invalid("MarkRestored", "since", "out_of_range", "must not be in the future")
	}
	return p.store.MarkRestored(ctx, since)
}

// EndRestored says that all payments which were submitted after the copy were submitted again: payments that are
// submitted from now on are new. Those that are stored keep their search.
func (p *Processor) EndRestored(ctx context.Context) error {
	if err := p.ready(ctx, "EndRestored"); err != nil {
		return err
	}
	return p.store.MarkRestored(ctx, time.Time{})
}

// claim leases one payment, due or not.
func (p *Processor) claim(ctx context.Context, key moneymovement.Key) (Claimed, error) {
	claimed, _, err := p.store.Claim(ctx,
		Claim{Owner: p.config.Owner, Key: key, Now: p.config.Now(), For: p.config.LeaseFor})
	if err != nil {
		return Claimed{}, err
	}
	return claimed[0], nil
}

func (p *Processor) decided(ctx context.Context, claimed Claimed, decision Decision) (Record, error) {
	before := claimed.Record
	if err := before.Err(); err != nil {
		return Record{}, err
	}
	if err := before.refuse(decision); err != nil {
		return before, err
	}
	record, _ := before.decide(decision, p.config.Now().UTC())
	var err error
	if decision.kind == decideBounds {
		if err = record.check(); err != nil { // the bounds can be invalid
			return before, err
		}
		if !before.edited() {
			if record.DecidedDigest, err = record.digest(); err != nil {
				return before, err
			}
		}
	}
	record = p.limits.countPaid(record.toStore(), p.config.Now())
	if record.Position, err = p.store.Save(ctx, Claimed{record, claimed.Lease}, true); err != nil {
		return before, err
	}
	p.report(ctx, before.State, record, slog.String("decision", decision.String()),
		slog.String("decidedBy", decision.author))
	return record, nil
}

// report passes a stored change on to the hooks and to those who watch.
func (p *Processor) report(ctx context.Context, from moneymovement.PaymentState, r Record, more ...slog.Attr) {
	p.changes.notify()
	attributes := []slog.Attr{
		slog.String("key", string(r.Key)), slog.String("account", string(r.Account)),
		slog.String("state", string(r.State)),
	}
	change := ChangeMetrics{
		Kind: r.Kind, Account: r.Account, From: from, To: r.State, Age: r.ChangedAt.Sub(r.AcceptedAt),
	}
	level := slog.LevelInfo
	if r.Reason != nil {
		change.Reason = r.Reason.Code
		attributes = append(attributes, slog.String("reason", string(r.Reason.Code)),
			slog.String("message", r.Reason.Message))
	}
	attributes = append(attributes, more...)
	canceled := r.Reason != nil && r.Reason.Code == ReasonCanceled
	if r.State == moneymovement.PaymentNeedsDecision || r.State == moneymovement.PaymentCameBack ||
		r.State == moneymovement.PaymentRefused && !canceled {
		level = slog.LevelWarn
	}
	p.config.Logger.LogAttrs(ctx, level, "payment is "+string(r.State), attributes...)
	p.config.Metrics.Changed(ctx, change)
}

// changes wakes those who wait for a change.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait returns a channel that is closed at the next change.
func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

func (c *changes) notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Prepare is the function [Prepare] with what this processor knows: it also refuses a payment that the services cannot
// make, and stores what the tracer returns. It is for engines that insert the record themselves.
func (p *Processor) Prepare(ctx context.Context, submission Submission) (Record, error) {
	if err := p.ready(ctx, "Prepare"); err != nil {
		return Record{}, err
	}
	return p.prepare(ctx, submission)
}

// Wake makes a processor that is resumed claim due work now, and not at its next poll. It is for engines that hear
// of work which another process has stored. It returns false if the processor is not resumed, or is stopped.
func (p *Processor) Wake() bool {
	if p == nil || p.store == nil {
		return false
	}
	r := p.runner
	r.mu.Lock()
	running := r.started && !r.stopped
	r.pollAt = time.Time{}
	r.mu.Unlock()
	if running {
		r.wakeUp()
	}
	return running
}

// Services are the clients that a processor pays with. Make them with [IntegratorServices] or [SelfServeServices]. The
// zero Services pay nothing: they are for a process that only reads and decides.
type Services struct {
	account   func(id dapi.ClientID) (account, bool)
	single    bool // there is one account, which a payment need not name
	transfers *appapi.Transfers
}

// account is what the processor needs of one account.
type account struct {
	payouts      *dapi.Payouts
	escrows      *dapi.Escrows
	transactions *dapi.Transactions
}

// IntegratorServices pays from the accounts of an integrator's clients, and from the integrator's own account, which a
// payment names by [OwnAccount].
func IntegratorServices(platform *dapi.Integrator) Services {
	if platform == nil {
		return Services{}
	}
	return Services{account: func(id dapi.ClientID) (account, bool) {
		of := platform.For(id)
		if id == OwnAccount {
			of = platform.Self()
		}
		return account{of.Payouts, of.Escrows, of.Transactions}, id != ""
	}}
}

// SelfServeServices pays from one account, which its owner's key signs for. A payment need not name it.
func SelfServeServices(platform *dapi.SelfServe) Services {
	if platform == nil {
		return Services{}
	}
	return Services{single: true, account: func(id dapi.ClientID) (account, bool) {
		return account{platform.Payouts, platform.Escrows, platform.Transactions}, id == OwnAccount
	}}
}

// WithTransfers returns the services with the app API, which [TransferPayment] needs. Services with transfers alone are
// Services{}.WithTransfers(app).
func (s Services) WithTransfers(app *appapi.Client) Services {
	if app != nil {
		s.transfers = app.Transfers
	}
	return s
}

// check refuses a payment that these services cannot make.
func (s Services) check(operation string, r *Record) error {
	if r.Kind == KindTransfer {
		if s.transfers == nil {
			return invalid(operation, "services", errors.FieldMissing,
				"have no app API for transfers: make the processor with Services.WithTransfers")
		}
		return nil
	}
	if s.account == nil {
		return invalid(operation, "services", errors.FieldMissing,
			"have no platform API: make the processor with IntegratorServices or SelfServeServices")
	}
	if _, ok := s.account(r.Account); !ok {
		if s.single {
			return invalid(operation, "account", "unexpected", "must be payments.OwnAccount, or empty: with "+
				"self-serve there is one account")
		}
		return checkAccount(operation, r.Account)
	}
	if operation != "Submit" {
		return nil
	}
	switch of := s.accountOf(r); r.Kind { // nothing is stored that this process knows to be impossible
	case KindPayout:
		return outcome.CheckPayout(of.payouts, *r.Payout, r.Bounds, string(r.Key))
	case KindEscrow:
		return outcome.CheckEscrow(of.escrows, *r.Escrow, string(r.Key))
	}
	return nil
}

// OwnAccount is the account of the credential itself, where the id of a client would be. With [IntegratorServices], a
// payment must name it. So a payment whose account was forgotten does not spend the integrator's own money.
const OwnAccount dapi.ClientID = "self"

// accountID returns the account that an id names. With one account, no id names it as well.
func (s Services) accountID(id dapi.ClientID) dapi.ClientID {
	if id == "" && s.single {
		return OwnAccount
	}
	return id
}

// checkAccount refuses what names no account.
func checkAccount(operation string, id dapi.ClientID) error {
	switch id {
	case OwnAccount:
		return nil
	case "":
		return invalid(operation, "account", errors.FieldMissing, "is empty: pass the id of the client, or "+
			"payments.OwnAccount for the account of the credential itself")
	}
	return transport.Validate(operation, func(c *transport.Check) { c.ClientID("account", string(id)) })
}

// accountOf returns the services of a payment's account.
func (s Services) accountOf(r *Record) account {
	of, _ := s.account(r.Account)
	return of
}
