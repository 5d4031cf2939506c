package yourbackend

import (
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// tries remembers which invoices may have been paid, and when they were first tried. It stands for a table of your
// database, which has to be written before Pay is called: what a program forgets when it ends may have been paid all
// the same.
type tries struct {
	mu    sync.Mutex
	known map[string]*try // by invoice
}

type try struct {
	first    time.Time
	underway int  // requests
	open     bool // a request ended, and the invoice may be paid
}

// begin notes a request, and gives what the SDK should know about those before it.
func (t *tries) begin(invoice string) dapi.KeyOption {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.known[invoice]; known != nil {
		known.underway++
		return dapi.FirstUsedAt(known.first)
	}
	if t.known == nil {
		t.known = map[string]*try{}
	}
	t.known[invoice] = &try{first: time.Now(), underway: 1}
	return dapi.FirstUse()
}

// end ends a request. An invoice that is known to be unpaid, with no other request under way, can be tried as if for
// the first time; so can one of which nothing was sent.
func (t *tries) end(invoice string, state dapi.PaymentState, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.known[invoice]
	known.underway--
	if _, unsent := errors.AsType[*errors.InvalidInput](err); !unsent {
		known.open = state != dapi.PaymentNotPaid
	}
	if known.underway == 0 && !known.open {
		delete(t.known, invoice)
	}
}
