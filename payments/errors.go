package payments

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// NotFound says that a store has no payment with this key.
type NotFound struct{ Key moneymovement.Key }

// Error returns one line, safe to log.
func (e *NotFound) Error() string {
	return errorbase.Textf(e, "no payment with the key %q is stored", e.Key)
}

// LeaseLost says that a process may not change a payment any more: its lease has ended, and another process has claimed
// the payment. Nothing was changed. The other process goes on with the payment.
type LeaseLost struct {
	Key   moneymovement.Key
	Lease Lease
}

// Error returns one line, safe to log.
func (e *LeaseLost) Error() string {
	return errorbase.Textf(e, "payment %q: the lease of %s (epoch %d) has ended, and another process goes on with it",
		e.Key, e.Lease.Owner, e.Lease.Epoch)
}

// CallInProgress says that a call is being made for a payment right now. Try again when it has ended.
type CallInProgress struct{ Key moneymovement.Key }

// Error returns one line, safe to log.
func (e *CallInProgress) Error() string {
	return errorbase.Textf(e, "payment %q: a call is being made for it; try again when it has ended", e.Key)
}

// NotPossible says that a decision does not fit the payment. Nothing was changed.
type NotPossible struct {
	Key      moneymovement.Key
	Decision Decision
	State    moneymovement.PaymentState
	// Problem says why, safe to log.
	Problem string
}

// Error returns one line, safe to log.
func (e *NotPossible) Error() string {
	return errorbase.Textf(e, "payment %q is %s: %s is not possible: %s", e.Key, e.State, e.Decision, e.Problem)
}

// NotResumable says that a processor cannot be resumed: it was resumed before, or was stopped.
type NotResumable struct{}

// Error returns one line.
func (e *NotResumable) Error() string {
	return errorbase.Text(e, "the processor was resumed or stopped before, and is resumed only once: make a new one")
}

// Unfinished says that calls were under way when the time to stop had passed. Their payments are stored, and the next
// Resume goes on with them.
type Unfinished struct {
	// Keys are the payments.
	Keys []moneymovement.Key
	// Err is the error of the context.
	Err error
}

// Error returns one line, safe to log.
func (e *Unfinished) Error() string {
	return errorbase.Textf(e, "%d payments were under way when the time to stop had passed (%v); they are stored, "+
		"and the next Resume goes on with them", len(e.Keys), e.Err)
}

// Unwrap returns Err.
func (e *Unfinished) Unwrap() error { return e.Err }

// BadPosition says that a position was not made by this store.
type BadPosition struct{ Position Position }

// Error returns one line, safe to log.
func (e *BadPosition) Error() string {
	return errorbase.Textf(e, "%q is not a position of this store: pass one that Watch returned, or the zero value",
		e.Position)
}

// Unreadable says that a stored payment cannot be read: it is damaged, or a newer version wrote it. Nothing is done
// with it. Update the module, or restore the store from a backup and reconcile it with the ledger.
type Unreadable struct {
	Key moneymovement.Key
	Err error
}

// Error returns one line, safe to log.
func (e *Unreadable) Error() string {
	return errorbase.Textf(e, "the stored payment %q cannot be read, and is left alone: %v", e.Key, e.Err)
}

// Unwrap returns Err.
func (e *Unreadable) Unwrap() error { return e.Err }
