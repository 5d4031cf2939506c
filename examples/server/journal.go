package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// payment is a line of the journal, and the body of a response.
type payment struct {
	ID        string                     `json:"id"`
	ContactID dapi.ContactID             `json:"contactId,omitempty"`
	Amount    decimal.Decimal            `json:"amount"`
	State     moneymovement.PaymentState `json:"state,omitempty"`
	History   dapi.History               `json:"history,omitzero"` // what Pay must remember
	Note      string                     `json:"note,omitempty"`
}

// journal is a file of payments, one line of JSON for each state. Lines are only added, and each is on disk before the
// next step. The last line of a payment counts. It stands for a table of your database. It is safe for concurrent use.
type journal struct {
	mu     sync.Mutex
	file   *os.File
	latest map[string]payment
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, latest: map[string]payment{}}
	if err := j.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

// read reads the lines, and removes half a line at the end: the machine stopped while it was written.
func (j *journal) read() error {
	var whole int64
	for reader := bufio.NewReader(j.file); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var p payment
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		j.latest[p.ID] = p
		whole += int64(len(line))
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	_, err := j.file.Seek(whole, io.SeekStart)
	return err
}

func (j *journal) write(p payment) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	j.latest[p.ID] = p
	return j.file.Sync()
}

func (j *journal) get(id string) (payment, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, found := j.latest[id]
	return p, found
}

// inDoubt returns the payments that may have been made.
func (j *journal) inDoubt() (list []payment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.latest {
		if p.State == moneymovement.PaymentInDoubt {
			list = append(list, p)
		}
	}
	return list
}

func (j *journal) close() error { return j.file.Close() }
