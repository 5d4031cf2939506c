package payments

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// ListParams says which payments to list. The zero value lists all.
type ListParams struct {
	// States limits the payments to these states.
	States []moneymovement.PaymentState
	// Account limits the payments to those of one account. Nil is all accounts.
	Account *dapi.ClientID
	// After begins after this key, in the order of keys. Empty is the beginning.
	After moneymovement.Key
}

// page is how many payments are read at once.
const page = 100

// List iterates over payments in the order of their keys. You can range over it more than once. It stops after an error
// of the store. A payment that cannot be read is yielded with the error of [Record.Err], and the iteration goes on. A
// payment that changes its state meanwhile may be listed or not.
func (p *Processor) List(ctx context.Context, params ListParams) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := p.ready(ctx, "List"); err != nil {
			yield(Record{}, err)
			return
		}
		list := List{States: params.States, After: params.After, Limit: page}
		if params.Account != nil {
			list.Account, list.ByAccount = p.services.accountID(*params.Account), true
		}
		for {
			records, err := p.store.List(ctx, list)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, record := range records {
				if !yield(record, record.Err()) {
					return
				}
				list.After = record.Key
			}
			if len(records) < page {
				return
			}
		}
	}
}

// Summary counts the payments of the store by their states.
func (p *Processor) Summary(ctx context.Context) (Summary, error) {
	if err := p.ready(ctx, "Summary"); err != nil {
		return Summary{}, err
	}
	return p.store.Summary(ctx)
}

// Watch iterates over payments that have changed since a position, and then waits for more until ctx ends. It then
// yields the error of ctx.
//
// Each record has its position. Store it when you have handled the record, and pass it the next time: no change is left
// out. The zero position is the beginning: all payments, in the order of their last changes. A payment that changed
// several times since is yielded once, as it is now. Each step that is stored is a change, also if the state stays the
// same. A payment that cannot be read is yielded as by [Processor.List].
func (p *Processor) Watch(ctx context.Context, after Position) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := p.ready(ctx, "Watch"); err != nil {
			yield(Record{}, err)
			return
		}
		for position := after; ; {
			changed := p.changes.wait() // before the read, so that no change falls in between
			records, err := p.store.Changes(ctx, position, page)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, record := range records {
				if !yield(record, record.Err()) {
					return
				}
				position = record.Position
			}
			if len(records) > 0 {
				continue
			}
			if err := p.awaitChange(ctx, changed); err != nil {
				yield(Record{}, err)
				return
			}
		}
	}
}

// awaitChange waits for a change of this process, or until it is time to ask for those of others.
func (p *Processor) awaitChange(ctx context.Context, changed <-chan struct{}) error {
	poll := time.NewTimer(p.config.PollEvery)
	defer poll.Stop()
	select {
	case <-changed:
	case <-poll.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Await waits until a payment is in one of the states or has ended, and returns it: check its state. A payment can go
// through a state so fast that nobody sees it. If ctx ends first, Await returns the payment as it was last read, and
// an error that wraps that of ctx and says for what the payment waits. Without states it waits until the payment has
// ended or needs a decision. If this version does not know a state, the error is *errors.InvalidInput.
func (p *Processor) Await(
	ctx context.Context, key moneymovement.Key, states ...moneymovement.PaymentState,
) (Record, error) {
	if err := p.ready(ctx, "Await"); err != nil {
		return Record{}, err
	}
	for _, state := range states {
		if !state.Known() {
			return Record{}, invalid("Await", "states", "unknown_variant",
				fmt.Sprintf("has %q: the states are %v", state, moneymovement.StoredPaymentStates()))
		}
	}
	if len(states) == 0 {
		states = []moneymovement.PaymentState{moneymovement.PaymentCompleted, moneymovement.PaymentNeedsDecision,
			moneymovement.PaymentRefused, moneymovement.PaymentCameBack}
	}
	for last := (Record{}); ; {
		changed := p.changes.wait()
		record, err := p.Get(ctx, key)
		if err != nil && ctx.Err() != nil && last.Key != "" {
			return last, p.awaitEnded(&last, ctx.Err())
		}
		last = record
		if err != nil || slices.Contains(states, record.State) || record.State.Final() {
			return record, err
		}
		if err := p.awaitChange(ctx, changed); err != nil {
			return record, p.awaitEnded(&record, err)
		}
	}
}

// awaitEnded says for what a payment waits.
func (p *Processor) awaitEnded(r *Record, err error) error {
	why := "look at its record later"
	p.runner.mu.Lock()
	resumed := p.runner.started && !p.runner.stopped
	p.runner.mu.Unlock()
	switch {
	case r.WaitsFor != "":
		why = "it waits for " + r.WaitsFor
	case r.Reason != nil:
		why = "the last call: " + r.Reason.Message
	case r.Calls == 0 && !resumed:
		why = "no process has begun it: call Resume in this one, or see why no other one pays"
	}
	return fmt.Errorf("payments: %q is still %s (%s): %w", r.Key, r.State, why, err)
}
