package simulation

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Books are what the rig itself has seen at the host's door: which payout, deal or transfer belongs to which key, what
// each approval is for, and which body came with each key. It notes what breaks a rule at once.
type Books struct {
	movements func() []sandbox.LedgerEntry // those of the host

	mu         sync.Mutex
	keyOf      map[string]string    // by payout, deal or transfer
	payouts    map[string]bool      // of them
	approvals  map[string]approval  // by id
	bodies     map[string]string    // of writes with a key, by operation and key
	notBefore  map[string]time.Time // when a refused call may be sent again, by process, label and operation
	before     map[string]string    // the last operation, by process and label
	minute     map[string]int       // requests in the last minutes, by minute and label
	made       map[string]string    // what the host first made for a key, by operation and key
	unlooked   map[string]bool      // transfers that may have been sent, and were not looked for since, by label
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
		unlooked: map[string]bool{},
		minute:   map[string]int{},
	}
}

// booking is the part of an answer to a write that the books keep.
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
	Action struct { // of a deal
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
// deal for a key than before.
func (b *Books) served(request *sent, got *answer) (another bool) {
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
	if request.operation == "transfer" { // its answer does not name it
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
		if b.unlooked[request.label] && !repeated {
			b.broken("%s may have been sent, and is sent again without a look", request.label)
		}
		request.unlooked, b.unlooked[request.label] = b.unlooked[request.label], true
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
func (b *Books) seen(p *Process, request *sent, got *answer) {
	b.mu.Lock()
	refused := got.status/100 == 4 && bytes.Contains(got.body, []byte(`"error"`)) // and not a page of a proxy
	switch {
	case request.operation == "transfers" && got.status == http.StatusOK:
		b.unlooked[request.label] = false
	case request.operation == "transfer" && refused:
		b.unlooked[request.label] = request.unlooked // this request did nothing
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
