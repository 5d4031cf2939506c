package yourbackend

import (
	"errors"
	"sync"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// rows has a row for each invoice. It stands for a table of your database.
type rows struct {
	mu    sync.Mutex
	known map[string]row // by invoice
}

// row is what must outlive the process.
type row struct {
	history dapi.History
	version int // how often it was stored
}

func (r *rows) load(invoice string) row {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[invoice]
}

var errStoredByOther = errors.New("another request has stored this invoice")

// store stores a row, unless another request has stored it since it was loaded. In SQL:
//
//	UPDATE invoices SET history = $1, version = version + 1 WHERE number = $2 AND version = $3
func (r *rows) store(invoice string, loaded *row, history dapi.History) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[invoice].version != loaded.version {
		return errStoredByOther
	}
	if r.known == nil {
		r.known = map[string]row{}
	}
	*loaded = row{history, loaded.version + 1}
	r.known[invoice] = *loaded
	return nil
}
