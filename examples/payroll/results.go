package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// status is what is known about a person's payment.
type status string

const (
	started   status = "started"   // about to be sent; if this is the last line, the next start asks with the same key
	notPaid   status = "not_paid"  // no money moved; the next start tries again
	unknown   status = "unknown"   // a response was lost; the next start asks with the same key
	funded    status = "funded"    // the money has left the account
	completed status = "completed" // the money has arrived
	failed    status = "failed"    // the money came back, or never left in time: a person must decide
	check     status = "check"     // the key is too old, or has other terms: a person must look
)

// result is one line of the results file.
type result struct {
	At       time.Time
	Account  string
	ID, IBAN string
	Amount   decimal.Decimal
	Status   status
	Payout   dapi.PayoutID
	Arrives  string
	Note     string
}

var resultColumns = []string{"at", "account", "id", "iban", "amount", "status", "payout", "arrives", "note"}

// results is the results file. The program only adds lines, and each line is on disk before the next step. The last
// line about a person counts. It is safe for concurrent use.
type results struct {
	mu      sync.Mutex
	file    *os.File
	account string
	latest  map[string]result
	sent    map[string]time.Time // when a payment was first sent
}

// openResults reads the results of earlier starts, or begins the file. A file about another account is an error: its
// people are not paid by this one.
func openResults(path, account string) (*results, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	r := &results{file: file, account: account, latest: map[string]result{}, sent: map[string]time.Time{}}
	if err := r.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return r, nil
}

func (r *results) close() { _ = r.file.Close() }

func (r *results) load() error {
	content, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	if len(whole) < len(content) { // the machine stopped in the middle of a line
		if err := r.file.Truncate(int64(len(whole))); err != nil {
			return err
		}
	}
	if len(whole) == 0 {
		return r.write(resultColumns)
	}
	return r.take(whole)
}

// take reads the whole lines of a file.
func (r *results) take(whole []byte) error {
	lines, err := csv.NewReader(bytes.NewReader(whole)).ReadAll()
	if err != nil {
		return err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], resultColumns) { // a file of empty lines has no records
		return errors.New("is not a results file")
	}
	for _, line := range lines[1:] {
		read, err := parseResult(line)
		if err != nil {
			return err
		}
		if read.Account != r.account {
			return fmt.Errorf("is about the account %s, not %s", read.Account, r.account)
		}
		r.remember(read)
	}
	return nil
}

func parseResult(line []string) (result, error) {
	at, err := time.Parse(time.RFC3339, line[0])
	if err != nil {
		return result{}, err
	}
	amount, err := decimal.NewFromString(line[4])
	if err != nil {
		return result{}, err
	}
	return result{At: at, Account: line[1], ID: line[2], IBAN: line[3], Amount: amount, Status: status(line[5]),
		Payout: dapi.PayoutID(line[6]), Arrives: line[7], Note: line[8]}, nil
}

// record adds a line.
func (r *results) record(p person, state status, payout *dapi.Payout, note string) error {
	added := result{At: time.Now().UTC().Truncate(time.Second), Account: r.account, ID: p.id, IBAN: p.iban,
		Amount: p.amount, Status: state, Note: note}
	r.mu.Lock()
	defer r.mu.Unlock()
	if payout != nil {
		added.Payout = payout.ID
		if payout.Quote != nil {
			added.Arrives = payout.Quote.DestinationAmount.String() + " " + payout.Quote.DestinationCurrency
		}
	}
	r.remember(added)
	return r.write([]string{added.At.Format(time.RFC3339), added.Account, added.ID, added.IBAN, added.Amount.String(),
		string(added.Status),
		string(added.Payout), added.Arrives, added.Note})
}

func (r *results) remember(added result) {
	switch _, before := r.sent[added.ID]; {
	case added.Status == notPaid:
		delete(r.sent, added.ID)
	case added.Status == started && !before:
		r.sent[added.ID] = added.At
	}
	r.latest[added.ID] = added
}

func (r *results) write(line []string) error {
	var text bytes.Buffer
	writer := csv.NewWriter(&text)
	if err := writer.Write(line); err != nil {
		return err
	}
	writer.Flush()
	if _, err := r.file.Write(text.Bytes()); err != nil {
		return err
	}
	return r.file.Sync()
}

// of returns what is known about a person.
func (r *results) of(id string) (result, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.latest[id]
	return known, found
}

// firstSent returns when a payment that may have been made was first sent.
func (r *results) firstSent(id string) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, sent := r.sent[id]
	return at, sent
}
