package simulation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// processor is a program with package payments. Its store outlives the processes.
type processor struct {
	world *World
	store payments.Store
	// reopen returns the store for a process that starts, after the end of the one before; nil keeps the same store.
	reopen func(before payments.Store) (payments.Store, error)
	// closed closes the store at the end of the run; nil for a store that needs no end.
	closed func() error

	leases   *leaseBook
	mu       sync.Mutex
	final    map[moneymovement.Key]moneymovement.PaymentState // of the payments that have ended
	first    map[moneymovement.Key]time.Time                  // when each was first submitted
	restored bool                                             // the store is an older copy that does not say so
	older    bool                                             // the store is an older copy
	away     atomic.Bool                                      // every call of the store fails
}

func newProcessor(w *World, store payments.Store) *processor {
	if w.plan.Break.Store != nil {
		store = w.plan.Break.Store(store)
	}
	return &processor{world: w, store: store, leases: newLeaseBook(w.network.books),
		final: map[moneymovement.Key]moneymovement.PaymentState{}, first: map[moneymovement.Key]time.Time{}}
}

// records returns a copy of the store.
func (m *processor) records() []payments.Record {
	records, err := m.store.List(context.Background(), payments.List{Limit: 1_000_000})
	if err != nil {
		panic(err) // the store is in memory
	}
	return records
}

// restore goes back to a copy of a time, and marks the store as restored; a zero time does not. Nothing else runs.
func (m *processor) restore(records []payments.Record, copied time.Time) {
	again := newProcessor(m.world, payments.NewMemoryStore())
	m.store, m.leases, m.final, m.restored = again.store, again.leases, again.final, copied.IsZero()
	m.older = true
	for _, record := range records {
		record.Count = new(payments.Count) // what it counts is a part of the copy
		if _, _, err := m.store.Insert(context.Background(), record); err != nil {
			panic(err) // the store is in memory
		}
		if record.State.Final() {
			m.final[record.Key] = record.State
		}
	}
	if err := m.store.MarkRestored(context.Background(), copied); err != nil {
		panic(err) // the store is in memory
	}
}

// firstSubmitted returns when an order was first submitted, if the store may have lost it. An earlier call may have
// paid it then.
func (m *processor) firstSubmitted(o *order) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, again := m.first[o.Key]
	if !again {
		m.first[o.Key] = time.Now()
	}
	if !m.restored {
		return time.Time{}
	}
	return first
}

// open gives a process its store. The leases of a store that is closed have ended.
func (m *processor) open() {
	if m.reopen == nil {
		return
	}
	store, err := m.reopen(m.store)
	if err != nil {
		panic(err) // the rig gives it a file of its own
	}
	m.store, m.leases = store, newLeaseBook(m.world.network.books)
}

// close closes the store.
func (m *processor) close() error {
	if m.closed == nil {
		return nil
	}
	return m.closed()
}

// saved notes whether a payment has ended. What has ended stays so, except that money can come back.
func (m *processor) saved(key moneymovement.Key) {
	record, err := m.store.Load(context.Background(), key)
	if err = cmp.Or(err, record.Err()); err != nil {
		m.world.network.books.note("%s was stored, and cannot be read: %v", key, err)
		return
	}
	m.judgeCaps()
	m.mu.Lock()
	defer m.mu.Unlock()
	before, ended := m.final[key]
	if ended && record.State != before && (before != moneymovement.PaymentCompleted ||
		record.State != moneymovement.PaymentCameBack) {
		m.world.network.books.note("%s was %s, and is %s", key, before, record.State)
	}
	delete(m.final, key)
	if record.State.Final() {
		m.final[key] = record.State
	}
}

// mayLeave reads the store directly: it is not a step.
func (m *processor) mayLeave(o *order) bool {
	m.judgeCounted(o, time.Now())
	record, err := m.store.Load(context.Background(), o.Key)
	return err == nil && record.MayHaveLeft
}

// start resumes a processor, and submits what is not yet stored.
func (m *processor) start(p *Process, of clients) {
	w := m.world
	m.open()
	random := w.seed.Draw("processor", p.name)
	store := &stepStore{Store: m.store, seed: w.seed, process: p, rate: w.plan.StoreFaults, calm: w.network.calm.Load,
		away: m.away.Load, saved: m.saved, leases: m.leases, counts: map[string]int{}}
	config := payments.Config{
		Owner: p.name, Tracer: labeller{p},
		PollEvery: between(random, time.Minute, 10*time.Minute),
		LeaseFor:  between(random, 10*time.Second, time.Minute),
		LoadEvery: stuckAfter,
		Limits:    w.plan.Limits,
	}
	if w.plan.Break.Config != nil {
		w.plan.Break.Config(&config)
	}
	made, err := payments.New(store, payments.IntegratorServices(of.platform).WithTransfers(of.app), config)
	if err != nil {
		panic(err) // the settings are constant
	}
	p.Go(func(ctx context.Context) {
		for again := 1; ; again++ {
			if _, err := made.Resume(ctx); err == nil {
				break
			}
			if pause(ctx, time.Second) != nil {
				return
			}
		}
		<-w.ctx.Done() // no payment is open any more
		p.Step("stops", "")
		if err := made.Stop(context.WithoutCancel(ctx)); err != nil {
			w.network.books.note("%s: Stop failed: %v", p.name, err)
		}
	})
	for _, o := range w.orders {
		random := w.seed.Draw("submit", p.name, o.ID)
		if w.seed.Draw("submitter", o.ID).IntN(w.plan.Processes) == p.place || random.IntN(2) == 0 {
			p.Go(func(ctx context.Context) { m.submit(ctx, p, made, o, random) })
		}
	}
	p.Go(func(ctx context.Context) { m.decide(ctx, p, made, random) })
}

// submit submits an order until it is stored. Another process may do the same.
func (m *processor) submit(ctx context.Context, p *Process, made *payments.Processor, o *order, random *rand.Rand) {
	if pause(ctx, between(random, time.Millisecond, 2*time.Minute)) != nil {
		return
	}
	p.Step(o.ID+" submit", "")
	if _, err := m.store.Load(ctx, o.Key); err == nil {
		return // an earlier process has submitted it
	}
	payment := o.submission(m.firstSubmitted(o))
	if change := m.world.plan.Break.Submit; change != nil {
		payment = change(p.number, payment)
	}
	for {
		_, err := made.Submit(ctx, payment)
		if err == nil || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, errStore) {
			m.world.network.books.note("%s: Submit failed: %v", o.ID, err)
			return
		}
		if pause(ctx, between(random, time.Second, time.Minute)) != nil {
			return
		}
	}
}

// decide is the person who reads the payments that need a decision, every few minutes.
func (m *processor) decide(ctx context.Context, p *Process, made *payments.Processor, random *rand.Rand) {
	for {
		select {
		case <-time.After(between(random, 5*time.Minute, 20*time.Minute)):
		case <-ctx.Done():
			return
		case <-m.world.ctx.Done():
			return
		}
		p.Step("person reads", "")
		for record, err := range made.List(ctx,
			payments.ListParams{States: []moneymovement.PaymentState{moneymovement.PaymentNeedsDecision}}) {
			if err != nil {
				break
			}
			decision := m.decision(record, random)
			_, err := made.Decide(ctx, record.Key, decision)
			p.Step(string(record.Key)+" decided", decision.String()+": "+textOf(err))
		}
	}
}

// decision is what the person decides. The person believes the host's books, and accepts no worse price than 10 %.
func (m *processor) decision(record payments.Record, random *rand.Rand) payments.Decision {
	o := m.world.byKey()[string(record.Key)]
	if o == nil { // of a broken program: nobody asked for it
		return payments.Retry()
	}
	reason := payments.ReasonCode("")
	if record.Reason != nil {
		reason = record.Reason.Code
	}
	switch {
	case reason == payments.ReasonKeyTooOld, reason == payments.ReasonKeyReused && record.MayHaveLeft,
		reason == payments.ReasonPolicy && record.MayHaveLeft && time.Since(record.FirstUsed) > stormLasts:
		if id, paid := m.world.fundedAs(o); paid {
			return payments.WasPaid(id)
		}
		return payments.WasNotPaid("the host's books do not have it")
	case reason == payments.ReasonPrice && random.IntN(3) == 0:
		less := o.Least.Mul(decimal.New(90, -2)).Truncate(2)
		o.Allowed = less
		return payments.NewBounds(dapi.Bounds{MaxFee: &o.MaxFee, MinDestinationAmount: &less,
			DestinationCurrency: o.Currency})
	case !record.MayHaveLeft && random.IntN(4) == 0:
		if _, paid := m.world.fundedAs(o); !paid { // an older store does not know it
			return payments.Cancel("nobody needs it any more")
		}
	}
	return payments.Retry()
}

func (m *processor) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.final) == len(m.world.orders)
}

// end reads the store directly: it is not a step.
func (m *processor) end(o *order) (end, string) {
	record, err := m.store.Load(context.Background(), o.Key)
	if err != nil {
		return "", "is not stored"
	}
	if err := record.Err(); err != nil {
		return "", err.Error()
	}
	said := string(record.State)
	if record.Reason != nil {
		said += ": " + record.Reason.Message
	}
	switch record.State {
	case moneymovement.PaymentCompleted:
		return completed, said
	case moneymovement.PaymentCameBack:
		return cameBack, said
	case moneymovement.PaymentRefused:
		return refused, said
	}
	return "", said
}

// fundedAs reports whether an order was paid, and returns the payout that paid it, "" for another kind.
func (w *World) fundedAs(o *order) (dapi.PayoutID, bool) {
	for _, entry := range w.host.Ledger().Entries {
		if entry.Kind == o.Moves && w.asked(entry) == o {
			if o.Kind != payments.KindPayout {
				return "", true
			}
			return dapi.PayoutID(entry.ResourceID), true
		}
	}
	return "", false
}

// labeller names the calls of a payment, and ends them when their process ends: a goroutine that waits for another one
// of a process that has ended would wait forever.
type labeller struct{ process *Process }

// Submitted implements payments.Tracer.
func (labeller) Submitted(context.Context, moneymovement.Key) string { return "" }

// Step implements payments.Tracer.
func (l labeller) Step(
	ctx context.Context, _ string, step payments.StepTrace,
) (context.Context, func(payments.StepResult)) {
	ctx, cancel := context.WithCancel(withLabel(ctx, string(step.Key)))
	stop := context.AfterFunc(l.process.ctx, cancel)
	return ctx, func(payments.StepResult) { stop(); cancel() }
}

// newKey returns a developer key of the seed. Ed25519 signatures have no random part.
func newKey(seed Seed, name string) (*signing.DeveloperKey, error) {
	random := seed.Draw("key", name)
	var half [ed25519.SeedSize]byte
	for i := range half {
		half[i] = byte(random.Uint32()) //gosec:disable G115 -- the lowest byte
	}
	return signing.FromSigner(ed25519.NewKeyFromSeed(half[:]))
}

// Signature is an approval that was signed.
type Signature struct {
	Process    string
	At         time.Time
	ApprovalID string `json:"approvalId"`
	Operation  string `json:"operation"`
	ResourceID string `json:"resourceId"`
	Amount     string `json:"amount"`
	Currency   string `json:"currency"`
	To         struct {
		ContactID string `json:"contactId"` // of a payout
		Address   string `json:"address"`   // of an escrow
	} `json:"destination"`
}

// SignerLog has every approval that any process signed.
type SignerLog struct {
	mu         sync.Mutex
	signatures []Signature
}

// signer is the key of a process. Each signature is a step, which can be slow or fail.
type signer struct {
	*signing.DeveloperKey

	process *Process
	log     *SignerLog
	network *Network
	world   *World

	mu     sync.Mutex
	counts map[string]int
}

var errSigner = errors.New("the simulated key service is down")

// Sign implements signing.Signer.
func (s *signer) Sign(ctx context.Context, message []byte) ([]byte, error) {
	label := "session"
	approval := bytes.Contains(message, []byte(`"approvalId"`))
	if approval {
		label = labelOf(ctx)
	}
	s.mu.Lock()
	s.counts[label]++
	name := label + " sign " + strconv.Itoa(s.counts[label])
	s.mu.Unlock()
	if !s.network.calm.Load() {
		random := s.network.seed.Draw("signer", s.process.name, name)
		switch random.IntN(20) {
		case 0:
			s.process.Step(name+": fails", "")
			return nil, errSigner
		case 1, 2:
			if err := pause(ctx, between(random, 10*time.Millisecond, 130*time.Second)); err != nil {
				return nil, err
			}
		}
	}
	s.process.Step(name, digest(message))
	if approval {
		signed, err := s.log.add(s.process.name, message)
		if err != nil {
			return nil, err
		}
		s.world.judgeStored(signed)
	}
	return s.DeveloperKey.Sign(ctx, message)
}

func (l *SignerLog) add(process string, message []byte) (Signature, error) {
	signed := Signature{Process: process, At: time.Now()}
	if err := json.Unmarshal(message, &signed); err != nil {
		return signed, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signatures = append(l.signatures, signed)
	return signed, nil
}
