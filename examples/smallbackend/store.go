package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// payment is a row: what to pay, and what is known about it.
type payment struct {
	ID        string // which payment this is; its idempotency key derives from it
	Client    dapi.ClientID
	Contact   dapi.ContactID
	Amount    decimal.Decimal // in USDC
	State     moneymovement.PaymentState
	History   dapi.History // what Pay must remember
	NotBefore time.Time    `json:",omitzero"` // the service asked not to call before that
	Arrived   bool
	Note      string
}

// open reports whether Pay must be called, for the first time or again.
func (p payment) open() bool {
	switch p.State {
	case moneymovement.PaymentPaid:
		return p.History.PayoutID == "" // the payout could not be read: Pay returns it
	case moneymovement.PaymentEnded, moneymovement.PaymentNeedsDecision:
		return false
	}
	return true
}

// store keeps the rows in a JSON file. It stands for your database. It is safe for concurrent use.
type store struct {
	path string

	mu   sync.Mutex
	rows map[string]payment
}

func openStore(path string) (*store, error) {
	s := &store{path: path, rows: map[string]payment{}}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(content, &s.rows)
}

// add adds a row. If the row is there already, it stays as it is.
func (s *store) add(p payment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.rows[p.ID]; found {
		return nil
	}
	return s.write(p)
}

// put replaces a row.
func (s *store) put(p payment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(p)
}

// write writes all rows to a new file, and puts it in the place of the old one: a crash leaves one of the two.
func (s *store) write(p payment) error {
	rows := maps.Clone(s.rows)
	rows[p.ID] = p
	content, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.path), ".rows-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // does nothing after the rename
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), s.path); err != nil {
		return err
	}
	s.rows = rows
	return nil
}

// all returns the rows, sorted by id.
func (s *store) all() []payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []payment
	for _, id := range slices.Sorted(maps.Keys(s.rows)) {
		list = append(list, s.rows[id])
	}
	return list
}
