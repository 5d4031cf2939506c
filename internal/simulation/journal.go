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

// journal is a program without package payments: it pays with dapi alone, and keeps rows as docs/production.md shows.
// The rows outlive the processes.
type journal struct {
	seed   Seed
	broken JournalBreak
	// impatient means that somebody gives up some payments that were not paid
	impatient bool
	records   records

	mu   sync.Mutex
	rows map[string]row
}

// row is one payment.
type row struct {
	*order

	FirstUsed   time.Time
	MayHavePaid bool
	PayoutID    dapi.PayoutID
	State       dapi.PaymentState
	End         end // "" while somebody still works on it
}

func newJournal(w *World) *journal {
	j := &journal{seed: w.seed, broken: w.plan.Break.Journal, impatient: w.plan.Events, records: w.network.records,
		rows: map[string]row{}}
	for _, o := range w.orders {
		j.rows[o.ID] = row{order: o, State: dapi.PaymentNotPaid}
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

func (j *journal) mayLeave(o *order) bool { return j.get(o.ID).MayHavePaid }

func (j *journal) end(o *order) (end, string) {
	r := j.get(o.ID)
	return r.End, string(r.State)
}

// start works on every open row.
func (j *journal) start(p *Process, of clients) {
	w := &payer{process: p, journal: j, account: of.platform.Self(), broken: j.broken, records: j.records}
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
	records records
}

// settle calls pay until the row has ended.
func (w *payer) settle(ctx context.Context, id string) {
	random := w.journal.seed.Draw("payer", w.process.name, id)
	if pause(ctx, between(random, time.Millisecond, time.Minute)) != nil {
		return
	}
	w.process.Step(id+" begins", "")
	r := w.journal.get(id)
	for try := 1; r.End == "" && ctx.Err() == nil; try++ {
		var err error
		if r.State == dapi.PaymentPaid && r.PayoutID != "" {
			err = w.wait(ctx, &r)
		} else {
			err = w.pay(ctx, &r, try)
		}
		w.process.Step(id+" returned "+strconv.Itoa(try), string(r.State)+" "+string(r.End)+" "+textOf(err))
		if r.End != "" {
			return
		}
		again := between(random, time.Second, min(time.Duration(try)*time.Minute, 3*time.Hour))
		if call, ok := apierrors.CallInfoOf(err); ok && !w.broken.Hurry {
			again = max(again, time.Until(call.RetryAt))
		}
		if pause(ctx, again) != nil {
			return
		}
	}
}

// pay is the function of docs/production.md.
func (w *payer) pay(ctx context.Context, r *row, call int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	before := *r
	history := dapi.FirstUse()
	if r.MayHavePaid {
		history = dapi.FirstUsedAt(r.FirstUsed)
	} else {
		r.FirstUsed = time.Now()
	}
	booked := dapi.BeforeSigning(func(_ context.Context, booked *dapi.Payout) error {
		r.PayoutID = booked.ID
		return w.save(r, "booked")
	})
	r.State, r.MayHavePaid = dapi.PaymentUnknown, true
	if err := w.save(r, "before"); err != nil {
		*r = before
		return err
	}
	terms, key, options := w.call(r, call, history, booked)
	payout, err := w.account.Payouts.Pay(ctx, terms, key, options...)
	r.State, r.MayHavePaid = dapi.PaymentStateOf(payout, err), dapi.MayHavePaid(payout, err)
	w.records.returned(r, err)
	if payout != nil {
		r.PayoutID = payout.ID
	}
	w.decide(ctx, r, err)
	if w.broken.After != nil {
		w.broken.After(r, err)
	}
	return errors.Join(err, w.save(r, "after"))
}

// call returns what a call is made with.
func (w *payer) call(
	r *row, call int, history, hook dapi.PayOption,
) (dapi.PayoutCreate, moneymovement.Key, []dapi.PayOption) {
	terms, key := r.Terms, r.Key
	bounds := []dapi.PayOption{dapi.MaxFee(r.MaxFee), dapi.MinDestinationAmount(r.Least, r.Currency)}
	options := append([]dapi.PayOption{history, dapi.BookedBefore(r.PayoutID), hook}, bounds...)
	if w.broken.Terms != nil {
		w.broken.Terms(&terms, w.process.number, call)
	}
	if w.broken.Key != nil {
		key = w.broken.Key(r, w.process.number, call)
	}
	if w.broken.Options != nil {
		options = w.broken.Options(r, w.process.number, history, hook, bounds)
	}
	return terms, key, options
}

// decide is what the person does who looks at a payment.
func (w *payer) decide(ctx context.Context, r *row, err error) {
	var (
		old   *dapi.KeyTooOld
		worse *dapi.PriceRefused
		ended *dapi.PayoutNotCompleted
	)
	switch {
	case errors.As(err, &ended) && ended.Payout.Status == dapi.PayoutStatusExpired:
		r.End = refused
	case r.State == dapi.PaymentEnded:
		r.End = cameBack
	case errors.As(err, &old):
		w.reconcile(ctx, r)
	case errors.As(err, &worse) && !r.MayHavePaid && w.journal.seed.Draw("person", r.ID).IntN(2) == 0:
		r.End = refused
	case w.journal.impatient && r.State == dapi.PaymentNotPaid:
		if w.journal.seed.Draw("gives up", w.process.name, r.ID).IntN(6) == 0 {
			r.End = refused
		}
	}
}

// reconcile looks for a payment whose key the service may have forgotten.
func (w *payer) reconcile(ctx context.Context, r *row) {
	if r.PayoutID == "" { // it was never signed
		r.End = refused
		return
	}
	payout, err := w.account.Payouts.Get(ctx, r.PayoutID)
	if err != nil {
		return
	}
	switch payout.Status {
	case dapi.PayoutStatusExpired, dapi.PayoutStatusAwaitingApproval:
		r.End = refused // nobody can confirm it after seven days
	case dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded:
		r.End = cameBack
	default:
		r.State = dapi.PaymentPaid
	}
}

// wait waits until the money has arrived.
func (w *payer) wait(ctx context.Context, r *row) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	payout, err := w.account.Payouts.Wait(ctx, r.PayoutID)
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

// save commits a row. A process can end before the commit and after it.
func (w *payer) save(r *row, moment string) error {
	if w.broken.Save != nil && !w.broken.Save(moment) {
		return nil
	}
	w.process.Step(r.ID+" store", string(r.State)+" "+string(r.End))
	w.journal.mu.Lock()
	w.journal.rows[r.ID] = *r
	w.journal.mu.Unlock()
	w.process.Step(r.ID+" stored", "")
	return nil
}

// textOf returns the text of an error for a trace.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
