package yourbackend

import (
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// tries knows which invoices may have been paid, and when they were first tried. It stands for a table of your
// database. Write that table before you call Pay: a payment that your program forgets may have been made.
type tries struct {
	mu    sync.Mutex
	known map[string]*try // by invoice
}

type try struct {
	first    time.Time
	underway int  // requests that have not ended
	open     bool // a request has ended, and the invoice may be paid
}

// begin notes a request. It returns what Pay must know about earlier requests.
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

// end notes that a request has ended. The next request is a first use again if no request can have paid, and no other
// one is under way.
func (t *tries) end(invoice string, mayHavePaid bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.known[invoice]
	known.underway--
	known.open = mayHavePaid
	if known.underway == 0 && !known.open {
		delete(t.known, invoice)
	}
}
