package simulation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	apierrors "github.com/moneymovement/moneymovement-go/errors"
)

// journal is a program without package payments: it pays with dapi alone, and keeps rows as docs/calling-pay.md shows.
// The rows outlive the processes, and several processes may work on one.
type journal struct {
	seed   Seed
	broken JournalBreak
	// impatient means that somebody gives up some payments that were not paid
	impatient bool

	mu   sync.Mutex
	rows map[string]row
}

// row is one payment.
type row struct {
	*order

	History dapi.History
	State   moneymovement.PaymentState
	Waits   time.Time // since when a person has seen it wait for its approval
	End     end       // "" while somebody still works on it
	version int       // how often it was stored; another process can have stored it since it was read
}

func newJournal(w *World) *journal {
	j := &journal{seed: w.seed, broken: w.plan.Break.Journal, impatient: w.plan.Events,
		rows: map[string]row{}}
	for _, o := range w.orders {
		j.rows[o.ID] = row{order: o, State: moneymovement.PaymentNotPaid}
	}
	return j
}

// open returns the ids of the rows that somebody must still work on.
func (j *journal) open() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(j.rows)) {
		if j.rows[id].End == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (j *journal) ended() bool { return len(j.open()) == 0 }

func (j *journal) get(id string) row {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rows[id]
}

func (j *journal) close() error { return nil }

func (j *journal) mayLeave(o *order) bool {
	history := j.get(o.ID).History
	return history != dapi.History{} && !history.Unpaid
}

func (j *journal) end(o *order) (end, string) {
	r := j.get(o.ID)
	return r.End, string(r.State)
}

// start works on every open row.
func (j *journal) start(p *Process, of clients) {
	w := &payer{process: p, journal: j, account: of.platform.Self(), broken: j.broken}
	for _, id := range j.open() {
		p.Go(func(ctx context.Context) { w.settle(withLabel(ctx, id), id) })
	}
}

// payer works on the rows of a journal, in one process.
type payer struct {
	process *Process
	journal *journal
	account *dapi.Account
	broken  JournalBreak
}

// settle calls pay until the row has ended.
func (w *payer) settle(ctx context.Context, id string) {
	random := w.journal.seed.Draw("payer", w.process.name, id)
	if pause(ctx, between(random, time.Millisecond, time.Minute)) != nil {
		return
	}
	w.process.Step(id+" begins", "")
	for try := 1; ctx.Err() == nil; try++ {
		r := w.journal.get(id)
		if r.End != "" {
			return
		}
		var retryAt time.Time
		var err error
		if r.State == moneymovement.PaymentPaid && r.History.PayoutID != "" {
			err = w.wait(ctx, &r)
			call, _ := apierrors.CallInfoOf(err)
			retryAt = call.RetryAt
		} else {
			retryAt, err = w.pay(ctx, &r, try)
		}
		w.process.Step(id+" returned "+strconv.Itoa(try), string(r.State)+" "+string(r.End)+" "+textOf(err))
		again := between(random, time.Second, min(time.Duration(try)*time.Minute, 3*time.Hour))
		if !w.broken.Hurry {
			again = max(again, time.Until(retryAt))
		}
		if pause(ctx, again) != nil {
			return
		}
	}
}

// pay is the function of docs/calling-pay.md. It also returns when to call again.
func (w *payer) pay(ctx context.Context, r *row, call int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	asked, key, terms := w.call(r, call)
	payment, err := w.account.Payouts.Pay(ctx, asked, key, terms)
	r.State, r.History = payment.State, payment.History
	w.decide(ctx, r, payment)
	if w.broken.After != nil {
		w.broken.After(r, err)
	}
	return payment.RetryAt, errors.Join(err, w.save(r, "after"))
}

// call returns what a call is made with.
func (w *payer) call(r *row, call int) (dapi.PayoutCreate, moneymovement.Key, dapi.PayTerms) {
	asked, key := r.Terms, r.Key
	terms := dapi.PayTerms{
		Bounds:  dapi.Bounds{MaxFee: &r.MaxFee, MinDestinationAmount: &r.Least, DestinationCurrency: r.Currency},
		History: r.History,
		Journal: func(_ context.Context, history dapi.History) error {
			r.State, r.History = moneymovement.PaymentInDoubt, history // what is known if the process ends now
			return w.save(r, "journal")
		},
	}
	if w.broken.Asked != nil {
		w.broken.Asked(&asked, w.process.number, call)
	}
	if w.broken.Key != nil {
		key = w.broken.Key(r, w.process.number, call)
	}
	if w.broken.Terms != nil {
		w.broken.Terms(&terms, r, w.process.number)
	}
	return asked, key, terms
}

// decide is what the person does who decides a payment.
func (w *payer) decide(ctx context.Context, r *row, payment dapi.Payment) {
	var (
		old   *dapi.KeyTooOld
		worse *dapi.PriceRefused
	)
	switch {
	case r.State == moneymovement.PaymentEnded &&
		(payment.Unpaid || payment.Payout != nil && payment.Payout.Status == dapi.PayoutStatusExpired):
		r.End = refused
	case r.State == moneymovement.PaymentEnded:
		r.End = cameBack
	case errors.As(payment.Refusal, &old):
		w.reconcile(ctx, r)
	case errors.As(payment.Refusal, &worse) && payment.Unpaid && w.journal.seed.Draw("person", r.ID).IntN(2) == 0:
		r.End = refused
	case w.journal.impatient && r.State == moneymovement.PaymentNotPaid:
		if w.journal.seed.Draw("gives up", w.process.name, r.ID).IntN(6) == 0 {
			r.End = refused
		}
	}
}

// reconcile searches a payment whose key the service may have forgotten.
func (w *payer) reconcile(ctx context.Context, r *row) {
	if r.History.PayoutID == "" { // it was never signed, or Journal would have stored the id
		r.End = refused
		return
	}
	payout, err := w.account.Payouts.Get(ctx, r.History.PayoutID)
	if err != nil {
		return
	}
	switch payout.Status {
	case dapi.PayoutStatusAwaitingApproval: // another process can confirm it until its approval ends
		if r.Waits.IsZero() {
			r.Waits = time.Now()
		}
		if time.Since(r.Waits) > 10*time.Minute {
			r.End = refused
		}
	case dapi.PayoutStatusExpired:
		r.End = refused
	case dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded:
		r.End = cameBack
	default:
		r.State = moneymovement.PaymentPaid
	}
}

// wait waits until the money has arrived.
func (w *payer) wait(ctx context.Context, r *row) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	payout, err := w.account.Payouts.Wait(ctx, r.History.PayoutID)
	var ended *dapi.PayoutNotCompleted
	switch {
	case errors.As(err, &ended):
		r.End = cameBack
	case err != nil:
		return err
	case payout.Status == dapi.PayoutStatusCompleted:
		r.End = completed
	}
	if w.broken.After != nil {
		w.broken.After(r, err)
	}
	return errors.Join(err, w.save(r, "waited"))
}

// save commits a row, if no other process has stored it since it was read. A process can end before the commit and
// after it.
func (w *payer) save(r *row, moment string) error {
	if w.broken.Save != nil && !w.broken.Save(moment) {
		return nil
	}
	w.process.Step(r.ID+" store", string(r.State)+" "+string(r.End))
	err := w.journal.commit(r, w.broken.Blind)
	w.process.Step(r.ID+" stored", textOf(err))
	return err
}

// commit stores a row. blind means that the versions are not compared.
func (j *journal) commit(r *row, blind bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if stored := j.rows[r.ID].version; stored != r.version && !blind {
		return errOther
	}
	r.version++
	j.rows[r.ID] = *r
	return nil
}

var errOther = errors.New("another process has stored the row")

// textOf returns the text of an error for a trace.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
