// Package rig tests programs in real time with real processes and sockets: a sandbox host on loopback with its books
// and its raw requests, a proxy that makes the network bad, and child processes that are killed at a chosen moment.
//
// The test's process has the host, and so it knows what happened, whatever the children say.
package rig

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Host is a sandbox host on a loopback port that keeps every request as it arrived. It is safe for concurrent use.
type Host struct {
	*sandbox.Host

	server *httptest.Server

	mu       sync.Mutex
	requests []Request
	traps    []*Trap
}

// Request is a request as it arrived.
type Request struct {
	At     time.Time // on the machine's clock
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// Serve starts a host, and stops it when the test ends.
func Serve(t testing.TB, options ...sandbox.Option) *Host {
	t.Helper()
	h := &Host{Host: sandbox.New(options...)}
	h.server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.server.Close)
	return h
}

// URL returns the host's address for a client that connects without a proxy.
func (h *Host) URL() string { return h.server.URL }

// Address returns the host's address for a proxy, such as 127.0.0.1:40123.
func (h *Host) Address() string { return h.server.Listener.Addr().String() }

// Client returns a client that trusts the host alone, and ignores the proxies of the environment.
func (h *Host) Client() *http.Client { return h.server.Client() }

// Raw returns a copy of the list of all requests, in the order of their arrival. Do not change headers and bodies.
func (h *Host) Raw() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Moment is an instant in the life of one request.
type Moment struct {
	Request string // such as "POST /dapi/v1/payouts/*/confirm", by the rules of path.Match; empty is any request
	Number  int    // which of these requests, from 1; 0 is the first
	Phase   Phase
}

// Phase says how far the host is with the request.
type Phase int

// The phases. In both of them the client gets no response from the host.
const (
	Lost      Phase = iota // the request arrived, and the host does not handle it
	Committed              // the host has handled it
)

// Trap waits for a moment.
type Trap struct {
	moment Moment
	left   int
	do     func()
	done   chan struct{}
}

// Done returns a channel that is closed when the trap's function has returned.
func (t *Trap) Done() <-chan struct{} { return t.done }

// At sets a trap: at the moment, the host calls the function, such as Child.Kill, and then closes the connection. It
// counts from the next request on, and calls the function once.
func (h *Host) At(moment Moment, do func()) *Trap {
	trap := &Trap{moment: moment, left: max(moment.Number, 1), do: do, done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.traps = append(h.traps, trap)
	return trap
}

// Disarm removes all traps.
func (h *Host) Disarm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.traps = nil
}

// serve keeps the request, and lets the host handle it, unless a trap says otherwise.
func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	trap := h.arrived(r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // the connection broke within the body
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if trap == nil {
		h.ServeHTTP(w, r)
		return
	}
	if trap.moment.Phase == Committed {
		unread := httptest.NewRecorder()
		h.ServeHTTP(unread, r.WithContext(context.WithoutCancel(r.Context())))
	}
	trap.do()
	close(trap.done)
	panic(http.ErrAbortHandler)
}

// arrived adds a request to the list, and returns the trap that it springs.
func (h *Host) arrived(r *http.Request, body []byte) *Trap {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, Request{At: time.Now(), Method: r.Method, Path: r.URL.Path,
		Header: r.Header.Clone(), Body: body})
	for i, trap := range h.traps {
		if !trap.moment.matches(r.Method, r.URL) {
			continue
		}
		if trap.left--; trap.left == 0 {
			h.traps = slices.Delete(h.traps, i, i+1)
			return trap
		}
	}
	return nil
}

func (m Moment) matches(method string, at *url.URL) bool {
	if m.Request == "" {
		return true
	}
	found, err := path.Match(m.Request, method+" "+at.Path)
	return err == nil && found
}

// keyHeader has the idempotency key of a request.
const keyHeader = "Idempotency-Key"

// KeysWithTwoBodies returns what breaks the rule that a key has one body: for each such key, a line with the request
// and both bodies. A signature is left out, because a key of ECDSA signs the same text in another way each time.
func (h *Host) KeysWithTwoBodies() []string {
	first := map[string]string{}
	var broken []string
	for _, r := range h.Raw() {
		key := r.Header.Get(keyHeader)
		if key == "" {
			continue
		}
		request := strings.Join([]string{r.Method, r.Path, key}, " ")
		said := unsigned(r.Body)
		body, seen := first[request]
		if !seen {
			first[request] = said
		} else if body != said {
			broken = append(broken, fmt.Sprintf("%s: %s, then %s", request, body, said))
		}
	}
	return broken
}

// unsigned returns a body without its signature.
func unsigned(body []byte) string {
	var fields map[string]jsontext.Value
	if json.Unmarshal(body, &fields) != nil || fields["signature"] == nil {
		return string(body)
	}
	delete(fields, "signature")
	text, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return string(body)
	}
	return string(text)
}

// Customer is a client of the host that can pay, and somebody whom it pays.
type Customer struct {
	Client  dapi.ClientID
	Contact dapi.ContactID
}

// largestDeposit is the most that the host takes in one call, in USDC.
var largestDeposit = decimal.NewFromInt(100)

// Customer makes a client with this balance in USDC and a contact with a bank account in the euro area.
func (h *Host) Customer(t testing.TB, balance decimal.Decimal) Customer {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("rig: a customer: %v", err)
		}
	}
	ctx := t.Context()
	platform, err := dapi.NewIntegrator(h.URL(), dapi.Developer{Email: h.Credentials().Email,
		Key: h.Credentials().Key}, moneymovement.WithoutPacing())
	fail(err)
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	fail(err)
	_, err = platform.Clients.WaitReady(ctx, client.ID)
	fail(err)
	account := platform.For(client.ID)
	for left := balance; left.IsPositive(); left = left.Sub(largestDeposit) {
		// Without a key of its own, a deposit with the same terms is the same deposit.
		_, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.Min(left, largestDeposit),
			Currency: dapi.USDC},
			moneymovement.IdempotencyKey(moneymovement.DeriveKey("deposit", left.String())))
		fail(err)
	}
	contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Supplier"})})
	fail(err)
	return Customer{Client: client.ID, Contact: contact.ID}
}

// KeyFile writes the developer key of the host's first account to a file that ends with the test, and returns its path.
func (h *Host) KeyFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "developer.pem")
	if err := h.Credentials().Key.Save(path); err != nil {
		t.Fatalf("rig: %v", err)
	}
	return path
}
