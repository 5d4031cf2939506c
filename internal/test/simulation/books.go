package simulation

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Books are what the rig itself has seen at the host's door: which payout, escrow or transfer belongs to which key,
// what each approval is for, and which body came with each key. It notes what breaks a rule at once.
type Books struct {
	movements func() []sandbox.LedgerEntry // those of the host

	mu         sync.Mutex
	keyOf      map[string]string    // by payout, escrow or transfer
	payouts    map[string]bool      // of them
	approvals  map[string]approval  // by id
	bodies     map[string]string    // of writes with a key, by operation and key
	notBefore  map[string]time.Time // when a refused call may be sent again, by process, label and operation
	before     map[string]string    // the last operation, by process and label
	minute     map[string]int       // requests in the last minutes, by minute and label
	made       map[string]string    // what the host first made for a key, by operation and key
	unread     map[string]bool      // transfers that may have been sent, and were not searched for since, by label
	forgot     bool                 // the host has forgotten keys
	settles    map[string]bool      // whether a read followed a write: Pay then returns the error of the write
	violations []string
}

// approval is what a signature allows: to pay for a key, at a price if it is for a payout.
type approval struct {
	resource, key    string
	fee, destination decimal.Decimal
}

func newBooks(movements func() []sandbox.LedgerEntry) *Books {
	return &Books{
		movements: movements, keyOf: map[string]string{}, payouts: map[string]bool{},
		approvals: map[string]approval{}, bodies: map[string]string{}, notBefore: map[string]time.Time{},
		before: map[string]string{}, settles: map[string]bool{}, made: map[string]string{},
		unread: map[string]bool{},
		minute: map[string]int{},
	}
}

// booking is the part of a response to a write that the books keep.
type booking struct {
	ID             string `json:"id"`
	IdempotencyKey string `json:"idempotencyKey"`
	Approval       struct {
		ID string `json:"id"`
	} `json:"approval"`
	Quote struct {
		Fee               decimal.Decimal `json:"fee"`
		DestinationAmount decimal.Decimal `json:"destinationAmount"`
	} `json:"quote"`
	Action struct { // of an escrow
		IdempotencyKey string `json:"idempotencyKey"`
		Approval       struct {
			ID string `json:"id"`
		} `json:"approval"`
	} `json:"action"`
}

// anchored are the operations that must come with a key.
var anchored = map[string]bool{"book payouts": true, "book escrow": true, "prepare": true, "transfer": true}

// forgets notes that the host forgets keys.
func (b *Books) forgets() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgot = true
}

// served notes what the host returned, also if nobody received it. It reports that the host has made another payout or
// escrow for a key than before.
func (b *Books) served(request *sent, got *response) (another bool) {
	if !anchored[request.operation] {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := headerOf(request.request.Header, "Idempotency-Key")
	anchor := request.operation + " " + key
	if first, known := b.bodies[anchor]; known && first != string(request.body) {
		b.broken("one key, one body: %s came with %s and with %s", anchor, first, request.body)
	}
	b.bodies[anchor] = string(request.body)
	if got.status >= http.StatusMultipleChoices {
		return false
	}
	if request.operation == "transfer" { // its response does not name it
		for _, entry := range b.movements() {
			if _, known := b.keyOf[entry.ResourceID]; entry.Kind == "transfer" && !known {
				b.keyOf[entry.ResourceID] = key
			}
		}
		return false
	}
	var booked booking
	if err := json.Unmarshal(got.body, &booked); err != nil {
		b.broken("the host returned a booking that cannot be read: %v", err)
		return false
	}
	if request.operation != "prepare" {
		another = b.made[anchor] != "" && b.made[anchor] != booked.ID
		b.made[anchor] = cmp.Or(b.made[anchor], booked.ID)
	}
	switch request.operation {
	case "book payouts":
		b.keyOf[booked.ID], b.payouts[booked.ID] = booked.IdempotencyKey, true
		b.approvals[booked.Approval.ID] = approval{booked.ID, booked.IdempotencyKey, booked.Quote.Fee,
			booked.Quote.DestinationAmount}
		return another
	case "book escrow":
		b.keyOf[booked.ID] = booked.IdempotencyKey
	case "prepare":
		booked.ID = strings.Split(request.request.URL.Path, "/")[4]
	}
	b.approvals[booked.Action.Approval.ID] = approval{resource: booked.ID, key: booked.Action.IdempotencyKey}
	return another
}

// sends checks a request as it leaves a process.
func (b *Books) sends(p *Process, request *sent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if host := request.request.URL.Host; host != hostName {
		b.broken("%s followed a redirect to %s", p.name, host)
	}
	if key := headerOf(request.request.Header, "Idempotency-Key"); key == "" && anchored[request.operation] {
		b.broken("%s booked without a key: %s", p.name, request.body)
	}
	line := p.name + " " + request.label + " " + request.operation
	if at := b.notBefore[line]; time.Now().Before(at) {
		b.broken("%s was sent again %v too early, against Retry-After", line, time.Until(at))
	}
	delete(b.notBefore, line)
	repeated := false
	if of := workOf(request.request.Context()); of != nil {
		of.attempts[request.operation]++
		repeated = of.attempts[request.operation] > 1
	}
	if request.operation == "transfer" {
		if b.unread[request.label] && !repeated {
			b.broken("%s may have been sent, and is sent again without a read", request.label)
		}
		request.unread, b.unread[request.label] = b.unread[request.label], true
	}
	if minute := time.Now().Format("02 15:04 ") + request.label; request.label != "session" {
		if b.minute[minute]++; b.minute[minute] == mostInAMinute {
			b.broken("%d requests for %s in a minute", mostInAMinute, request.label)
		}
	}
	of := p.name + " " + request.label
	b.settles[line] = request.operation == "read payouts" && (writes(b.before[of]) || repeated && b.settles[line])
	b.before[of] = request.operation
}

// mostInAMinute is more requests for one payment than any policy allows.
const mostInAMinute = 100

// over checks that a call was sent as often as it says: no transport repeats it.
func (b *Books) over(p *Process, of *work, operation string, attempts int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of == nil {
		return
	}
	if n := of.attempts[operation]; n != attempts {
		b.broken("%s %s %s: %d requests for %d attempts", p.name, of.label, operation, n, attempts)
	}
	delete(of.attempts, operation)
}

func writes(operation string) bool {
	return anchored[operation] || operation == "confirm" || operation == "confirm action"
}

// seen notes what a process received.
func (b *Books) seen(p *Process, request *sent, got *response) {
	b.mu.Lock()
	refused := got.status/100 == 4 && bytes.Contains(got.body, []byte(`"error"`)) // and not a page of a proxy
	switch {
	case request.operation == "transfers" && got.status == http.StatusOK:
		b.unread[request.label] = false
	case request.operation == "transfer" && refused:
		b.unread[request.label] = request.unread // this request did nothing
	}
	b.mu.Unlock()
	if got.status != http.StatusTooManyRequests {
		return
	}
	wait, err := time.ParseDuration(got.header.Get("Retry-After") + "s")
	if err != nil || request.label == "session" { // the calls of a session are asked for by many
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if line := p.name + " " + request.label + " " + request.operation; !b.settles[line] {
		b.notBefore[line] = time.Now().Add(wait)
	}
}

func (b *Books) broken(format string, args ...any) {
	b.violations = append(b.violations, fmt.Sprintf(format, args...))
}

// headerOf finds a header however its name is spelled.
func headerOf(h http.Header, name string) string {
	for spelled, values := range h {
		if strings.EqualFold(spelled, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// note notes what breaks a rule.
func (b *Books) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken(format, args...)
}

func (b *Books) broke() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.violations) > 0
}

func (b *Books) keyOfResource(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keyOf[id]
}

func (b *Books) approvalOf(id string) approval {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.approvals[id]
}

// Result is what a run was, and what it broke.
type Result struct {
	Trace      *Trace
	Violations []string
	Ends       map[string]int // payments by how they ended
	Faults     map[Kind]int
	Processes  int
}

// mostAttempts is how often the retry policy lets a call be sent: four times, and as often again if its token was
// renewed in between.
const mostAttempts = 8

// judge compares what the processes believe with what the host and the signer have seen.
func (w *World) judge() *Result {
	r := &Result{Trace: w.scheduler.trace, Ends: map[string]int{}, Faults: w.network.consumed, Processes: len(w.begun)}
	movements := w.judgeMoney(r)
	w.judgeSignatures(r)
	slices.Sort(r.Violations)
	if noted := w.network.books.violations; len(noted) > 0 { // the run was cut short: the payments have no ends
		r.Violations = append(r.Violations, noted...)
		return r
	}
	for _, o := range w.orders {
		w.judgeEnd(r, o, movements[o])
	}
	for _, call := range w.calls.calls {
		if call.Attempts > mostAttempts {
			r.broken("%s was sent %d times", call.Operation, call.Attempts)
		}
	}
	for kind, n := range w.network.planned {
		if w.network.consumed[kind] != n {
			r.broken("of %d faults %q, %d happened", n, kind, w.network.consumed[kind])
		}
	}
	slices.Sort(r.Violations)
	return r
}

func (r *Result) broken(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// byKey returns the orders by their keys.
func (w *World) byKey() map[string]*order {
	orders := map[string]*order{}
	for _, o := range w.orders {
		orders[string(o.Key)] = o
	}
	return orders
}

// moved is what the host's ledger says about a payment.
type moved struct {
	left          map[string]decimal.Decimal // what left the account, by movement
	settled, back int
}

// asked returns the order that a movement is for, or nil if nobody asked for it.
func (w *World) asked(entry sandbox.LedgerEntry) *order {
	key := w.network.books.keyOfResource(entry.ResourceID)
	for _, o := range w.orders {
		if o.EscrowID != "" && string(o.EscrowID) == entry.ResourceID || o.EscrowID == "" && string(o.Key) == key {
			if entry.Kind == o.Moves || o.Kind == payments.KindPayout {
				return o
			}
		}
	}
	return nil
}

// ofBefore reports a movement from before the payments: of the balance, or of an escrow that somebody acts on.
func (w *World) ofBefore(entry sandbox.LedgerEntry) bool {
	kind, _, _ := strings.Cut(entry.Kind, "_")
	return kind != "payout" && kind != "escrow" && kind != "transfer" || entry.At.Before(w.opened)
}

// judgeMoney checks that money moved for the orders alone, once for each, and returns what moved.
func (w *World) judgeMoney(r *Result) map[*order]*moved {
	movements := map[*order]*moved{}
	for _, o := range w.orders {
		movements[o] = &moved{left: map[string]decimal.Decimal{}}
	}
	for _, entry := range w.host.Ledger().Entries {
		if w.ofBefore(entry) {
			continue
		}
		asked := w.asked(entry)
		if asked == nil {
			r.broken("money moved without a payment: %s %s %s", entry.Kind, entry.ResourceID, entry.Amount)
			continue
		}
		m := movements[asked]
		switch {
		case entry.Kind == "payout_return", entry.Kind == "payout_refund":
			m.back++
		case entry.Kind == "payout_settlement":
			m.settled++
		case entry.Kind == asked.Moves && entry.Amount.IsNegative(): // the fee of a transfer is an entry of its own
			m.left[entry.Movement] = m.left[entry.Movement].Sub(entry.Amount)
			if asked.Kind != payments.KindPayout { // its money arrives at once
				m.settled++
			}
		}
	}
	for _, o := range w.orders {
		left := movements[o].left
		// A transfer that is sent twice in one call, between two reads, is paid twice if the host forgets its key then.
		if len(left) > 1 && (o.Kind != payments.KindTransfer || !w.network.books.forgot) {
			r.broken("%s was paid %d times", o.ID, len(left))
		}
		for _, amount := range left {
			if !amount.Equal(o.Amount) {
				r.broken("%s: %s left instead of %s", o.ID, amount, o.Amount)
			}
		}
	}
	return movements
}

// judgeEnd compares the end of one payment with what moved.
func (w *World) judgeEnd(r *Result, o *order, m *moved) {
	ended, said := w.program.end(o)
	r.Ends[string(ended)]++
	switch {
	case ended == "":
		r.broken("%s has not ended: %s", o.ID, said)
	case ended == completed && len(m.left) == 0:
		r.broken("%s is completed, and no money moved: %s", o.ID, said)
	case ended == completed && m.settled == 0:
		r.broken("%s is completed, and the money never arrived: %s", o.ID, said)
	case ended == refused && len(m.left) > 0:
		r.broken("%s is refused, and money moved: %s", o.ID, said)
	case ended == cameBack && m.back == 0:
		r.broken("%s is said to have come back, and did not: %s", o.ID, said)
	}
}

// judgeSignatures checks that only what was asked for was signed, and within the bounds.
func (w *World) judgeSignatures(r *Result) {
	orders := w.byKey()
	for _, signed := range w.signatures.signatures {
		approval, known := w.network.books.approvals[signed.ApprovalID]
		asked, ours := orders[approval.key]
		amount, err := decimal.NewFromString(signed.Amount)
		switch {
		case !ours || !known || approval.resource != signed.ResourceID:
			r.broken("signed what nobody asked for: %+v", signed)
		case err != nil || !amount.Equal(asked.Amount) || signed.Currency != string(dapi.USDC) || !asked.signs(signed):
			r.broken("%s: signed other terms: %+v", asked.ID, signed)
		case asked.Kind == payments.KindPayout &&
			(approval.fee.GreaterThan(asked.MaxFee) || approval.destination.LessThan(asked.Allowed)):
			r.broken("%s: signed a price out of its bounds: fee %s, %s arrives", asked.ID, approval.fee,
				approval.destination)
		}
	}
}

// judgeStored checks that the program has stored, before a signature, that money may leave.
func (w *World) judgeStored(signed Signature) {
	key := w.network.books.approvalOf(signed.ApprovalID).key
	if o := w.byKey()[key]; o != nil && !w.program.mayLeave(o) {
		w.network.books.note("%s was signed by %s, and the store does not say that money may leave", o.ID,
			signed.Process)
	}
}
